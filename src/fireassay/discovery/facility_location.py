"""Facility location search: surprising errors, placed so that they are near everything."""

import numpy as np

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.discovery.logistic import logistic_chances
from fireassay.discovery.strategy import Candidates, Choice, Strategy, first_largest

_LEAST_DOUBT = 1e-6
_BLOCK = 512


class FacilityLocation(Strategy):
    """Greedy expected facility-location utility (Maurer and Bennette 2019).

    W = Σ_errors log(1 / (1 − c)) − mean distance to the nearest found error. The next row maximises
    φ W(it is an error) + (1 − φ) W(it is not); φ = 1 − c until both outcomes are seen, then a
    logistic regression on features and confidence.
    """

    name = "facility-location"
    summary = "surprising errors, near everything"

    def __init__(self, candidates: Candidates) -> None:
        self._confidence = candidates.confidence
        self._space = candidates.space
        self._surprise = -np.log(np.maximum(1 - candidates.confidence, _LEAST_DOUBT))
        self._known = np.column_stack([candidates.features, candidates.confidence])
        self._nearest = np.ones(len(candidates))
        self._savings = self._all_savings()
        self._rows: list[int] = []
        self._wrong: list[float] = []

    def choose(self, free: IntArray, rng: np.random.Generator) -> Choice:  # noqa: ARG002
        """The free row with the largest expected gain of utility."""
        chance = 1 - self._confidence
        if 0 < sum(self._wrong) < len(self._wrong):
            rows = np.asarray(self._rows, dtype=np.int64)
            chance = logistic_chances(self._known, rows, np.asarray(self._wrong))
        return first_largest(chance * (self._surprise + self._savings), free)

    def learn(self, row: int, wrong: bool) -> None:
        """Keep the answer; an error is a new facility."""
        self._rows.append(row)
        self._wrong.append(float(wrong))
        if wrong:
            self._nearest = np.minimum(self._nearest, self._space.distances(row)[0])
            self._savings = self._all_savings()

    def _all_savings(self) -> FloatArray:
        """By how much each row, as a facility, would shorten the mean distance."""
        savings = np.empty(len(self._space))
        for start in range(0, len(savings), _BLOCK):
            rows = np.arange(start, min(start + _BLOCK, len(savings)))
            shorter = self._nearest[None, :] - self._space.distances(rows)
            savings[rows] = np.maximum(shorter, 0.0, out=shorter).mean(axis=1)
        return savings
