"""Hybrid search: adversarial distance first, then what the labels teach."""

import numpy as np

from fireassay.core.arrays import IntArray
from fireassay.discovery.logistic import logistic_chances
from fireassay.discovery.strategy import Candidates, Choice, Strategy, first_largest

_WARM_UP = 10


class Hybrid(Strategy):
    """Ten rows by adversarial distance, then the row with the largest excess of error chance.

    The chance is a ridge logistic regression on features, confidence and the rank of the
    adversarial distance; excess is the chance minus 1 − confidence. Until both outcomes are seen
    it goes on by adversarial distance.
    """

    name, needs = "hybrid", "distances"
    summary = "ten by adversarial distance, then what a regression on the labels says"

    def __init__(self, candidates: Candidates) -> None:
        scores = candidates.suspicion
        self._confidence = candidates.confidence
        self._order = -scores
        rank = np.empty(len(scores))
        rank[np.lexsort((np.arange(len(scores)), scores))] = np.linspace(0, 1, len(scores))
        self._known = np.column_stack([candidates.features, candidates.confidence, rank])
        self._rows: list[int] = []
        self._wrong: list[float] = []

    def choose(self, free: IntArray, rng: np.random.Generator) -> Choice:  # noqa: ARG002
        """By distance while warming up, by excess afterwards."""
        if len(self._rows) < _WARM_UP or not 0 < sum(self._wrong) < len(self._wrong):
            return first_largest(self._order, free)
        rows = np.asarray(self._rows, dtype=np.int64)
        chance = logistic_chances(self._known, rows, np.asarray(self._wrong))
        return first_largest(chance - (1 - self._confidence), free)

    def learn(self, row: int, wrong: bool) -> None:
        """Keep the answer."""
        self._rows.append(row)
        self._wrong.append(float(wrong))
