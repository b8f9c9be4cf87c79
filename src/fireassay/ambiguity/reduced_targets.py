"""What decoders learn to give: the features, or of very many features some components."""

from dataclasses import dataclass

import numpy as np

from fireassay.ambiguity.scaling import EncoderInputs
from fireassay.core.arrays import Float32Array

MOST_FEATURES = 1024
_INSIDE = 0.95  # of the range of a sigmoid, so that the farthest row can be reached


@dataclass(frozen=True, eq=False)
class ReducedTargets:
    """Rows of numbers in [0, 1] that stand for rows of features in [0, 1], and back.

    Up to 1,024 features stand for themselves. More become the components that encoders see, on one
    scale,
    so that a squared error there is a squared error of the features, but for what no component
    shows. What lies between two classes has two dimensions: a decoder of all pixels would spend
    nearly all of its work on what the components know already.

    Attributes
    ----------
    axes
        The components, orthonormal, ``(features, components)``; None: nothing is reduced.
    """

    axes: EncoderInputs | None = None
    scale: float = 1.0

    @classmethod
    def of(cls, flat: Float32Array, seen: EncoderInputs) -> "ReducedTargets":
        """For rows of features, ``(n, features)``, of which encoders see some components.

        >>> all_of_them = EncoderInputs(np.zeros(3), np.eye(3))
        >>> ReducedTargets.of(np.eye(3, dtype=np.float32), all_of_them).axes is None
        True
        """
        features, components = seen.axes.shape
        if features <= MOST_FEATURES or components == features:
            return cls()
        axes = EncoderInputs(seen.centre, seen.axes / np.linalg.norm(seen.axes[:, 0]))
        return cls(axes, 2.0 * float(np.abs(axes(flat)).max()) / _INSIDE)

    def reduced(self, flat: Float32Array) -> Float32Array:
        """What stands for these rows."""
        if self.axes is None:
            return flat
        return np.asarray(0.5 + self.axes(flat) / self.scale, dtype=np.float32)

    def restored(self, values: Float32Array) -> Float32Array:
        """The rows that these numbers stand for, within [0, 1]."""
        if self.axes is None:
            return values
        scores = (values - np.float32(0.5)) * np.float32(self.scale)
        return np.clip(scores @ self.axes.axes.T + self.axes.centre, 0.0, 1.0)
