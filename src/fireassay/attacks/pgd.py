"""Projected gradient descent: steepest ascent of the loss from random points of a ball."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.attacks.attacked_model import AttackedModel, Index
from fireassay.attacks.result import NOT_FOUND, AttackResult
from fireassay.attacks.steepest import ascend, clipped, falling_sizes
from fireassay.core.validation import check_integer


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

    Parameters
    ----------
    model, X, y, norm, eps, steps, step_size, mask, max_queries
        As in `bim`.
    restarts
        Starts per sample, at least 1. The first is random too; samples that fell are left alone.
    seed
        Of the starts.

    Notes
    -----
    Madry et al. 2018. The start is uniform in the linf ball; for l1 and l2 its direction is uniform
    and its radius as in the uniform ball. A sample's start depends on the seed and on the sample's
    content alone.

    >>> from fireassay.attacks.line_model import line_model
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
) -> NDArray[Any]:
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
