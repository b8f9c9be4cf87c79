"""Fast gradient method: one step along the gradient of the loss."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.attacks.attacked_model import AttackedModel
from fireassay.attacks.result import AttackResult
from fireassay.attacks.steepest import ascend


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

    Parameters
    ----------
    model
        A model with gradients, or anything `as_classifier` makes one of.
    X, y
        Samples and their labels; without ``y`` the attack is away from the predicted class.
    norm
        ``"l1"``, ``"l2"`` or ``"linf"``.
    eps
        Length of the step in that norm, > 0.
    mask
        Booleans, True for features that may change.
    max_queries
        Hard limit of forward queries per sample (a whole attack takes 2).
    seed
        Only names the result.

    Notes
    -----
    Goodfellow et al. 2015. A sample costs one gradient and its forward pass, one prediction of the
    new point, and nothing more. For l1 the step is the exact optimum of the linearised loss inside
    the bounds; for l2 and linf the normalised or signed gradient.

    >>> from fireassay.attacks.line_model import line_model
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
