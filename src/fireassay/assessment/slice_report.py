"""Slices of the rows in the words of the report: rates, gaps, the worst, and one that was found."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.assessment.halves import random_half
from fireassay.core import Assumption, Claim, Estimate, Evidence, Measure, Table, generator
from fireassay.core.arrays import BoolArray, FloatArray
from fireassay.core.lazy_modules import special, stats
from fireassay.core.percent import p_text
from fireassay.core.row_index import pieces
from fireassay.data import DataSet
from fireassay.statistics import (
    SliceRates,
    SliceRule,
    find_slices,
    simultaneous_shares,
    slice_members,
    slice_rates,
    slice_test,
)

LARGE_ENOUGH = "slices-large-enough"
_FEWEST_SEARCHED, _MOST_COLUMNS = 400, 200
_MOST_SEARCHED, _FOR_HALVES = 20_000, 0.2
# A search keeps a number for each of about 40 cuts per column and row: 160 MB at the most.
_MOST_CELLS = 1_000_000
# What each rule of a half may spend of its error: the one that looked best there the most.
_WEIGHTS = (1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 16)
MEASURES = (
    Measure(
        "largest_gap",
        "Largest gap between slices",
        "share",
        "low",
        "How much more often it is wrong in one slice than in another.",
    ),
    Measure(
        "found_slice_error",
        "Wrong in the slice that a search found",
        "share",
        "low",
        "Error rate where a search found it to be highest, on rows that took no part in it.",
    ),
)


@dataclass(frozen=True)
class FoundSlice:
    """A rule that was found on one half of the rows, and its rate on the other.

    Attributes
    ----------
    rule
        At most three conditions.
    inside, outside
        The rate where the rule holds and elsewhere; intervals that hold for all rules at once.
    p_value
        That it is no more often wrong anywhere, for all rules that were tried and both tests.
    confidence
        Of the intervals and of ``confirmed``.
    """

    rule: SliceRule
    inside: Estimate
    outside: Estimate
    p_value: float
    confidence: float

    @property
    def confirmed(self) -> bool:
        """Whether rows that took no part in the search show it, too."""
        return self.p_value <= 1.0 - self.confidence

    def claim(self) -> Claim:
        """In words."""
        return Claim(
            f"Where {self.rule}, it is wrong on {self.inside.percent()}, elsewhere on "
            f"{self.outside.percent()} (found on one half of the rows, measured on the other, "
            f"{p_text(self.p_value)}).",
            True if self.confirmed else None,
        )


def found_slice(
    X: FloatArray,
    wrong: BoolArray,
    names: Sequence[str],
    *,
    confidence: float = 0.95,
    groups: NDArray[Any] | None = None,
    seed: int = 0,
    rests_on: tuple[str, ...] = (),
) -> FoundSlice | None:
    """Search on either half of the rows, measure on the other; the clearest one, or None.

    Two tests say whether there is such a slice: the rules on rows that took no part in their
    search (Bonferroni, more for those that looked better), which may spend a fifth of the error,
    and the whole search on all rows with the errors dealt anew (`slice_test`; not with groups).
    """
    most_rows = min(_MOST_SEARCHED, _MOST_CELLS // max(1, X.shape[1]))
    first = random_half(len(X), groups, seed, "slice search")
    measured: list[tuple[SliceRule, BoolArray, BoolArray, float]] = []
    for half in (first, ~first):
        if half.any() and not half.all():
            searched = _some(half, seed, most_rows)
            rules = find_slices(X[searched], wrong[searched], names, most=len(_WEIGHTS))
            for rule, weight in zip(rules, _WEIGHTS, strict=False):
                inside = rule.of(X)[~half]
                if 0 < inside.sum() < len(inside):
                    measured.append((rule, ~half, inside, weight / 2))
    if not measured:
        return None
    several = len(measured)
    each = 1.0 - (1.0 - confidence) / several
    found = []
    for rule, rows, inside, weight in measured:
        own = None if groups is None else groups[rows]
        members = np.column_stack([inside, ~inside])
        one, two = simultaneous_shares(wrong[rows], members, each, groups=own, rests_on=rests_on)
        method = one.method.partition(", simultaneous")[0] + f", simultaneous over {2 * several}"
        one, two = (replace(e, confidence=confidence, method=method) for e in (one, two))
        p = min(1.0, _p_value(wrong[rows], inside, own) / weight)
        found.append(FoundSlice(rule, one, two, p, confidence))
    clearest = min(found, key=lambda slice_: (slice_.p_value, -slice_.inside.value))
    if groups is not None:
        return clearest
    p, level = clearest.p_value / _FOR_HALVES, 1.0 - confidence
    if p > level and len(X) <= most_rows:
        deals = math.ceil(4.0 / level) - 1
        of_all = slice_test(X, wrong, permutations=deals, seed=seed)
        p = min(p, of_all / (1.0 - _FOR_HALVES))
    return replace(clearest, p_value=min(1.0, p))


def _some(rows: BoolArray, seed: int, most: int) -> NDArray[np.int64]:
    """The rows to search: all of them, or as many as are enough."""
    chosen = np.flatnonzero(rows)
    if len(chosen) > most:
        chosen = generator(seed, "rows searched").permutation(chosen)[:most]
    return np.sort(chosen)


def _p_value(wrong: BoolArray, inside: BoolArray, groups: Any) -> float:
    """That rows inside are no worse: Fisher's exact test, or a t test over groups."""
    hits, n = int(wrong[inside].sum()), int(inside.sum())
    if groups is None:
        return float(stats.hypergeom.sf(hits - 1, len(wrong), int(wrong.sum()), n))
    member = np.unique(groups, return_inverse=True)[1].ravel()
    weight = np.where(inside, 1.0 / n, -1.0 / (len(wrong) - n))
    rates = np.where(inside, wrong[inside].mean(), wrong[~inside].mean())
    own = np.bincount(member, weights=(wrong - rates) * weight)
    # Only groups that reach into the slice say how far its rate may be off.
    units = len(np.unique(member[inside]))
    spread = float(np.sqrt((own**2).sum() * len(own) / max(1, len(own) - 1)))
    gap = float((wrong * weight).sum())
    return float(special.stdtr(units - 1, -gap / spread)) if spread > 0 and units > 1 else 1.0


@dataclass(frozen=True)
class SliceFindings:
    """What the slices say: those that were named, and the one that was found.

    Attributes
    ----------
    rates
        Of the named slices; None if there are none.
    found
        By search; None if the rows are too few, or nothing stands out.
    confidence
        Of the intervals.
    """

    rates: SliceRates | None
    found: FoundSlice | None
    confidence: float

    def estimates(self, rests_on: tuple[str, ...]) -> dict[str, Estimate]:
        """By the names of the measures."""
        numbers = {}
        gap = None if self.rates is None else _largest_gap(self.rates, self.confidence, rests_on)
        if gap is not None:
            numbers["largest_gap"] = gap
        if self.found is not None and self.found.confirmed:
            numbers["found_slice_error"] = self.found.inside
        return numbers

    def claims(self) -> tuple[Claim, ...]:
        """The largest gap, and the slice that was found."""
        said = []
        if self.rates is not None and len(self.rates.gaps):
            first, second, gap, low, high = self.rates.gaps.iloc[0]
            text = (
                f"The largest gap is {100 * gap:.2g} points [{100 * low:.2g}, {100 * high:.2g}]: "
                f"{first} against {second}; all {len(self.rates.gaps)} gaps hold at once."
            )
            said.append(Claim(text))
        if self.rates is not None and self.rates.too_small:
            said.append(Claim(f"Too small to judge: {', '.join(self.rates.too_small[:10])}."))
        if self.found is not None and self.found.confirmed:
            said.append(self.found.claim())
        return tuple(said)

    def tables(self) -> dict[str, Table]:
        """The slices and the gaps between them."""
        return {} if self.rates is None else slice_tables(self.rates, "Error rate")


def slice_findings(
    data: DataSet,
    wrong: BoolArray,
    predicted: NDArray[Any],
    classes: Sequence[Any],
    *,
    confidence: float,
    seed: int,
    rests_on: tuple[str, ...],
) -> SliceFindings:
    """Judge the slices that the data names, and search for one that it does not."""
    rates = None
    if data.slices is not None:
        members = slice_members(data.slices)
        rates = slice_rates(
            wrong, members, confidence, groups=data.groups, rests_on=(*rests_on, LARGE_ENOUGH)
        )
    found = None
    if len(data) >= _FEWEST_SEARCHED and (data.X.ndim > 2 or data.X.shape[1] <= _MOST_COLUMNS):
        X, names = _view(data, predicted, classes)
        found = found_slice(
            X,
            wrong,
            names,
            confidence=confidence,
            groups=data.groups,
            seed=seed,
            rests_on=rests_on,
        )
    return SliceFindings(rates, found, confidence)


def large_enough(rates: SliceRates) -> Assumption:
    """Whether every slice has the rows to be judged; the worst slice rests on it."""
    small = rates.too_small
    check = f"A slice needs {rates.fewest:,} rows to be bounded below 10 % without an error."
    if small:
        listed = ", ".join(f"{name} ({rates.table['n'][name]})" for name in small[:10])
        check = f"{check} Too small: {listed}{' …' if len(small) > 10 else ''}."
    return Assumption(
        "Every slice has enough rows to be judged.",
        "contradicted" if small else "supported",
        check,
        LARGE_ENOUGH,
    )


def slice_tables(rates: SliceRates, what: str) -> dict[str, Table]:
    """The slices, and the gaps between them."""
    shown = rates.table.round(4).astype(object)
    tables = {"slices": Table.from_frame(shown, f"{what} in each slice; intervals hold together")}
    if len(rates.gaps):
        tables["gaps"] = Table.from_frame(
            rates.gaps.head(20).round(4), "Gaps between slices, largest first", index=False
        )
    return tables


def _largest_gap(
    rates: SliceRates, confidence: float, rests_on: tuple[str, ...]
) -> Estimate | None:
    """The largest gap with the interval that holds for all gaps at once."""
    if not len(rates.gaps):
        return None
    row = rates.gaps.iloc[0]
    return Estimate.around(
        row["gap"],
        row["low"],
        row["high"],
        confidence=confidence,
        n=int(rates.table["n"][[row["first"], row["second"]]].sum()),
        method=f"Newcombe's hybrid of exact intervals, simultaneous over {len(rates.gaps)}",
        rests_on=rests_on,
    )


def _view(
    data: DataSet, predicted: NDArray[Any], classes: Sequence[Any]
) -> tuple[FloatArray, list[str]]:
    """What a rule may speak of: columns of a table; of a picture its light, contrast and answer."""
    if data.X.ndim == 2:
        names = data.feature_names or [f"column {i}" for i in range(data.X.shape[1])]
        return data.X.astype(np.float64), list(names)
    light = np.empty((len(data), 2))
    for a, b in pieces(data.X):
        flat = data.X[a:b].reshape(b - a, -1).astype(np.float64)
        light[a:b] = np.column_stack([flat.mean(axis=1), flat.std(axis=1)])
    answers = [(predicted == i).astype(np.float64) for i in range(len(classes))]
    table = np.column_stack([light, *answers])
    return table, ["brightness", "contrast", *(f"answered {name}" for name in classes)]


def with_worst_slice(found: Evidence, rates: SliceRates, name: str, what: str) -> Evidence:
    """The evidence with the bounds of the worst slice, ``name`` ending in _upper and _lower."""
    if rates.worst is None:
        return replace(found, assumptions=(*found.assumptions, large_enough(rates)))
    row: Any = rates.table.loc[rates.worst]
    claim = Claim(
        f"{what} in the worst slice: at most {100 * rates.upper.value:.2g} % "
        f"({rates.worst}: {100 * row['share']:.2g} % of {int(row['n']):,} rows)."
    )
    return replace(
        found,
        claims=(*found.claims, claim),
        estimates={
            **found.estimates,
            f"{name}_upper": rates.upper,
            f"{name}_lower": rates.lower,
        },
        assumptions=(*found.assumptions, large_enough(rates)),
        tables={**found.tables, **slice_tables(rates, what)},
    )
