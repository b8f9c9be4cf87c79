"""Corrupted sets: every row with one kind of corruption, all kinds in equal shares."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.core.errors import ParameterError
from fireassay.core.result import Result
from fireassay.core.seeds import generator
from fireassay.core.validation import check_features
from fireassay.data import corrupt, corruption_kinds

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class CorruptedSet(Result):
    """Corrupted rows, and which kind each of them has: ``compare(..., kinds={name: kind})``."""

    X: NDArray[Any]
    kind: NDArray[np.str_]
    severity: int

    def __len__(self) -> int:
        return len(self.X)

    def summary(self) -> str:
        """How many rows, of how many kinds."""
        return (
            f"{len(self)} corrupted rows of {len(set(self.kind))} kinds, severity {self.severity}"
        )

    def frame(self) -> "pd.DataFrame":
        """One row per corrupted row."""
        import pandas as pd

        return pd.DataFrame({"kind": self.kind, "severity": self.severity})


def corrupted_set(
    X: ArrayLike,
    severity: int = 3,
    kinds: Sequence[str] | None = None,
    seed: int = 0,
    *,
    bounds: tuple[float, float] | None = None,
) -> CorruptedSet:
    """Corrupt each row with one kind, all kinds in equal shares; rows keep their order.

    Parameters
    ----------
    X
        Images (n, H, W), (n, H, W, C) or (n, C, H, W) in [0, 1], or a table (n, d).
    severity
        1 to 5.
    kinds
        Default: all that fit the shape of X.
    bounds
        Smallest and largest value that the model allows: what lies beyond is cut off.
    seed
        Of the corruptions.

    Returns
    -------
    CorruptedSet
        ``compare(..., sets={"corrupted": made.X}, kinds={"corrupted": made.kind})``.

    >>> corrupted_set(np.eye(8), kinds=["swap"]).kind[0]
    np.str_('swap')
    """
    rows = check_features(X)
    if kinds is None:
        kinds = corruption_kinds("tables" if rows.ndim == 2 else "images")
    if not kinds:
        raise ParameterError("The 'kinds' must be at least one.", got="none")
    images = np.moveaxis(rows, 1, -1) if channels_first(rows) else rows
    share = generator(seed, "corrupted-set").permutation(len(rows)) % len(kinds)
    changed = images.copy()
    for i, kind in enumerate(kinds):
        chosen = np.flatnonzero(share == i)
        if len(chosen):
            changed[chosen] = corrupt(images[chosen], kind, severity, seed)
    if channels_first(rows):
        changed = np.moveaxis(changed, -1, 1)
    if bounds is not None:
        changed = changed.clip(*bounds)
    return CorruptedSet(changed, np.array(kinds)[share], severity)


def channels_first(X: NDArray[Any]) -> bool:
    """Whether images are (n, C, H, W), as torch has them."""
    return X.ndim == 4 and X.shape[1] <= 3 < X.shape[3]
