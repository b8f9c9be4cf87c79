"""Deciding which smaller blocks a model gets: when that is worth its price, and with which rows."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.classifiers import block_ladder, declared
from fireassay.classifiers.block_ladder import BlockSizes, Call, DistinctRows
from fireassay.classifiers.counting import CountsRows
from fireassay.classifiers.object_blocks import distinct_objects, object_question
from fireassay.core.arrays import AnyArray, FloatArray
from fireassay.core.errors import FireassayError


class ChoosesBlocks(CountsRows, ABC):
    """Sends rows in blocks of ``batch_size``, and in smaller ones once they are known to agree.

    Parameters
    ----------
    batch_size
        Rows in the largest block; None sends each call as it is.
    max_queries
        The budget of rows, probes included.
    """

    pads_blocks: bool = True
    has_fixed_batch: bool = False
    takes_objects: bool = False  # whether `_raw` understands frames and lists of texts

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
        """Answers for rows that no caller asked about; whoever sends them counts them."""

    # Deciding ---------------------------------------------------------------------------------

    def decide_block_sizes(self, X: ArrayLike, *, gradients: bool = False) -> BlockSizes:
        """Find out now, with rows of X, which smaller blocks give the same bytes.

        Without this an adapter decides by itself, as soon as padding has cost as much as the
        probe will. Fewer than 256 distinct rows are filled up with rows put together from two. Does
        nothing for models that have no choice (servers, trees, a fixed batch), and under a budget,
        which belongs to the caller's rows. The rows sent count as ``probe_queries``.

        Parameters
        ----------
        X
            Rows as they will be asked about; their type and shape matter.
        gradients
            Also for logits and gradients, if the model has them.
        """
        largest = self.batch_size
        if largest is None or not self.may_choose or self.max_queries is not None:
            return self.block_sizes
        objects = declared.as_objects(X) if self.takes_objects else None
        if objects is not None:
            self._decide_for_objects(objects[: 4 * block_ladder.rows_needed(largest)], largest)
        else:
            kept = DistinctRows(largest)
            if kept.add(self._checked_input(X[: 4 * kept.enough])) or kept.fill():  # type: ignore[index]
                for kind, call, arrays in self._questions(kept.array(), gradients):
                    question = f"{kind} {block_ladder.kind_of_rows(arrays[0], largest)}"
                    if self.block_sizes.get(question) is None:
                        self._decide(question, call, arrays, largest)
        return self.block_sizes

    def _decide_for_objects(self, objects: Any, largest: int) -> None:
        distinct = distinct_objects(objects, block_ladder.rows_needed(largest))
        if distinct is not None:
            positions = np.arange(len(distinct))
            question = object_question(distinct, positions, largest)
            if self.block_sizes.get(question) is None:
                self._decide(question, self._of_objects(distinct), [positions], largest)

    def _questions(
        self,
        rows: AnyArray,
        gradients: bool,  # noqa: ARG002
    ) -> Iterator[tuple[str, Call, tuple[AnyArray, ...]]]:
        """Every kind of question that small blocks may be used for, asked about these rows."""
        yield "probabilities", self._probabilities_of_block, (rows,)

    @property
    def _is_watched(self) -> bool:
        """Whether this thread's rows are read inside the model, where a probe would be, too."""
        return bool(getattr(self._local, "watched", 0))

    @property
    def may_choose(self) -> bool:
        """Whether smaller blocks could be used, should they give the same bytes."""
        smaller = block_ladder.candidates(self.batch_size or 0)
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
        rows = block_ladder.kind_of_rows(arrays[0], largest)
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
            if padding < block_ladder.price(largest) or not (enough or kept.fill()):
                return (largest,)
            self._padding[question] = 0  # one thread decides, the others go on meanwhile
        others = [np.resize(array, (kept.enough, *array.shape[1:])) for array in arrays[1:]]
        return self._decide(question, call, [kept.array(), *others], largest)

    def _decide(
        self, question: str, call: Call, arrays: Sequence[AnyArray], largest: int
    ) -> tuple[int, ...]:
        def send(size: int, *rows: AnyArray) -> list[AnyArray] | None:
            self._count(probe_queries=len(rows[0]))
            try:
                return self._sent(call, rows, (size,))
            except FireassayError:  # a size that the model cannot take is no size to use
                return None

        sizes = block_ladder.agreeing_sizes(send, arrays, largest)
        with self._lock:
            self.block_sizes = self.block_sizes.extended(question, sizes)
        return sizes

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_seen": {}, "_padding": {}}
