"""DeepFool: step to the nearest class boundary of the linearised model until it is crossed."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.attacks.attacked_model import AttackedModel, Index
from fireassay.attacks.norms import length
from fireassay.attacks.result import AttackResult
from fireassay.core.errors import ParameterError
from fireassay.core.validation import check_integer, check_real


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
        How far to go beyond the boundary, as a share of the perturbation, >= 0.
    eps
        If given, only points within this distance count, and a perturbation beyond it ends a
        sample's search.
    seed
        Only names the result.

    Notes
    -----
    Moosavi-Dezfooli et al. 2016. With the attacked class k and another class j, the linearised
    boundary lies |f_j − f_k| / ‖∇f_j − ∇f_k‖_q away, 1/p + 1/q = 1. A step costs ``n_classes``
    gradient queries with their forward query, and one more forward query to check the new point.

    >>> import torch
    >>> from fireassay import as_classifier
    >>> net = torch.nn.Linear(1, 2)  # the boundary is put at 0.5
    >>> cut = {"weight": torch.tensor([[-1.0], [1.0]]), "bias": torch.tensor([0.5, -0.5])}
    >>> _ = net.load_state_dict(cut)
    >>> model = as_classifier(net, output="logits", classes=[0, 1], bounds=(0, 1))
    >>> deepfool(model, [[0.45], [0.3]], [0, 0]).distance.round(3).tolist()  # 2 % beyond it
    [0.051, 0.204]
    """
    if norm not in ("l2", "linf"):
        raise ParameterError("The 'norm' of deepfool must be 'l2' or 'linf'.", got=repr(norm))
    steps = check_integer(steps, "steps", low=1)
    n_classes = check_integer(n_classes, "n_classes", low=2)
    overshoot = check_real(overshoot, "overshoot", low=0.0, inclusive="low")
    eps = None if eps is None else check_real(eps, "eps", low=0.0)
    target = AttackedModel(
        "deepfool", model, X, y, norm=norm, seed=seed, max_queries=max_queries, eps=eps, mask=mask,
        needs_gradients=True,
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
    for _ in range(steps):
        # A step needs a gradient and a check; without room for both it would be wasted.
        rows = rows[target.room(rows) >= 2]
        if not len(rows):
            return
        logits, gradients = target.logit_gradients(points[rows], rows, columns[rows])
        blocked = _blocked(target, points[rows])
        moved = (points[rows].astype(np.float64) - target.original[rows]) / (1 + overshoot)
        moved += _to_nearest_boundary(target.norm, logits, gradients, columns[rows], blocked)
        points[rows] = target.inside(target.original[rows] + (1 + overshoot) * moved, rows)
        wrong = target.check(points[rows], rows)
        away = length(points[rows].astype(np.float64) - target.original[rows], target.norm)
        rows = rows[~wrong & (away <= target.eps)]


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
) -> NDArray[np.float64]:
    """The shortest step to a boundary of the linearised model, never of length zero.

    A feature at its bound takes no part in a step that would push it further out.
    """
    n, m, d = gradients.shape
    slopes = (gradients[:, 1:] - gradients[:, :1]).astype(np.float64)
    slopes[np.sign(slopes) * blocked[:, None] > 0] = 0.0
    chosen = np.take_along_axis(logits, columns, axis=1)
    gaps = np.abs(chosen[:, 1:] - chosen[:, :1])
    dual = length(slopes.reshape(n * (m - 1), d), "l1" if norm == "linf" else "l2")
    dual = np.maximum(dual.reshape(n, m - 1), 1e-12)
    nearest = (gaps / dual).argmin(axis=1)
    take = np.arange(n)
    slope, dual, gap = slopes[take, nearest], dual[take, nearest], gaps[take, nearest]
    # A point on the boundary itself still has to cross it.
    distance = (gap + 1e-6 * (1 + gap)) / dual
    unit = np.sign(slope) if norm == "linf" else slope / dual[:, None]
    return np.asarray(distance[:, None] * unit)
