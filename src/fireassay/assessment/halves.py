"""Choose on one half of the rows, report on the other."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.core import generator


def random_half(n: int, groups: NDArray[Any] | None, seed: int, purpose: str) -> NDArray[np.bool_]:
    """True for a random half of the rows; rows of one group are on the same side."""
    member = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1].ravel()
    units = int(member.max()) + 1 if n else 0
    chosen = np.zeros(units, dtype=bool)
    chosen[generator(seed, purpose).permutation(units)[: units // 2]] = True
    return np.asarray(chosen[member], dtype=bool)
