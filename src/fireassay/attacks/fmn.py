"""Fast minimum norm: a ball that shrinks while its surface is misclassified, and grows back."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.attacks.attacked_model import AttackedModel, Index
from fireassay.attacks.bisection import along_line
from fireassay.attacks.losses import margin
from fireassay.attacks.norms import length, project
from fireassay.attacks.result import NOT_FOUND, AttackResult
from fireassay.core.validation import check_integer

_FIRST_SIZE, _LAST_SIZE = 1.0, 0.01
_FIRST_CHANGE, _LAST_CHANGE = 0.05, 0.001
_DUAL = {"l0": "linf", "l1": "linf", "l2": "l2", "linf": "l1"}
_BEYOND = 1.02  # the boundary of the linearised model must be crossed
_LINE_TOLERANCE = 0.01
_MOST_ROUNDS, _TRIED_AT_ONCE = 8, 16
Vector = NDArray[np.float64]


def fmn(
    model: Any,
    X: ArrayLike,
    y: ArrayLike | None = None,
    norm: str = "l2",
    steps: int = 100,
    *,
    eps: float | None = None,
    mask: ArrayLike | None = None,
    max_queries: int | None = None,
    seed: int = 0,
) -> AttackResult:
    """Look for the smallest perturbation that changes the class.

    Parameters
    ----------
    model, X, y, mask, max_queries
        As in `fgm`.
    norm
        ``"l0"`` (how many features change), ``"l1"``, ``"l2"`` or ``"linf"``.
    steps
        Most gradient steps per sample, at least 1; fewer where ``max_queries`` allows no more.
    eps
        If given, only points within this distance count, and a sample's search ends at the first.
    seed
        Only names the result.

    Notes
    -----
    Pintor et al. 2021. The loss is the lead of the attacked class in logits. While a point is right
    the ball grows (at first to the boundary of the linearised model), while it is wrong it shrinks
    below the nearest wrong point so far; the step and the change of the ball fall along a cosine.
    At the end the line from the sample to the nearest point is bisected; for l0 single changes are
    taken back where they are not needed. A step costs one forward and one gradient query; the first
    fall, and each point that ends as the nearest, is asked again.

    >>> from fireassay.attacks.line_model import line_model
    >>> model = line_model(0.5, features=2)
    >>> fmn(model, [[0.45, 0.2], [0.3, 0.2]], [0, 0]).distance.round(2).tolist()
    [0.05, 0.2]
    >>> fmn(model, [[0.45, 0.2], [0.3, 0.2]], [0, 0], norm="l0").distance.tolist()
    [1.0, 1.0]
    """
    steps = check_integer(steps, "steps", low=1)
    target = AttackedModel(
        "fmn", model, X, y, norm=norm, seed=seed, max_queries=max_queries, eps=eps, mask=mask,
        needs_gradients=True,
    )  # fmt: skip
    _Search(target, steps).run()
    return target.result()


class _Search:
    """For each sample the ball, the point in it, and the nearest point that seems wrong."""

    def __init__(self, target: AttackedModel, steps: int) -> None:
        self.target = target
        # One query to confirm the last point must be left.
        self.steps = int(min(steps, max(target.limit - 2, 0)))
        self.points = target.original.copy()
        self.radius = np.full(target.n, np.inf)
        self.nearest = np.full(target.n, np.inf)
        self.candidates = target.original.copy()

    def run(self) -> None:
        target = self.target
        rows = target.begin(np.arange(target.n))
        everyone = rows
        for step in range(self.steps):
            fell = (target.status[rows] != NOT_FOUND) & np.isfinite(target.eps)
            rows = rows[(target.room(rows) >= 2) & ~fell]
            if not len(rows):
                break
            rows = self._step(rows, step)
        self._finish(everyone)

    def _step(self, rows: Index, step: int) -> Index:
        """One gradient step; returns the samples that have somewhere to go."""
        target = self.target
        logits, slopes = target.score_gradient(
            self.points[rows], rows, target.goal[rows, None], margin
        )
        wrong = target.seems_wrong(logits, rows)
        away = target.distances(self.points[rows], rows)
        self._note(rows[wrong], away[wrong])
        losses = -margin(logits, target.goal[rows, None])[0]
        # Where the loss is flat there is no way on.
        steep = slopes.any(axis=1)
        rows, wrong, away, losses = rows[steep], wrong[steep], away[steep], losses[steep]
        slopes = slopes[steep].astype(np.float64)
        self._resize(rows, wrong, away, losses, slopes, step)
        size = _cosine(_FIRST_SIZE, _LAST_SIZE, step, self.steps)
        # Few features, far: of l0 the steepest one goes the whole length of the step.
        scale = length(slopes, "linf" if target.norm == "l0" else "l2")
        ahead = self.points[rows] + size * slopes / np.maximum(scale, 1e-300)[:, None]
        # What the bounds do not allow must not take the place of what they do.
        moves = target.inside(ahead, rows).astype(np.float64) - target.original[rows]
        moves = project(moves, target.norm, self.radius[rows])
        self.points[rows] = target.inside(target.original[rows] + moves, rows)
        return np.asarray(rows)

    def _note(self, rows: Index, away: Vector) -> None:
        """Keep the nearest points that seem wrong; a sample's first one is asked about now."""
        closer = away < self.nearest[rows]
        rows, away = rows[closer], away[closer]
        self.nearest[rows], self.candidates[rows] = away, self.points[rows]
        first = rows[(self.target.status[rows] == NOT_FOUND) & (self.target.room(rows) >= 1)]
        first = first[self.nearest[first] <= self.target.eps]
        self.target.check(self.points[first], first)

    def _resize(
        self, rows: Index, wrong: NDArray[np.bool_], away: Vector, losses: Vector,
        slopes: Vector, step: int,
    ) -> None:  # fmt: skip
        change = _cosine(_FIRST_CHANGE, _LAST_CHANGE, step, self.steps)
        radius, nearest = self.radius[rows], self.nearest[rows]
        least = 1.0 if self.target.norm == "l0" else 0.0
        shrunk = np.minimum(np.minimum(radius * (1.0 - change), radius - least), nearest)
        dual = np.maximum(length(slopes, _DUAL[self.target.norm]), 1e-12)
        linear = _BEYOND * (away + np.maximum(losses / dual, least))
        grown = np.where(
            np.isinf(nearest), linear, np.maximum(radius * (1.0 + change), radius + least)
        )
        found = np.where(wrong, np.where(np.isinf(radius), away, shrunk), grown)
        if least:
            found = np.maximum(np.floor(found), 1.0)
        self.radius[rows] = np.maximum(found, 0.0)

    def _finish(self, rows: Index) -> None:
        """Ask about the nearest points, then bisect the line to the sample."""
        target = self.target
        rows = rows[np.isfinite(self.nearest[rows]) & (target.room(rows) >= 1)]
        better = rows[self.nearest[rows] < target.distance[rows]]
        target.check(self.candidates[better], better)
        rows = rows[np.isfinite(target.distance[rows])]
        if target.norm == "l0":
            _take_back(target, rows)
        else:
            along_line(target, rows, target.best[rows], _LINE_TOLERANCE, first=0.95)


def _take_back(target: AttackedModel, rows: Index) -> None:
    """Undo changes of single features, the smallest first, as long as one is not needed.

    In each round some changes of every sample are undone, each by itself, and asked at once.
    """
    for _ in range(_MOST_ROUNDS):
        moves = np.abs(target.best[rows].astype(np.float64) - target.original[rows])
        changed = (moves > 0).sum(axis=1)
        tried = np.minimum(np.minimum(changed, _TRIED_AT_ONCE), target.room(rows))
        tried[changed < 2] = 0  # the sample itself is right
        if not tried.any():
            return
        smallest = np.argsort(np.where(moves > 0, moves, np.inf), axis=1, kind="stable")
        owner = np.repeat(np.arange(len(rows)), tried)
        place = np.arange(len(owner)) - np.repeat(np.cumsum(tried) - tried, tried)
        feature = smallest[owner, place]
        proposals = target.best[rows[owner]]
        proposals[np.arange(len(owner)), feature] = target.original[rows[owner], feature]
        before = target.distance[rows]
        target.check(proposals, rows[owner])
        rows = rows[target.distance[rows] < before]


def _cosine(first: float, last: float, step: int, steps: int) -> float:
    """From the first to the last value along half a cosine."""
    return last + (first - last) * 0.5 * (1.0 + float(np.cos(np.pi * step / max(steps, 1))))
