"""Searches that are a fixed order: by adversarial distance, by any score, by confidence."""

from typing import ClassVar

import numpy as np

from fireassay.core.arrays import IntArray
from fireassay.discovery.strategy import Candidates, Choice, Needs, Strategy, first_largest


class AdversarialDistance(Strategy):
    """Smallest adversarial distance first (Bennette, Maurer and Sisti 2021)."""

    name, adaptive = "adversarial-distance", False
    needs: ClassVar[Needs] = "distances"
    summary = "smallest adversarial distance first"

    def __init__(self, candidates: Candidates) -> None:
        self._order = -candidates.suspicion

    def choose(self, free: IntArray, rng: np.random.Generator) -> Choice:  # noqa: ARG002
        """The free row with the smallest score."""
        return first_largest(self._order, free)


class Score(AdversarialDistance):
    """Any score, smallest first: pass ``-score`` for one that is high where it is suspicious."""

    name = "score"
    needs: ClassVar[Needs] = "scores"
    summary = "smallest value of your own score first (a supervisor's, say)"


class LowConfidence(Strategy):
    """Least confident predictions first: many errors, but expected ones."""

    name, adaptive = "low-confidence", False
    summary = "lowest confidence first"

    def __init__(self, candidates: Candidates) -> None:
        self._order = -candidates.confidence

    def choose(self, free: IntArray, rng: np.random.Generator) -> Choice:  # noqa: ARG002
        """The free row with the lowest confidence."""
        return first_largest(self._order, free)
