"""A queue whose next item is chosen by a discovery search, from the labels so far."""

import dataclasses
import hashlib
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core import codec
from fireassay.core.errors import DataError
from fireassay.core.hashing import sha256
from fireassay.core.validation import check_features, check_integer
from fireassay.web.label_book import LabelBook
from fireassay.web.label_records import Slot
from fireassay.web.label_statements import read_answers, read_slots
from fireassay.web.outcomes import outcomes
from fireassay.web.queue import (
    CANNOT_TELL,
    OTHER,
    Queue,
    read_queue,
    save_queue,
)
from fireassay.web.queue_items import check_choices, check_content, check_feature_names

if TYPE_CHECKING:
    from fireassay.discovery import Search, SearchState

STATE_FILE = "search.npz"
_APP = "(app)"  # who gave a label, in the search's file: the book knows the names
_ELSEWHERE = "elsewhere"


def queue_from_search(
    folder: str | Path,
    X: ArrayLike,
    *,
    state_file: str = STATE_FILE,
    name: str = "search",
    kind: str | None = None,
    class_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
    annotators_per_item: int = 1,
    instructions: str = "",
) -> Path:
    """Let people label what a saved search asks for.

    Parameters
    ----------
    folder
        The run folder, with the search's file in it (made by ``Search(..., path=…)``). It stays
        the search's file: labels given in the browser are told to it.
    X
        The data that the search was made with (checked by hash); the search itself has no copy.
    class_names
        Names for the buttons, in the order of the model's classes.

    Returns
    -------
    Path
        The queue's folder. Labels that the search has already are taken over.
    """
    run = Path(folder)
    state = _load_state(run / state_file)
    items = check_features(X)
    if sha256(items) != state.data_sha256:
        raise DataError(
            "X must be the data that the search was made with.",
            got="other values, types or rows",
            do="Pass the array that was given to Search(X=…).",
        )
    chosen = items[state.rows]
    kind = kind or ("image" if items.ndim in (3, 4) else "row")
    names = tuple(str(known) for known in (class_names or state.classes))
    if len(names) != len(state.classes):
        raise DataError(
            "class_names must name every class of the model.",
            got=f"{len(names)} for {len(state.classes)}",
        )
    path = save_queue(
        run,
        name,
        check_content(chosen, kind),
        {
            "purpose": "label",
            "kind": kind,
            "choices": check_choices(names),
            "search": state.name,
            "budget": min(state.budget, len(chosen)) or None,
            "annotators_per_item": check_integer(
                annotators_per_item, "annotators_per_item", low=1, high=20
            ),
            "reveal": True,
            "instructions": str(instructions)[:4000],
            "feature_names": check_feature_names(feature_names, chosen, kind),
            "state_file": state_file,
        },
        ids=state.ids,
        predicted=state.predicted,
        confidence=state.confidence,
        rows=state.rows,
    )
    with LabelBook(run) as book:
        queue = read_queue(path)
        book.register(queue)
        take_over(book, queue)
    return path


class SearchChooser:
    """Asks the search for the next item; kept in step with the label book, which is the truth."""

    def __init__(self, queue: Queue) -> None:
        self.queue = queue
        self._search: Search | None = None
        self._lock = threading.RLock()
        self._known: dict[int, int] = {}
        self._file_sha256: str | None = None
        self.problem = ""

    def __call__(self, connection: sqlite3.Connection) -> Slot | None:
        """A further slot, or None when the budget is spent."""
        with self._lock:
            search = self._in_step(connection)
            before = len(search.state.asked)
            if search.remaining:
                search.ask_many(len(search.pending) + 1)
            if len(search.state.asked) == before:
                return None
            chance = search.state.probabilities[-1]
            return Slot(
                rank=before + 1,
                item=int(search.state.asked[-1]),
                arm=search.state.arms[-1],
                probability=None if np.isnan(chance) else chance,
            )

    @property
    def adaptive(self) -> bool:
        """Whether the search looks at labels before it chooses."""
        from fireassay.discovery.registry import strategy_class

        return strategy_class(self.queue.search).adaptive

    def save(self, connection: sqlite3.Connection) -> None:
        """Write the search's file with all labels so far, unless somebody else wrote it."""
        with self._lock:
            search = self._in_step(connection)
            if self._on_disk() != self._file_sha256:
                self.problem = (
                    f"Another program has changed {self._path.name}: it is left alone. The labels"
                    " are safe here; restart the app to go on from both."
                )
                return
            search.save(self._path)
            self._file_sha256 = self._on_disk()

    def _on_disk(self) -> str:
        return hashlib.sha256(self._path.read_bytes()).hexdigest()

    @property
    def _path(self) -> Path:
        return self.queue.run_folder / self.queue.state_file

    def _in_step(self, connection: sqlite3.Connection) -> "Search":
        slots = read_slots(connection, self.queue.name)
        told, untold = _told(self.queue, connection)
        search = self._search
        grown = search is not None and _is_extension(search.state, slots, self._known, told, untold)
        if search is None or not grown:
            search = self._rebuilt(slots, told, untold)
        else:
            for candidate in told.keys() - self._known.keys():
                row, label = search.state.rows[candidate], self._label(search, told[candidate])
                search.tell(int(row), label, _APP)
            for candidate in set(untold) - set(search.state.skipped):
                search.skip(int(search.state.rows[candidate]))
        self._search, self._known = search, told
        return search

    def _rebuilt(self, slots: list[Slot], told: dict[int, int], untold: list[int]) -> "Search":
        from fireassay.discovery import Search

        if self._file_sha256 is None:
            self._file_sha256 = self._on_disk()
        state = _load_state(self._path)
        classes = state.classes
        labels = {c: "(other)" if k == OTHER else classes[k] for c, k in told.items()}
        state = dataclasses.replace(
            state,
            asked=tuple(slot.item for slot in slots),
            arms=tuple(slot.arm for slot in slots),
            probabilities=tuple(
                float("nan") if slot.probability is None else slot.probability for slot in slots
            ),
            answers=tuple((candidate, label, _APP) for candidate, label in labels.items()),
            skipped=tuple(untold),
        )
        return Search(state.name, state=state)

    def _label(self, search: "Search", choice: int) -> Any:
        return "(other)" if choice == OTHER else search.state.classes[choice]


def _told(queue: Queue, connection: sqlite3.Connection) -> tuple[dict[int, int], list[int]]:
    """Settled labels by candidate, and candidates that nobody can tell."""
    found = outcomes(read_answers(connection, queue.name))
    told = {i: o.label for i, o in found.items() if o.label is not None}
    return told, sorted(i for i, o in found.items() if o.state == "cannot tell")


def _is_extension(
    state: "SearchState",
    slots: list[Slot],
    known: dict[int, int],
    told: dict[int, int],
    untold: list[int],
) -> bool:
    """Whether only new labels came: then the search need not start over."""
    return (
        [slot.item for slot in slots] == list(state.asked)
        and known.items() <= told.items()
        and set(state.skipped) <= set(untold)
        and not set(untold) & set(known)
    )


def take_over(book: LabelBook, queue: Queue) -> None:
    """Slots and labels that the search got elsewhere (from a CSV file, say) enter the book."""
    state = _load_state(queue.run_folder / queue.state_file)
    known = {slot.item for slot in book.slots(queue)}
    draws = zip(state.asked, state.arms, state.probabilities, strict=True)
    new = [draw for draw in draws if draw[0] not in known]
    book.open_slots(
        queue,
        [
            Slot(rank, candidate, arm, None if np.isnan(chance) else float(chance))
            for rank, (candidate, arm, chance) in enumerate(new, start=len(known) + 1)
        ],
    )
    position = {label: i for i, label in enumerate(state.classes)}
    # Of one annotator the last label counts.
    given = {
        (candidate, annotator or _ELSEWHERE): position.get(label, OTHER)
        for candidate, label, annotator in state.answers
        if annotator != _APP
    }
    answered = {answer.item for answer in book.answers(queue)}
    given |= {(c, _ELSEWHERE): CANNOT_TELL for c in state.skipped if c not in answered}
    rows = [(candidate, who, choice, "") for (candidate, who), choice in given.items()]
    book.add_all(queue, rows, _nothing_more)


def _nothing_more(connection: sqlite3.Connection) -> Slot | None:
    del connection
    return None


def _load_state(path: Path) -> "SearchState":
    from fireassay.discovery import SearchState

    state = codec.load(path)
    if not isinstance(state, SearchState):
        raise DataError(f"Expected a saved search at {path}.", got=type(state).__name__)
    return state
