"""Bansal and Weld's search: the row whose error would cover most, times its chance of being one."""

import numpy as np

from fireassay.core.arrays import IntArray
from fireassay.discovery.coverage import Coverage
from fireassay.discovery.strategy import Candidates, Choice, Strategy, first_largest

_PRIOR_STRENGTH = 2.0


class BansalWeld(Strategy):
    """Greedy expected coverage (Bansal and Weld 2018).

    φ_i = (2 (1 − c_i) + errors in i's cluster) / (2 + queries in i's cluster); the next row
    maximises φ_i Σ_x c_x max(cov_x, G_xi).
    """

    name = "bansal-weld"
    summary = "what would cover most of the pool, if it were an error"

    def __init__(self, candidates: Candidates) -> None:
        self._confidence = candidates.confidence
        self._clusters = candidates.clusters
        self._coverage = Coverage(candidates)
        count = int(self._clusters.max()) + 1
        self._errors, self._queries = np.zeros(count), np.zeros(count)

    def choose(self, free: IntArray, rng: np.random.Generator) -> Choice:  # noqa: ARG002
        """The free row with the largest expected coverage."""
        prior = _PRIOR_STRENGTH * (1 - self._confidence) + self._errors[self._clusters]
        chance = prior / (_PRIOR_STRENGTH + self._queries[self._clusters])
        return first_largest(chance * self._coverage.totals, free)

    def learn(self, row: int, wrong: bool) -> None:
        """Update the cluster's error rate and, for an error, the coverage."""
        self._queries[self._clusters[row]] += 1
        if wrong:
            self._errors[self._clusters[row]] += 1
            self._coverage.add_error(row)
