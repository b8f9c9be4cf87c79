"""What is served: run folders and their queues, found again when they change."""

import hashlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from pathlib import Path

from fireassay.core.errors import DataError, FireassayError
from fireassay.engine.labels.book import STATE_FILE, LabelBook
from fireassay.engine.labels.records import Chooser, Lease
from fireassay.web.projects import Project, find_projects
from fireassay.web.queue import QUEUES, Queue, find_queues, read_queue, read_settings
from fireassay.web.queue_state import QueueStatus, in_order, queue_status

_MARKS = ("run.sqlite", "result.json", STATE_FILE, QUEUES, "started.json")


@dataclass(frozen=True)
class Run:
    """A run folder under a key that a browser may know."""

    key: str
    folder: Path

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.folder.name

    @property
    def label(self) -> str:
        """What tells runs apart: many are called fireassay-run."""
        return f"{self.folder.parent.name}/{self.folder.name}"

    def has_waiting_search(self) -> bool:
        """Whether a search in the folder has no queue yet, so that nobody can label for it."""
        if not (self.folder / STATE_FILE).is_file():
            return False
        try:
            return not any(read_settings(p).get("state_file") for p in find_queues(self.folder))
        except DataError:
            return False  # a queue that cannot be read is reported as such


class OpenQueue:
    """A queue with its label book: what the pages ask for."""

    def __init__(self, key: str, run: Run, queue: Queue, book: LabelBook) -> None:
        self.key = key
        self.run = run
        self.queue = queue
        self.book = book
        self._lock = threading.Lock()
        self._status: tuple[int, QueueStatus] | None = None
        book.register(queue)

    @cached_property
    def _chooser(self) -> Chooser:
        if not self.queue.state_file:
            return in_order(self.queue)
        # Loads scikit-learn; the first page must not wait for that.
        from fireassay.discovery import Search

        search = Search.load(self.run.folder / self.queue.state_file, self.book)
        return lambda _: search.next_slot()

    def lease(self, annotator: str, session: str) -> Lease | None:
        """The next item of an annotator."""
        return self.book.lease(self.queue, annotator, session, self._chooser)

    def add_csv(self, text: str, annotator: str) -> tuple[int, int]:
        """Keep the labels of a CSV file; returns how many were new, of how many."""
        from fireassay.discovery.label_files import from_csv

        given = [label.entry for label in from_csv(self.queue, text, annotator)]
        # A search asks in an order of its own, which a file must not change.
        more = None if self.queue.state_file else self._chooser
        return self.book.add_all(self.queue, given, more), len(given)

    def status(self) -> QueueStatus:
        """Outcomes, curve, agreement; computed once per change."""
        changes = self.book.changes(self.queue)
        with self._lock:
            if self._status is None or self._status[0] != changes:
                slots, answers = self.book.slots(self.queue), self.book.answers(self.queue)
                adaptive = bool(self.queue.state_file) and self._is_adaptive
                found = queue_status(self.queue, slots, answers, adaptive=adaptive)
                self._status = changes, found
            return self._status[1]

    @cached_property
    def _is_adaptive(self) -> bool:
        from fireassay.discovery import SEARCHES

        return SEARCHES[self.queue.search].adaptive


class Workspace:
    """Runs and queues by key. A key is looked up, never used as a path."""

    def __init__(self, folders: Sequence[str | Path]) -> None:
        self.folders = [Path(folder).resolve() for folder in folders]
        self._lock = threading.RLock()
        self._books: dict[Path, LabelBook] = {}
        self._queues: dict[str, OpenQueue] = {}
        self.problems: dict[str, str] = {}
        if not self.runs() and not self.projects():
            raise DataError(
                "Expected a run folder, or a folder with run folders or a fireassay.toml in it.",
                got=", ".join(map(str, folders)) or "none",
                do="Make one with: fireassay demo",
            )

    def runs(self) -> dict[str, Run]:
        """All runs there are now."""
        found: list[Path] = []
        for folder in self.folders:
            found += [folder] if _is_run(folder) else sorted(_runs_inside(folder))
        started = [one.run_folder for one in self.projects().values() if not one.problem]
        found += filter(_is_run, started)
        return {key: Run(key, path) for path in found for key in [run_key(path)]}

    def projects(self) -> dict[str, Project]:
        """All configurations there are now."""
        return find_projects(self.folders)

    def queues(self) -> dict[str, OpenQueue]:
        """All queues there are now; one that cannot be read is listed in ``problems``."""
        found: dict[str, OpenQueue] = {}
        with self._lock:
            self.problems = {}
            for run in self.runs().values():
                for path in find_queues(run.folder):
                    key = run_key(path)
                    try:
                        found[key] = self._open(key, run, path)
                    except FireassayError as error:
                        self.problems[f"{run.name}/{path.name}"] = str(error)
            self._queues = found
        return found

    def queue(self, key: str) -> OpenQueue | None:
        """One queue."""
        known = self._queues.get(key)
        return known if known is not None else self.queues().get(key)

    def close(self) -> None:
        """Close the label books."""
        with self._lock:
            for book in self._books.values():
                book.close()
            self._books.clear()
            self._queues.clear()

    def _open(self, key: str, run: Run, path: Path) -> OpenQueue:
        known = self._queues.get(key)
        fresh = read_queue(path)
        if known is not None and _told(known.queue) == _told(fresh):
            return known
        if run.folder not in self._books:
            self._books[run.folder] = LabelBook(run.folder)
        return OpenQueue(key, run, fresh, self._books[run.folder])


_told = attrgetter("content_sha256", "budget", "annotators_per_item", "instructions", "reveal")


def _is_run(folder: Path) -> bool:
    return any((folder / mark).exists() for mark in _MARKS)


def _runs_inside(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return [path for path in folder.iterdir() if path.is_dir() and _is_run(path)]


def run_key(path: Path) -> str:
    """The key of a folder: looked up, never turned back into a path."""
    return hashlib.sha256(str(path).encode("utf-8", "surrogateescape")).hexdigest()[:12]
