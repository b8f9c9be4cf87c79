"""Answers about rows of a data set, kept so that no row is sent twice."""

import contextlib
import math
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np

from fireassay.core.arrays import AnyArray, BoolArray, IntArray, Probabilities
from fireassay.core.errors import ModelError
from fireassay.core.row_index import NOWHERE, RowIndex

MOST_BYTES: Final = 2**30
_MOST_SENT: Final = 2**26  # rows and answers that go to a worker: less than a second of a network
_NUMBERS_COPIED, _BLOCK = 2**26, 256

Keep = Callable[[int, int, Probabilities], None]
Send = Callable[[AnyArray, int, Keep | None], Probabilities]


class Journal(Protocol):
    """Where new answers are put down; see `fireassay.engine.answer_file`."""

    def append(self, places: IntArray, answers: Probabilities) -> None:
        """Put down the answers for the rows at these places."""


@dataclass(eq=False)
class KeptSet:
    """A data set whose answers are kept, and where they are put down, if anywhere."""

    index: RowIndex
    journal: Journal | None = None
    first: int = 0


class KeptAnswers:
    """The answers of one model about the rows of some data sets."""

    # Only rows of these sets are kept, so that attacks cannot fill the memory. More than a gigabyte
    # is not kept at all. A copy in another process has what was known when it was sent, if that is
    # little (64 MB), and asks the model about the rest.

    def __init__(self, sets: Sequence[KeptSet], like: Probabilities) -> None:
        n = sum(len(one.index.rows) for one in sets)
        too_much = n * like.shape[1] * like.itemsize > MOST_BYTES
        self.sets = [] if too_much else list(sets)
        n = 0
        for one in self.sets:
            one.first, n = n, n + len(one.index.rows)
        self.held: BoolArray = np.zeros(n, dtype=np.bool_)
        self._answers = np.empty((n, like.shape[1]), dtype=like.dtype)
        self.grows = True  # whether answers of later calls are kept, too
        self._writing = threading.Lock()
        self._local = threading.local()

    def __reduce__(self) -> tuple[Any, ...]:
        with self._writing:
            held = [(one, own) for one in self.sets if len(own := self._held_in(one))]
            each = self._answers[:1].nbytes
            size = sum(len(own) * (one.index.row_bytes + each) for one, own in held)
            if not size or size > _MOST_SENT:
                return _without, ()
            some = [
                (one.index.asked_rows(own), self._answers[one.first + own]) for one, own in held
            ]
        return _sent, ([rows for rows, _ in some], np.concatenate([known for _, known in some]))

    def _held_in(self, one: KeptSet) -> IntArray:
        return np.flatnonzero(self.held[one.first : one.first + len(one.index.rows)])

    @property
    def is_asked(self) -> bool:
        """Whether answers may be taken from here, in this thread, at this moment."""
        return bool(self.sets) and not getattr(self._local, "bypassed", 0)

    @contextlib.contextmanager
    def bypassed(self) -> Iterator[None]:
        """Meanwhile this thread's questions all go to the model itself."""
        self._local.bypassed = getattr(self._local, "bypassed", 0) + 1
        try:
            yield
        finally:
            self._local.bypassed -= 1

    def forget(self) -> None:
        """Keep nothing from now on."""
        self.sets, self._answers = [], self._answers[:0]
        self.held = np.zeros(0, dtype=np.bool_)

    def places(self, rows: AnyArray) -> IntArray:
        """Where rows stand in all sets together, -1 for those of no set."""
        found = np.full(len(rows), NOWHERE, dtype=np.int64)
        for one in self.sets:
            left = np.flatnonzero(found == NOWHERE)
            if not len(left):
                break
            some = one.index.find(rows if len(left) == len(rows) else rows[left])
            found[left] = np.where(some == NOWHERE, NOWHERE, some + one.first)
        return found

    def answered(self, rows: AnyArray, send: Send, count: Callable[[int], None]) -> Probabilities:
        """Answers for all rows; ``send`` gets those that are not known yet, each once."""
        places = self.places(rows)
        fresh = self._fresh(places)
        known = len(rows) - len(fresh)
        sent = None
        if len(fresh):
            mine = places[fresh]

            def keep(start: int, stop: int, answers: Probabilities) -> None:
                self.store(mine[start:stop], answers)

            if not known:
                return send(rows, 0, keep if self.grows else None)
            try:
                sent = _some_at_a_time(rows, fresh, known, send, keep if self.grows else None)
            except ModelError:
                return send(rows, 0, None)  # says the rows' numbers as if nothing were kept
        else:
            count(known)
        return self._joined(places, fresh, sent)

    def _fresh(self, places: IntArray) -> IntArray:
        """Positions to send: rows of no set, and of each row not answered yet the first."""
        known = places != NOWHERE
        known[known] = self.held[places[known]]
        left = np.flatnonzero(~known)
        if not self.grows:
            return left
        ours = left[places[left] != NOWHERE]
        first = ours[np.unique(places[ours], return_index=True)[1]]
        return np.sort(np.concatenate([left[places[left] == NOWHERE], first]))

    def _joined(
        self, places: IntArray, fresh: IntArray, sent: Probabilities | None
    ) -> Probabilities:
        if sent is None:
            taken: Probabilities = self._answers[places]
            return taken
        joined = np.empty((len(places), sent.shape[1]), np.result_type(sent, self._answers))
        ours = np.flatnonzero(places != NOWHERE)
        ours = ours[self.held[places[ours]]]
        joined[ours] = self._answers[places[ours]]
        joined[fresh] = sent
        return joined

    def store(self, places: IntArray, answers: Probabilities, *, journalled: bool = False) -> None:
        """Keep answers for rows at these places (-1: of no set, not kept)."""
        with self._writing:
            if not self.sets or answers.shape[1] != self._answers.shape[1]:
                return
            ours = np.flatnonzero(places != NOWHERE)
            if answers.dtype != self._answers.dtype:  # a model of two types: keep all digits
                both = np.result_type(answers, self._answers)
                with np.errstate(invalid="ignore"):  # places that hold no answer yet
                    self._answers = self._answers.astype(both, copy=False)
            self._answers[places[ours]] = answers[ours]
            self.held[places[ours]] = True
            if not journalled:
                self._put_down(places[ours], answers[ours])

    def _put_down(self, places: IntArray, answers: Probabilities) -> None:
        for one in self.sets:
            own = places - one.first
            inside = (own >= 0) & (own < len(one.index.rows))
            if one.journal is not None and inside.any():
                one.journal.append(own[inside], answers[inside])

    def held_answers(self, places: IntArray) -> Probabilities:
        """The kept answers for rows at these places."""
        return np.asarray(self._answers[places])


def _some_at_a_time(
    rows: AnyArray, chosen: IntArray, known: int, send: Send, keep: Keep | None
) -> Probabilities:
    """Answers for the chosen rows; of large ones few are copied at a time, in whole blocks."""
    most = _NUMBERS_COPIED // max(1, math.prod(rows.shape[1:]))
    step = max(_BLOCK, most // _BLOCK * _BLOCK)
    found = []
    for start in range(0, len(chosen), step):

        def keep_here(first: int, last: int, answers: Probabilities, start: int = start) -> None:
            if keep is not None:
                keep(start + first, start + last, answers)

        some = rows[chosen[start : start + step]]
        found.append(send(some, known if not start else 0, keep_here))
    return found[0] if len(found) == 1 else np.concatenate(found)


def _without() -> None:
    """What a copy of a model in another process has instead of a table that is large."""


def _sent(rows: Sequence[AnyArray], answers: Probabilities) -> KeptAnswers:
    """A table in another process: what was known when it was sent."""
    table = KeptAnswers([KeptSet(RowIndex(some)) for some in rows], like=answers)
    table.store(np.arange(len(answers)), answers, journalled=True)
    return table


@contextlib.contextmanager
def asking_anew(model: Any) -> Iterator[None]:
    """Ask the model itself in this thread, whatever is kept: for attacks and what has hooks."""
    with contextlib.ExitStack() as stack:
        while model is not None:
            table = getattr(model, "kept", None)
            if isinstance(table, KeptAnswers):
                stack.enter_context(table.bypassed())
            model = getattr(model, "model", None)
        yield
