"""Where given rows stand in a data set: found by their bytes, and compared byte by byte."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from fireassay.core.arrays import AnyArray, BoolArray, IntArray
from fireassay.core.mapped import stay_bytes

NOWHERE: Final = -1
_PIECE_BYTES: Final = 2**24
_MIX: Final = np.uint64(0x9E3779B97F4A7C15)


class RowIndex:
    """The places of a data set's rows; equal rows all have the place of the first one."""

    # A cheap mark finds a place, and only rows that are equal in every byte count as found.

    def __init__(self, rows: AnyArray, as_asked: Callable[[AnyArray], AnyArray] | None = None):
        self.rows = rows
        self._as_asked = as_asked or (lambda some: some)
        self._marks: NDArray[np.uint64] | None = None
        self._order: IntArray | None = None

    def find(self, asked: AnyArray) -> IntArray:
        """For each asked row its place, or -1."""
        start = self._start_within(asked)
        if start is not None:
            return np.arange(start, start + len(asked), dtype=np.int64)
        if asked.shape[1:] != self.rows.shape[1:] or not len(self.rows):
            return np.full(len(asked), NOWHERE, dtype=np.int64)
        marks, order = self._sorted()
        wanted = row_marks(asked)
        at = np.minimum(np.searchsorted(marks, wanted), len(marks) - 1)
        places = np.where(marks[at] == wanted, order[at], NOWHERE)
        self._keep_equal(asked, places)
        return np.asarray(places)

    @property
    def row_bytes(self) -> int:
        """What one row takes as it is asked about."""
        return int(self._as_asked(self.rows[:1]).nbytes)

    def asked_rows(self, places: IntArray) -> AnyArray:
        """The rows at these places, as they are asked about."""
        return np.asarray(self._as_asked(self.rows[places]))

    def _sorted(self) -> tuple[NDArray[np.uint64], IntArray]:
        if self._marks is None or self._order is None:
            marks = np.concatenate(
                [row_marks(self._as_asked(self.rows[a:b])) for a, b in pieces(self.rows)]
            )
            self._order = np.argsort(marks, kind="stable").astype(np.int64)
            self._marks = marks[self._order]
        return self._marks, self._order

    def _start_within(self, asked: AnyArray) -> int | None:
        """The first place of rows that are a stretch of the data set's own memory, or None."""
        own: Any = self.rows
        if stay_bytes(own) != stay_bytes(asked):
            return None
        if stay_bytes(own):
            own, asked = own.stored, asked.stored  # type: ignore[attr-defined]
        if asked.dtype != own.dtype or asked.shape[1:] != own.shape[1:] or len(asked) > len(own):
            return None
        if not (asked.flags.c_contiguous and own.flags.c_contiguous and own.strides[0]):
            return None
        gap = asked.__array_interface__["data"][0] - own.__array_interface__["data"][0]
        start, rest = divmod(gap, own.strides[0])
        return int(start) if rest == 0 and 0 <= start <= len(own) - len(asked) else None

    def _keep_equal(self, asked: AnyArray, places: IntArray) -> None:
        found = np.flatnonzero(places != NOWHERE)
        for a, b in pieces(asked[:1], len(found)):
            some = found[a:b]
            same = _equal_bytes(asked[some], self._as_asked(self.rows[places[some]]))
            places[some[~same]] = NOWHERE


def row_marks(rows: AnyArray) -> NDArray[np.uint64]:
    """One number for each row: equal rows have equal ones, others hardly ever."""
    found = np.empty(len(rows), dtype=np.uint64)
    factors: NDArray[np.uint64] = np.zeros(0, dtype=np.uint64)
    for a, b in pieces(rows):
        words = _words(rows[a:b])
        if len(factors) != words.shape[1]:
            drawn = np.random.default_rng(words.shape[1]).integers(
                2**63, size=words.shape[1], dtype=np.uint64
            )
            factors = np.asarray(drawn * np.uint64(2) + np.uint64(1))
        words = words ^ (words >> np.uint64(32))  # floats differ in their highest bits first
        words *= _MIX
        words ^= words >> np.uint64(29)
        found[a:b] = words @ factors
    return found


def pieces(rows: AnyArray, n: int | None = None) -> list[tuple[int, int]]:
    """Start and stop of stretches of rows that together hold about 16 MB."""
    count = len(rows) if n is None else n
    each = max(1, _PIECE_BYTES // max(1, rows.dtype.itemsize * int(np.prod(rows.shape[1:]))))
    return [(start, min(start + each, count)) for start in range(0, count, each)]


def _words(rows: AnyArray) -> NDArray[np.uint64]:
    """The bytes of each row, eight at a time, filled up with zeros."""
    flat = np.ascontiguousarray(rows).reshape(len(rows), -1).view(np.uint8)
    short = -flat.shape[1] % 8
    if short:
        flat = np.pad(flat, ((0, 0), (0, short)))
    return flat.view(np.uint64)


def _equal_bytes(first: AnyArray, second: AnyArray) -> BoolArray:
    if first.dtype != second.dtype or not len(first):
        return np.zeros(len(first), dtype=np.bool_)
    return np.asarray((_words(first) == _words(second)).all(axis=1))
