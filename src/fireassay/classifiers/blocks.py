"""Block sizes that give the same bytes, and how a call is cut into blocks.

A model may round differently in blocks of different sizes, and at different places of a block.
So there is one size whose answers are *the* answers (the largest), and a smaller one joins only
after enough distinct rows have got bitwise the same answers in it.
"""

import functools
import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.classifiers import declared
from fireassay.classifiers.counting import CountsRows
from fireassay.core.arrays import AnyArray, FloatArray, IntArray
from fireassay.core.errors import FireassayError
from fireassay.core.hashing import sha256

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
    """The sizes to try below the largest: powers of two."""
    powers = (1 << step for step in range(largest.bit_length()))
    return tuple(size for size in powers if size < largest)


def call_price(rows: AnyArray) -> int:
    """What one call more costs, in rows of this shape: the larger a row, the fewer of them."""
    return min(_CALL_ROWS, _CALL_VALUES // max(int(np.prod(rows.shape[1:])), 1))


def cut(n: int, sizes: Sequence[int], call: int = 0) -> Iterator[tuple[int, int, int]]:
    """Start, stop and block size of each piece of n rows; the last piece may need filling up."""
    # The largest size that fits comes first. One larger block takes the place of several smaller
    # ones where that costs no more: each row sent costs 1, each block ``call`` besides.
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
        """Add rows put together from those that came; whether there are enough now."""
        # A set of 64 rows would otherwise decide nothing, and every few rows of an attack fill up a
        # block of 256. Each value is one that some row has in that place, so that codes stay codes.
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
    """The sizes whose answers are bitwise those of the largest, for every one of these rows."""
    # ``send(size, *arrays)`` gives the answers for rows sent in blocks of that size, or None where
    # the model cannot answer. A model whose largest blocks do not repeat themselves with every row
    # moved to another place (random models, rounding that depends on the place) gets no smaller
    # size: nothing could be shown with it.
    reference = send(largest, *arrays)
    shift = len(arrays[0]) // 2 + 1
    moved = send(largest, *(np.roll(array, shift, axis=0) for array in arrays))
    if reference is None or moved is None:
        return (largest,)
    if not _same_bytes(reference, [np.roll(part, -shift, axis=0) for part in moved]):
        return (largest,)
    sent = ((size, send(size, *arrays)) for size in candidates(largest))
    agreeing = [n for n, answers in sent if answers is not None and _same_bytes(reference, answers)]
    return (*agreeing, largest)


def _same_bytes(first: Sequence[AnyArray], second: Sequence[AnyArray]) -> bool:
    def content(part: AnyArray) -> tuple[Any, ...]:
        return part.dtype, part.shape, np.ascontiguousarray(part).tobytes()

    return all(content(a) == content(b) for a, b in zip(first, second, strict=True))


def kind_of_objects(objects: Any) -> str:
    """A decision holds for one kind of rows: texts, or a frame of these columns."""
    if isinstance(objects, list):
        return "objects texts"
    columns = [(str(name), str(dtype)) for name, dtype in objects.dtypes.items()]
    return f"objects {sha256(columns)[:16]}"


def object_question(objects: Any, positions: IntArray, largest: int) -> str:
    """The name of the decision about such rows, as they are sent: by position."""
    return f"{kind_of_objects(objects)} {kind_of_rows(positions, largest)}"


def distinct_objects(objects: Any, enough: int) -> Any:
    """So many different rows, in their order; None if there are fewer."""
    if isinstance(objects, list):
        kept = list(dict.fromkeys(objects))[:enough]
        return kept if len(kept) == enough else None
    from pandas.util import hash_pandas_object

    marks = hash_pandas_object(objects, index=False, categorize=False).to_numpy()
    first = np.sort(np.unique(marks, return_index=True)[1])[:enough]
    return objects.iloc[first] if len(first) == enough else None


class ChoosesBlocks(CountsRows, ABC):
    """Sends rows in blocks of ``batch_size``, and in smaller ones once they are known to agree."""

    pads_blocks: bool = True
    has_fixed_batch: bool = False
    takes_objects: bool = False  # whether `_raw` understands frames and lists of texts
    rows_as: str = ""  # texts as "array", "frame" or "each" instead of a list; numbers as "frame"

    def _objects(self, X: Any) -> Any:
        """Frames and texts that go to the model as they are; None for rows of numbers."""
        if self.takes_objects and self.rows_as == "frame" and hasattr(X, "iloc"):
            return X
        return declared.as_objects(X) if self.takes_objects else None

    def __init__(self, batch_size: int | None, max_queries: int | None = None) -> None:
        super().__init__(max_queries)
        self.batch_size = batch_size
        self.block_sizes = BlockSizes()
        self._seen: dict[str, DistinctRows] = {}
        self._padding: dict[str, int] = {}

    # What is asked of the model ---------------------------------------------------------------

    @abstractmethod
    def _checked_input(self, X: ArrayLike) -> NDArray[Any]:
        """The caller's X as a checked array."""

    @abstractmethod
    def _probabilities_of_block(self, block: Any) -> tuple[FloatArray]:
        """What is answered for one block."""

    @abstractmethod
    def _of_objects(self, objects: Any) -> Call:
        """A call by positions in a frame or a list of texts."""

    @abstractmethod
    def _sent(
        self, call: Call, arrays: Sequence[AnyArray], sizes: tuple[int, ...] | None
    ) -> list[AnyArray]:
        """Answers for rows that no caller asked about."""

    # Deciding ---------------------------------------------------------------------------------

    def decide_block_sizes(self, X: ArrayLike, *, gradients: bool = False) -> BlockSizes:
        """Find out now, with rows of X, which smaller blocks give the same bytes."""
        # Without this an adapter decides by itself, as soon as padding has cost as much as the
        # probe will. Does nothing for models that have no choice (functions, servers, trees, a
        # fixed batch), and under a budget, which belongs to the caller's rows.
        largest = self.batch_size
        if largest is None or not self.may_choose or self.max_queries is not None:
            return self.block_sizes
        objects = self._objects(X)
        if objects is not None:
            self._decide_for_objects(objects[: 4 * rows_needed(largest)], largest)
        else:
            kept = DistinctRows(largest)
            if kept.add(self._checked_input(X[: 4 * kept.enough])) or kept.fill():  # type: ignore[index]
                for kind, call, arrays in self._questions(kept.array(), gradients):
                    question = f"{kind} {kind_of_rows(arrays[0], largest)}"
                    if self.block_sizes.get(question) is None:
                        self._decide(question, call, arrays, largest)
        return self.block_sizes

    def _decide_for_objects(self, objects: Any, largest: int) -> None:
        distinct = distinct_objects(objects, rows_needed(largest))
        if distinct is not None:
            positions = np.arange(len(distinct))
            question = object_question(distinct, positions, largest)
            if self.block_sizes.get(question) is None:
                self._decide(question, self._of_objects(distinct), [positions], largest)

    def _questions(
        self, rows: AnyArray, gradients: bool
    ) -> Iterator[tuple[str, Call, tuple[AnyArray, ...]]]:
        """Every kind of question that small blocks may be used for, asked about these rows."""
        del gradients
        yield "probabilities", self._probabilities_of_block, (rows,)

    @property
    def _is_watched(self) -> bool:
        """Whether this thread's rows are read inside the model, where a probe would be, too."""
        return bool(getattr(self._local, "watched", 0))

    @property
    def may_choose(self) -> bool:
        """Whether smaller blocks could be used, should they give the same bytes."""
        smaller = candidates(self.batch_size or 0)
        return self.pads_blocks and not self.has_fixed_batch and bool(smaller)

    def _sizes(
        self, kind: str | None, call: Call, arrays: Sequence[AnyArray], *, may_probe: bool = True
    ) -> tuple[int, ...] | None:
        """The block sizes for this call; decides on them if that has become worth its price."""
        largest = self.batch_size
        if largest is None:
            return None
        if kind is None or not self.may_choose:
            return (largest,)
        rows = kind_of_rows(arrays[0], largest)
        question = f"{kind} {rows}"
        decided = self.block_sizes.get(question)
        held = self.max_queries is not None or self._is_watched
        if decided is not None or held or not may_probe:
            return decided or (largest,)
        with self._lock:
            kept = self._seen.setdefault(rows, DistinctRows(largest))
            enough = kept.add(arrays[0])
            padding = self._padding.get(question, 0) + -len(arrays[0]) % largest
            self._padding[question] = padding
            if padding < price(largest) or not (enough or kept.fill()):
                return (largest,)
            self._padding[question] = 0  # one thread decides, the others go on meanwhile
        others = [np.resize(array, (kept.enough, *array.shape[1:])) for array in arrays[1:]]
        return self._decide(question, call, [kept.array(), *others], largest)

    def _decide(
        self, question: str, call: Call, arrays: Sequence[AnyArray], largest: int
    ) -> tuple[int, ...]:
        def send(size: int, *rows: AnyArray) -> list[AnyArray] | None:
            try:
                return self._sent(call, rows, (size,))
            except FireassayError:  # a size that the model cannot take is no size to use
                return None

        sizes = agreeing_sizes(send, arrays, largest)
        with self._lock:
            self.block_sizes = self.block_sizes.extended(question, sizes)
        return sizes

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_seen": {}, "_padding": {}}
