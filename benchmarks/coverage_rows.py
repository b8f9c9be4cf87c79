"""One line of the coverage table: a method, a world with a known truth, and how it is counted."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Rng = np.random.Generator
# Missed or not; the width (of a bound: its excess over the truth); the width of the best known.
Seen = tuple[bool, float, float]
World = Callable[[Rng], Seen]
HOLDS, ABOUT, MISUSED = "holds", "approximate", "misused"


@dataclass(frozen=True)
class Row:
    """An interval in a world.

    ``compared`` names what its width is relative to: the best method known there, or what one
    would use if one knew what nobody knows ("normal at the true variance").
    """

    method: str
    setting: str
    world: World
    compared: str
    promise: str = ABOUT
    nominal: float = 0.95
    runs: int = 1000


@dataclass(frozen=True)
class NullRow:
    """A test in a world where its null is true: the world returns the p-value."""

    method: str
    setting: str
    world: Callable[[Rng], float]
    runs: int = 1000
    promise: str = ABOUT


def held(low: float, high: float, truth: float, best: float) -> Seen:
    """A two-sided interval."""
    return not low <= truth <= high, high - low, best


def above(upper: float, truth: float, best: float) -> Seen:
    """An upper bound; ``best`` is another upper bound."""
    return upper < truth, upper - truth, best - truth


def normal_width(deviation: float, n: float, quantile: float = 1.959964) -> float:
    """Of the interval that knows the true standard deviation."""
    return 2.0 * quantile * deviation / float(np.sqrt(n))


def seed_of(rng: Rng) -> int:
    """For functions that draw by themselves."""
    return int(rng.integers(2**31))
