"""The registry of searches, and searches with a fixed or random order."""

from typing import ClassVar

import numpy as np

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.registry import Registry
from fireassay.discovery.learning_searches import (
    BansalWeld,
    FacilityLocation,
    Hybrid,
    Lakkaraju,
    LakkarajuPublished,
)
from fireassay.discovery.second_models import ErrorModel, KnnDisagreement, SecondOpinion, TwinTrees
from fireassay.discovery.strategy import Candidates, Choice, Needs, Strategy

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

    Weights fall exponentially with the rank of the score, or confidence; a fifth is uniform.
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


SEARCHES: Registry[type[Strategy]] = Registry(
    "search",
    [
        TwinTrees,
        SecondOpinion,
        KnnDisagreement,
        ErrorModel,
        AdversarialDistance,
        Random,
        LowConfidence,
        BansalWeld,
        Lakkaraju,
        LakkarajuPublished,
        FacilityLocation,
        Hybrid,
        Weighted,
        Score,
    ],
)


def self_sufficient_searches(*, distances: bool = True) -> tuple[str, ...]:
    """Names of the searches that a name alone can start, with or without an attack's distances."""
    not_had = {"scores"} if distances else {"scores", "distances"}
    return tuple(name for name, search in SEARCHES.items() if search.needs not in not_had)
