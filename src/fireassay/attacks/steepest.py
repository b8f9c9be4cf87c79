"""Steepest ascent of the loss in a ball around each sample: the loop of fgm, bim and pgd."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.attacks.attacked_model import AttackedModel, Index
from fireassay.attacks.losses import log_odds
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
    one forward and one gradient query, and a sample that falls one more: at the end
    `AttackedModel.check` asks again, through the same call as a user would, about all that seem
    wrong and about the last points of the others. The loss is cross-entropy as log-odds: the same
    direction, but it does not vanish where the softmax saturates. ``points`` has one row per sample
    of ``target``.
    """
    climb = _Climb(target, points, rows, radius)
    for step, size in enumerate(step_sizes):
        able = target.room(climb.rows) >= 1
        climb.unasked.append(climb.rows[~able])
        climb.keep(able)
        if not len(climb.rows):
            break
        logits, gradient = target.score_gradient(
            climb.here, climb.rows, target.goal[climb.rows, None], log_odds
        )
        wrong = target.seems_wrong(logits, climb.rows)
        if step == 0 and from_samples:
            target.begin_with(logits, climb.rows)
        else:
            target.stood(climb.rows[~wrong])
            climb.unasked.append(climb.rows[wrong])
        # Where the loss is flat there is no way up: what is left is better spent elsewhere.
        standing = ~wrong & gradient.any(axis=1)
        climb.keep(standing)
        climb.move(gradient if standing.all() else gradient[standing], float(size))
    climb.finish()


class _Climb:
    """The samples that still stand, and where they are.

    ``points`` is up to date for samples that left; ``here`` for those in ``rows``. ``unasked`` has
    samples that left at a point that seems wrong, or that nothing is known of. Of linf the ball is
    a box in the samples' own type: a step is a sum and a clip in place.
    """

    def __init__(
        self, target: AttackedModel, points: NDArray[Any], rows: Index, radius: float
    ) -> None:
        self.target, self.points, self.radius = target, points, radius
        self.rows = self.everyone = rows
        self.here = points[rows]
        self.box = target.box(rows, radius) if target.norm == "linf" else None
        self.unasked: list[Index] = []

    def keep(self, standing: NDArray[np.bool_]) -> None:
        """Go on with these alone; the others stay where they are."""
        if standing.all():
            return
        left = ~standing
        self.points[self.rows[left]] = self.here[left]
        self.rows, self.here = self.rows[standing], self.here[standing]
        if self.box is not None:
            self.box = self.box[0][standing], self.box[1][standing]

    def move(self, gradient: NDArray[Any], size: float) -> None:
        """One step for everyone."""
        target = self.target
        if self.box is not None:
            step = np.sign(gradient, out=gradient)
            step *= gradient.dtype.type(size)
            self.here += step
            clipped(self.here, *self.box)
            return
        low, high = target.low.astype(np.float64), target.high.astype(np.float64)
        step = steepest_step(gradient, target.norm, size, self.here.astype(np.float64), low, high)
        self.here = target.within(self.here + step, self.rows, self.radius)

    def finish(self) -> None:
        """Ask about what seems wrong and about the last points; note where the others ended."""
        target = self.target
        self.points[self.rows] = self.here
        last = np.sort(np.concatenate([self.rows, *self.unasked]))
        asked = last[target.room(last) >= 1]
        target.check(self.points[asked], asked)
        # A point that nobody could ask about is not returned: it may be wrong.
        standing = np.setdiff1d(self.everyone, np.setdiff1d(last, asked))
        standing = standing[target.status[standing] == NOT_FOUND]
        target.keep_last(self.points[standing], standing)


def clipped(points: NDArray[Any], low: NDArray[Any], high: NDArray[Any]) -> NDArray[Any]:
    """The same array, clipped in place (faster than `numpy.clip` with arrays as ends)."""
    np.maximum(points, low, out=points)
    np.minimum(points, high, out=points)
    return points


def falling_sizes(eps: float, steps: int, step_size: float | None) -> NDArray[np.float64]:
    """Sizes of the steps: all ``step_size`` if given, otherwise from ``eps`` down to a tenth.

    Long steps first reach the far side of the ball, short ones at the end settle.
    """
    if step_size is not None:
        return np.full(steps, check_real(step_size, "step_size", low=0.0))
    return np.asarray(eps * np.geomspace(1.0, 0.1, steps))
