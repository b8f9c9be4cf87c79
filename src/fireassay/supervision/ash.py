"""Activation shaping (ASH)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fireassay.core.arrays import FloatArray
from fireassay.core.validation import check_real
from fireassay.supervision.energy import energy
from fireassay.supervision.reading import Reading
from fireassay.supervision.supervisor import Supervisor


@dataclass(kw_only=True, eq=False)
class Ash(Supervisor):
    """Energy after dropping a row's smaller activations and scaling the rest up.

    Djurisic et al. (2023), ASH-S: activations below the row's ``pruned`` quantile are set to zero,
    the others multiplied by exp(sum before / sum after).
    """

    name: ClassVar[str] = "ash"
    needs: ClassVar[tuple[str, ...]] = ("features", "head")
    pruned: float = 0.65

    def _score(self, reading: Reading) -> FloatArray:
        assert reading.features is not None
        assert reading.head is not None
        kept, ratio = kept_share(reading.features, self.pruned)
        weights, bias = reading.head
        return energy(np.exp(ratio)[:, None] * kept @ weights.T + bias)


def kept_share(features: FloatArray, pruned: float) -> tuple[FloatArray, FloatArray]:
    """Activations at or above the row's quantile, and the ratio of the sums before and after.

    The ratio is capped at 20: exp of more would overflow, and says no more.
    """
    check_real(pruned, "pruned", low=0, high=1, inclusive="low")
    limit = np.quantile(features, pruned, axis=1, keepdims=True)
    kept = np.where(features >= limit, features, 0.0)
    positive, before = np.maximum(kept, 0.0).sum(axis=1), np.maximum(features, 0.0).sum(axis=1)
    ratio = np.divide(before, positive, out=np.ones_like(before), where=positive > 0)
    return kept, np.minimum(ratio, 20.0)
