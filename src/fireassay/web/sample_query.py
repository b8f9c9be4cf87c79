"""Which rows a view shows: filters from an address, counts of what else there is, an order."""

import functools
import operator
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray
from starlette.datastructures import QueryParams

from fireassay.core.arrays import IntArray
from fireassay.core.errors import DataError
from fireassay.web.sample_rows import SampleSet

BINS = 20
RIGHT = ("right", "wrong", "not known")
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Query:
    """A view of a set of rows: what is shown, in what order. Its address says all of it."""

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
    if not is_number(facet):
        values, codes = _coded(rows, facet)
        if codes is None:
            return rows.flags(value) if value in values else _none(rows)
        unknown = value == "not known" and facet in ("truth", "said")
        if value not in values and not unknown and not facet.startswith("slice."):
            return _none(rows)
        found: Mask = codes == (values.index(value) if value in values else -1)
        return found
    low, high = _ends(value)
    column, _, top = numbers(rows, facet)
    held = np.asarray(column)
    # The last bar of a histogram holds its upper end, too.
    below = held <= np.float32(high) if high >= np.float32(top) else held < np.float32(high)
    return (held >= np.float32(low)) & below


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
    """The values of a facet, and which of them each row has; None where a row may have several."""
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
    bars = []
    for low_end, high_end, count in zip(edges[:-1], edges[1:], counts.tolist(), strict=True):
        value = f"{low_end:.9g}..{high_end:.9g}"
        bars.append(Bar(value, f"{low_end:.3g} to {high_end:.3g}", count, value == chosen))
    score = rows.scores.get(facet.removeprefix("score."), {}) if facet != "confidence" else {}
    threshold = score.get("threshold")
    place = None if threshold is None else min(max((threshold - low) / (width * BINS), 0.0), 1.0)
    return Facet(facet, title, tuple(bars), True, threshold, place, (f"{low:.3g}", f"{high:.3g}"))


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


MOVED = ("newly wrong", "newly right")
_KEPT_VIEWS = 4
_LONGEST = 500
Others = Callable[[str], SampleSet | None]


@dataclass(frozen=True, eq=False)
class SampleView:
    """The rows of a query in order, and its facets."""

    query: Query
    order: IntArray | range
    facets: tuple[Facet, ...]

    def page(self, number: int, size: int) -> list[int]:
        """Positions of the rows on a page, counted from 1."""
        return [int(i) for i in self.order[(number - 1) * size : number * size]]

    def place(self, row: int) -> int | None:
        """Where a row stands in this order; None if it is not in it."""
        if isinstance(self.order, range):
            return row if row < len(self.order) else None
        found = np.flatnonzero(self.order == row)
        return int(found[0]) if len(found) else None


class SampleViews:
    """Makes views; the last few are kept, so that turning pages costs nothing."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, ...], SampleView] = OrderedDict()

    def get(
        self, run: str, rows: SampleSet, query: Query, others: Others, shown: str = ""
    ) -> SampleView:
        """The view of a query; ``others`` finds the rows of another run for a comparison."""
        key = (run, rows.stamp, query.address(), shown)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = _view(rows, query, others, shown)
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > _KEPT_VIEWS:
                self._kept.popitem(last=False)
        return made


def read_query(rows: SampleSet, params: QueryParams) -> Query:
    """A query from an address; what is no facet of these rows is refused."""
    known = {*rows.facets, "moved"}
    chosen = {
        name: value[:_LONGEST]
        for name, value in params.items()
        if name not in ("set", "sort", "page", "row", "show", "view", "facet") and value
    }
    unknown = [name for name in chosen if name not in known]
    if unknown:
        raise DataError(
            "These rows cannot be filtered by that.",
            got=repr(unknown[0][:60]),
            do=f"Known: {', '.join(sorted(known))}.",
        )
    return Query(rows.name, dict(sorted(chosen.items())), params.get("sort", "")[:_LONGEST])


def moved_mask(rows: SampleSet, value: str, others: Others) -> Mask:
    """Rows that another run answered rightly and this one wrongly, or the reverse."""
    # ``value`` is the other run's key, a colon, and "newly wrong" or "newly right".
    key, _, what = value.partition(":")
    before = others(key)
    if before is None or what not in MOVED:
        raise DataError("That comparison is not known.", got=repr(value[:60]))
    found = _none(rows)
    if "marks" not in before.columns or "marks" not in rows.columns:
        return found
    _, first, second = np.intersect1d(
        before.columns["marks"], rows.columns["marks"], return_indices=True
    )
    was, now = (
        np.asarray(one.columns["truth"])[at] == np.asarray(one.columns["said"])[at]
        for one, at in ((before, first), (rows, second))
    )
    found[second] = was & ~now if what == MOVED[0] else ~was & now
    return found


def one_facet(rows: SampleSet, query: Query, others: Others, facet: str) -> Facet:
    """The counts of one facet alone."""
    masks = _masks(rows, query.without(facet), others)
    return counted(rows, facet, _all_but(masks, None), query.chosen.get(facet))


def _masks(rows: SampleSet, query: Query, others: Others) -> dict[str, Mask]:
    return {
        facet: moved_mask(rows, value, others) if facet == "moved" else mask_of(rows, facet, value)
        for facet, value in query.chosen.items()
    }


def _view(rows: SampleSet, query: Query, others: Others, shown: str) -> SampleView:
    masks = _masks(rows, query, others)
    every = _all_but(masks, None)
    # Of the monitors' scores only those are counted that are chosen, recommended or shown.
    left_out = {f"score.{name}" for name, one in rows.scores.items() if not one["recommended"]}
    known = (f for f in rows.facets if f not in left_out or f in masks or f == shown)
    facets = tuple(
        counted(rows, f, _all_but(masks, f) if f in masks else every, query.chosen.get(f))
        for f in known
    )
    order = order_of(rows, every, query.sort)
    if not isinstance(order, range):
        order = order.astype(np.int32)
    return SampleView(query, order, facets)


def _all_but(masks: dict[str, Mask], left_out: str | None) -> Mask | None:
    others = [mask for facet, mask in masks.items() if facet != left_out]
    return functools.reduce(operator.and_, others) if others else None
