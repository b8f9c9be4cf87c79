"""The protocol of a search strategy, and clusters of similar predictions."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np

from fireassay.core.arrays import BoolArray, FloatArray, IntArray
from fireassay.core.seeds import derived_seed, generator
from fireassay.discovery.known_rows import KnownRows
from fireassay.discovery.space import Space

_FEWEST, _MOST = 2, 5
_STARTS, _MOST_ROUNDS = 3, 100


def nested_clusters(confidence: FloatArray, features: FloatArray, seed: int) -> IntArray:
    """Cluster numbers 0 … k−1; the number of groups at each level is chosen by the elbow."""
    outer = elbow_clusters(confidence[:, None], derived_seed(seed, "clusters", "confidence"))
    labels = np.zeros(len(confidence), dtype=np.int64)
    used = 0
    for group in range(outer.max() + 1):
        rows = np.flatnonzero(outer == group)
        inner = elbow_clusters(features[rows], derived_seed(seed, "clusters", group))
        labels[rows] = used + inner
        used += inner.max() + 1
    return labels


def elbow_clusters(points: FloatArray, seed: int) -> IntArray:
    """k-means with the k in 2 … 5 farthest below the chord of the inertia curve."""
    different = len(np.unique(points, axis=0))
    if different < _FEWEST:
        return np.zeros(len(points), dtype=np.int64)
    counts = range(_FEWEST, min(_MOST, different) + 1)
    fits = [_k_means(points, k, generator(seed, "k-means", k)) for k in counts]
    one = np.square(points - points.mean(axis=0)).sum()
    inertia = np.array([one, *(inertia for _, inertia in fits)])
    chord = np.linspace(inertia[0], inertia[-1], len(inertia))
    return fits[int(np.argmax((chord - inertia)[1:]))][0]


def _k_means(points: FloatArray, k: int, rng: np.random.Generator) -> tuple[IntArray, float]:
    """Labels and inertia of the best of a few k-means++ starts (small k, few dimensions)."""
    best_labels, best = np.zeros(len(points), dtype=np.int64), np.inf
    for _ in range(_STARTS):
        centres = _spread_out(points, k, rng)
        labels = np.full(len(points), -1, dtype=np.int64)
        for _ in range(_MOST_ROUNDS):
            distances = _squared_distances(points, centres)
            nearest = distances.argmin(axis=1)
            if (nearest == labels).all():
                break
            labels = nearest
            for c in np.unique(labels):
                centres[c] = points[labels == c].mean(axis=0)
        inertia = float(_squared_distances(points, centres).min(axis=1).sum())
        if inertia < best:
            best_labels, best = labels, inertia
    return np.unique(best_labels, return_inverse=True)[1].astype(np.int64), best


def _spread_out(points: FloatArray, k: int, rng: np.random.Generator) -> FloatArray:
    """k-means++: each further centre with a chance in proportion to its squared distance."""
    centres = [points[rng.integers(len(points))]]
    for _ in range(k - 1):
        far = _squared_distances(points, np.asarray(centres)).min(axis=1)
        total = far.sum()
        chances = far / total if total > 0 else np.full(len(points), 1 / len(points))
        centres.append(points[rng.choice(len(points), p=chances)])
    return np.array(centres, dtype=np.float64)


def _squared_distances(points: FloatArray, centres: FloatArray) -> FloatArray:
    return np.stack([np.square(points - centre).sum(axis=1) for centre in centres], axis=1)


Needs = Literal["nothing", "scores", "distances", "known rows"]


@dataclass(frozen=True, eq=False)
class Candidates:
    """Confidences, positions in feature space, and scores (low = suspicious) of the pool's rows.

    Attributes:
        confidence, features: One confidence and one row of features per candidate.
        scores: One per candidate where the search needs them, else None.
        seed: Of clusters and draws.
        predicted, known: The model's classes, and `KnownRows`, where the search needs them.

    >>> pool = Candidates(np.array([0.7, 0.9, 0.8]), np.array([[0.0], [1.0], [2.0]]))
    >>> len(pool), pool.space.points.shape
    (3, (3, 1))
    """

    confidence: FloatArray
    features: FloatArray
    scores: FloatArray | None = None
    seed: int = 0
    predicted: IntArray | None = None
    known: KnownRows | None = None

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
    """The row that a search asks about next.

    Attributes:
        row: Position among the candidates.
        probability: Chance with which it was drawn among the free rows; None: not drawn.
    """

    row: int
    probability: float | None = None


class Strategy(ABC):
    """One search: a row of the table `SEARCHES`.

    Args:
        candidates: What the search may know, as `Candidates`.

    Attributes:
        name, summary: What people type, and what it asks about in a few words.
        adaptive: Whether what it asks next depends on the answers so far.
        needs: "scores": they must be given; "distances": adversarial distances, measured by an
            attack if no scores are given; "known rows": inputs, answers and calibration rows.
        audit_share: Share of the budget for a final audit, unless its user says otherwise.
        draws: Whether rows are drawn with known chances, so that an error rate follows.

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

    ``SEARCHES.register(Surest)`` makes ``Search("surest", ...)`` work, and lists it everywhere.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    adaptive: ClassVar[bool] = True
    needs: ClassVar[Needs] = "nothing"
    draws: ClassVar[bool] = False
    audit_share: ClassVar[float] = 0.0

    @abstractmethod
    def __init__(self, candidates: Candidates) -> None: ...

    @abstractmethod
    def choose(self, free: IntArray, rng: np.random.Generator) -> Choice:
        """The next row to ask about, one of ``free`` (ascending positions, never empty)."""

    def learn(self, row: int, wrong: bool) -> None:  # noqa: B027 - most need not
        """Take in one answer; searches that do not look at answers leave it at that."""

    def learn_label(self, row: int, wrong: bool, label: int) -> None:
        """Take in one label, −1 for a class that the model does not know."""
        del label
        self.learn(row, wrong)


def first_largest(values: FloatArray, free: IntArray) -> Choice:
    """The free row with the largest value; of equal ones the first."""
    return Choice(int(free[np.argmax(values[free])]))


def spent(
    search: type[Strategy],
    candidates: Candidates,
    wrong: BoolArray,
    labels: IntArray,
    budget: int,
    rng: np.random.Generator,
) -> IntArray:
    """Candidates that a search asks about, in order, all of whose labels are known."""
    strategy = search(candidates)
    free = np.arange(len(candidates))
    queried = np.empty(budget, dtype=np.int64)
    for step in range(budget):
        row = strategy.choose(free, rng).row
        strategy.learn_label(row, bool(wrong[row]), int(labels[row]))
        queried[step] = row
        free = free[free != row]
    return queried
