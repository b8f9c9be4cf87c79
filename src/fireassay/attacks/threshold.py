"""Threshold attack: every feature within a threshold, found by differential evolution."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.attacks.attacked_model import AttackedModel, Index
from fireassay.attacks.evolution import Genes, evolve
from fireassay.attacks.result import AttackResult


def threshold(
    model: Any,
    X: ArrayLike,
    y: ArrayLike | None = None,
    norm: str = "linf",
    eps: float = 0.1,
    max_queries: int = 400,
    *,
    mask: ArrayLike | None = None,
    seed: int = 0,
) -> AttackResult:
    """Change every feature by at most ``eps``, asking for scores only.

    Parameters
    ----------
    model, X, y, mask
        As in `fgm`; gradients are not needed.
    norm
        ``"linf"``.
    eps
        The threshold, > 0.
    max_queries
        Hard limit of forward queries per sample; populations have an eighth of it, 4 to 40.
    seed
        Of the populations.

    Notes
    -----
    Kotyan and Vargas 2022, the counterpart of `pixel`. A member of the population has a number for
    every feature; all samples evolve at once. `square` needs fewer queries in the same ball: this
    one is here because the paper on survival uses it.

    >>> from fireassay import as_classifier
    >>> model = as_classifier(lambda X: np.hstack([1 - X, X]), classes=[0, 1], bounds=(0, 1))
    >>> threshold(model, [[0.45], [0.3]], [0, 0], eps=0.1).success.tolist()
    [True, False]
    """
    target = AttackedModel(
        "threshold", model, X, y, norm=norm, seed=seed, max_queries=max_queries, eps=eps, mask=mask,
        norms=("linf",),
    )  # fmt: skip

    def build(genes: Genes, rows: Index) -> NDArray[Any]:
        points = target.original[rows].astype(np.float64)
        # Steeper than a line: most features are at an end of their range, where it counts.
        points[:, target.free] += eps * np.clip(4.0 * genes - 2.0, -1.0, 1.0)
        return target.within(points, rows, eps)

    evolve(target, len(target.free), build, from_best=True)
    return target.result()
