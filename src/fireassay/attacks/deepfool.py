"""DeepFool: step to the nearest class boundary of the linearised model until it is crossed."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.attacks.attacked_model import AttackedModel, Index
from fireassay.attacks.bisection import along_line
from fireassay.attacks.losses import margin
from fireassay.attacks.norms import length
from fireassay.attacks.result import AttackResult
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

    Parameters
    ----------
    model, X, y, mask, max_queries
        As in `fgm`.
    norm
        ``"l2"`` or ``"linf"``.
    steps
        Most steps per sample, at least 1.
    n_classes
        Boundaries to the most likely classes are considered (with the attacked one), at least 2.
    overshoot
        How far each step goes beyond the boundary, as a share of the perturbation, >= 0.
    eps
        If given, only points within this distance count, and a perturbation of twice this distance
        ends a sample's search.
    seed
        Only names the result.

    Notes
    -----
    Moosavi-Dezfooli et al. 2016. With the attacked class k and another class j, the linearised
    boundary lies |f_j − f_k| / ‖∇f_j − ∇f_k‖_q away, 1/p + 1/q = 1. The first step looks at all
    ``n_classes``, the others at the four that were nearest then: so many gradient queries with
    their forward query, and one more forward query to check the new point. From the first wrong
    point the line to the sample is bisected, so that a sample ends on the boundary (within 1 %),
    and twice the way from the sample is turned into the boundary's normal there, if that is nearer.

    >>> from fireassay.attacks.line_model import line_model
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
    rows = rows[target.room(rows) >= 1]
    scores = target.probabilities(target.original[rows], rows)
    columns = np.zeros((target.n, min(n_classes, scores.shape[1])), dtype=np.int64)
    standing = target.begin_with(scores, rows)
    columns[rows] = _most_likely(scores, target.goal[rows], columns.shape[1])
    rows = standing
    points = target.original.copy()
    crossed = np.zeros(target.n, dtype=np.bool_)
    for step in range(steps):
        # A step needs a gradient and a check; without room for both it would be wasted.
        rows = rows[target.room(rows) >= 2]
        if not len(rows):
            break
        logits, gradients = target.logit_gradients(points[rows], rows, columns[rows])
        blocked = _blocked(target, points[rows])
        moved = (points[rows].astype(np.float64) - target.original[rows]) / (1 + overshoot)
        nearest, ranks = _to_nearest_boundary(
            target.norm, logits, gradients, columns[rows], blocked
        )
        points[rows] = target.inside(
            target.original[rows] + (1 + overshoot) * (moved + nearest), rows
        )
        wrong = target.check(points[rows], rows)
        crossed[rows[wrong]] = True
        if step == 0:
            others = np.take_along_axis(columns[rows][:, 1:], ranks[:, :_NEAREST], axis=1)
            kept = np.zeros((target.n, 1 + others.shape[1]), dtype=np.int64)
            kept[rows] = np.column_stack([columns[rows][:, 0], others])
            columns = kept
        away = target.distances(points[rows], rows)
        rows = rows[~wrong & (away <= 2 * target.eps)]
    rows = np.flatnonzero(crossed & (target.room(np.arange(target.n)) >= 1))
    points[rows] = along_line(target, rows, points[rows], _LINE_TOLERANCE, first=0.9)
    for _ in range(_TURNS):
        rows = rows[target.room(rows) >= 2]
        points[rows] = _turned(target, rows, points[rows])


def _turned(target: AttackedModel, rows: Index, points: NDArray[Any]) -> NDArray[Any]:
    """Go from the sample along the boundary's normal at these points, as far as they are.

    Were the boundary flat, its nearest point would lie there. Returns the nearer points that are
    wrong, and these points elsewhere.
    """
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
        open_ = open_[(target.room(rows[open_]) >= 1) & (longer * size[open_] < before[open_])]
        ends = samples[open_] + longer * size[open_, None] * unit[open_]
        proposals = target.inside(ends, rows[open_])
        wrong = target.check(proposals, rows[open_])
        best[open_[wrong]], nearer[open_[wrong]] = proposals[wrong], True
        open_ = open_[~wrong]
    found = np.flatnonzero(nearer)
    best[found] = along_line(target, rows[found], best[found], _LINE_TOLERANCE, first=0.96)
    return best


def _most_likely(scores: NDArray[np.float64], goal: Index, count: int) -> Index:
    """The attacked class first, then the others by falling score."""
    ranked = scores.copy()
    ranked[np.arange(len(goal)), goal] = np.inf
    return np.argsort(-ranked, axis=1, kind="stable")[:, :count]


def _blocked(target: AttackedModel, points: NDArray[Any]) -> NDArray[np.int8]:
    """−1 where a feature cannot fall, +1 where it cannot rise, 0 where it can move freely."""
    too_high, too_low = points >= target.high, points <= target.low
    return np.asarray(np.subtract(too_high, too_low, dtype=np.int8))


def _to_nearest_boundary(
    norm: str,
    logits: NDArray[np.float64],
    gradients: NDArray[Any],
    columns: Index,
    blocked: NDArray[np.int8],
) -> tuple[NDArray[np.float64], Index]:
    """The shortest step to a boundary of the linearised model, never of length zero.

    Also the other classes, nearest first, as positions in ``columns`` less one. A feature at its
    bound takes no part in a step that would push it further out.
    """
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
