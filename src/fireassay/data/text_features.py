"""Texts as points: counts of character triples, to measure how alike two texts are."""

import zlib
from collections.abc import Sequence
from typing import Final

import numpy as np

from fireassay.core.arrays import FloatArray

WIDTH: Final = 64


def text_features(texts: Sequence[str]) -> FloatArray:
    """Damped counts of character triples in 64 cells, of length 1; a text without any is 0.

    Parameters
    ----------
    texts
        Any; case does not count.

    >>> a, b, c = text_features(["the heart", "The hearts", "xylophone"])
    >>> bool(a @ b > a @ c)
    True
    """
    counts = np.zeros((len(texts), WIDTH))
    for i, text in enumerate(texts):
        framed = f" {text.lower()} "
        triples = [framed[j : j + 3].encode("utf-8", "replace") for j in range(len(framed) - 2)]
        cells = np.array([zlib.crc32(triple) % WIDTH for triple in triples], dtype=np.int64)
        counts[i] = np.log1p(np.bincount(cells, minlength=WIDTH))
    lengths = np.linalg.norm(counts, axis=1, keepdims=True)
    features: FloatArray = counts / np.where(lengths > 0, lengths, 1.0)
    return features
