"""Searches by drawing lots: every row has a known, positive chance, so rates can be estimated."""

import numpy as np

from fireassay.core.arrays import IntArray
from fireassay.discovery.strategy import Candidates, Choice, Strategy

_UNIFORM_SHARE = 0.2
_STEEPNESS = 5.0


class Random(Strategy):
    """Each free row with the same chance."""

    name, adaptive, draws = "random", False, True
    summary = "by lot, every row with the same chance"

    def __init__(self, candidates: Candidates) -> None:
        del candidates

    def choose(self, free: IntArray, rng: np.random.Generator) -> Choice:
        """A free row, drawn uniformly."""
        return Choice(int(free[rng.integers(len(free))]), 1.0 / len(free))


class Weighted(Strategy):
    """Suspicious rows more often, every row sometimes: searches and stays unbiased (see LURE).

    Weights fall exponentially with the rank of the score (of the confidence without scores), mixed
    with a fifth of uniform draws.
    """

    name, adaptive, draws = "weighted", False, True
    summary = "by lot, suspicious rows more often"

    def __init__(self, candidates: Candidates) -> None:
        values = candidates.confidence if candidates.scores is None else candidates.scores
        rank = np.empty(len(values))
        rank[np.lexsort((np.arange(len(values)), values))] = np.arange(len(values))
        steep = np.exp(-_STEEPNESS * rank / len(values))
        self._weights = _UNIFORM_SHARE + (1 - _UNIFORM_SHARE) * steep / steep.mean()

    def choose(self, free: IntArray, rng: np.random.Generator) -> Choice:
        """A free row, drawn in proportion to its weight."""
        chances = self._weights[free] / self._weights[free].sum()
        at = min(int(np.searchsorted(np.cumsum(chances), rng.random())), len(free) - 1)
        return Choice(int(free[at]), float(chances[at]))
