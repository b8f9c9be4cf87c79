"""Gradient attacks in a ball: FGM, BIM and PGD."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.attacks.attacked_model import AttackedModel, Index
from fireassay.attacks.losses import log_odds
from fireassay.attacks.norms import steepest_step
from fireassay.attacks.result import NOT_FOUND, AttackResult
from fireassay.core.arrays import AnyArray, BoolArray, FloatArray
from fireassay.core.validation import check_integer, check_real


def ascend(
    target: AttackedModel,
    points: AnyArray,
    rows: Index,
    radius: float,
    step_sizes: FloatArray,
    *,
    from_samples: bool = True,
) -> None:
    """Take one gradient step of each size for these samples; a sample that falls takes no more."""
    # A gradient's forward pass shows the class of its point: a step costs one forward and one
    # gradient query. At the end `AttackedModel.check` asks again, as a user would, about points
    # that seem wrong and about last points. Log-odds point where cross-entropy does, and never
    # saturate.
    climb = _Climb(target, points, rows, radius)
    for step, size in enumerate(step_sizes):
        able = target.queries_left(climb.rows) >= 1
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
    """Samples that still stand, with their current points."""

    # ``points`` is current for samples that left, ``here`` for those in ``rows``; ``unasked`` left
    # at a point that seems wrong or was never asked. The ball of linf is a box: steps are clipped.

    def __init__(self, target: AttackedModel, points: AnyArray, rows: Index, radius: float) -> None:
        self.target, self.points, self.radius = target, points, radius
        self.rows = self.everyone = rows
        self.here = points[rows]
        self.box = target.box(rows, radius) if target.norm == "linf" else None
        self.unasked: list[Index] = []

    def keep(self, standing: BoolArray) -> None:
        """Go on with these alone; the others stay where they are."""
        if standing.all():
            return
        left = ~standing
        self.points[self.rows[left]] = self.here[left]
        self.rows, self.here = self.rows[standing], self.here[standing]
        if self.box is not None:
            self.box = self.box[0][standing], self.box[1][standing]

    def move(self, gradient: AnyArray, size: float) -> None:
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
        asked = last[target.queries_left(last) >= 1]
        target.check(self.points[asked], asked)
        # A point that nobody could ask about is not returned: it may be wrong.
        standing = np.setdiff1d(self.everyone, np.setdiff1d(last, asked))
        standing = standing[target.status[standing] == NOT_FOUND]
        target.keep_last(self.points[standing], standing)


def clipped(points: AnyArray, low: AnyArray, high: AnyArray) -> AnyArray:
    """The same array, clipped in place (faster than `numpy.clip` with arrays as ends)."""
    np.maximum(points, low, out=points)
    np.minimum(points, high, out=points)
    return points


def falling_sizes(eps: float, steps: int, step_size: float | None) -> FloatArray:
    """Step sizes: all ``step_size``, or falling from ``eps`` to a tenth of ``eps``."""
    if step_size is not None:
        return np.full(steps, check_real(step_size, "step_size", low=0.0))
    return np.asarray(eps * np.geomspace(1.0, 0.1, steps))


def fgm(
    model: Any,
    X: ArrayLike,
    y: ArrayLike | None = None,
    norm: str = "linf",
    eps: float = 0.1,
    *,
    mask: ArrayLike | None = None,
    max_queries: int | None = None,
    seed: int = 0,
) -> AttackResult:
    """Take one step of size ``eps`` that raises the loss most, and see whether the class changes.

    Args:
        model: A model with gradients, or anything `as_classifier` makes one of.
        X, y: Samples and their labels; without ``y`` the attack is away from the predicted class.
        norm: ``"l1"``, ``"l2"`` or ``"linf"``.
        eps: Length of the step in that norm, > 0.
        mask: Booleans, True for features that may change.
        max_queries: Hard limit of forward queries per sample (a whole attack takes 2).
        seed: Only names the result.

    Goodfellow et al. 2015. A sample costs one gradient and its forward pass, one prediction of the
    new point, and nothing more. For l1 the step is the exact optimum of the linearised loss inside
    the bounds; for l2 and linf the normalised or signed gradient.

    >>> from fireassay.attacks.inputs import line_model
    >>> model = line_model(0.5)
    >>> fgm(model, [[0.45], [0.3]], [0, 0], eps=0.1).success.tolist()
    [True, False]
    """
    target = AttackedModel(
        "fgm", model, X, y, norm=norm, seed=seed, max_queries=max_queries, eps=eps, mask=mask,
        needs_gradients=True, norms=("l1", "l2", "linf"),
    )  # fmt: skip
    rows = np.arange(target.n) if target.labelled else target.begin(np.arange(target.n))
    points = target.original.copy()
    ascend(target, points, rows, target.eps, np.array([target.eps]), from_samples=target.labelled)
    return target.result()


def bim(
    model: Any,
    X: ArrayLike,
    y: ArrayLike | None = None,
    norm: str = "linf",
    eps: float = 0.1,
    steps: int = 10,
    *,
    step_size: float | None = None,
    mask: ArrayLike | None = None,
    max_queries: int | None = None,
    seed: int = 0,
) -> AttackResult:
    """Up to ``steps`` steps of the fast gradient method, each pulled back into the ball.

    Args:
        model, X, y, norm, mask, max_queries, seed: As in `fgm`.
        eps: Radius of the ball, > 0.
        steps: Most steps per sample, at least 1; a sample that falls takes no further step.
        step_size: Length of every step; by default they fall from ``eps`` to a tenth of it.

    Kurakin et al. 2017.

    >>> from fireassay.attacks.inputs import line_model
    >>> model = line_model(0.5)
    >>> found = bim(model, [[0.45], [0.3]], [0, 0], eps=0.1, step_size=0.02)
    >>> found.success.tolist(), found.distance.round(2).tolist()  # the third step of 0.02 is enough
    ([True, False], [0.06, inf])
    """
    steps = check_integer(steps, "steps", low=1)
    target = AttackedModel(
        "bim", model, X, y, norm=norm, seed=seed, max_queries=max_queries, eps=eps, mask=mask,
        needs_gradients=True, norms=("l1", "l2", "linf"),
    )  # fmt: skip
    sizes = falling_sizes(target.eps, steps, step_size)
    rows = np.arange(target.n) if target.labelled else target.begin(np.arange(target.n))
    points = target.original.copy()
    ascend(target, points, rows, target.eps, sizes, from_samples=target.labelled)
    return target.result()


def pgd(
    model: Any,
    X: ArrayLike,
    y: ArrayLike | None = None,
    norm: str = "linf",
    eps: float = 0.1,
    steps: int = 10,
    *,
    step_size: float | None = None,
    restarts: int = 1,
    mask: ArrayLike | None = None,
    max_queries: int | None = None,
    seed: int = 0,
) -> AttackResult:
    """Search the ball of radius ``eps`` for a misclassified point, from random starts.

    Args:
        model, X, y, norm, eps, steps, step_size, mask, max_queries: As in `bim`.
        restarts: Starts per sample, at least 1. The first is random too; samples that fell are left
            alone.
        seed: Of the starts.

    Madry et al. 2018. The start is uniform in the linf ball; for l1 and l2 its direction is uniform
    and its radius as in the uniform ball. A sample's start depends on the seed and on the sample's
    content alone.

    >>> from fireassay.attacks.inputs import line_model
    >>> model = line_model(0.5)
    >>> pgd(model, [[0.45], [0.3]], [0, 0], eps=0.1, restarts=2).success.tolist()
    [True, False]
    """
    steps = check_integer(steps, "steps", low=1)
    restarts = check_integer(restarts, "restarts", low=1)
    target = AttackedModel(
        "pgd", model, X, y, norm=norm, seed=seed, max_queries=max_queries, eps=eps, mask=mask,
        needs_gradients=True, norms=("l1", "l2", "linf"),
    )  # fmt: skip
    sizes = falling_sizes(target.eps, steps, step_size)
    rows = target.begin(np.arange(target.n))
    generators = target.generators(rows)
    for _ in range(restarts):
        standing = target.status[rows] == NOT_FOUND
        generators = [g for g, keep in zip(generators, standing, strict=True) if keep]
        rows = rows[standing]
        points = target.original.copy()
        points[rows] = random_points(target, rows, generators)
        ascend(target, points, rows, target.eps, sizes, from_samples=False)
    return target.result()


def random_points(
    target: AttackedModel, rows: Index, generators: list[np.random.Generator]
) -> AnyArray:
    """A random point of the ball of radius eps around each of these samples."""
    d, eps = len(target.free), target.eps
    moves = np.empty((len(rows), d))
    if target.norm == "linf":
        for move, rng in zip(moves, generators, strict=True):
            rng.random(out=move)
        moves *= 2 * eps
        moves -= eps
    else:
        for move, rng in zip(moves, generators, strict=True):
            direction = rng.standard_normal(d) if target.norm == "l2" else rng.laplace(size=d)
            direction /= np.linalg.norm(direction, ord=2 if target.norm == "l2" else 1)
            move[:] = eps * rng.random() ** (1 / d) * direction
    starts = target.original[rows]
    if target.norm == "linf":
        starts[:, target.free] += moves
        return clipped(starts, *target.box(rows, eps))
    starts = starts.astype(np.float64)
    starts[:, target.free] += moves
    return target.within(starts, rows, eps)
