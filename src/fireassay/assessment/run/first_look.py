"""The first look at a model: the test rows that a run's parts need, asked once.

Class order, hard labels, speed and reproducibility are read off these answers, and the parts take
them from the table that is filled here. Rows go out in fixed cuts by row number, not filled up.
"""

import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import numpy as np

from fireassay.assessment.context import Context
from fireassay.assessment.parts.part import Part
from fireassay.assessment.plan.machine import held_mb, keep_first_answers
from fireassay.assessment.run import reproducibility
from fireassay.assessment.run.asked_once import answer_table, meter_of
from fireassay.classifiers import CodedClassifier, Decided
from fireassay.classifiers.base import BaseClassifier, innermost
from fireassay.classifiers.kept_answers import KeptAnswers
from fireassay.classifiers.probe import answers_as_sent
from fireassay.core import Assumption, FireassayError, ModelError, generator
from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.clock import quiet_seconds
from fireassay.core.errors import FireassayWarning
from fireassay.engine.answer_file import AnswerFile
from fireassay.engine.progress import ProgressBar

CHALLENGED: Final = 16  # rows that tell later whether the model is another one
DRAWS: Final = 4  # of each of them, of a model that answers at random
_AT_THE_END: Final = 16  # rows
_SPARE: Final = 8  # under a budget rows are asked again if that takes one in so many that are left
FEW_ROWS: Final = 4  # of a call with few, as a plan prices it
_LEAST_ROWS, _MOST_ROWS, _ROWS_PER_CLASS = 400, 6000, 6
_WHOLE_ROWS: Final = 16_384  # of a cut for models that take any number of rows at once
_FIRST_ROWS, _BLOCK_S = 8, 2.0  # of blocks against the clock
_KNOWN, _FOUND = "first look", "rows asked again by model"


@dataclass(frozen=True)
class Again:
    """What rows that were asked twice have shown."""

    rows: int
    difference: float
    labels: int  # rows with another most probable class
    same_bytes: bool


class FirstLook:
    """The answers about test rows, how long they took, and whether they come again."""

    def __init__(self, context: Context) -> None:
        model = context.model
        self.holder: Any = model if isinstance(model, CodedClassifier) else innermost(model)
        self.adapter = innermost(self.holder)
        self.is_ours = isinstance(self.adapter, BaseClassifier)  # else it takes no kept answers
        self.name, self.test, self.seed = model.sha256, context.test, context.seed
        self.stochastic, self.repeats = context.stochastic, context.repeats
        self.rows: IntArray = np.arange(0)  # those with answers, in order
        self.numbers: IntArray = np.arange(len(context.test))  # of the rows in the whole set
        self.timed: list[tuple[int, float]] = []  # rows and seconds of each cut
        self.small_s: float | None = None  # seconds of a call with few rows
        self.held = 0, 0.0  # rows sent at once, and megabytes that the process took for them
        self.is_checked = self._from_files = False
        self._store = context.executor.store
        kept = {} if self._store is None else self._store.meta(_FOUND, {})
        self.found: Again | None = Again(**kept[self.name]) if self.name in kept else None
        self.why_not: str | None = None
        sets = (context.test, context.train, context.operational)
        self._sets = [(context.digest(s), s) for s in sets if s and len(s)]
        self.table: KeptAnswers | None = None
        self._places = np.full(len(self.test), -1)
        self._delivered = 0  # when rows were last asked again
        self._own: dict[int, FloatArray] = {}  # answers of a model without a table, by row
        meter_of(context).watch(model)
        self._begin_table(None)

    # Asking ---------------------------------------------------------------------------------

    def ask(
        self, rows: IntArray, *, until: float | None = None, shown: bool | None = False
    ) -> None:
        """Ask about the rows that have no answer yet; ``until`` in seconds of the clock."""
        held = self._held(rows)
        self.rows, self._from_files = rows[held], bool(held.any())
        fresh = int((~held).sum())
        spare = None if self.room is None else self.room - fresh
        if 0 < fresh < len(rows) and (spare is None or spare >= _SPARE * self.repeats):
            self.again()  # an earlier start was killed, or needed fewer rows
            held = self._held(rows)
        with ProgressBar("first look", fresh, shown=shown) as bar:
            for cut in self._cuts(rows, until):
                self._ask(cut)
                bar.advance(len(cut))
        self.rows = rows[self._held(rows)]
        if len(self.rows) and not _knows_classes(self.adapter):
            self._answers(self.rows[:1])
        if fresh and len(self.rows) and not self.is_checked:
            self.again()

    def _cuts(self, rows: IntArray, until: float | None) -> Iterator[IntArray]:
        """Rows of one call each: in fixed cuts, or in random order while there is time."""
        most = getattr(self.adapter, "batch_size", None) or _WHOLE_ROWS
        at = np.flatnonzero(~self._held(rows))
        if until is None:
            yield from (
                rows[cut]
                for cut in np.split(at, np.flatnonzero(np.diff(at // most)) + 1)
                if len(cut)
            )
            return
        order = generator(self.seed, "first look").permutation(rows[at])
        start, size, each = 0, min(_FIRST_ROWS, most), 0.0
        owed = CHALLENGED * (DRAWS if self.stochastic else 1)  # asked again after the look
        owed += 0 if self.is_checked else self.repeats
        while start < len(order) and time.monotonic() + (size + owed) * each < until:
            cut, began = np.sort(order[start : start + size]), time.monotonic()
            yield cut
            each = (time.monotonic() - began) / len(cut)
            start, size = start + size, int(np.clip(_BLOCK_S / max(each, 1e-6), 1, most))

    def _ask(self, cut: IntArray) -> None:
        rows = cut
        if self.table is not None and self.table.sets:
            places = self._places[cut] = self._found(cut)
            new = np.unique(places[~self.table.held[places]], return_index=True)[1]
            cut = cut[np.flatnonzero(~self.table.held[places])[np.sort(new)]]
            if not len(cut):
                self._copy(rows)
                return
        before, began = held_mb(), quiet_seconds()
        answers = self._answers(cut)
        self.timed.append((len(cut), quiet_seconds() - began))
        if len(cut) > self.held[0]:
            self.held = len(cut), max(0.0, held_mb() - before)
        if self.table is None:
            self._begin_table(answers)
        if self.table is not None and self.table.sets:
            self._places[cut] = self._found(cut)
            self.table.store(self._places[cut], answers)
            self._copy(rows)
        else:
            self._own.update(zip(cut.tolist(), answers, strict=True))

    def _copy(self, rows: IntArray) -> None:
        """Give rows that repeat another one its answers: a caller may find them by their number."""
        table, places = self.table, self._places[rows]
        again = rows != places
        if table is not None and again.any() and len(self.test) == len(table.sets[0].index.rows):
            table.store(rows[again], table.held_answers(places[again]))

    def _answers(self, rows: IntArray) -> FloatArray:
        return answers_as_sent(self.holder, self.test.X[rows])

    def _begin_table(self, like: FloatArray | None) -> None:
        """Begin with what an earlier start put down, or with the first answers."""
        self.table = answer_table(self._store, self.holder, self._sets, like)
        if self.table is not None:
            self.table.grows = self.found is None or self.found.same_bytes
        if self.is_ours:
            self.holder.kept = self.table

    def _found(self, rows: IntArray) -> IntArray:
        """The places of test rows in the table, which knows them as the model is asked."""
        assert self.table is not None
        X, own = self.test.X[rows], self.is_ours and self.holder is self.adapter
        return self.table.places(self.adapter._features(X) if own else X)

    def _held(self, rows: IntArray) -> Any:
        if self.table is None or not self.table.sets:
            return np.array([row in self._own for row in rows.tolist()], dtype=np.bool_)
        unknown = rows[self._places[rows] < 0]
        if len(unknown):
            self._places[unknown] = self._found(unknown)
        return self.table.held[self._places[rows]]

    @property
    def known(self) -> int:
        """Rows of all sets whose answers are kept."""
        return 0 if self.table is None else int(self.table.held.sum())

    def given(self, rows: IntArray) -> FloatArray:
        """The first answers about rows, as the model's callers get them."""
        if self.table is None or not self.table.sets:
            return np.stack([self._own[row] for row in rows.tolist()])
        return self.table.held_answers(self._places[rows])

    def own(self, rows: IntArray) -> FloatArray:
        """The model's own probabilities, without what stands around it."""
        answers, model = self.given(rows), self.holder
        while not isinstance(model, BaseClassifier) and hasattr(model, "model"):
            answers = model.own(answers) if isinstance(model, Decided) else answers
            model = model.model
        return answers

    @property
    def sample(self) -> IntArray:
        """Answered rows for what needs some: drawn at random, more where there are many classes."""
        wanted = checked_rows(self.test, self.seed)
        both = np.intersect1d(wanted, self.rows, assume_unique=True)
        return both if len(both) >= min(len(wanted), len(self.rows)) else self.rows[: len(wanted)]

    # Asking again ---------------------------------------------------------------------------

    def again(self, most: int | None = None) -> None:
        """Ask about some rows again, in other blocks, and compare with their first answers."""
        self.is_checked = True
        most = self.repeats if most is None else most
        rows = self.rows[np.linspace(0, len(self.rows) - 1, min(most, len(self.rows))).astype(int)]
        if not len(self.rows):
            self.why_not = "no row was answered"
            return
        if not len(rows):
            self.why_not = "each row is paid for ([model] price); [model] repeats = 32 asks"
            return
        if self.room is not None and self.room < _SPARE * len(rows):
            self.why_not = "its budget of queries is for the parts"
            return
        first = self.given(rows)
        large, small = rows[:-FEW_ROWS][::-1], rows[-FEW_ROWS:]
        parts, began = [], quiet_seconds()
        if len(large):
            parts.append(self._answers(large)[::-1])
            self.timed.append((len(large), quiet_seconds() - began))
        began = quiet_seconds()
        parts.append(self._answers(small))
        self.small_s = quiet_seconds() - began
        self._delivered = getattr(self.adapter, "rows_delivered", self.adapter.queries)
        self._compare(rows, first, np.concatenate(parts))

    def _compare(self, rows: IntArray, first: FloatArray, again: FloatArray) -> None:
        difference = reproducibility.furthest(first, again)
        same = first.dtype == again.dtype and first.tobytes() == again.tobytes()
        other = (
            len(rows)
            if first.shape != again.shape
            else int((first.argmax(axis=1) != again.argmax(axis=1)).sum())
        )
        before = self.found
        if before is not None and (self.stochastic or before.difference > reproducibility.ROUNDING):
            return  # said already
        changed = difference > reproducibility.ROUNDING and not self.stochastic
        if changed and self._from_files:
            self._throw_away()
        self._from_files = False
        asked = len(rows) if before is None else max(before.rows, len(rows))
        same &= before is None or before.same_bytes
        self.found = Again(asked, difference, other, same)
        if self.table is not None:
            self.table.grows = same
        if self._store is not None:
            kept = self._store.meta(_FOUND, {})
            self._store.set_meta(_FOUND, {**kept, self.name: asdict(self.found)})
        if changed:
            reproducibility.warn_of(difference)

    def _throw_away(self) -> None:
        """Forget kept answers that are not those that the model gives now, and ask again."""
        warnings.warn(
            "Answers kept in the run folder are not those that the model gives now: all rows are "
            "asked again.",
            FireassayWarning,
            stacklevel=5,
        )
        rows, self._own = self.rows, {}
        if self.table is not None:
            for one in self.table.sets:
                if isinstance(one.journal, AnswerFile):
                    one.journal.remove()
            self._places[:] = -1
            self.table = None
        for cut in self._cuts(rows, None):
            self._ask(cut)

    def at_the_end(self) -> bool:
        """Ask a few rows once more, if the parts have asked the model since; says whether."""
        delivered = getattr(self.adapter, "rows_delivered", self.adapter.queries)
        asks = self.found is not None and delivered > self._delivered
        if asks:
            self.again(min(_AT_THE_END, self.repeats))
        return asks

    def assumption(self) -> Assumption:
        """What is known by now about the model's answers to the same row."""
        if self.found is None:
            return reproducibility.not_probed(self.why_not or "no part has asked yet")
        if self.stochastic:
            return reproducibility.drawn_twice(self.found.labels, self.found.rows)
        if self.found.difference > reproducibility.ROUNDING:
            return reproducibility.contradicted(self.found.difference)
        return reproducibility.supported(f"{self.found.rows} rows, asked again")

    @property
    def room(self) -> int | None:
        """Rows that a budget leaves; None without one."""
        budget = getattr(self.adapter, "max_queries", None)
        return None if budget is None else max(0, budget - self.adapter.rows_delivered)

    # Time -----------------------------------------------------------------------------------

    @property
    def per_query(self) -> float:
        """Seconds of a row among many; the first call also loads and compiles."""
        later = self.timed[1:] or self.timed
        most = max((rows for rows, _ in later), default=1)
        return min((s / rows for rows, s in later if 2 * rows >= most), default=0.0)

    @property
    def per_call(self) -> float:
        """Seconds of a call besides its rows."""
        return max(0.0, (self.small_s or 0.0) - self.per_query * FEW_ROWS / 2)

    @property
    def seconds(self) -> float:
        """Seconds of all calls together."""
        return sum(seconds for _, seconds in self.timed) + (self.small_s or 0.0)

    def end(self) -> None:
        """Let the model go without the table."""
        if self.is_ours:
            self.holder.kept = None

    def cut_to(self, context: Context) -> Context:
        """The context with the rows that were asked before the time was over."""
        wanted = len(context.test)
        if len(self.rows) in (0, wanted):
            return context
        self.test = context.test.subset(self.rows)
        self._places, self.numbers = self._places[self.rows], self.numbers[self.rows]
        self.rows = np.arange(len(self.rows))
        told = f"on the first {len(self.rows):,} of {wanted:,} rows, in random order"
        return replace(context, test=self.test, partial=told)


def first_look(context: Context) -> FirstLook:
    """The look at a context's model, begun when it is first needed."""
    key = f"{_KNOWN} {id(innermost(context.model))}"
    if key not in context.known:
        context.known[key] = FirstLook(context)
    found: FirstLook = context.known[key]
    return found


def checked_rows(test: Any, seed: int, most: int | None = None) -> IntArray:
    """Rows for the check of the classes' order, drawn at random: more where there are many."""
    classes = 0 if test.y is None else len(np.unique(test.y))
    wanted = min(_MOST_ROWS, max(_LEAST_ROWS, _ROWS_PER_CLASS * classes))
    order = generator(seed, "the door").permutation(len(test))
    return np.sort(order[: wanted if most is None else min(wanted, most)])


def rows_needed(
    context: Context, parts: Iterable[Part], settings: Mapping[str, Any], look: FirstLook
) -> IntArray:
    """All test rows where a part asks about all, else those that check the classes' order."""
    # Parts that do not fit into what is left of a budget need nothing.
    n, room = len(context.test), look.room
    keeps = isinstance(innermost(context.model), BaseClassifier)
    for part in parts:
        if keeps and part.why_not(context) is None:
            cost = part.cost(context, settings[part.name])
            if cost.data_rows >= n and (room is None or cost.queries - look.known <= room):
                return np.arange(n)
    most = None if room is None else max(1, room // 8)
    return checked_rows(context.test, context.seed, most)


def _knows_classes(adapter: Any) -> bool:
    try:
        return bool(adapter.classes)
    except ModelError:
        return False


def looked(context: Context, parts: Iterable[Part], settings: Mapping[str, Any]) -> FirstLook:
    """The look at a context, made now if nobody has, and checked before the next part."""
    look = first_look(context)
    try:
        if not len(look.rows):
            look.ask(rows_needed(context, parts, settings, look))
            keep_first_answers(context, look.sample, look.own(look.sample))
        if not look.is_checked:
            look.again()
    except FireassayError as failure:  # the parts fail on it themselves, and say so
        look.why_not = f"the model failed on the rows ({failure})"
    return look
