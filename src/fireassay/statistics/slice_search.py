"""A rule in words for the rows where something happens most: found on one half of the rows."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import BoolArray, FloatArray
from fireassay.core.errors import DataError
from fireassay.core.lazy_modules import special
from fireassay.core.validation import check_integer, check_lengths

_FEW_VALUES = 8
_CUTS = np.array([0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95])
_BEAM, _BLOCK = 40, 2_000
_PRICE = 3.0  # of a condition, on the scale of log likelihoods


@dataclass(frozen=True)
class Condition:
    """One feature at most, above, or equal to a value.

    Attributes
    ----------
    feature, name
        Its column, and what it is called.
    sign, value
        ``"≤"``, ``">"`` or ``"="``, and the number it is compared with.

    >>> old = Condition(0, "age", ">", 70.0)
    >>> str(old), old.of(np.array([[65.0], [80.0]])).tolist()
    ('age > 70', [False, True])
    """

    feature: int
    name: str
    sign: str
    value: float

    def of(self, X: FloatArray) -> BoolArray:
        """For which rows it is true."""
        column = X[:, self.feature]
        if self.sign == "=":
            return np.asarray(column == self.value)
        return np.asarray(column <= self.value if self.sign == "≤" else column > self.value)

    def __str__(self) -> str:
        if self.sign == "=" and self.value in (0.0, 1.0):
            return self.name if self.value else f"not {self.name}"
        return f"{self.name} {self.sign} {self.value:.4g}"


@dataclass(frozen=True)
class SliceRule:
    """Conditions that hold together.

    Attributes
    ----------
    conditions
        At most as many as the search allowed.

    >>> print(SliceRule((Condition(0, "age", ">", 64.0), Condition(1, "ward", "=", 2.0))))
    age > 64 and ward = 2
    """

    conditions: tuple[Condition, ...]

    def of(self, X: ArrayLike) -> BoolArray:
        """For which rows the whole rule is true."""
        table = np.asarray(X, dtype=np.float64)
        inside = np.ones(len(table), dtype=bool)
        for condition in self.conditions:
            inside &= condition.of(table)
        return inside

    def __str__(self) -> str:
        return " and ".join(map(str, self.conditions))


_Scored = tuple[float, tuple[Condition, ...], BoolArray]


def find_slices(
    X: ArrayLike,
    hit: ArrayLike,
    names: Sequence[str] | None = None,
    *,
    depth: int = 3,
    smallest: float = 0.03,
    most: int = 5,
) -> tuple[SliceRule, ...]:
    """Rules of at most ``depth`` conditions whose rows have the most hits beyond chance.

    They are the best of many thousands: how often it really happens there must be measured on
    rows that took no part in the search.

    Parameters
    ----------
    X
        Features of shape (n, d).
    hit
        True for each row that is a hit.
    names
        Of the features.
    depth
        The most conditions, at least 1.
    smallest
        The least share of the rows that a rule may keep.
    most
        How many rules; no two of them share more than half of their rows.

    Returns
    -------
    tuple of SliceRule
        The best first; empty where nothing happens more often than in all rows.

    Notes
    -----
    Conditions cut a feature at its deciles and 5 % from its ends, or name one of few values; the
    40 best rules of each depth are made longer. The best rule has the largest likelihood ratio
    against the rate of all rows, less 3 for each condition, because longer rules fit chance better.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((1000, 3))
    >>> bad = (X[:, 1] > 0.9) & (rng.random(1000) < 0.5)
    >>> print(find_slices(X, bad, ["a", "b", "c"], most=1)[0])
    b > 0.89
    """
    table = np.asarray(X, dtype=np.float64)
    marks = np.asarray(hit).astype(np.float64)
    if table.ndim != 2:
        raise DataError("X must have the shape (rows, features).", got=f"shape {table.shape}")
    check_lengths(X=len(table), hit=len(marks))
    check_integer(depth, "depth", low=1)
    called = list(names) if names is not None else [f"feature {i}" for i in range(table.shape[1])]
    check_lengths(names=len(called), features=table.shape[1])
    rate = float(marks.mean()) if len(marks) else 0.0
    conditions = _conditions(table, called)
    if rate in (0.0, 1.0) or not conditions:
        return ()
    fewest = max(10, math.ceil(smallest * len(table)))
    beam: list[_Scored] = [(0.0, (), np.ones(len(table), dtype=bool))]
    every: list[_Scored] = []
    for length in range(1, depth + 1):
        beam = _longer(beam, conditions, table, marks, rate, fewest)
        every += [(score - _PRICE * length, rule, inside) for score, rule, inside in beam]
    every.sort(key=lambda scored: -scored[0])
    kept: list[_Scored] = []
    for scored in every:
        if len(kept) < most and not any(_alike(scored, k) for k in kept):
            kept.append(scored)
    return tuple(SliceRule(rule) for _, rule, _ in kept)


def _alike(one: _Scored, two: _Scored) -> bool:
    return bool(2 * (one[2] & two[2]).sum() > (one[2] | two[2]).sum())


def _conditions(table: FloatArray, names: Sequence[str]) -> list[Condition]:
    found = []
    for i, name in enumerate(names):
        column = table[:, i]
        values = np.unique(column)
        if len(values) < 2:
            continue
        if len(values) <= _FEW_VALUES:
            found += [Condition(i, name, "=", float(value)) for value in values]
        if len(values) > 2:
            cuts = np.unique(np.quantile(column, _CUTS))
            cuts = cuts[cuts < values[-1]]
            found += [Condition(i, name, sign, float(cut)) for cut in cuts for sign in ("≤", ">")]
    return found


def _longer(
    beam: list[_Scored],
    conditions: list[Condition],
    table: FloatArray,
    marks: FloatArray,
    rate: float,
    fewest: int,
) -> list[_Scored]:
    """The best rules with one condition more, each set of rows once."""
    if not beam:
        return []
    kept = np.array([inside for _, _, inside in beam], dtype=np.float32)
    scores, sizes = [], []
    for start in range(0, len(conditions), _BLOCK):
        masks = np.column_stack([c.of(table) for c in conditions[start : start + _BLOCK]])
        n = kept @ masks.astype(np.float32)
        hits = (kept * marks.astype(np.float32)) @ masks.astype(np.float32)
        found_here = _beyond_chance(hits.astype(np.float64), n.astype(np.float64), rate)
        scores.append(np.where(n >= fewest, found_here, -np.inf))
        sizes.append(n)
    every, rows = np.hstack(scores), np.hstack(sizes)
    order = np.argsort(-every, axis=None, kind="stable")
    found: list[_Scored] = []
    seen: set[Any] = set()
    for at in order:
        parent, condition = divmod(int(at), every.shape[1])
        if not every[parent, condition] > 0.0 or len(found) == _BEAM:
            break
        same = (round(float(every[parent, condition]), 6), int(rows[parent, condition]))
        if same in seen or conditions[condition] in beam[parent][1]:
            continue
        seen.add(same)
        inside = beam[parent][2] & conditions[condition].of(table)
        rule = (*beam[parent][1], conditions[condition])
        found.append((float(every[parent, condition]), rule, inside))
    return found


def _beyond_chance(hits: FloatArray, n: FloatArray, rate: float) -> FloatArray:
    """Log likelihood ratio of a higher rate than that of all rows; 0 where it is not higher."""
    share = hits / np.maximum(n, 1.0)
    ratio = special.xlogy(hits, share / rate) + special.xlogy(
        n - hits, (1.0 - share) / (1.0 - rate)
    )
    return np.where(share > rate, ratio, 0.0)
