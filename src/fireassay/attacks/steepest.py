"""Steepest ascent of the loss in a ball around each sample: the loop of fgm, bim and pgd."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.attacks.attacked_model import AttackedModel, Index
from fireassay.attacks.losses import log_odds
from fireassay.attacks.margins import confirm
from fireassay.attacks.norms import steepest_step
from fireassay.attacks.result import NOT_FOUND
from fireassay.core.validation import check_real


def ascend(
    target: AttackedModel,
    points: NDArray[Any],
    rows: Index,
    radius: float,
    step_sizes: NDArray[np.float64],
    *,
    from_samples: bool = True,
) -> None:
    """A step of each size for each of these samples; one that falls takes no further step.

    A gradient's forward pass already shows the class of the point it is taken at, so a step costs
    one forward and one gradient query, and a sample that falls one more: `AttackedModel.check` asks
    again, through the same call as a user would. The loss is cross-entropy as log-odds: the same
    direction, but it does not vanish where the softmax saturates. ``points`` has one row per sample
    of ``target``.
    """
    for step, size in enumerate(step_sizes):
        rows = rows[target.room(rows) >= 1]
        if not len(rows):
            return
        logits, gradient = target.score_gradient(
            points[rows], rows, target.goal[rows, None], log_odds
        )
        wrong = target.seems_wrong(logits, rows)
        if step == 0 and from_samples:
            target.begin_with(logits, rows)
            standing = ~wrong
        else:
            standing = confirm(target, points[rows], rows, wrong)
        # Where the loss is flat there is no way up: what is left is better spent elsewhere.
        standing &= gradient.any(axis=1)
        rows, gradient = rows[standing], gradient[standing]
        move = steepest_step(
            gradient, target.norm, float(size), points[rows].astype(np.float64),
            target.low.astype(np.float64), target.high.astype(np.float64),
        )  # fmt: skip
        points[rows] = target.within(points[rows] + move, rows, radius)
    rows = rows[target.room(rows) >= 1]
    target.check(points[rows], rows)
    standing = target.status[rows] == NOT_FOUND
    target.keep_last(points[rows[standing]], rows[standing])


def falling_sizes(eps: float, steps: int, step_size: float | None) -> NDArray[np.float64]:
    """Sizes of the steps: all ``step_size`` if given, otherwise from ``eps`` down to a tenth.

    Long steps first reach the far side of the ball, short ones at the end settle.
    """
    if step_size is not None:
        return np.full(steps, check_real(step_size, "step_size", low=0.0))
    return np.asarray(eps * np.geomspace(1.0, 0.1, steps))
