"""What a run asks its models: rows counted over all starts, answers and block sizes kept."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from fireassay.assessment.context import Context, Cost
from fireassay.classifiers import BlockSizes
from fireassay.classifiers.base import BaseClassifier, innermost
from fireassay.classifiers.kept_answers import KeptAnswers, KeptSet
from fireassay.core.arrays import FloatArray
from fireassay.core.hashing import sha256
from fireassay.core.row_index import RowIndex
from fireassay.data import DataSet
from fireassay.engine import RunStore
from fireassay.engine.answer_file import AnswerFile
from fireassay.engine.run_lock import refuse_link
from fireassay.version import __version__

FOLDER: Final = "answers"


def answer_table(
    store: RunStore | None,
    holder: Any,
    sets: Sequence[tuple[str, DataSet]],
    like: FloatArray | None,
) -> KeptAnswers | None:
    """A table with what earlier starts of the run put down; None where nothing tells its form."""
    # ``sets`` have their hashes; ``holder`` is the classifier that keeps it, ``like`` such answers.
    files = [_file(store, holder, digest, len(data)) for digest, data in sets]
    read = [[] if file is None else list(file.read()) for file in files]
    if like is None:
        like = next((answers[:1] for records in read for _, answers in records), None)
    if like is None:
        return None
    adapter = innermost(holder)
    as_asked = getattr(adapter, "_features", None) if holder is adapter else None
    kept = [
        KeptSet(RowIndex(data.X, as_asked), file)
        for (_, data), file in zip(sets, files, strict=True)
    ]
    table = KeptAnswers(kept, like=like)
    for one, records in zip(table.sets, read, strict=False):
        for places, answers in records:
            table.store(places + one.first, answers, journalled=True)
    return table


def _file(store: RunStore | None, model: Any, digest: str, n: int) -> AnswerFile | None:
    if store is None:
        return None
    name = sha256("kept answers", __version__, model.sha256, digest)
    return AnswerFile(store.path / FOLDER / f"{name[:32]}.bin", name, n)


_KEPT = "block sizes by model"


def recall(store: RunStore | None, model: Any) -> None:
    """Give a model what an earlier start of this run has decided about it."""
    kept = {} if store is None else store.meta(_KEPT, {})
    if kept and hasattr(model, "block_sizes") and model.sha256 in kept:
        model.block_sizes = BlockSizes.from_dict(kept[model.sha256])


def keep(store: RunStore | None, model: Any) -> None:
    """Write down what is decided about a model."""
    decided = getattr(model, "block_sizes", BlockSizes()).to_dict()
    if store is not None and decided:
        kept = store.meta(_KEPT, {})
        if kept.get(model.sha256) != decided:
            store.set_meta(_KEPT, {**kept, model.sha256: decided})


def decide_before(context: Context, cost: Cost) -> None:
    """Decide the size of blocks now for a part that asks about few rows at a time."""
    # Left to itself a model would first fill up as many rows as a probe sends, each worker would
    # find out by itself, a model with a budget could not, and of tables a model keeps no rows.
    costs = (cost, *context.lacking(cost))
    if any(each.calls for each in costs) and hasattr(context.model, "decide_block_sizes"):
        gradients = any(each.gradient_queries for each in costs)
        context.model.decide_block_sizes(context.test.X, gradients=gradients)
        keep(context.executor.store, context.model)


FILE: Final = "rows-delivered"
_KNOWN: Final = "the meter"


class Meter:
    """One number, mapped from a file of the run folder, so that a kill does not take it away."""

    def __init__(self, folder: Path | None) -> None:
        self._rows = np.zeros(1, dtype=np.int64)
        if folder is not None:
            path = folder / FILE
            refuse_link(path)
            if not path.is_file() or path.stat().st_size != self._rows.nbytes:
                path.write_bytes(self._rows.tobytes())
            self._rows = np.memmap(path, np.int64, "r+", shape=(1,))

    @property
    def rows(self) -> int:
        """Rows delivered so far."""
        return int(self._rows[0])

    def add(self, rows: int) -> None:
        """Count rows that are about to be delivered."""
        self._rows[0] += rows

    def watch(self, model: Any, max_rows: int | None = None) -> None:
        """Count what this model gets from now on; no more than ``max_rows`` in all."""
        adapter = innermost(model)
        if not isinstance(adapter, BaseClassifier):
            return
        adapter.on_delivery = self.add
        if max_rows is not None:
            allowed = adapter.rows_delivered + max(0, max_rows - self.rows)
            own = adapter.max_queries
            adapter.max_queries = allowed if own is None else min(own, allowed)


def meter_of(context: Context) -> Meter:
    """The meter of the run that a context belongs to."""
    if _KNOWN not in context.known:
        store = context.executor.store
        context.known[_KNOWN] = Meter(None if store is None else store.path)
    found: Meter = context.known[_KNOWN]
    return found
