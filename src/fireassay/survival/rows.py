"""What every estimator accepts as observations: a frame, or a result that has one."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fireassay.core.arrays import IntArray
from fireassay.core.errors import DataError
from fireassay.core.result import Result


def as_frame(obs: Any) -> pd.DataFrame:
    """The observations as a frame."""
    if isinstance(obs, pd.DataFrame):
        return obs
    if isinstance(obs, Result):
        return obs.frame()
    raise DataError(
        "Observations must be a data frame or the result of survival.observe.",
        got=type(obs).__name__,
    )


def cluster_codes(frame: pd.DataFrame, cluster: str | None) -> IntArray | None:
    """Codes 0…G−1 of a cluster column, None without one.

    Raises
    ------
    DataError
        If the column is missing, has gaps, or holds fewer than two clusters.
    """
    if cluster is None:
        return None
    if cluster not in frame.columns:
        raise DataError(
            f"The cluster column '{cluster}' must be in the observations.",
            got=", ".join(map(str, frame.columns)),
        )
    codes, levels = pd.factorize(frame[cluster], sort=True)
    if (codes < 0).any():
        raise DataError(
            f"The cluster column '{cluster}' must not have missing values.",
            got=f"{int((codes < 0).sum())} missing",
        )
    if len(levels) < 2:
        raise DataError(
            "Clustered intervals need at least two clusters.",
            got=f"one: {levels[0]!r}",
            do="Observe more models, or leave out cluster= and read the interval as "
            "conditional on this one model.",
        )
    return codes.astype(np.int64)


def groups(
    frame: pd.DataFrame, by: str | Sequence[str] | None
) -> list[tuple[str, NDArray[np.int64]]]:
    """Names and row numbers of the groups, in sorted order."""
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


def recoded(clusters: IntArray | None, index: NDArray[np.int64]) -> IntArray | None:
    """Cluster codes of a part of the rows, again 0…G−1; None if only one is left."""
    if clusters is None:
        return None
    _, codes = np.unique(clusters[index], return_inverse=True)
    return codes.astype(np.int64) if codes.max(initial=0) > 0 else None
