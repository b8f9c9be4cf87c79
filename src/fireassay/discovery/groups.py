"""What do the found errors have in common?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import IntArray
from fireassay.core.errors import DataError
from fireassay.core.lazy import pd, stats
from fireassay.core.result import Result
from fireassay.core.seeds import derived_seed
from fireassay.core.validation import check_lengths
from fireassay.discovery.search import Search
from fireassay.discovery.strategy import elbow_clusters

_FEWEST_TO_GROUP = 6
_QUARTILES = 4


def group_errors(features: ArrayLike, errors: ArrayLike, seed: int = 0) -> IntArray:
    """A group number for each error, by position in feature space (one group below 6 errors).

    Args:
        features: Of all rows, shape (n, d).
        errors: Which rows are errors.
        seed: Of the groups' centres.

    >>> group_errors([[0.0], [0.1], [9.0]], [0, 2]).tolist()
    [0, 0]
    """
    rows = np.asarray(errors, dtype=np.int64).ravel()
    points = np.asarray(features, dtype=np.float64)[rows]
    if len(rows) < _FEWEST_TO_GROUP:
        return np.zeros(len(rows), dtype=np.int64)
    return elbow_clusters(points, derived_seed(seed, "error groups"))


def nearest_correct(
    features: ArrayLike, errors: ArrayLike, correct: ArrayLike, count: int = 3
) -> IntArray:
    """For each error the nearest rows that are known to be right, shape (errors, count).

    Args:
        features: Of all rows, shape (n, d).
        errors, correct: Which rows are errors, and which are known to be right.
        count: How many for each error.

    >>> nearest_correct([[0.0], [1.0], [3.0]], errors=[0], correct=[1, 2], count=1).tolist()
    [[1]]
    """
    points = np.asarray(features, dtype=np.float64)
    wrong_rows = np.asarray(errors, dtype=np.int64).ravel()
    right_rows = np.asarray(correct, dtype=np.int64).ravel()
    count = min(count, len(right_rows))
    gaps = np.linalg.norm(points[wrong_rows, None, :] - points[None, right_rows, :], axis=2)
    return np.asarray(right_rows[np.argsort(gaps, axis=1, kind="stable")[:, :count]])


def over_represented(attributes: pd.DataFrame, wrong: ArrayLike) -> pd.DataFrame:
    """Attribute values that are more frequent among errors than among the other labelled rows.

    Args:
        attributes: One row per labelled row; numbers with many values are cut at quartiles.
        wrong: Whether each of these rows is an error.

    Returns:
        Sorted by ``p`` (Fisher's exact test, one-sided); ``p_holm`` corrects for all values.

    >>> import pandas as pd
    >>> light = pd.DataFrame({"light": ["dark", "dark", "day", "day"]})
    >>> table = over_represented(light, [True, True, False, False])
    >>> table.loc[0, "value"], round(float(table.loc[0, "p"]), 4)
    ('dark', 0.1667)
    """
    flags = np.asarray(wrong, dtype=np.bool_).ravel()
    check_lengths(attributes=len(attributes), wrong=len(flags))
    found = []
    for name in attributes.columns:
        column = attributes[name]
        if pd.api.types.is_numeric_dtype(column) and column.nunique() > 2 * _QUARTILES:
            column = pd.qcut(column, _QUARTILES, duplicates="drop").astype(str)
        for value in sorted(column.dropna().unique(), key=str):
            has = (column == value).to_numpy()
            table = [[int((has & flags).sum()), int((~has & flags).sum())],
                     [int((has & ~flags).sum()), int((~has & ~flags).sum())]]  # fmt: skip
            odds, p_value = stats.fisher_exact(np.array(table), alternative="greater")
            found.append(
                {
                    "attribute": str(name),
                    "value": str(value),
                    "errors_with": table[0][0],
                    "share_of_errors": table[0][0] / max(flags.sum(), 1),
                    "share_of_others": table[1][0] / max((~flags).sum(), 1),
                    "odds_ratio": float(odds),
                    "p": float(p_value),
                }
            )
    result = pd.DataFrame(found).sort_values("p", kind="stable").reset_index(drop=True)
    steps = result["p"].to_numpy() * np.arange(len(result), 0, -1)
    result["p_holm"] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return result


@dataclass(frozen=True)
class Explanation(Result):
    """The found errors in groups, with neighbours that are right, and what stands out."""

    errors: IntArray
    group: IntArray
    neighbours: IntArray
    predicted: tuple[Any, ...]
    labels: tuple[Any, ...]
    attributes: pd.DataFrame | None

    def frame(self) -> pd.DataFrame:
        """One row per error."""
        return pd.DataFrame(
            {
                "row": self.errors,
                "group": self.group,
                "predicted": list(self.predicted),
                "label": list(self.labels),
                "nearest_correct": [list(map(int, near)) for near in self.neighbours],
            }
        )


def explain_errors(search: Search, attributes: pd.DataFrame | None = None) -> Explanation:
    """Group a search's errors and set them beside what the model gets right.

    Args:
        search: With labels.
        attributes: What else is known of each row of X (light, age); labelled rows are looked at.

    >>> model = lambda X: np.column_stack([1 - X[:, 0], X[:, 0]])
    >>> X = np.array([[0.9], [0.8], [0.7]])
    >>> search = Search("low-confidence", model=model, X=X, budget=2)
    >>> _ = search.run(lambda row: 0 if row == 2 else 1)
    >>> explain_errors(search).errors.tolist()
    [2]
    """
    result = search.result
    if not result.errors:
        raise DataError("There is no error to explain yet.", got=f"{len(result.wrong)} labels")
    wrong_at, right_at = result.queried[result.wrong], result.queried[~result.wrong]
    features = search.state.features
    near = nearest_correct(features, wrong_at, right_at)
    table = None
    if attributes is not None:
        table = over_represented(attributes.iloc[result.rows], result.wrong)
    return Explanation(
        errors=result.rows[result.wrong],
        group=group_errors(features, wrong_at, search.state.seed),
        neighbours=search.state.rows[near],
        predicted=tuple(p for p, w in zip(result.predicted, result.wrong, strict=True) if w),
        labels=tuple(p for p, w in zip(result.labels, result.wrong, strict=True) if w),
        attributes=table,
    )
