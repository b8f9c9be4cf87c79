"""Searches that are a fixed order: by adversarial distance, by any score, by confidence."""

import numpy as np

from fireassay.discovery.candidates import Candidates
from fireassay.discovery.strategy import Choice, Index, Unlearning, first_largest


class AdversarialDistance(Unlearning):
    """Smallest adversarial distance first (Bennette, Maurer and Sisti 2021)."""

    name = "adversarial-distance"

    def __init__(self, candidates: Candidates) -> None:
        self._order = -candidates.need_scores(self.name)

    def choose(self, free: Index, rng: np.random.Generator) -> Choice:  # noqa: ARG002
        """The free row with the smallest score."""
        return first_largest(self._order, free)


class Score(AdversarialDistance):
    """Any score, smallest first: pass ``-score`` for one that is high where it is suspicious."""

    name = "score"


class LowConfidence(Unlearning):
    """Least confident predictions first: many errors, but expected ones."""

    def __init__(self, candidates: Candidates) -> None:
        self._order = -candidates.confidence

    def choose(self, free: Index, rng: np.random.Generator) -> Choice:  # noqa: ARG002
        """The free row with the lowest confidence."""
        return first_largest(self._order, free)
