"""Which block sizes give a model's own bytes, and how a call is cut into them.

A model may round differently in blocks of different sizes, and at different places of a block.
So there is one size whose answers are *the* answers (the largest), and a smaller one joins only
after enough distinct rows have got bitwise the same answers in it.
"""

import functools
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from fireassay.core.arrays import AnyArray

FEW: Final = 4  # rows of a call with few, as a plan prices it
PROBE_ROWS: Final = 256
# What a call costs beside its rows, in input values: between a small network's (four rows of 3,072)
# and a large one's (next to nothing), where neither is more than 3 % dearer than it could be.
_CALL_VALUES: Final = 3_072
_CALL_ROWS: Final = 8  # the most
_TRIES: Final = 4  # to put a new row together, for each that is needed

Call = Callable[..., tuple[AnyArray, ...]]
Send = Callable[..., Sequence[AnyArray] | None]


@dataclass(frozen=True)
class BlockSizes:
    """What has been decided so far: for each kind of question, the sizes that may be used.

    Small and plain, so that a journal can keep it and workers get it with the model.

    >>> decided = BlockSizes().extended("probabilities <f4 (2,) 256", (64, 256))
    >>> BlockSizes.from_dict(decided.to_dict()) == decided
    True
    """

    decided: tuple[tuple[str, tuple[int, ...]], ...] = ()

    def get(self, question: str) -> tuple[int, ...] | None:
        """The sizes for a question, or None if nothing is decided about it."""
        return self._by_question.get(question)

    @functools.cached_property
    def _by_question(self) -> dict[str, tuple[int, ...]]:
        return dict(self.decided)

    def extended(self, question: str, sizes: Sequence[int]) -> "BlockSizes":
        """With one more decision; an earlier one about the same question stays."""
        known = {question: tuple(sizes), **self._by_question}
        return BlockSizes(tuple(sorted(known.items())))

    def to_dict(self) -> dict[str, list[int]]:
        """Plain types for a journal."""
        return {question: list(sizes) for question, sizes in self.decided}

    @classmethod
    def from_dict(cls, kept: Mapping[str, Sequence[int]]) -> "BlockSizes":
        """What `to_dict` gave."""
        return cls(tuple(sorted((question, tuple(sizes)) for question, sizes in kept.items())))


def kind_of_rows(rows: AnyArray, largest: int) -> str:
    """A decision holds for one type and shape of rows and one largest block."""
    return f"{rows.dtype.str} {rows.shape[1:]} {largest}"


@functools.cache
def candidates(largest: int) -> tuple[int, ...]:
    """The sizes to try below the largest.

    >>> candidates(256)
    (1, 2, 4, 8, 16, 32, 64, 128)
    """
    powers = (1 << step for step in range(largest.bit_length()))
    return tuple(size for size in powers if size < largest)


def call_price(rows: AnyArray) -> int:
    """What one call more costs, in rows of this shape: the larger a row, the fewer of them.

    >>> call_price(np.zeros((3, 20))), call_price(np.zeros((3, 3, 32, 32)))
    (8, 1)
    """
    return min(_CALL_ROWS, _CALL_VALUES // max(int(np.prod(rows.shape[1:])), 1))


def cut(n: int, sizes: Sequence[int], call: int = 0) -> Iterator[tuple[int, int, int]]:
    """Start, stop and block size of each piece of n rows; the last piece may need filling up.

    The largest size that fits comes first. One larger block takes the place of several smaller
    ones where that costs no more: each row sent costs 1, each block ``call`` besides.

    >>> list(cut(200, (4, 8, 16, 32, 64, 128, 256)))
    [(0, 128, 128), (128, 192, 64), (192, 200, 8)]
    >>> list(cut(60, (4, 8, 16, 32, 64), call=4)), list(cut(3, (64, 256)))
    ([(0, 60, 64)], [(0, 3, 64)])
    """
    ordered = tuple(sorted(sizes))
    whole = n - n % ordered[-1]
    for start in range(0, whole, ordered[-1]):
        yield start, start + ordered[-1], ordered[-1]
    start = whole
    for size in _cheapest(n - whole, ordered, call):
        yield start, min(start + size, n), size
        start += size


@functools.lru_cache(maxsize=4096)
def _cheapest(n: int, ordered: tuple[int, ...], call: int) -> tuple[int, ...]:
    """Sizes of the blocks for fewer rows than the largest block has."""
    if n <= 0:
        return ()
    above = next(size for size in ordered if size >= n)
    below = max((size for size in ordered if size <= n), default=None)
    if below is None:
        return (above,)
    several = (below, *_cheapest(n - below, ordered, call))
    cheaper = above + call <= sum(several) + call * len(several)
    return (above,) if cheaper else several


class DistinctRows:
    """Rows that callers asked about, kept until there are enough different ones to decide with."""

    def __init__(self, largest: int) -> None:
        self.enough = rows_needed(largest)
        self._kept: dict[bytes, AnyArray] = {}

    def add(self, rows: Iterable[AnyArray]) -> bool:
        """Keep what is new; says whether there are enough."""
        for row in rows:
            if len(self._kept) >= self.enough:
                break
            content = np.ascontiguousarray(row).tobytes()
            self._kept.setdefault(hashlib.blake2b(content, digest_size=16).digest(), np.array(row))
        return len(self._kept) >= self.enough

    def fill(self) -> bool:
        """With rows put together from those that came, where these are too few; whether that did.

        A set of 64 rows would otherwise decide nothing, and every few rows of an attack fill up a
        block of 256. Each value is one that some row has in that place, so that codes stay codes.

        >>> rows = DistinctRows(256)
        >>> rows.add(np.arange(40.0).reshape(4, 10)), rows.fill(), rows.array().shape
        (False, True, (256, 10))
        """
        if not self._kept:
            return False
        came, rng = self.array(), np.random.default_rng(0)
        for _ in range(_TRIES * self.enough):
            one, other = came[rng.integers(len(came), size=2)]
            if self.add([np.where(rng.random(one.shape) < 0.5, one, other)]):
                return True
        return False

    def array(self) -> AnyArray:
        """The rows in the order in which they came."""
        return np.stack(list(self._kept.values()))


def rows_needed(largest: int) -> int:
    """Distinct rows that a decision needs: whole blocks of the largest size, at least 256 rows."""
    return -(-PROBE_ROWS // largest) * largest


def price(largest: int) -> int:
    """Rows that a decision sends: the largest size twice, and every smaller one."""
    return rows_needed(largest) * (2 + len(candidates(largest)))


def agreeing_sizes(send: Send, arrays: Sequence[AnyArray], largest: int) -> tuple[int, ...]:
    """The sizes whose answers are bitwise those of the largest, for every one of these rows.

    ``send(size, *arrays)`` gives the answers for rows sent in blocks of that size, or None where
    the model cannot answer. A model whose largest blocks do not repeat themselves with every row
    moved to another place (random models, rounding that depends on the place) gets no smaller
    size: nothing could be shown with it.
    """
    reference = send(largest, *arrays)
    shift = len(arrays[0]) // 2 + 1
    moved = send(largest, *(np.roll(array, shift, axis=0) for array in arrays))
    if reference is None or moved is None:
        return (largest,)
    if not _same_bytes(reference, [np.roll(part, -shift, axis=0) for part in moved]):
        return (largest,)
    agreeing = [
        size
        for size in candidates(largest)
        if (answers := send(size, *arrays)) is not None and _same_bytes(reference, answers)
    ]
    return (*agreeing, largest)


def _same_bytes(first: Sequence[AnyArray], second: Sequence[AnyArray]) -> bool:
    return all(
        a.dtype == b.dtype
        and a.shape == b.shape
        and np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes()
        for a, b in zip(first, second, strict=True)
    )
