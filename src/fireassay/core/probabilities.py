"""Softmax and entropy of rows of classes."""

import numpy as np

from fireassay.core.arrays import AnyArray, FloatArray


def softmax(logits: AnyArray, axis: int = -1) -> AnyArray:
    """Probabilities from logits; the largest logit is taken out first, so nothing overflows.

    >>> softmax(np.array([0.0, np.log(3.0)])).round(3).tolist()
    [0.25, 0.75]
    """
    raised = np.exp(logits - logits.max(axis=axis, keepdims=True))
    shares: AnyArray = raised / raised.sum(axis=axis, keepdims=True)
    return shares


def entropy_bits(probabilities: AnyArray, axis: int = -1) -> FloatArray:
    """Entropy in bits; a probability of 0 adds nothing.

    >>> entropy_bits(np.array([[0.5, 0.5], [1.0, 0.0]])).tolist()
    [1.0, 0.0]
    """
    safe = np.where(probabilities > 0, probabilities, 1.0)
    bits: FloatArray = np.maximum(-(probabilities * np.log2(safe)).sum(axis=axis), 0.0)
    return bits
