"""Array types for annotations, a test for data frames, and softmax, confidence and entropy."""

import sys
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd


AnyArray = NDArray[Any]
FloatArray = NDArray[np.float64]
Float32Array = NDArray[np.float32]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
Probabilities = NDArray[Any]  # float32 where a model gives no more than that, else float64


def is_frame(value: Any) -> "TypeGuard[pd.DataFrame]":
    """Whether a value is a pandas data frame."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, pandas.DataFrame)


def is_series(value: Any) -> "TypeGuard[pd.Series[Any] | pd.Index[Any]]":
    """Whether a value is a pandas series or index."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, pandas.Series | pandas.Index)


_NUMBERS_AT_ONCE = 2**20


def softmax(logits: AnyArray, axis: int = -1) -> AnyArray:
    """Probabilities from logits; the largest logit is taken out first, so nothing overflows."""
    raised = np.exp(logits - logits.max(axis=axis, keepdims=True))
    shares: AnyArray = raised / raised.sum(axis=axis, keepdims=True)
    return shares


def largest(probabilities: Probabilities) -> FloatArray:
    """The largest probability of each row as float64, the type of the thresholds compared with."""
    return np.asarray(probabilities.max(axis=1), dtype=np.float64)


def entropy_bits(probabilities: Probabilities, axis: int = -1) -> FloatArray:
    """Entropy in bits, computed in float64; a probability of 0 adds nothing."""
    if probabilities.dtype == np.float32 and probabilities.size > _NUMBERS_AT_ONCE:
        pieces = np.array_split(probabilities, -(-probabilities.size // _NUMBERS_AT_ONCE))
        return np.concatenate([entropy_bits(some, axis) for some in pieces])
    exact = np.asarray(probabilities, dtype=np.float64)
    safe = np.where(exact > 0, exact, 1.0)
    bits: FloatArray = np.maximum(-(exact * np.log2(safe)).sum(axis=axis), 0.0)
    return bits
