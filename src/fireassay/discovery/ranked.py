"""Searches that are a fixed order: by adversarial distance, by any score, by confidence."""

from typing import ClassVar

import numpy as np

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.discovery.strategy import Candidates, Choice, Needs, Strategy


class _Ranked(Strategy):
    """The free row with the smallest value; of equal ones the first."""

    adaptive = False
    _values: FloatArray

    def choose(self, free: IntArray, rng: np.random.Generator) -> Choice:  # noqa: ARG002
        """The first free row of the order."""
        return Choice(int(free[np.argmin(self._values[free])]))


class AdversarialDistance(_Ranked):
    """Smallest adversarial distance first (Bennette, Maurer and Sisti 2021)."""

    name = "adversarial-distance"
    summary = "smallest adversarial distance first"
    needs: ClassVar[Needs] = "distances"

    def __init__(self, candidates: Candidates) -> None:
        self._values = candidates.suspicion


class Score(AdversarialDistance):
    """Any score, smallest first: pass ``-score`` for one that is high where it is suspicious."""

    name = "score"
    summary = "smallest value of your own score first (a supervisor's, say)"
    needs: ClassVar[Needs] = "scores"


class LowConfidence(_Ranked):
    """Least confident predictions first: many errors, but expected ones."""

    name = "low-confidence"
    summary = "lowest confidence first"

    def __init__(self, candidates: Candidates) -> None:
        self._values = candidates.confidence
