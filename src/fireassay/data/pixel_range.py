"""Pixel ranges and layouts: declared, from mean and standard deviation, or as seen."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.core.arrays import FloatArray
from fireassay.core.errors import AssumptionWarning, DataError, ParameterError
from fireassay.core.mapped import LEAST_NUMBERS, ByteImages
from fireassay.core.validation import check_choice, check_real
from fireassay.data.rows import Rows

_CHANNELS = (1, 3, 4)


def scaled_pixels(X: NDArray[Any], scale: str | float = "auto", *, name: str = "X") -> NDArray[Any]:
    """Pixels as floats in [0, 1]."""
    if not isinstance(scale, str):
        return (X / check_real(scale, "scale", low=0.0)).astype(np.float32)
    check_choice(scale, "scale", ("auto", "none"))
    if scale == "none" or X.size == 0 or Rows(X).form != "image":
        return X
    if X.dtype == np.uint8 and X.size >= LEAST_NUMBERS:
        return ByteImages(X, divisor=255)  # type: ignore[return-value]
    if X.dtype == np.uint8:
        return X.astype(np.float32) / np.float32(255)
    if looks_like_bytes(X):
        warnings.warn(
            f"{name} has pixels up to {float(X.max()):g}: they look like 0–255, while images are "
            "expected in [0, 1]. They are used as they are; pass scale=255 to divide them, or "
            "scale='none' if the model takes them so.",
            AssumptionWarning,
            stacklevel=3,
        )
    return X


def looks_like_bytes(X: NDArray[Any]) -> bool:
    """Whether images seem to be in 0–255 rather than in [0, 1] or standardised."""
    if X.size == 0 or X.dtype.kind not in "fiu" or Rows(X).form != "image":
        return False
    low, high = float(X.min()), float(X.max())
    return low >= 0.0 and 2.0 < high <= 255.0


def image_layout(shape: tuple[int, ...]) -> str:
    """Where the channels of images ``(n, a, b, c)`` seem to be: "HWC", "CHW" or "unclear"."""
    if len(shape) != 4:
        return "unclear"
    first, last = shape[1] in _CHANNELS, shape[3] in _CHANNELS
    if first == last:
        return "unclear"
    return "CHW" if first else "HWC"


def channels_last(X: NDArray[Any], layout: str = "auto", *, name: str = "X") -> NDArray[Any]:
    """Images with their channels last."""
    # The layout "CHW" moves them, "HWC" takes the array as it is, and "auto" does too but warns
    # where the shape says that the channels come first.
    check_choice(layout, "layout", ("auto", "HWC", "CHW"))
    if layout == "CHW":
        if X.ndim != 4:
            raise ParameterError("layout='CHW' needs images (n, c, h, w).", got=f"{X.shape}")
        return np.moveaxis(X, 1, -1)
    if layout == "auto" and image_layout(X.shape) == "CHW":
        warnings.warn(
            f"{name} of shape {X.shape} looks like images with channels first. It is used as it "
            "is; pass layout='CHW' to move the channels last, or layout='HWC' to keep it silently.",
            AssumptionWarning,
            stacklevel=3,
        )
    return X


def check_comparable(reference: NDArray[Any], other: NDArray[Any], *, name: str = "other") -> None:
    """Refuse rows that cannot come from the same source as ``reference``.

    Args:
        reference, other: Rows of two sources.
        name: Of the second, for the message.

    Raises:
        DataError: For another shape, channels in another place, or pixels on another scale.

    >>> check_comparable(np.ones((5, 28, 28)), np.ones((9, 28, 28)))
    >>> check_comparable(np.ones((5, 28, 28)), np.ones((9, 28, 27)))
    Traceback (most recent call last):
    ...
    fireassay.core.errors.DataError: ...
    """
    if reference.shape[1:] != other.shape[1:]:
        moved = reference.ndim == other.ndim == 4 and (
            np.moveaxis(other, 1, -1).shape[1:] == reference.shape[1:]
            or np.moveaxis(other, -1, 1).shape[1:] == reference.shape[1:]
        )
        raise DataError(
            f"{name} must have rows of shape {reference.shape[1:]}.",
            got=f"{other.shape[1:]}",
            do="Channels are in another place: load one of them with layout='CHW'."
            if moved
            else None,
        )
    if looks_like_bytes(other) != looks_like_bytes(reference) and min(
        reference.max(), other.max()
    ) <= 1.0 < max(reference.max(), other.max()):
        raise DataError(
            f"{name} must have pixels on the same scale, up to {float(reference.max()):g}.",
            got=f"up to {float(other.max()):g}",
            do="Load both with the same scale: one is 0–255, the other 0–1.",
        )


_BYTES = 255.0
_SLACK = 1e-3  # of the range: float32, and means that were written with three digits
_FIRST, _LAST = 1, 3  # where the channels of (n, c, h, w) and (n, h, w, c) are


@dataclass(frozen=True, eq=False)
class NaturalRange:
    """The smallest and largest natural value of each feature, and how it was found.

    Attributes:
        low, high: Of the shape of one row: scalars, or one value per channel.
        found: In words.

    >>> X = np.zeros((5, 3, 8, 8), dtype=np.float32)
    >>> seen = NaturalRange.normalised((0.5, 0.5, 0.5), (0.5, 0.5, 0.5), X)
    >>> seen.inside(X)[0, :, 0, 0].tolist()
    [0.5, 0.5, 0.5]
    >>> seen.found
    'mean and std as given: -1 to 1 in every channel'
    """

    low: FloatArray
    high: FloatArray
    found: str

    @classmethod
    def declared(cls, bounds: tuple[float, float]) -> "NaturalRange":
        """The bounds of the model."""
        low, high = (np.array(end, dtype=np.float64) for end in bounds)
        return cls(low, high, f"bounds as given: {_each(low, high)}")

    @classmethod
    def normalised(
        cls, mean: Sequence[float], std: Sequence[float], X: NDArray[Any]
    ) -> "NaturalRange":
        """Images of which ``mean`` was taken away before they were divided by ``std``.

        Args:
            mean, std: One number per channel, or one for all; above 1 they are of bytes, 0 to 255.
            X: Images ``(n, h, w)``, ``(n, c, h, w)`` or ``(n, h, w, c)``.

        Raises:
            ParameterError: If they do not fit the channels.
            DataError: If some pixels cannot come from such images.
        """
        means, deviations = np.array(mean), np.array(std)
        largest = _BYTES if means.max() > 1 else 1.0
        place = _shaped(X, len(means))
        low = (-means / deviations).reshape(place)
        high = ((largest - means) / deviations).reshape(place)
        slack = _SLACK * (high - low)
        if (low - slack > X).any() or (high + slack < X).any():
            raise DataError(
                f"Images must lie in the range that mean and std give: {_each(low, high)}.",
                got=f"{float(X.min()):.4g} to {float(X.max()):.4g}",
                do="Correct mean and std, or leave them out: then the range of each channel is "
                "taken from the rows.",
            )
        return cls(low, high, f"mean and std as given: {_each(low, high)}")

    @classmethod
    def seen(cls, X: NDArray[Any], *, series: bool = False) -> "NaturalRange":
        """That of the rows: of each channel for series and images with negative values.

        >>> NaturalRange.seen(np.array([[[0.0, 1.0]], [[0.5, 3.0]]])).found
        'the values of all pixels in the test rows: 0 to 3'
        """
        axis = _channel_axis(X, series=series)
        what = "pixels" if not series else "steps"
        if axis is None:
            low, high = (np.array(float(end)) for end in (X.min(), X.max()))
            return cls(low, high, f"the values of all {what} in the test rows: {_each(low, high)}")
        others = tuple(i for i in range(X.ndim) if i != axis)
        shape = [1] * (X.ndim - 1)
        shape[axis - 1] = X.shape[axis]
        low, high = (
            end.astype(np.float64).reshape(shape)
            for end in (X.min(axis=others), X.max(axis=others))
        )
        return cls(low, high, f"the values of each channel in the test rows: {_each(low, high)}")

    def inside(self, X: NDArray[Any]) -> NDArray[Any]:
        """Rows on the natural scale: 0 is the smallest value, 1 the largest."""
        if not self.low.any() and (self.high == 1).all():
            return X
        width = np.where(self.high > self.low, self.high - self.low, 1.0)
        return np.asarray(((X - self.low) / width).clip(0.0, 1.0).astype(X.dtype))

    def outside(self, natural: NDArray[Any]) -> NDArray[Any]:
        """Rows as the model takes them."""
        if not self.low.any() and (self.high == 1).all():
            return natural
        return np.asarray((self.low + natural * (self.high - self.low)).astype(natural.dtype))

    def ends(self, shape: tuple[int, ...]) -> tuple[FloatArray, FloatArray]:
        """Smallest and largest value of each feature of a flat row."""
        low, high = (np.broadcast_to(end, shape).ravel().copy() for end in (self.low, self.high))
        return low, high


def as_normalisation(
    mean: Sequence[float] | None,
    std: Sequence[float] | None,
    bounds: tuple[float, float] | None = None,
) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
    """Mean and standard deviation of each channel, checked; None if neither is given."""
    if mean is None and std is None:
        return None
    if bounds is not None:
        raise ParameterError(
            "The range of images comes from bounds, or from mean and std.",
            got="all of them",
            do="Leave bounds out.",
        )
    means = tuple(check_real(value, "mean") for value in mean or ())
    deviations = tuple(check_real(value, "std", low=0.0) for value in std or ())
    if len(means) != len(deviations) or not means:
        raise ParameterError(
            "mean and std must have one number per channel each.",
            got=f"{len(means)} and {len(deviations)}",
        )
    return means, deviations


def _shaped(X: NDArray[Any], channels: int) -> list[int]:
    """How one number per channel lies along the axes of a row."""
    if channels == 1:
        return [1] * (X.ndim - 1)
    axis = _channel_axis(X, series=False, known=True)
    if axis is None or X.shape[axis] != channels:
        axis = next((a for a in (_FIRST, _LAST) if X.ndim == 4 and X.shape[a] == channels), None)
    if axis is None:
        raise ParameterError(
            "mean and std must have one number per channel, or one for all.",
            got=f"{channels} for images of shape {X.shape[1:]}",
        )
    return [channels if i == axis else 1 for i in range(1, X.ndim)]


def _channel_axis(X: NDArray[Any], *, series: bool, known: bool = False) -> int | None:
    if series and X.ndim == 3:
        return 1
    if X.ndim != 4 or (not known and float(X.min()) >= 0):
        return None
    return {"CHW": _FIRST, "HWC": _LAST}.get(image_layout(X.shape))


def _each(low: FloatArray, high: FloatArray) -> str:
    pairs = list(dict.fromkeys(zip(low.ravel().tolist(), high.ravel().tolist(), strict=True)))
    words = [f"{a:.3g} to {b:.3g}" for a, b in pairs[:4]]
    more = ", …" if len(pairs) > 4 else ""
    every = " in every channel" if low.size > 1 and len(pairs) == 1 else ""
    return ", ".join(words) + more + every
