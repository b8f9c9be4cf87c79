"""Any standard number on any slice of the rows, and how far a slice is from all other rows."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fireassay.core.arrays import BoolArray
from fireassay.core.errors import ParameterError
from fireassay.core.estimate import Estimate
from fireassay.statistics.numbers.judged_rows import JudgedRows
from fireassay.statistics.numbers.number_registry import AskedNumber, number_of
from fireassay.statistics.numbers.standard_intervals import jackknife, not_estimable

_ENOUGH = 0.10  # a slice without an error must be shown to be below this
_SHARES = ("sensitivity", "specificity", "ppv", "npv")


@dataclass(frozen=True)
class SliceNumber:
    """One number on one slice, its gap to all other rows, and whether it can be judged."""

    column: str
    value: str
    rows: int
    number: Estimate
    gap: Estimate
    too_small: bool


def fewest_units(confidence: float) -> int:
    """Rows or groups without an error that show less than 10 % of them: 36 at 95 %."""
    return math.ceil(math.log((1.0 - confidence) / 2.0) / math.log1p(-_ENOUGH))


def slice_numbers(
    rows: JudgedRows, asked: AskedNumber, values: NDArray[np.object_], column: str
) -> list[SliceNumber]:
    """A number for each value of a column; their gaps hold for all values at once."""
    names, place = np.unique(values.astype(str), return_inverse=True)
    comparisons = 1 if len(names) == 2 else len(names)
    level = 1.0 - (1.0 - rows.confidence) / max(1, comparisons)
    found, fewest = [], fewest_units(rows.confidence)
    for i, name in enumerate(names):
        inside = np.asarray(place.ravel() == i)
        within = rows.keeping(inside)
        gap = gap_to_rest(rows, asked, inside, level)
        gap = replace(gap, confidence=rows.confidence, method=f"{gap.method}, all values at once")
        number, small = number_of(within, asked), _units(within, asked) < fewest
        found.append(SliceNumber(column, str(name), int(inside.sum()), number, gap, small))
    return found


def gap_to_rest(
    rows: JudgedRows, asked: AskedNumber, inside: BoolArray, confidence: float
) -> Estimate:
    """How much higher a number is in a slice than elsewhere."""
    # Independent rows or groups: Newcombe's combination of both intervals. Groups with rows on both
    # sides: a share leaves each group out in turn, another number takes ends that hold together.
    if inside.all() or not inside.any():
        return not_estimable("there are no rows on the other side", confidence)
    crossing = _crossing(rows, inside)
    if crossing:
        paired = _left_out(rows, asked, inside, confidence)
        if paired is not None:
            return paired
    level = 1.0 - (1.0 - confidence) / 2.0 if crossing else confidence
    sides = (replace(rows, confidence=level).keeping(part) for part in (inside, ~inside))
    here, there = (number_of(part, asked) for part in sides)
    gap, n = here.value - there.value, len(rows)
    if not math.isfinite(gap):
        why = next(e.method for e in (here, there) if not math.isfinite(e.value))
        return not_estimable(why.partition(": ")[2] or "infinite", confidence)
    down, up = (here.value - here.low, there.high - there.value), (
        here.high - here.value, there.value - there.low)  # fmt: skip
    if crossing:
        ends, how = (gap - sum(down), gap + sum(up)), "ends that hold together"
    else:
        ends, how = (gap - math.hypot(*down), gap + math.hypot(*up)), "Newcombe's combination"
    how = f"{how}, {here.method}"
    return Estimate.around(gap, *ends, confidence=confidence, n=n, method=how)


def asked_number(
    rows: JudgedRows, asked: AskedNumber, slices: Mapping[str, NDArray[np.object_]]
) -> Estimate:
    """A number on all rows, on a slice, or the largest gap between one value and the others."""
    if asked.within is None:
        return number_of(rows, asked)
    column, value = asked.within
    if column not in slices:
        raise ParameterError(
            f"There must be slices by {column!r}.",
            got=", ".join(slices) or "no slices",
            do=f"Type --slice {column}, or name it under [data] slices.",
        )
    values = np.asarray(slices[column]).astype(str)
    if not asked.gap:
        if not (values == value).any():
            raise ParameterError(
                f"Some row must have {column} = {value!r}.", got=", ".join(np.unique(values)[:12])
            )
        return number_of(rows.keeping(values == value), asked.whole)
    return largest_gap(slice_numbers(rows, asked.whole, values, column), rows.confidence)


def largest_gap(found: Sequence[SliceNumber], confidence: float) -> Estimate:
    """The largest gap of a column with ends that hold for all of its values at once."""
    gaps = [each.gap for each in found if not math.isnan(each.gap.value)]
    if not gaps:
        return not_estimable("no two slices can be compared", confidence)
    value = max(abs(gap.value) for gap in gaps)
    low = max(max(gap.low, -gap.high, 0.0) for gap in gaps)
    high = max(max(gap.high, -gap.low) for gap in gaps)
    ends, largest = (value, low, high), max(gaps, key=lambda gap: abs(gap.value))
    return Estimate.around(*ends, confidence=confidence, n=largest.n, method=largest.method)


def _crossing(rows: JudgedRows, inside: BoolArray) -> bool:
    """Whether some group has rows on both sides."""
    if rows.groups is None:
        return False
    sides = [np.bincount(rows.groups, weights=part) > 0 for part in (inside, ~inside)]
    return bool((sides[0] & sides[1]).any())


def _left_out(
    rows: JudgedRows, asked: AskedNumber, inside: BoolArray, confidence: float
) -> Estimate | None:
    """The gap of a share without each group in turn; None where the number is no share."""
    name, c = asked.number.name, asked.position
    if asked.at is not None or name not in (*_SHARES, "accuracy", "error"):
        return None
    values, left = [], []
    assert rows.groups is not None
    units = rows.n_units
    for part in (inside, ~inside):
        truth, said = rows.truth[part], rows.answers[part]
        own, given = (truth == c, said == c) if c is not None else (truth >= 0, said >= 0)
        hit = truth == said
        members, hits = {
            "sensitivity": (own, hit),
            "specificity": (~own, ~given),
            "ppv": (given, hit),
            "npv": (~given & (said >= 0), ~own),
            "accuracy": (own, hit),
            "error": (own, ~hit),
        }[name]
        if name == "specificity":
            hits = hits & (said >= 0)
        k = np.bincount(rows.groups[part], weights=members & hits, minlength=units)
        m = np.bincount(rows.groups[part], weights=members, minlength=units)
        with np.errstate(invalid="ignore", divide="ignore"):
            values.append(k.sum() / m.sum())
            left.append((k.sum() - k) / (m.sum() - m))
    value = float(values[0] - values[1])
    if math.isnan(value):
        return not_estimable("a side has no such rows", confidence)
    blocks = [(left[0] - left[1], np.ones(units))]
    return jackknife(value, blocks, confidence, len(rows), units, "fisher", "groups")


def _units(rows: JudgedRows, asked: AskedNumber) -> int:
    """Rows or groups that the number is about: of a class its own, for ranks the fewer kind."""
    own = np.ones(len(rows), dtype=bool)
    if asked.position is not None:
        own = rows.truth == asked.position
        if asked.number.name in ("specificity", "npv"):
            own = ~own
    if asked.number.needs == "probabilities" and asked.position is not None:
        own = own if own.sum() <= (~own).sum() else ~own
    return int(own.sum()) if rows.groups is None else len(np.unique(rows.groups[own]))
