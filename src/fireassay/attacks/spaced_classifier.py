"""A classifier as an attack sees it: on the scale of an `AttackSpace`, with its rules."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.attacks.attack_space import AttackSpace
from fireassay.classifiers import WrappedClassifier


class SpacedClassifier(WrappedClassifier):
    """A classifier that takes rows on the attack's scale; attacks keep to its ``space``.

    Parameters
    ----------
    model
        The classifier, or anything `as_classifier` takes.
    space
        What may change, and what a change of one means.

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

    def _seen(self, X: NDArray[Any]) -> NDArray[Any]:
        return self.space.outside(X)

    def _slope(self, slope: NDArray[Any]) -> NDArray[Any]:
        unit = self.space.unit.reshape(self.space.shape)
        return np.asarray(slope * unit, dtype=slope.dtype)
