"""Parts of the rows that somebody cares about: each with its rate, all intervals at once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.core.arrays import BoolArray, FloatArray
from fireassay.core.errors import DataError
from fireassay.core.estimate import Estimate
from fireassay.core.lazy import pd
from fireassay.core.validation import check_lengths
from fireassay.statistics.samples import check_confidence
from fireassay.statistics.shares import simultaneous_shares

# A slice is too small if its bound would stay above this without a single hit.
_TELLS = 0.1
_QUARTERS, _MOST_VALUES = 4, 200


@dataclass(frozen=True)
class SliceRates:
    """How often something happens in each slice.

    Attributes:
        table: One row per slice: n, hits, share, low, high, and whether it is too small to tell.
        gaps: One row per pair of slices of one column, the largest gap first: gap, low, high.
        upper, lower: Bounds of the worst slice's rate, over slices that are large enough.
        worst: The slice with the highest upper bound, or None.
        fewest: Rows that a slice needs.
    """

    table: pd.DataFrame
    gaps: pd.DataFrame
    upper: Estimate
    lower: Estimate
    worst: str | None
    fewest: int

    @property
    def too_small(self) -> tuple[str, ...]:
        """Slices with too few rows to say anything."""
        return tuple(self.table.index[self.table["too small"]])


def slice_members(columns: Mapping[str, ArrayLike] | pd.DataFrame) -> pd.DataFrame:
    """Which rows belong to which slice.

    Args:
        columns: By name, one value per row. True and False: the rows of one slice. Text and few
            different numbers: a slice for every value, ``"sex = f"``. Many different numbers: four
            slices of about equal size.

    Returns:
        True and False, a column per slice; ``.attrs["of"]`` has the given column of each.

    >>> list(slice_members({"sex": ["f", "m", "f"], "night": [True, False, True]}))
    ['sex = f', 'sex = m', 'night']
    """
    found: dict[str, BoolArray] = {}
    of: list[str] = []
    for name, values in slice_columns(columns).items():
        own = {name: values} if values.dtype.kind == "b" else _of_values(name, values)
        found |= own
        of += [name] * len(own)
    frame = pd.DataFrame(found)
    frame.attrs["of"] = tuple(of)
    return frame


def slice_columns(columns: Mapping[str, ArrayLike] | pd.DataFrame) -> dict[str, NDArray[Any]]:
    """Columns as memberships or as few names: many different numbers become four ranges.

    Args:
        columns: By name, one value per row.

    >>> slice_columns({"age": np.arange(40.0)})["age"][[0, 39]].tolist()
    ['0 to 9.75', '29.25 to 39']
    """
    given = {str(name): np.asarray(values) for name, values in columns.items()}
    if not given:
        raise DataError("slices must have at least one column.", got="none")
    check_lengths(**{f"slice '{name}'": len(values) for name, values in given.items()})
    return {name: _few_values(name, values) for name, values in given.items()}


def _few_values(name: str, values: NDArray[Any]) -> NDArray[Any]:
    if values.ndim != 1:
        raise DataError(f"slice '{name}' must be one value per row.", got=f"shape {values.shape}")
    if values.dtype.kind == "b":
        return values
    if values.dtype.kind in "iuf":
        if not np.isfinite(values.astype(float)).all():
            raise DataError(
                f"slice '{name}' must be known for every row.",
                got="NaN or infinity",
                do="Give such rows a value of their own, e.g. text 'unknown'.",
            )
        if len(np.unique(values)) > 2 * _QUARTERS:
            return _quarters(values.astype(float))
    return values.astype(str)


def _quarters(values: FloatArray) -> NDArray[Any]:
    edges = np.unique(np.quantile(values, np.linspace(0, 1, _QUARTERS + 1)))
    place = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
    ranges = [f"{low:g} to {high:g}" for low, high in pairwise(edges.tolist())]
    return np.array(ranges)[place]


def _of_values(name: str, values: NDArray[Any]) -> dict[str, BoolArray]:
    names = np.unique(values)
    if len(names) > _MOST_VALUES:
        raise DataError(
            f"slice '{name}' must have at most {_MOST_VALUES} values.", got=f"{len(names):,}"
        )
    return {f"{name} = {value}": values == value for value in names.tolist()}


def slice_rates(
    hit: ArrayLike,
    members: pd.DataFrame,
    confidence: float = 0.95,
    *,
    groups: ArrayLike | None = None,
    rests_on: tuple[str, ...] = (),
) -> SliceRates:
    """The share of hits in every slice, the gaps between them, and the worst.

    Args:
        hit: True for each row that is a hit: an error, a false alarm.
        members: From `slice_members`, or a frame of memberships.
        confidence: That all intervals of ``table`` hold at once; likewise all gaps; likewise both
            bounds of the worst slice, each on its own side with half of the error.
        groups: For each row the patient, device or document it belongs to.
        rests_on: Ids of the assumptions that the estimates carry.

    Exact intervals at Bonferroni's levels (`simultaneous_shares`). The gap of two slices that
    share no row comes from their exact intervals at the level of one among all pairs, by
    Newcombe's hybrid; of slices that overlap, from the intervals that hold for all slices.

    >>> night = slice_members({"night": [True] * 50 + [False] * 150, "day": [False] * 50 +
    ...                        [True] * 150})
    >>> found = slice_rates([1] * 10 + [0] * 190, night)
    >>> found.worst, round(found.upper.value, 2), found.table["share"].tolist()
    ('night', 0.36, [0.2, 0.0])
    """
    check_confidence(confidence)
    inside = members.to_numpy(dtype=bool)
    names = [str(name) for name in members.columns]
    two_sided = simultaneous_shares(hit, inside, confidence, groups=groups)
    several = max(1, sum(e.n > 0 for e in two_sided))
    tail = (1.0 - confidence) / 2.0
    fewest = math.ceil(math.log(tail / several) / math.log1p(-_TELLS))
    table = pd.DataFrame(
        {
            "n": [e.n for e in two_sided],
            "share": [e.value for e in two_sided],
            "low": [e.low for e in two_sided],
            "high": [e.high for e in two_sided],
            "too small": [e.n < fewest for e in two_sided],
        },
        index=pd.Index(names, name="slice"),
    )
    judged = [i for i, e in enumerate(two_sided) if e.n >= fewest]
    # A two-sided interval at c is an upper and a lower bound at (1 + c) / 2 each.
    ends = {i: (two_sided[i].low, two_sided[i].high) for i in judged}
    worst = max(judged, key=lambda i: ends[i][1], default=None)
    nan, n = float("nan"), int(inside[:, judged].any(axis=1).sum())
    method = two_sided[judged[0]].method if judged else "Clopper-Pearson"

    def bound(value: float) -> Estimate:
        return Estimate.bound(value, 1.0 - tail, n, f"worst slice, {method}", rests_on=rests_on)

    return SliceRates(
        table,
        _gaps(hit, members, table, confidence, groups),
        bound(nan if worst is None else ends[worst][1]),
        bound(max((low for low, _ in ends.values()), default=nan)),
        None if worst is None else names[worst],
        fewest,
    )


def _gaps(
    hit: ArrayLike,
    members: pd.DataFrame,
    table: pd.DataFrame,
    confidence: float,
    groups: ArrayLike | None,
) -> pd.DataFrame:
    """Every pair of slices of one column, or of all where no columns are known."""
    of = members.attrs.get("of") or ("",) * members.shape[1]
    booleans = [name == column for name, column in zip(of, members.columns, strict=True)]
    kind = ["" if alone else name for name, alone in zip(of, booleans, strict=True)]
    inside = members.to_numpy(dtype=bool)
    large = np.flatnonzero(~table["too small"].to_numpy())
    pairs = [(i, j) for i, j in combinations(large.tolist(), 2) if kind[i] == kind[j]]
    columns = ["first", "second", "gap", "low", "high"]
    if not pairs:
        return pd.DataFrame({name: [] for name in columns})
    # One among all pairs: each of the two intervals gets that level.
    sharp_level = 1.0 - (1.0 - confidence) * len(large) / len(pairs)
    sharp = (
        simultaneous_shares(hit, inside[:, large], sharp_level, groups=groups)
        if 0.0 < sharp_level < 1.0
        else None
    )
    place = {int(column): at for at, column in enumerate(large)}
    share, low, high = (table[name].to_numpy() for name in ("share", "low", "high"))
    rows = []
    for i, j in pairs:
        if share[j] > share[i]:
            i, j = j, i
        gap = share[i] - share[j]
        ends = (low[i] - high[j], high[i] - low[j])
        if sharp is not None and not (inside[:, i] & inside[:, j]).any():
            narrow = newcombe_gap(sharp[place[i]], sharp[place[j]])
            ends = (max(ends[0], narrow[0]), min(ends[1], narrow[1]))
        rows.append((table.index[i], table.index[j], gap, *ends))
    frame = pd.DataFrame(rows, columns=columns)
    return frame.sort_values("gap", ascending=False, kind="stable").reset_index(drop=True)


def newcombe_gap(one: Estimate, two: Estimate) -> tuple[float, float]:
    """The interval of the difference of two independent shares from their own intervals."""
    gap = one.value - two.value
    down = math.hypot(one.value - one.low, two.high - two.value)
    up = math.hypot(one.high - one.value, two.value - two.low)
    return gap - down, gap + up
