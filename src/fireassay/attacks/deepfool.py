"""DeepFool: step to the nearest class boundary of the linearised model until it is crossed."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.attacks.attacked_model import AttackedModel, Index
from fireassay.attacks.line_search import along_line
from fireassay.attacks.losses import margin
from fireassay.attacks.norms import length, project
from fireassay.attacks.result import NOT_FOUND, AttackResult
from fireassay.core.arrays import AnyArray, BoolArray, FloatArray
from fireassay.core.validation import check_integer, check_real

_NEAREST = 4  # boundaries that later steps look at
_LINE_TOLERANCE = 0.01
_TURNS, _LONGER = 2, (1.02, 1.1)


def deepfool(
    model: Any,
    X: ArrayLike,
    y: ArrayLike | None = None,
    norm: str = "l2",
    steps: int = 50,
    n_classes: int = 10,
    overshoot: float = 0.02,
    *,
    eps: float | None = None,
    mask: ArrayLike | None = None,
    max_queries: int | None = None,
    seed: int = 0,
) -> AttackResult:
    """Look for a small perturbation that changes the class.

    Args:
        model, X, y, mask, max_queries, seed: As in `fgm`.
        norm: ``"l2"`` or ``"linf"``.
        steps: Most steps per sample, at least 1.
        n_classes: Boundaries to the most likely classes are considered (with the attacked one), at
            least 2.
        overshoot: How far each step goes beyond the boundary, as a share of the perturbation, >= 0.
        eps: If given, only points within this distance count, and a perturbation of twice this
            distance ends a sample's search.

    Moosavi-Dezfooli et al. 2016. With the attacked class k and another class j, the linearised
    boundary lies |f_j − f_k| / ‖∇f_j − ∇f_k‖_q away, 1/p + 1/q = 1. The first step looks at all
    ``n_classes``, the others at the four that were nearest then: so many gradient queries with
    their forward query, and one more forward query to check the new point. From the first wrong
    point the line to the sample is bisected, so that a sample ends on the boundary (within 1 %),
    and twice the way from the sample is turned into the boundary's normal there, if that is nearer.

    >>> from fireassay.attacks.inputs import line_model
    >>> model = line_model(0.5)
    >>> deepfool(model, [[0.45], [0.3]], [0, 0]).distance.round(2).tolist()
    [0.05, 0.2]
    """
    steps = check_integer(steps, "steps", low=1)
    n_classes = check_integer(n_classes, "n_classes", low=2)
    overshoot = check_real(overshoot, "overshoot", low=0.0, inclusive="low")
    target = AttackedModel(
        "deepfool", model, X, y, norm=norm, seed=seed, max_queries=max_queries, eps=eps, mask=mask,
        needs_gradients=True, norms=("l2", "linf"),
    )  # fmt: skip
    _search(target, steps, n_classes, overshoot)
    return target.result()


def _search(target: AttackedModel, steps: int, n_classes: int, overshoot: float) -> None:
    rows = np.arange(target.n)
    rows = rows[target.queries_left(rows) >= 1]
    scores = target.probabilities(target.original[rows], rows)
    columns = np.zeros((target.n, min(n_classes, scores.shape[1])), dtype=np.int64)
    standing = target.begin_with(scores, rows)
    columns[rows] = _most_likely(scores, target.goal[rows], columns.shape[1])
    rows = standing
    points = target.original.copy()
    crossed = np.zeros(target.n, dtype=np.bool_)
    for step in range(steps):
        # A step needs a gradient and a check; without room for both it would be wasted.
        rows = rows[target.queries_left(rows) >= 2]
        if not len(rows):
            break
        logits, gradients = target.logit_gradients(points[rows], rows, columns[rows])
        held = _blocked(target, points[rows])
        moved = (points[rows].astype(np.float64) - target.original[rows]) / (1 + overshoot)
        nearest, ranks = _to_nearest_boundary(target.norm, logits, gradients, columns[rows], held)
        ends = target.original[rows] + (1 + overshoot) * (moved + nearest)
        points[rows] = target.inside(ends, rows)
        wrong = target.check(points[rows], rows)
        crossed[rows[wrong]] = True
        if step == 0:
            others = np.take_along_axis(columns[rows][:, 1:], ranks[:, :_NEAREST], axis=1)
            kept = np.zeros((target.n, 1 + others.shape[1]), dtype=np.int64)
            kept[rows] = np.column_stack([columns[rows][:, 0], others])
            columns = kept
        away = target.distances(points[rows], rows)
        rows = rows[~wrong & (away <= 2 * target.eps)]
    rows = np.flatnonzero(crossed & (target.queries_left(np.arange(target.n)) >= 1))
    points[rows] = along_line(target, rows, points[rows], _LINE_TOLERANCE, first=0.9)
    for _ in range(_TURNS):
        rows = rows[target.queries_left(rows) >= 2]
        points[rows] = _turned(target, rows, points[rows])


def _turned(target: AttackedModel, rows: Index, points: AnyArray) -> AnyArray:
    """Points turned into the boundary's normal, kept where nearer and still wrong."""
    if not len(rows):
        return points
    _, slopes = target.score_gradient(points, rows, target.goal[rows, None], margin)
    slopes = slopes.astype(np.float64)
    slopes[np.sign(slopes) * _blocked(target, target.original[rows]) > 0] = 0.0
    samples = target.original[rows].astype(np.float64)
    best, before = points.copy(), target.distances(points, rows)
    reached = ((points - samples) * slopes).sum(axis=1)
    if target.norm == "linf":
        unit = np.sign(slopes)
        size = reached / np.maximum(length(slopes, "l1"), 1e-300)
    else:
        unit = slopes / np.maximum(length(slopes, "l2"), 1e-300)[:, None]
        size = reached / np.maximum(length(slopes, "l2"), 1e-300)
    open_ = np.flatnonzero((size > 0) & (size < before))
    nearer = np.zeros(len(rows), dtype=np.bool_)
    for longer in _LONGER:
        able = target.queries_left(rows[open_]) >= 1
        open_ = open_[able & (longer * size[open_] < before[open_])]
        ends = samples[open_] + longer * size[open_, None] * unit[open_]
        proposals = target.inside(ends, rows[open_])
        wrong = target.check(proposals, rows[open_])
        best[open_[wrong]], nearer[open_[wrong]] = proposals[wrong], True
        open_ = open_[~wrong]
    found = np.flatnonzero(nearer)
    best[found] = along_line(target, rows[found], best[found], _LINE_TOLERANCE, first=0.96)
    return best


def _most_likely(scores: FloatArray, goal: Index, count: int) -> Index:
    """The attacked class first, then the others by falling score."""
    ranked = scores.copy()
    ranked[np.arange(len(goal)), goal] = np.inf
    return np.argsort(-ranked, axis=1, kind="stable")[:, :count]


def _blocked(target: AttackedModel, points: AnyArray) -> NDArray[np.int8]:
    """−1 where a feature cannot fall, +1 where it cannot rise, 0 where it can move freely."""
    too_high, too_low = points >= target.high, points <= target.low
    return np.asarray(np.subtract(too_high, too_low, dtype=np.int8))


def _to_nearest_boundary(
    norm: str, logits: FloatArray, gradients: AnyArray, columns: Index, blocked: NDArray[np.int8]
) -> tuple[FloatArray, Index]:
    """The shortest step to a linearised boundary, and the other classes, nearest first."""
    # Classes are positions in columns less one. A feature at its bound takes no part in a step that
    # would push the feature further out.
    n, m, d = gradients.shape
    slopes = (gradients[:, 1:] - gradients[:, :1]).astype(np.float64)
    slopes[np.sign(slopes) * blocked[:, None] > 0] = 0.0
    chosen = np.take_along_axis(logits, columns, axis=1)
    gaps = np.abs(chosen[:, 1:] - chosen[:, :1])
    dual = length(slopes.reshape(n * (m - 1), d), "l1" if norm == "linf" else "l2")
    dual = np.maximum(dual.reshape(n, m - 1), 1e-12)
    ranks = np.argsort(gaps / dual, axis=1, kind="stable")
    nearest = ranks[:, 0]
    take = np.arange(n)
    slope, dual, gap = slopes[take, nearest], dual[take, nearest], gaps[take, nearest]
    # A point on the boundary itself still has to cross it.
    distance = (gap + 1e-6 * (1 + gap)) / dual
    unit = np.sign(slope) if norm == "linf" else slope / dual[:, None]
    return np.asarray(distance[:, None] * unit), ranks


_FIRST_SIZE, _LAST_SIZE = 1.0, 0.01
_FIRST_CHANGE, _LAST_CHANGE = 0.05, 0.001
_DUAL = {"l0": "linf", "l1": "linf", "l2": "l2", "linf": "l1"}
_BEYOND = 1.02  # the boundary of the linearised model must be crossed
_MOST_ROUNDS, _TRIED_AT_ONCE = 8, 16
Vector = FloatArray


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

    Args:
        model, X, y, mask, max_queries, seed: As in `fgm`.
        norm: ``"l0"`` (how many features change), ``"l1"``, ``"l2"`` or ``"linf"``.
        steps: Most gradient steps per sample, at least 1, as far as ``max_queries`` allows.
        eps: If given, only points within this distance count; the first ends a sample's search.

    Pintor et al. 2021. The loss is the lead of the attacked class in logits. While a point is right
    the ball grows (at first to the boundary of the linearised model), while it is wrong it shrinks
    below the nearest wrong point so far; the step and the change of the ball fall along a cosine.
    At the end the line from the sample to the nearest point is bisected; for l0 single changes are
    taken back where they are not needed. A step costs one forward and one gradient query; the first
    fall, and each point that ends as the nearest, is asked again.

    >>> from fireassay.attacks.inputs import line_model
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
            rows = rows[(target.queries_left(rows) >= 2) & ~fell]
            if not len(rows):
                break
            rows = self._step(rows, step)
        self._finish(everyone)

    def _step(self, rows: Index, step: int) -> Index:
        """One gradient step; returns the samples that have somewhere to go."""
        target = self.target
        goal = target.goal[rows, None]
        logits, slopes = target.score_gradient(self.points[rows], rows, goal, margin)
        wrong = target.seems_wrong(logits, rows)
        away = target.distances(self.points[rows], rows)
        self._note(rows[wrong], away[wrong])
        losses = -margin(logits, goal)[0]
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
        target = self.target
        first = rows[(target.status[rows] == NOT_FOUND) & (target.queries_left(rows) >= 1)]
        first = first[self.nearest[first] <= target.eps]
        target.check(self.points[first], first)

    def _resize(
        self, rows: Index, wrong: BoolArray, away: Vector, losses: Vector,
        slopes: Vector, step: int,
    ) -> None:  # fmt: skip
        change = _cosine(_FIRST_CHANGE, _LAST_CHANGE, step, self.steps)
        radius, nearest = self.radius[rows], self.nearest[rows]
        least = 1.0 if self.target.norm == "l0" else 0.0
        shrunk = np.minimum(np.minimum(radius * (1.0 - change), radius - least), nearest)
        dual = np.maximum(length(slopes, _DUAL[self.target.norm]), 1e-12)
        linear = _BEYOND * (away + np.maximum(losses / dual, least))
        more = np.maximum(radius * (1.0 + change), radius + least)
        grown = np.where(np.isinf(nearest), linear, more)
        found = np.where(wrong, np.where(np.isinf(radius), away, shrunk), grown)
        if least:
            found = np.maximum(np.floor(found), 1.0)
        self.radius[rows] = np.maximum(found, 0.0)

    def _finish(self, rows: Index) -> None:
        """Ask about the nearest points, then bisect the line to the sample."""
        target = self.target
        rows = rows[np.isfinite(self.nearest[rows]) & (target.queries_left(rows) >= 1)]
        better = rows[self.nearest[rows] < target.distance[rows]]
        target.check(self.candidates[better], better)
        rows = rows[np.isfinite(target.distance[rows])]
        if target.norm == "l0":
            _take_back(target, rows)
        else:
            along_line(target, rows, target.best[rows], _LINE_TOLERANCE, first=0.95)


def _take_back(target: AttackedModel, rows: Index) -> None:
    """Undo changes of single features, smallest first, while the point stays wrong."""
    for _ in range(_MOST_ROUNDS):
        moves = np.abs(target.best[rows].astype(np.float64) - target.original[rows])
        changed = (moves > 0).sum(axis=1)
        tried = np.minimum(np.minimum(changed, _TRIED_AT_ONCE), target.queries_left(rows))
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
