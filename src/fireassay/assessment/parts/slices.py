"""Slices of the rows in the words of the report: rates, gaps, the worst, and one that was found."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.core import Assumption, Claim, Estimate, Evidence, Measure, Table, generator
from fireassay.core.arrays import BoolArray, FloatArray
from fireassay.core.lazy import special, stats
from fireassay.core.row_index import pieces
from fireassay.core.words import p_text
from fireassay.data import DataSet
from fireassay.data.splits import random_half
from fireassay.statistics import SliceRates, SliceRule, find_slices, simultaneous_shares, slice_test
from fireassay.statistics.numbers.judged_rows import JudgedRows
from fireassay.statistics.numbers.number_registry import parse_number, standard_name
from fireassay.statistics.numbers.slice_numbers import SliceNumber, largest_gap, slice_numbers

LARGE_ENOUGH = "slices-large-enough"
_FEWEST_SEARCHED, _MOST_COLUMNS = 400, 200
_TWO_NUMBERS = {
    "image": ("brightness", "contrast"),
    "series": ("mean", "spread"),
    "text": ("words", "characters"),
}
_MOST_SEARCHED, _FOR_HALVES = 20_000, 0.2
# A search keeps a number for each of about 40 cuts per column and row: 160 MB at the most.
_MOST_CELLS = 1_000_000
# What each rule of a half may spend of its error: the one that looked best there the most.
_WEIGHTS = (1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 16)
_MOST_SAID, _MOST_SHOWN = 5, 20
MEASURES = (
    Measure(
        "largest_gap",
        "Largest gap between slices",
        "share",
        "low",
        "How much more often it is wrong in one slice than elsewhere, all at once.",
    ),
    Measure(
        "found_slice_error",
        "Error in the slice that a search found",
        "share",
        "low",
        "Error rate where a search found it to be highest, on rows that took no part in it.",
    ),
)


@dataclass(frozen=True)
class FoundSlice:
    """A rule that was found on one half of the rows, and its rate on the other."""

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
    """Search on either half of the rows, measure on the other; the clearest one, or None."""
    # Two tests say whether there is such a slice: the rules on rows that took no part in their
    # search (Bonferroni, more for those that looked better), which may spend a fifth of the error,
    # and the whole search on all rows with the errors dealt anew (`slice_test`; not with groups).
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
    """What the slices say: those that were named, and the one that was found."""

    values: dict[str, NDArray[np.object_]]  # of each row, by column
    numbers: dict[str, tuple[SliceNumber, ...]]  # the slices by name of the number
    found: FoundSlice | None
    confidence: float

    def estimates(self, rests_on: tuple[str, ...]) -> dict[str, Estimate]:
        """By the names of the measures."""
        numbers = {}
        if self.numbers.get("error"):
            numbers["largest_gap"] = replace(
                largest_gap(self.numbers["error"], self.confidence), rests_on=rests_on
            )
        if self.found is not None and self.found.confirmed:
            numbers["found_slice_error"] = self.found.inside
        return numbers

    def claims(self) -> tuple[Claim, ...]:
        """Slices that are shown to be worse, those too small, and the slice that was found."""
        said = []
        worse = [
            f"{measure.label} is {'higher' if gap.value > 0 else 'lower'} where {one.column} is "
            f"{one.value}: by {measure.shown(_positive(gap))}"
            for name, slices in self.numbers.items()
            if (measure := _measure(name)).better != "neither"
            for one in slices
            if not one.too_small and (gap := one.gap)
            if (gap.low > 0 if measure.better == "low" else gap.high < 0)
        ]
        said += [
            Claim(f"{text} (all values of the column at once).") for text in worse[:_MOST_SAID]
        ]
        if self.numbers and not worse:
            columns = ", ".join(self.values)
            said.append(Claim(f"No slice by {columns} is shown to be worse than the other rows."))
        small = [
            text for name, slices in self.numbers.items() if (text := _too_small(name, slices))
        ]
        if small:
            said.append(Claim(f"Too small to judge: {'; '.join(small)}."))
        if self.found is not None and self.found.confirmed:
            said.append(self.found.claim())
        return tuple(said)

    def tables(self) -> dict[str, Table]:
        """Every slice with its numbers and its gaps to all other rows."""
        columns = ("column", "value", "rows", "number", "found", "low", "high", "gap to the rest",
                   "gap low", "gap high", "judged")  # fmt: skip
        rows = [
            (one.column, one.value, one.rows, name,
             *(round(v, 4) for e in (one.number, one.gap) for v in (e.value, e.low, e.high)),
             "too small" if one.too_small else "yes")
            for name, slices in self.numbers.items()
            for one in slices
        ]  # fmt: skip
        caption = "Slices: plain intervals; the gaps of one column hold together"
        return {"slices": Table(columns, tuple(rows), caption)} if rows else {}


def _too_small(name: str, slices: Sequence[SliceNumber]) -> str:
    """A number and the slices that are too small for it, or nothing."""
    small = [f"{one.column} {one.value}" for one in slices if one.too_small]
    if len(small) == len(slices) > 1:
        return f"every slice for {name}"
    more = f" and {len(small) - 3} more" if len(small) > 3 else ""
    return f"{', '.join(small[:3])}{more} for {name}" if small else ""


def _positive(gap: Estimate) -> Estimate:
    """The size of a gap of known sign."""
    if gap.value >= 0:
        return gap
    return replace(gap, value=-gap.value, low=-gap.high, high=-gap.low)


def _measure(name: str) -> Measure:
    number = standard_name(name)
    assert number is not None
    return number.measure.of(name)


def slice_findings(
    data: DataSet,
    judged: JudgedRows,
    classes: Sequence[str],
    positive: str | None,
    further: Sequence[str] = (),
    *,
    search: bool = True,
    seed: int,
    rests_on: tuple[str, ...],
) -> SliceFindings:
    """Judge the slices that the data names, and search for one that it does not."""
    confidence, wrong = judged.confidence, judged.truth != judged.answers
    values = {name: np.asarray(v).astype(str).astype(object)
              for name, v in (data.slices or {}).items()}  # fmt: skip
    names = ["error"]
    if positive is not None:
        names += [f"{name}[{positive}]" for name in ("sensitivity", "specificity")]
        if judged.probabilities is not None:
            names += [f"auroc[{positive}]", f"calibration_intercept[{positive}]"]
    elif len(classes) <= _MOST_SHOWN:
        names.append("balanced_accuracy")
    asked = {a.name: a for a in (parse_number(n, classes, positive) for n in (*names, *further))}
    numbers = {
        name: tuple(one for column, by in values.items()
                    for one in slice_numbers(judged, each, by, column))
        for name, each in asked.items()
        if each.within is None
    }  # fmt: skip
    found = None
    of_columns = data.rows.form in ("table", "tokens")
    looked = not of_columns or data.X.shape[1] <= _MOST_COLUMNS
    if search and len(data) >= _FEWEST_SEARCHED and looked:
        X, columns = _view(data, judged.answers, classes)
        found = found_slice(
            X,
            wrong,
            columns,
            confidence=confidence,
            groups=data.groups,
            seed=seed,
            rests_on=rests_on,
        )
    return SliceFindings(values, numbers if values else {}, found, confidence)


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


def _view(
    data: DataSet, predicted: NDArray[Any], classes: Sequence[Any]
) -> tuple[FloatArray, list[str]]:
    """What a rule may speak of: columns of a table; of other rows two numbers and the answer."""
    form = data.rows.form
    if form in ("table", "tokens"):
        names = data.feature_names or [f"column {i}" for i in range(data.X.shape[1])]
        return data.X.astype(np.float64), list(names)
    light = np.empty((len(data), 2))
    if form == "text":
        light[:] = [(len(text.split()), len(text)) for text in data.rows.values]
    for a, b in pieces(data.X) if form != "text" else ():
        flat = data.X[a:b].reshape(b - a, -1).astype(np.float64)
        light[a:b] = np.column_stack([flat.mean(axis=1), flat.std(axis=1)])
    answers = [(predicted == i).astype(np.float64) for i in range(len(classes))]
    table = np.column_stack([light, *answers])
    return table, [*_TWO_NUMBERS[form], *(f"answered {name}" for name in classes)]


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
        estimates={**found.estimates, f"{name}_upper": rates.upper, f"{name}_lower": rates.lower},
        assumptions=(*found.assumptions, large_enough(rates)),
        tables={**found.tables, **slice_tables(rates, what)},
    )
