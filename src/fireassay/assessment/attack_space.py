"""Where attacks move: the declared bounds, or each feature on the scale of its own range."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.assessment.coded_context import movable
from fireassay.assessment.context import Context
from fireassay.attacks.clip_range import check_clip_range
from fireassay.classifiers import Classifier, WrappedClassifier


@dataclass(frozen=True)
class AttackSpace:
    """A classifier with bounds, rows brought into them, and the features that may change."""

    model: Classifier
    bounds: tuple[float, float]
    low: NDArray[Any]
    span: NDArray[Any]
    mask: NDArray[np.bool_] | None

    def inside(self, X: NDArray[Any]) -> NDArray[Any]:
        """Rows on the scale that the attack moves on; the rows themselves if nothing is scaled."""
        if self.model.bounds == self.bounds and not self.low.any() and (self.span == 1).all():
            return X
        scaled: NDArray[Any] = (X - self.low) / self.span
        return scaled

    def outside(self, X: NDArray[Any]) -> NDArray[Any]:
        """Rows of the attack as the model itself takes them."""
        unscaled: NDArray[Any] = self.low + X * self.span
        return unscaled


class UnitScaled(WrappedClassifier):
    """A classifier that takes features on [0, 1], each on the scale of its own range.

    A perturbation of 0.1 then means a tenth of the range of every feature, whatever its unit.
    """

    def __init__(self, model: Classifier, low: NDArray[Any], span: NDArray[Any]) -> None:
        super().__init__(model)
        self.low, self.span = low, span

    def _identity(self) -> tuple[Any, ...]:
        return "unit scaled", self.low, self.span

    @property
    def bounds(self) -> tuple[float, float]:
        """Scaled features lie between 0 and 1."""
        return 0.0, 1.0

    def _seen(self, X: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self.low + X * self.span)

    def _slope(self, slope: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(slope * self.span)


def attack_space(context: Context) -> AttackSpace:
    """The space for this model and these rows.

    With declared bounds nothing is scaled. Without, tables get the range of each feature, images
    one range for all pixels; features without a range and one-hot codes stay as they are.
    """
    X = context.test.X
    one = np.ones((), dtype=X.dtype)
    if context.model.bounds is not None:
        check_clip_range(X, context.model.bounds)
        return AttackSpace(context.model, context.model.bounds, 0 * one, one, movable(context))
    axis = 0 if X.ndim == 2 else None
    low, high = X.min(axis=axis), X.max(axis=axis)
    mask = movable(context)
    span = np.where(high > low, high - low, 1).astype(X.dtype)
    if X.ndim == 2:
        moving = high > low
        mask = moving if mask is None else mask & moving
    return AttackSpace(UnitScaled(context.model, low, span), (0.0, 1.0), low, span, mask)

