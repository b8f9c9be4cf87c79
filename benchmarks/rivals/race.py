"""A race: the same work by us and by the best that a user has otherwise."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Race:
    """The same work twice, how far the two answers differ, in words, and what neither can spare."""

    ours: Callable[[], Any]
    peer: Callable[[], Any]
    agree: Callable[[Any, Any], str]
    floor: Callable[[], Any] | None = None


@dataclass(frozen=True)
class Rival:
    """A row of the table: whom we race at what; ``why`` is said where we are the slower one."""

    package: str
    work: str
    make: Callable[[bool], Race]
    target: float | None = None
    why: str = ""


RIVALS: dict[str, Rival] = {}


def rival(
    name: str, package: str, work: str, target: float | None = None, why: str = ""
) -> Callable[[Callable[[bool], Race]], Callable[[bool], Race]]:
    """Enter a function of ``quick`` that makes a race."""

    def enter(make: Callable[[bool], Race]) -> Callable[[bool], Race]:
        RIVALS[name] = Rival(package, work, make, target, why)
        return make

    return enter


def largest_difference(mine: Any, theirs: Any) -> str:
    """How far two arrays are apart."""
    return f"within {np.abs(np.asarray(mine) - np.asarray(theirs)).max():.1e}"
