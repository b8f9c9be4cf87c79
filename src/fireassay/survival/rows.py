"""What every estimator accepts as observations: a frame, or a result that has one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.core.arrays import IntArray
from fireassay.core.errors import DataError
from fireassay.core.frames import is_frame
from fireassay.core.lazy_modules import pd
from fireassay.core.result import Result


def as_frame(obs: Any) -> pd.DataFrame:
    """The observations as a frame."""
    if is_frame(obs):
        return obs
    if isinstance(obs, Result):
        return obs.frame()
    raise DataError(
        "Observations must be a data frame or the result of survival.observe.",
        got=type(obs).__name__,
    )


def group_codes(frame: pd.DataFrame, groups: str | None) -> IntArray | None:
    """Codes 0…G−1 of a column of groups, None without one.

    Raises
    ------
    DataError
        If the column is missing, has gaps, or holds fewer than two groups.
    """
    if groups is None:
        return None
    if groups not in frame.columns:
        raise DataError(
            f"The column of groups '{groups}' must be in the observations.",
            got=", ".join(map(str, frame.columns)),
        )
    codes, levels = pd.factorize(frame[groups], sort=True)
    if (codes < 0).any():
        raise DataError(
            f"The column of groups '{groups}' must not have missing values.",
            got=f"{int((codes < 0).sum())} missing",
        )
    if len(levels) < 2:
        raise DataError(
            "Intervals between groups need at least two groups.",
            got=f"one: {levels[0]!r}",
            do="Observe more models, or leave out groups= and read the interval as "
            "conditional on this one model.",
        )
    return codes.astype(np.int64)


def arms(
    frame: pd.DataFrame, by: str | Sequence[str] | None
) -> list[tuple[str, NDArray[np.int64]]]:
    """Names and row numbers of what is compared, in sorted order."""
    if by is None:
        return [("all", np.arange(len(frame)))]
    names = [by] if isinstance(by, str) else list(by)
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise DataError(
            f"The column '{missing[0]}' must be in the observations.",
            got=", ".join(map(str, frame.columns)),
        )
    found = frame.groupby(names, sort=True, observed=True, dropna=False).indices
    return [
        (", ".join(map(str, key)) if isinstance(key, tuple) else str(key), np.asarray(index))
        for key, index in found.items()
    ]


def recoded(codes: IntArray | None, index: NDArray[np.int64]) -> IntArray | None:
    """Group codes of a part of the rows, again 0…G−1; None if only one is left."""
    if codes is None:
        return None
    _, again = np.unique(codes[index], return_inverse=True)
    return again.astype(np.int64) if again.max(initial=0) > 0 else None
