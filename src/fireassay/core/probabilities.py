"""Softmax, confidence and entropy of rows of classes."""

import numpy as np

from fireassay.core.arrays import AnyArray, FloatArray, Probabilities

_NUMBERS_AT_ONCE = 2**20


def softmax(logits: AnyArray, axis: int = -1) -> AnyArray:
    """Probabilities from logits; the largest logit is taken out first, so nothing overflows.

    >>> softmax(np.array([0.0, np.log(3.0)])).round(3).tolist()
    [0.25, 0.75]
    """
    raised = np.exp(logits - logits.max(axis=axis, keepdims=True))
    shares: AnyArray = raised / raised.sum(axis=axis, keepdims=True)
    return shares


def largest(probabilities: Probabilities) -> FloatArray:
    """The largest probability of each row, as float64: what it is compared with is float64, too.

    >>> largest(np.array([[0.25, 0.75]], dtype=np.float32)).tolist()
    [0.75]
    """
    return np.asarray(probabilities.max(axis=1), dtype=np.float64)


def entropy_bits(probabilities: Probabilities, axis: int = -1) -> FloatArray:
    """Entropy in bits, computed in float64; a probability of 0 adds nothing.

    >>> entropy_bits(np.array([[0.5, 0.5], [1.0, 0.0]])).tolist()
    [1.0, 0.0]
    """
    if probabilities.dtype == np.float32 and probabilities.size > _NUMBERS_AT_ONCE:
        pieces = np.array_split(probabilities, -(-probabilities.size // _NUMBERS_AT_ONCE))
        return np.concatenate([entropy_bits(some, axis) for some in pieces])
    exact = np.asarray(probabilities, dtype=np.float64)
    safe = np.where(exact > 0, exact, 1.0)
    bits: FloatArray = np.maximum(-(exact * np.log2(safe)).sum(axis=axis), 0.0)
    return bits
