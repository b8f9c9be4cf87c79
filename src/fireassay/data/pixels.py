"""Pixel ranges and layouts: 0–255 or 0–1, channels last or first."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.core.byte_images import LEAST_NUMBERS, ByteImages
from fireassay.core.errors import AssumptionWarning, DataError, ParameterError
from fireassay.core.validation import check_choice, check_real

_CHANNELS = (1, 3, 4)


def scaled_pixels(X: NDArray[Any], scale: str | float = "auto", *, name: str = "X") -> NDArray[Any]:
    """Pixels as floats in [0, 1].

    Parameters
    ----------
    X
        Anything; only arrays of images (three or four dimensions) are touched by ``"auto"``.
    scale
        ``"auto"`` divides images of type uint8 by 255 (as float32; of very many images the rows,
        as they are taken), and warns about floats that look like 0–255 without changing them;
        ``"none"`` changes nothing; a number divides.
    """
    if not isinstance(scale, str):
        return (X / check_real(scale, "scale", low=0.0)).astype(np.float32)
    check_choice(scale, "scale", ("auto", "none"))
    if scale == "none" or X.ndim < 3 or X.size == 0:
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
    if X.ndim < 3 or X.size == 0 or X.dtype.kind not in "fiu":
        return False
    low, high = float(X.min()), float(X.max())
    return low >= 0.0 and 2.0 < high <= 255.0


def image_layout(shape: tuple[int, ...]) -> str:
    """Where the channels of images ``(n, a, b, c)`` seem to be: "HWC", "CHW" or "unclear".

    >>> image_layout((100, 32, 32, 3)), image_layout((100, 3, 32, 32)), image_layout((9, 3, 3, 3))
    ('HWC', 'CHW', 'unclear')
    """
    if len(shape) != 4:
        return "unclear"
    first, last = shape[1] in _CHANNELS, shape[3] in _CHANNELS
    if first == last:
        return "unclear"
    return "CHW" if first else "HWC"


def channels_last(X: NDArray[Any], layout: str = "auto", *, name: str = "X") -> NDArray[Any]:
    """Images with their channels last.

    ``layout="CHW"`` moves them, ``"HWC"`` takes the array as it is, and ``"auto"`` does too but
    warns where the shape says that the channels come first.
    """
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

    Parameters
    ----------
    reference, other
        Rows of two sources.
    name
        Of the second, for the message.

    Raises
    ------
    DataError
        For another shape, channels in another place, or pixels on another scale.

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
