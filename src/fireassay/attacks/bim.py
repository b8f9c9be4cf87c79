"""Basic iterative method: fast gradient steps from the sample itself, inside a ball."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.attacks.attacked_model import AttackedModel
from fireassay.attacks.result import AttackResult
from fireassay.attacks.steepest import ascend, falling_sizes
from fireassay.core.validation import check_integer


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

    Parameters
    ----------
    model, X, y, norm, mask, max_queries
        As in `fgm`.
    eps
        Radius of the ball, > 0.
    steps
        Most steps per sample, at least 1; a sample that falls takes no further step.
    step_size
        Length of every step; by default they fall from ``eps`` to a tenth of it.
    seed
        Only names the result.

    Notes
    -----
    Kurakin et al. 2017. Deterministic: the seed only names the result.

    >>> from fireassay.attacks.line_model import line_model
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
