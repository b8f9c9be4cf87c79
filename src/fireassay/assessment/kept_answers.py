"""The answers of a run's model about its data: asked once, put down, checked when taken again."""

import warnings
from typing import Any, Final

import numpy as np

from fireassay.assessment.context import Context
from fireassay.classifiers import CodedClassifier
from fireassay.classifiers.base import BaseClassifier, innermost
from fireassay.classifiers.kept_answers import KeptAnswers, KeptSet
from fireassay.classifiers.probe import answers_in_blocks
from fireassay.core.arrays import AnyArray, FloatArray, IntArray
from fireassay.core.errors import FireassayError, FireassayWarning
from fireassay.core.hashing import sha256
from fireassay.core.row_index import RowIndex
from fireassay.data import DataSet
from fireassay.engine import RunStore
from fireassay.engine.answer_file import AnswerFile
from fireassay.version import __version__

FOLDER: Final = "answers"
_CHECKED_ROWS: Final = 256


class RunAnswers:
    """Tables of answers, one for each model of a run, from its first part to its last.

    A table is begun only for a model that gives a row the same bytes wherever it stands in a
    block, so that results do not depend on which part asked first. What an earlier start of the
    run put down is taken after a spread of its rows, asked again, gave the same bytes.
    """

    def __init__(self, store: RunStore | None) -> None:
        self._store = store
        self._begun: dict[int, Any] = {}

    def begin(self, context: Context) -> None:
        """Keep the answers of this context's model from now on, if it can be done."""
        holder = context.model
        if not isinstance(holder, CodedClassifier):
            holder = innermost(holder)
        adapter = innermost(holder)
        if id(holder) in self._begun or not isinstance(adapter, BaseClassifier):
            return
        if adapter.max_queries is not None:  # a budget is for the caller's rows, not for probes
            return
        self._begun[id(holder)] = holder
        try:
            holder.kept = self._table(context, holder, adapter)
        except FireassayError:  # the parts fail on it themselves, and say so
            holder.kept = None

    def end(self) -> None:
        """Let the models go without."""
        for holder in self._begun.values():
            holder.kept = None
        self._begun.clear()

    def _table(self, context: Context, holder: Any, adapter: BaseClassifier) -> KeptAnswers | None:
        first = _same_anywhere(context, holder, adapter)
        if first is None:
            return None
        rows, answers = first
        as_asked = adapter._features if holder is adapter else None
        sets = [
            KeptSet(RowIndex(data.X, as_asked), self._file(holder, data)) for data in _sets(context)
        ]
        table = KeptAnswers(sets, like=answers)
        if not table.sets:  # too much to keep
            return None
        for one in table.sets:
            if isinstance(one.journal, AnswerFile):
                for places, kept in one.journal.read():
                    table.store(places + one.first, kept, journalled=True)
        if table.held.any() and not self._still_so(table, holder):
            table = KeptAnswers(sets, like=answers)
        places = table.places(rows)
        new = ~table.held[places]
        table.store(places[new], answers[new])
        return table

    def _file(self, model: Any, data: DataSet) -> AnswerFile | None:
        if self._store is None:
            return None
        name = sha256("kept answers", __version__, model.sha256, data.sha256)
        return AnswerFile(self._store.path / FOLDER / f"{name[:32]}.bin", name, len(data))

    def _still_so(self, table: KeptAnswers, holder: Any) -> bool:
        """Ask a spread of the kept rows again; kept answers that differ are thrown away."""
        held = np.flatnonzero(table.held)
        some = held[
            np.linspace(0, len(held) - 1, min(_CHECKED_ROWS, len(held))).round().astype(int)
        ]
        rows = np.concatenate(
            [
                one.index.rows[some[(some >= one.first) & (some < one.first + n)] - one.first]
                for one, n in ((one, len(one.index.rows)) for one in table.sets)
            ]
        )
        kept = table.held_answers(some)
        if answers_in_blocks(holder, rows).astype(kept.dtype).tobytes() == kept.tobytes():
            return True
        warnings.warn(
            "Answers kept in the run folder are not those that the model gives now: all rows are "
            "asked again.",
            FireassayWarning,
            stacklevel=5,
        )
        for one in table.sets:
            if isinstance(one.journal, AnswerFile):
                one.journal.remove()
        return False


def _sets(context: Context) -> list[DataSet]:
    given = (context.test, context.train, context.operational)
    return [data for data in given if data is not None and len(data)]


def _same_anywhere(
    context: Context, holder: Any, adapter: BaseClassifier
) -> tuple[AnyArray, FloatArray] | None:
    """Rows and their answers, if each gets the same bytes at another place of a block.

    An eighth of the test rows is asked, 256 at most. A block that would be filled up is filled
    with all of them in turn, which costs nothing and looks at every place.
    """
    X = context.test.X
    few = _spread(len(X), min(_CHECKED_ROWS, max(8, len(X) // 8)))
    n = max(len(few), adapter.batch_size or 0) if adapter.pads_blocks else len(few)
    rows = X[np.resize(few, n)]
    turn = n // 2 + 1
    first = answers_in_blocks(holder, rows)
    again = np.roll(answers_in_blocks(holder, np.roll(rows, turn, axis=0)), -turn, axis=0)
    same = first.tobytes() == again.tobytes()
    same &= all((first[i :: len(few)] == first[i]).all() for i in range(len(few)))
    return (rows[: len(few)], first[: len(few)]) if same else None


def _spread(n: int, most: int) -> IntArray:
    """Up to ``most`` positions from all over n."""
    return np.linspace(0, n - 1, min(most, n)).round().astype(np.int64)
