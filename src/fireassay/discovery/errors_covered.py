"""How much of the pool the found errors cover, and what each further error would add."""

import numpy as np

from fireassay.core.arrays import FloatArray
from fireassay.discovery.strategy import Candidates

# Smaller gains of cover change no choice and need not be carried along.
_LEAST_CHANGE = 1e-7


class ErrorsCovered:
    """Σ_x c_x max(cov_x, G_xi) for every row i, kept up to date as errors are found."""

    def __init__(self, candidates: Candidates) -> None:
        self._confidence = candidates.confidence.astype(np.float32)
        self._cover = candidates.space.cover
        self._covered = np.zeros(len(candidates), dtype=np.float32)
        self.totals: FloatArray = (self._confidence @ self._cover).astype(np.float64)

    def add_error(self, row: int) -> None:
        """Take in a found error."""
        covered = np.maximum(self._covered, self._cover[row])
        changed = np.flatnonzero(covered - self._covered > _LEAST_CHANGE)
        block = self._cover[changed]
        after = self._confidence[changed] @ np.maximum(block, covered[changed, None])
        before = self._confidence[changed] @ np.maximum(block, self._covered[changed, None])
        self.totals += after.astype(np.float64) - before
        self._covered = covered
