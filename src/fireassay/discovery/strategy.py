"""What a search strategy is: what it may know, how it learns, and how it chooses the next row."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.discovery.clusters import nested_clusters
from fireassay.discovery.space import Space

Needs = Literal["nothing", "scores", "distances"]


@dataclass(frozen=True, eq=False)
class Candidates:
    """Confidences, positions in feature space, and scores (low = suspicious) of the pool's rows.

    Attributes
    ----------
    confidence, features
        One confidence and one row of features per candidate.
    scores
        One per candidate where the search needs them, else None.
    seed
        Of clusters and draws.

    >>> pool = Candidates(np.array([0.7, 0.9, 0.8]), np.array([[0.0], [1.0], [2.0]]))
    >>> len(pool), pool.space.points.shape
    (3, (3, 1))
    """

    confidence: FloatArray
    features: FloatArray
    scores: FloatArray | None = None
    seed: int = 0

    def __len__(self) -> int:
        return len(self.confidence)

    @cached_property
    def space(self) -> Space:
        """Scaled distances between the rows."""
        return Space(self.features)

    @cached_property
    def clusters(self) -> IntArray:
        """Clusters by confidence, and by position inside each."""
        return nested_clusters(self.confidence, self.features, self.seed)

    @property
    def suspicion(self) -> FloatArray:
        """The scores, for searches that need them: they are there before such a search starts."""
        assert self.scores is not None
        return self.scores


@dataclass(frozen=True)
class Choice:
    """The chosen row, and with what chance it was drawn among the free ones (None: not drawn)."""

    row: int
    probability: float | None = None


class Strategy(ABC):
    """One search: a row of the table `SEARCHES`.

    Parameters
    ----------
    candidates
        What the search may know, as `Candidates`.

    Attributes
    ----------
    name, summary
        What people type, and what it asks about in a few words.
    adaptive
        Whether what it asks next depends on the answers so far.
    needs
        "scores": they must be given; "distances": adversarial distances, measured by an attack if
        no scores are given.
    draws
        Whether every row is drawn by lot with a known chance, so that an error rate of all
        candidates follows.

    Examples
    --------
    >>> class Surest(Strategy):
    ...     name, summary, adaptive = "surest", "highest confidence first", False
    ...
    ...     def __init__(self, candidates):
    ...         self._confidence = candidates.confidence
    ...
    ...     def choose(self, free, rng):
    ...         return first_largest(self._confidence, free)
    >>> own = Surest(Candidates(np.array([0.7, 0.9]), np.zeros((2, 1))))
    >>> own.choose(np.arange(2), np.random.default_rng(0)).row
    1

    ``SEARCHES.register(Surest)`` then makes ``Search("surest", ...)`` work, and puts it on every
    list of searches.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    adaptive: ClassVar[bool] = True
    needs: ClassVar[Needs] = "nothing"
    draws: ClassVar[bool] = False

    @abstractmethod
    def __init__(self, candidates: Candidates) -> None: ...

    @abstractmethod
    def choose(self, free: IntArray, rng: np.random.Generator) -> Choice:
        """The next row to ask about, one of ``free`` (ascending positions, never empty)."""

    def learn(self, row: int, wrong: bool) -> None:  # noqa: B027 - most need not
        """Take in one answer; searches that do not look at answers leave it at that."""


def first_largest(values: FloatArray, free: IntArray) -> Choice:
    """The free row with the largest value; of equal ones the first."""
    return Choice(int(free[np.argmax(values[free])]))
