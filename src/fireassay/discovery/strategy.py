"""What a search strategy is: it learns from answers, and chooses the next row."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fireassay.discovery.candidates import Candidates

Index = NDArray[np.int64]


@dataclass(frozen=True)
class Choice:
    """The chosen row, and with what chance it was drawn among the free ones (None: not drawn)."""

    row: int
    probability: float | None = None


class Strategy(Protocol):
    """One search. ``adaptive``: whether what it asks next depends on the answers so far."""

    adaptive: bool

    def __init__(self, candidates: Candidates) -> None: ...

    def choose(self, free: Index, rng: np.random.Generator) -> Choice:
        """The next row to ask about, one of ``free`` (ascending positions, never empty)."""
        ...

    def learn(self, row: int, wrong: bool) -> None:
        """Take in one answer."""
        ...


class Unlearning:
    """For strategies that do not look at answers."""

    adaptive = False

    def learn(self, row: int, wrong: bool) -> None:
        """Nothing to learn."""


def first_largest(values: NDArray[np.float64], free: Index) -> Choice:
    """The free row with the largest value; of equal ones the first."""
    return Choice(int(free[np.argmax(values[free])]))
