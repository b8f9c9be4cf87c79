"""Changed rows that somebody gave, tried one after the other: what remains to attack texts with."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.attacks.attacked_model import AttackedModel
from fireassay.attacks.result import AttackResult
from fireassay.core.validation import check_integer


def perturbed(
    model: Any,
    X: ArrayLike,
    y: ArrayLike | None = None,
    norm: str = "l0",
    max_queries: int = 300,
    *,
    choices: Mapping[str, NDArray[Any]],
    seed: int = 0,
) -> AttackResult:
    """Ask the model about the given changes of each row until one gets another class.

    Parameters
    ----------
    model, X, y
        As in `fgm`; gradients and scores are not needed.
    norm
        In which distances are measured; nothing is limited by it.
    max_queries
        Hard limit of forward queries per sample.
    choices
        For each row, by `row_key`, changed rows ``(k, …)`` in the order in which they are tried. A
        row without any stands untried.
    seed
        As in every attack; nothing is drawn.

    >>> X = np.array([[0.0], [4.0]])
    >>> changes = {row_key(X[0]): np.array([[1.0], [7.0]])}
    >>> found = perturbed(lambda X: np.hstack([X < 6, X >= 6]), X, [0, 0], choices=changes)
    >>> found.status.tolist(), found.adversarial.tolist(), found.queries.tolist()
    (['found', 'not found'], [[7.0], [4.0]], [3, 1])
    """
    limit = check_integer(max_queries, "max_queries")
    target = AttackedModel("perturbed", model, X, y, norm=norm, seed=seed, max_queries=limit)
    rows = target.begin(np.arange(target.n))
    given = [choices.get(row_key(row), target.original[:0]) for row in target.original]
    for step in range(max(map(len, given), default=0)):
        rows = rows[[len(given[row]) > step for row in rows] & (target.room(rows) >= 1)]
        if not len(rows):
            break
        points = np.stack([given[row][step].reshape(-1) for row in rows]).astype(target.dtype)
        rows = rows[~target.check(points, rows)]
    return target.result()


def row_key(row: ArrayLike) -> str:
    """What a row goes by among ``choices``: its bytes as text."""
    return np.ascontiguousarray(row).tobytes().hex()
