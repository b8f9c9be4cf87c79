"""Basic iterative method: fast gradient steps from the sample itself, inside a ball."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.attacks.attacked_model import AttackedModel
from fireassay.attacks.result import AttackResult
from fireassay.attacks.steepest import ascend, falling_sizes
from fireassay.core.validation import check_integer, check_real


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

    >>> import torch
    >>> from fireassay import as_classifier
    >>> net = torch.nn.Linear(1, 2)  # the boundary is put at 0.5
    >>> cut = {"weight": torch.tensor([[-1.0], [1.0]]), "bias": torch.tensor([0.5, -0.5])}
    >>> _ = net.load_state_dict(cut)
    >>> model = as_classifier(net, output="logits", classes=[0, 1], bounds=(0, 1))
    >>> found = bim(model, [[0.45], [0.3]], [0, 0], eps=0.1, step_size=0.02)
    >>> found.success.tolist(), found.distance.round(2).tolist()  # the third step of 0.02 is enough
    ([True, False], [0.06, inf])
    """
    eps = check_real(eps, "eps", low=0.0)
    steps = check_integer(steps, "steps", low=1)
    sizes = falling_sizes(eps, steps, step_size)
    target = AttackedModel(
        "bim", model, X, y, norm=norm, seed=seed, max_queries=max_queries, eps=eps, mask=mask,
        needs_gradients=True,
    )  # fmt: skip
    rows = np.arange(target.n) if target.labelled else target.begin(np.arange(target.n))
    points = target.original.copy()
    ascend(target, points, rows, eps, sizes, from_samples=target.labelled)
    return target.result()
