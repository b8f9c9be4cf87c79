"""Which rows a view shows: filters from an address, counts of what else there is, an order."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray

from fireassay.core.arrays import IntArray
from fireassay.core.errors import DataError
from fireassay.web.sample_set import SampleSet

BINS = 20
RIGHT = ("right", "wrong", "not known")
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Query:
    """A view of a set of rows: what is shown, in what order. Its address says all of it.

    Attributes
    ----------
    source
        "test" or "operational".
    chosen
        What is filtered by, by facet: a value, or ``low..high`` for numbers.
    sort
        A column, with ``-`` before it for the highest first; "": as in the file.
    """

    source: str = "test"
    chosen: Mapping[str, str] = field(default_factory=dict)
    sort: str = ""

    def address(self, **more: Any) -> str:
        """The query part of an address."""
        fields = {"set": self.source, **self.chosen, "sort": self.sort, **more}
        if fields["set"] == "test":
            fields.pop("set")
        return urlencode({k: v for k, v in fields.items() if v not in ("", None)})

    def toggled(self, facet: str, value: str) -> "Query":
        """With a value of a facet chosen, or not any more."""
        chosen = dict(self.chosen)
        if chosen.get(facet) == value:
            del chosen[facet]
        else:
            chosen[facet] = value
        return replace(self, chosen=chosen)

    def without(self, facet: str) -> "Query":
        """Without one filter."""
        return replace(self, chosen={k: v for k, v in self.chosen.items() if k != facet})


@dataclass(frozen=True)
class Bar:
    """One value of a facet and how many rows have it."""

    value: str
    text: str
    count: int
    chosen: bool = False


@dataclass(frozen=True)
class Facet:
    """What one can filter by."""

    name: str
    title: str
    bars: tuple[Bar, ...]
    histogram: bool = False
    threshold: float | None = None
    place: float | None = None
    ends: tuple[str, str] = ("", "")

    @property
    def most(self) -> int:
        """Rows of the longest bar."""
        return max((bar.count for bar in self.bars), default=0)


def is_number(facet: str) -> bool:
    """Whether a facet is a number, shown as a histogram."""
    return facet == "confidence" or facet.startswith("score.")


def numbers(rows: SampleSet, facet: str) -> tuple[Any, float, float]:
    """The column of a number, and the ends of its histogram."""
    if facet == "confidence":
        return rows.columns["confidence"], 0.0, 1.0
    score = rows.scores[facet.removeprefix("score.")]
    return rows.columns[score["column"]], float(score["low"]), float(score["high"])


def mask_of(rows: SampleSet, facet: str, value: str) -> Mask:
    """The rows that one filter lets through."""
    columns = rows.columns
    if facet in ("truth", "said"):
        known = rows.classes
        code = known.index(value) if value in known else -1 if value == "not known" else -2
        return np.equal(columns[facet], code)
    if facet == "right":
        return np.equal(_right(rows), RIGHT.index(value)) if value in RIGHT else _none(rows)
    if facet in ("part", "mark"):
        known = rows.facts["parts" if facet == "part" else "marks"]
        return rows.flags(value) if value in known else _none(rows)
    if facet == "dataset":
        wanted = int(value) if value.isascii() and value.isdecimal() and len(value) < 6 else -1
        return np.equal(columns["dataset"], wanted)
    if facet.startswith("slice."):
        told = rows.slices[facet.removeprefix("slice.")]
        levels = told["levels"]
        code = levels.index(value) if value in levels else -1
        return np.equal(columns[told["column"]], code)
    low, high = _ends(value)
    column, _, top = numbers(rows, facet)
    held = np.asarray(column)
    # The last bar of a histogram holds its upper end, too.
    below = held <= np.float32(high) if high >= np.float32(top) else held < np.float32(high)
    found: Mask = (held >= np.float32(low)) & below
    return found


def counted(rows: SampleSet, facet: str, mask: Mask | None, chosen: str | None) -> Facet:
    """How many rows have each value of a facet, of those that the other filters let through."""
    title = rows.facets.get(facet, facet)
    if is_number(facet):
        return _histogram(rows, facet, title, mask, chosen)
    values, codes = _coded(rows, facet)
    if facet in ("part", "mark"):
        own = (rows.flags(value) for value in values)
        counts = [int((m if mask is None else m & mask).sum()) for m in own]
    else:
        some = codes if mask is None else codes[mask]
        counts = np.bincount(some + 1, minlength=len(values) + 1)[1:].tolist()
        left = len(some) - sum(counts)
        if left and facet in ("truth", "said"):
            values, counts = [*values, "not known"], [*counts, left]
    bars = [
        Bar(value, value, int(count), value == chosen)
        for value, count in zip(values, counts, strict=True)
        if count or value == chosen
    ]
    if facet in ("truth", "said") or facet.startswith("slice."):
        bars.sort(key=lambda bar: -bar.count)
    return Facet(facet, title, tuple(bars))


def order_of(rows: SampleSet, found: Mask | None, sort: str) -> IntArray | range:
    """Positions of the rows that are shown, in the order that was asked for."""
    if found is None and not sort:
        return range(len(rows))
    positions = np.arange(len(rows)) if found is None else np.flatnonzero(found)
    name = sort.removeprefix("-")
    if not name:
        return positions
    if name in ("truth", "said"):
        values = np.asarray(rows.columns[name])[positions].astype(np.float32)
    elif is_number(name) and (name == "confidence" or name[6:] in rows.scores):
        values = np.asarray(numbers(rows, name)[0])[positions]
    else:
        raise DataError("Rows can be sorted by a score, the confidence, truth or answer.", got=name)
    keyed = -values if sort.startswith("-") else values
    return positions[np.argsort(keyed, kind="stable")]  # NaN comes last either way


def _coded(rows: SampleSet, facet: str) -> tuple[list[str], Any]:
    if facet in ("truth", "said"):
        return rows.classes, np.asarray(rows.columns[facet])
    if facet == "right":
        return list(RIGHT), _right(rows)
    if facet in ("part", "mark"):
        return list(rows.facts["parts" if facet == "part" else "marks"]), None
    if facet == "dataset":
        names = [str(i + 1) for i in range(int(rows.facts["datasets"]))]
        return names, np.asarray(rows.columns["dataset"]) - 1
    told = rows.slices[facet.removeprefix("slice.")]
    return list(told["levels"]), np.asarray(rows.columns[told["column"]])


def _right(rows: SampleSet) -> NDArray[np.int8]:
    """0 right, 1 wrong, 2 not known."""
    truth, said = (np.asarray(rows.columns[name]) for name in ("truth", "said"))
    return np.where((truth < 0) | (said < 0), 2, truth != said).astype(np.int8)


def _histogram(
    rows: SampleSet, facet: str, title: str, mask: Mask | None, chosen: str | None
) -> Facet:
    column, low, high = numbers(rows, facet)
    held = np.asarray(column)
    held = held if mask is None else held[mask]
    width = (high - low) / BINS or 1.0
    edges = np.array([low + i * width for i in range(BINS)] + [max(high, low + width)], np.float32)
    held = held[np.isfinite(held)]
    bins = ((held - edges[0]) / np.float32(width)).astype(np.int64)
    np.clip(bins, 0, BINS - 1, out=bins)
    bins -= (held < edges[bins]) & (bins > 0)  # rounding: a bar holds what its filter finds
    bins += (held >= edges[bins + 1]) & (bins < BINS - 1)
    counts = np.bincount(bins, minlength=BINS)
    bars = tuple(
        Bar(
            (value := f"{edges[i]:.9g}..{edges[i + 1]:.9g}"),
            f"{edges[i]:.3g} to {edges[i + 1]:.3g}",
            int(counts[i]),
            value == chosen,
        )
        for i in range(BINS)
    )
    score = rows.scores.get(facet.removeprefix("score."), {}) if facet != "confidence" else {}
    threshold = score.get("threshold")
    place = None if threshold is None else min(max((threshold - low) / (width * BINS), 0.0), 1.0)
    return Facet(facet, title, bars, True, threshold, place, (f"{low:.3g}", f"{high:.3g}"))


def _ends(value: str) -> tuple[float, float]:
    low, separator, high = value.partition("..")
    try:
        ends = float(low), float(high)
    except ValueError:
        ends = (np.nan, np.nan)
    if not separator or not ends[0] <= ends[1]:
        raise DataError("A range must look like 0.2..0.4.", got=repr(value[:60]))
    return ends


def _none(rows: SampleSet) -> Mask:
    return np.zeros(len(rows), dtype=np.bool_)
