"""A classifier on the scale of an attack space, and an attack that tries given rows."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.attacks.attack_space import AttackSpace
from fireassay.attacks.attacked_model import AttackedModel
from fireassay.attacks.result import AttackResult
from fireassay.classifiers import WrappedClassifier
from fireassay.core.arrays import AnyArray
from fireassay.core.validation import check_integer


class SpacedClassifier(WrappedClassifier):
    """A classifier that takes rows on the attack's scale; attacks keep to its ``space``.

    Args:
        model: The classifier, or anything `as_classifier` takes.
        space: What may change, and what a change of one means.

    >>> X = np.array([[0.0, 2.0], [1000.0, 5.0], [500.0, 3.0]])
    >>> space = AttackSpace.of(X, {"1": "integer"})
    >>> model = SpacedClassifier(lambda X: np.column_stack([X[:, 1] < 4, X[:, 1] >= 4]), space)
    >>> model.predict_proba(space.inside(X)).tolist()
    [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    """

    def __init__(self, model: Any, space: AttackSpace) -> None:
        super().__init__(model)
        self._space = space

    @property
    def space(self) -> AttackSpace:
        """What may change."""
        return self._space

    def _identity(self) -> tuple[Any, ...]:
        return "spaced", self.space.sha256

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The smallest and largest value on the attack's scale."""
        if not self.space.scaled:
            return super().bounds
        low, high = self.space.scaled_range()
        free = self.space.moving & ~self.space.category
        if not free.any():
            return 0.0, 1.0
        return float(low[free].min()), float(high[free].max())

    def _seen(self, X: AnyArray) -> AnyArray:
        return self.space.outside(X)

    def _slope(self, slope: AnyArray) -> AnyArray:
        unit = self.space.unit.reshape(self.space.shape)
        return np.asarray(slope * unit, dtype=slope.dtype)


def perturbed(
    model: Any,
    X: ArrayLike,
    y: ArrayLike | None = None,
    norm: str = "l0",
    max_queries: int = 300,
    *,
    choices: Mapping[str, AnyArray],
    seed: int = 0,
) -> AttackResult:
    """Ask the model about the given changes of each row until one gets another class.

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
        rows = rows[[len(given[row]) > step for row in rows] & (target.queries_left(rows) >= 1)]
        if not len(rows):
            break
        points = np.stack([given[row][step].reshape(-1) for row in rows]).astype(target.dtype)
        rows = rows[~target.check(points, rows)]
    return target.result()


def row_key(row: ArrayLike) -> str:
    """What a row goes by among ``choices``: its bytes as text."""
    return np.ascontiguousarray(row).tobytes().hex()
