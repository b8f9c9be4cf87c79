"""Where a saved search keeps what it asked and what people answered: the folder's label book."""

import contextlib
import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import numpy as np

from fireassay.core import codec
from fireassay.discovery.state import SearchState
from fireassay.engine.consensus import consensus
from fireassay.engine.label_book import LabelBook
from fireassay.engine.label_records import Slot
from fireassay.engine.label_statements import insert_slot, take_back_last, tell
from fireassay.engine.questions import CANNOT_TELL, Questions, search_key
from fireassay.engine.questions import OTHER as OTHER_CHOICE

OTHER = "(other)"
UNNAMED = "(unnamed)"


class KeptLabels:
    """A search's part of a label book. The search's own file never changes."""

    def __init__(
        self, state: SearchState, path: Path, book: LabelBook | None, *, save: bool
    ) -> None:
        self.book = LabelBook(path.parent) if book is None else book
        self.questions = questions_of(state, path.name)
        self._classes = state.classes
        self.book.holds(self.questions)
        if save:  # before the entry: what is in the book can always be continued
            codec.save(state.without_progress(), path)
        self.book.register(self.questions)

    @contextlib.contextmanager
    def writing(self) -> Iterator[Self]:
        """All of what is done inside is on the disk at the end, or nothing."""
        with self.book.transaction():
            yield self

    def progress(self, state: SearchState) -> SearchState:
        """The search with all that was asked and answered, by whomever."""
        slots = self.book.slots(self.questions)
        found = consensus(self.book.answers(self.questions))
        labels = []
        for item, agreed in found.items():
            if agreed.label is not None:
                label = OTHER if agreed.label == OTHER_CHOICE else state.classes[agreed.label]
                labels.append((item, label, agreed.answers[-1].annotator))
        return dataclasses.replace(
            state,
            asked=tuple(slot.item for slot in slots),
            arms=tuple(slot.arm for slot in slots),
            probabilities=tuple(
                float("nan") if slot.probability is None else slot.probability for slot in slots
            ),
            labels=tuple(labels),
            skipped=tuple(sorted(i for i, c in found.items() if c.state == "cannot tell")),
            disagreed=tuple(i for i, c in found.items() if c.disagreed),
        )

    def open(self, slot: Slot) -> None:
        """Keep what is asked next."""
        insert_slot(self.book.connection, self.questions.label_key, slot)

    def tell(self, candidate: int, label: Any, annotator: str) -> None:
        """Keep a label that counts from now on."""
        choice = OTHER_CHOICE if label == OTHER else self._classes.index(label)
        tell(
            self.book.connection, self.questions.label_key, candidate, annotator or UNNAMED, choice
        )

    def skip(self, candidate: int) -> None:
        """Keep that nobody can label a candidate."""
        tell(self.book.connection, self.questions.label_key, candidate, UNNAMED, CANNOT_TELL)

    def undo(self) -> int:
        """Take back the last label; returns its candidate."""
        candidate = take_back_last(self.book.connection, self.questions.label_key)
        assert candidate is not None, "a search with labels has a last one"
        return candidate


def questions_of(state: SearchState, state_file: str) -> Questions:
    """What a search asks, for the label book and for files."""
    ids = state.rows if state.ids is None else state.ids
    return Questions(
        label_key=search_key(state_file),
        labels_sha256=state.identity,
        choices=tuple(str(known) for known in state.classes),
        annotators_per_item=None,
        reveal=True,
        ids=np.asarray(ids).astype(np.str_),
        rows=state.rows,
        predicted=state.predicted,
        confidence=state.confidence,
    )
