"""Auto-PGD: gradient steps with momentum whose size halves by itself; several losses."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.attacks.attacked_model import AttackedModel, Index
from fireassay.attacks.gradient_steps import random_points
from fireassay.attacks.losses import Loss, confirm, log_odds, logit_ratio, rivals, target_ratio
from fireassay.attacks.norms import steepest_step
from fireassay.attacks.result import NOT_FOUND, AttackResult
from fireassay.core.arrays import AnyArray, FloatArray
from fireassay.core.validation import check_choice, check_integer

LOSSES: dict[str, Loss] = {"ce": log_odds, "dlr": logit_ratio, "targeted": target_ratio}
_MOMENTUM = 0.75
_ENOUGH_RISES = 0.75
_LEAST_STEPS = 20  # toward a target
Matrix = FloatArray


def apgd(
    model: Any,
    X: ArrayLike,
    y: ArrayLike | None = None,
    norm: str = "linf",
    eps: float = 0.1,
    steps: int = 100,
    *,
    loss: str = "dlr",
    restarts: int = 1,
    mask: ArrayLike | None = None,
    max_queries: int | None = None,
    seed: int = 0,
) -> AttackResult:
    """Search the ball of radius ``eps`` with steps that shrink when they stop paying.

    Args:
        model, X, y, eps, mask, max_queries: As in `fgm`.
        norm: ``"linf"`` or ``"l2"``.
        steps: Most steps per start, at least 1; fewer where ``max_queries`` allows no more.
        loss: ``"ce"`` (cross-entropy, as log-odds), ``"dlr"`` (difference of logits ratio) or
            ``"targeted"`` (the same toward one class: the likeliest other first, then the next).
        restarts: Starts per sample, at least 1; samples that fell are left alone. Of ``"targeted"``
            each start has the next target, and they share the steps that ``max_queries`` allows: at
            least twenty each, so that fewer targets are tried where it allows little.
        seed: Of the starts.

    Croce and Hein 2020, Algorithm 1: first step 2 eps, momentum 0.75, and at checkpoints of
    falling distance a step is halved, from the best point so far, if fewer than 75 % of the steps
    raised the loss or neither step nor best loss has changed since the last checkpoint. A step
    costs one forward and one gradient query, a fall one forward query more.

    >>> from fireassay.attacks.inputs import line_model
    >>> model = line_model(0.5)
    >>> apgd(model, [[0.45], [0.3]], [0, 0], eps=0.1).success.tolist()
    [True, False]
    """
    steps = check_integer(steps, "steps", low=1)
    restarts = check_integer(restarts, "restarts", low=1)
    function = LOSSES[check_choice(loss, "loss", tuple(LOSSES))]
    target = AttackedModel(
        "apgd", model, X, y, norm=norm, seed=seed, max_queries=max_queries, eps=eps, mask=mask,
        needs_gradients=True, norms=("l2", "linf"),
    )  # fmt: skip
    asked = np.arange(target.n)
    asked = asked[target.queries_left(asked) >= 1]
    scores = target.probabilities(target.original[asked], asked)
    rows = target.begin_with(scores, asked)
    if not len(rows):
        return target.result()
    scores = scores[np.isin(asked, rows)]
    generators = target.generators(rows)
    others = np.argsort(-rivals(scores, target.goal[rows]), axis=1, kind="stable")[:, :-1]
    starts = restarts
    if loss == "targeted":
        starts = min(restarts, others.shape[1], max(target.limit // _LEAST_STEPS, 1))
    steps = min(steps, max((target.limit - 1) // starts, 1))
    for start in range(starts):
        able = target.queries_left(rows) >= 1
        standing = np.flatnonzero((target.status[rows] == NOT_FOUND) & able)
        rows, others = rows[standing], others[standing]
        generators = [generators[i] for i in standing]
        if not len(rows):
            break
        columns = np.column_stack([target.goal[rows], others[:, start % others.shape[1]]])
        points = random_points(target, rows, generators)
        _climb(target, points, rows, columns, steps, function)
    return target.result()


def _climb(
    target: AttackedModel, points: AnyArray, rows: Index, columns: Index, steps: int, loss: Loss
) -> None:
    """One start of Algorithm 1 for samples that stand."""
    before = best = points
    values = best_values = np.full(len(rows), -np.inf)
    slopes = best_slopes = np.zeros(points.shape)
    sizes = np.full(len(rows), 2.0 * target.eps)
    rises = np.zeros(len(rows), dtype=np.int64)
    at_last = (sizes.copy(), best_values.copy())
    checkpoints = _checkpoints(steps)
    since = 0
    for step in range(steps):
        logits, slopes = target.score_gradient(points, rows, columns, loss)
        found = loss(logits, columns)[0]
        standing = confirm(target, points, rows, target.seems_wrong(logits, rows))
        rises = rises + (found > values)
        improved = found > best_values
        best = np.where(improved[:, None], points, best)
        best_slopes = np.where(improved[:, None], slopes, best_slopes)
        best_values, values = np.where(improved, found, best_values), found
        if step in checkpoints:
            slow = rises < _ENOUGH_RISES * (step - since)
            stuck = (at_last[0] == sizes) & (at_last[1] == best_values)
            at_last = (sizes.copy(), best_values.copy())
            halve = slow | stuck
            sizes = np.where(halve, sizes / 2, sizes)
            points = np.where(halve[:, None], best, points)
            slopes = np.where(halve[:, None], best_slopes, slopes)
            values = np.where(halve, best_values, values)
            rises, since = np.zeros_like(rises), step
        # Where the loss is flat there is no way up: what is left is better spent elsewhere.
        kept = np.flatnonzero(standing & (target.queries_left(rows) >= 1) & slopes.any(axis=1))
        if not len(kept) or step == steps - 1:
            return
        rows, columns, points, before = rows[kept], columns[kept], points[kept], before[kept]
        best, best_slopes, slopes = best[kept], best_slopes[kept], slopes[kept]
        sizes, rises = sizes[kept], rises[kept]
        values, best_values = values[kept], best_values[kept]
        at_last = (at_last[0][kept], at_last[1][kept])
        points, before = _moved(target, points, before, rows, slopes, sizes, step > 0), points


def _moved(
    target: AttackedModel, points: AnyArray, before: AnyArray, rows: Index,
    slopes: AnyArray, sizes: Matrix, momentum: bool,
) -> AnyArray:  # fmt: skip
    low, high = target.low.astype(np.float64), target.high.astype(np.float64)
    here = points.astype(np.float64)
    unit = steepest_step(slopes, target.norm, 1.0, here, low, high)
    ahead = target.within(here + sizes[:, None] * unit, rows, target.eps)
    if not momentum:
        return ahead
    mixed = here + _MOMENTUM * (ahead - here) + (1.0 - _MOMENTUM) * (here - before)
    return target.within(mixed, rows, target.eps)


def _checkpoints(steps: int) -> set[int]:
    """Steps at which sizes may be halved: 22 % on, then at distances that fall by 3 % to 6 %."""
    shares = [0.0, 0.22]
    while shares[-1] < 1.0:
        shares.append(shares[-1] + max(shares[-1] - shares[-2] - 0.03, 0.06))
    return {int(np.ceil(share * steps)) for share in shares[1:]}
