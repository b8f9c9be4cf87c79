"""One view of a run's rows: what is shown, page by page, and what could be chosen instead."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from starlette.datastructures import QueryParams

from fireassay.core.arrays import IntArray
from fireassay.core.errors import DataError
from fireassay.web.sample_query import (
    Facet,
    Mask,
    Query,
    counted,
    mask_of,
    order_of,
)
from fireassay.web.sample_set import SampleSet

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
        """The view of a query; ``others`` finds the rows of another run for a comparison.

        Of the monitors' scores only those are counted that are chosen, recommended or ``shown``.
        """
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
    """Rows that another run answered rightly and this one wrongly, or the reverse.

    ``value`` is the other run's key, a colon, and "newly wrong" or "newly right".
    """
    key, _, what = value.partition(":")
    before = others(key)
    if before is None or what not in MOVED:
        raise DataError("That comparison is not known.", got=repr(value[:60]))
    found = np.zeros(len(rows), dtype=np.bool_)
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
    facets = tuple(
        counted(
            rows,
            facet,
            _all_but(masks, facet) if facet in masks else every,
            query.chosen.get(facet),
        )
        for facet in rows.facets
        if _at_once(rows, facet) or facet in masks or facet == shown
    )
    order = order_of(rows, every, query.sort)
    if not isinstance(order, range):
        order = order.astype(np.int32)
    return SampleView(query, order, facets)


def _at_once(rows: SampleSet, facet: str) -> bool:
    score = rows.scores.get(facet.removeprefix("score.")) if facet.startswith("score.") else None
    return score is None or bool(score["recommended"])


def _all_but(masks: dict[str, Mask], left_out: str | None) -> Mask | None:
    found: Mask | None = None
    for facet, mask in masks.items():
        if facet != left_out:
            found = mask if found is None else found & mask
    return found
