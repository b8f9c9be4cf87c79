"""Who labels what: items are leased, answers are on the disk before anyone hears "saved"."""

import contextlib
import secrets
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from fireassay.core.errors import DataError, StoreError
from fireassay.engine.journal_tables import DATABASE_ERRORS, atomic
from fireassay.engine.labels import tables
from fireassay.engine.labels.records import (
    Chooser,
    GivenAnswer,
    Lease,
    LeaseLostError,
    Questions,
    Slot,
)
from fireassay.engine.run_lock import GroupCommit, refuse_link

BOOK = "labels.sqlite"
STATE_FILE = "search.npz"  # of a search that waits for labels
LEASE_S = 600.0


class LabelBook:
    """``labels.sqlite`` of a run folder. Safe for many threads, and for several servers."""

    def __init__(self, run: str | Path, *, lease_s: float = LEASE_S) -> None:
        self.path = Path(run) / BOOK
        refuse_link(self.path)
        self.lease_s = lease_s
        self._lock = threading.RLock()
        self._connection = tables.connect(self.path)
        self._disk = GroupCommit(tables.log_of(self._connection, self.path))
        # Also when nobody says close(): a search that is no longer used, for example.
        self._closing = weakref.finalize(self, _close, self._disk, self._connection)

    @property
    def connection(self) -> sqlite3.Connection:
        """The tables, for what is done inside a `transaction`."""
        return self._connection

    def close(self) -> None:
        """Close the file."""
        self._closing()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Handing out --------------------------------------------------------------------------------

    def holds(self, asked: Questions) -> bool:
        """Whether there are labels under this key, and of these items."""
        found = self._read("SELECT content_sha256 FROM queues WHERE name = ?", asked)
        if found and found[0][0] != asked.labels_sha256:
            raise StoreError(
                f"The labels of {asked.label_key!r} in {self.path} must belong to its items.",
                got="other items",
                do="Restore what was labelled, or use another name or folder.",
            )
        return bool(found)

    def register(self, asked: Questions) -> None:
        """Make sure that the labels here are labels of these items."""
        key, people = asked.label_key, asked.annotators_per_item
        with self.transaction() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO queues (name, content_sha256, people) VALUES (?, ?, ?)",
                (key, asked.labels_sha256, people or 1),
            )
            self.holds(asked)

    def set_people(self, asked: Questions, people: int) -> None:
        """How many answers each item needs from now on; said by whoever makes the queue."""
        with self.transaction() as connection:
            connection.execute(
                "UPDATE queues SET people = ? WHERE name = ?", (people, asked.label_key)
            )
            connection.execute(
                "UPDATE slots SET is_open = (answers < ?) WHERE queue = ?",
                (people, asked.label_key),
            )

    def people(self, asked: Questions) -> int:
        """How many answers each item needs."""
        found = self._read("SELECT people FROM queues WHERE name = ?", asked)
        return int(found[0][0]) if found else 1

    def lease(self, asked: Questions, annotator: str, session: str, more: Chooser) -> Lease | None:
        """The item that this browser labels next (the same until it is answered), or None."""
        # No item is leased to more people than it needs, and never twice to one name; ``more``
        # opens a further slot when all open ones are taken.
        # A lease need not survive a power cut; the next answer takes it to the disk anyway.
        with self.transaction(durable=False) as connection:
            return lease_of(connection, asked.label_key, annotator, session, more, self.lease_s)

    # Answering ----------------------------------------------------------------------------------

    def answer(
        self, asked: Questions, token: str, choice: int | None, *, comment: str = "",
        skip: bool = False,
    ) -> GivenAnswer:  # fmt: skip
        """Keep the answer to a leased item, on disk at return; a repeated request is harmless."""
        with self.transaction() as connection:
            kind = "skip" if skip else "answer"
            kept = tables.answer_where(connection, "token = ?", token)
            if kept is not None:
                return tables.repeated(connection, kept, (kind, choice, comment))
            lease = connection.execute(
                "SELECT item, annotator, granted, after_reveal, expires FROM leases "
                "WHERE token = ? AND queue = ?",
                (token, asked.label_key),
            ).fetchone()
            if lease is None or not still_free(connection, asked.label_key, lease):
                raise LeaseLostError(
                    "An answer must come while the item is yours.",
                    got="an item that was given to somebody else meanwhile",
                    do="Nothing was saved; go on with the next one.",
                )
            item, annotator, granted, after_reveal, _ = lease
            seconds = max(0.0, round(time.time() - granted, 2))  # clocks are set back, too
            connection.execute("DELETE FROM leases WHERE token = ?", (token,))
            number = tables.insert_answer(
                connection, asked.label_key, item, annotator, kind, choice, comment,
                token=token, seconds=seconds, after_reveal=after_reveal,
            )  # fmt: skip
            if not skip:
                tables.count_answer(connection, asked.label_key, item, +1)
            tables.note_change(connection, asked.label_key)
            return tables.read_answer(connection, number)

    def undo(self, asked: Questions, annotator: str, session: str) -> GivenAnswer | None:
        """Mark an annotator's last answer or skip as undone and lease the item to them again."""
        # A new answer is marked as given after the model's answer was shown, if it was.
        with self.transaction() as connection:
            last = tables.answer_where(connection, tables.LAST, asked.label_key, annotator)
            if last is None:
                return None
            tables.mark_undone(connection, last.number)
            if last.kind == "answer":
                tables.count_answer(connection, asked.label_key, last.item, -1)
            connection.execute(
                "DELETE FROM leases WHERE queue = ? AND annotator = ? AND session = ?",
                (asked.label_key, annotator, session),
            )
            connection.execute(
                "DELETE FROM leases WHERE queue = ? AND item = ?"
                " AND (annotator = ? OR expires <= ?)",
                (asked.label_key, last.item, annotator, time.time()),
            )
            seen = last.after_reveal or (last.kind == "answer" and asked.reveals(last.item))
            # A skipped item may have gone to somebody else since.
            key, now = asked.label_key, time.time()
            if tables.free_slot(connection, key, annotator, now, item=last.item):
                of = key, last.item, annotator, session
                grant(connection, *of, self.lease_s, after_reveal=seen)
            tables.note_change(connection, asked.label_key)
            return last

    def offer_skipped_again(self, asked: Questions, annotator: str) -> int:
        """Take back all skips of an annotator; returns how many."""
        with self.transaction() as connection:
            found = connection.execute(
                "UPDATE answers SET undone = ? WHERE queue = ? AND annotator = ?"
                " AND kind = 'skip' AND undone IS NULL",
                (tables.timestamp(), asked.label_key, annotator),
            ).rowcount
            connection.execute(
                "DELETE FROM cursors WHERE queue = ? AND annotator = ?",
                (asked.label_key, annotator),
            )
            return int(found)

    def resolve(
        self, asked: Questions, item: int, annotator: str, choice: int, comment: str = ""
    ) -> GivenAnswer:
        """Settle a conflict; the answers stay, the resolution counts."""
        with self.transaction() as connection:
            answered = connection.execute(
                "SELECT 1 FROM slots WHERE queue = ? AND item = ? AND answers > 0",
                (asked.label_key, item),
            ).fetchone()
            if answered is None:
                raise DataError("Only an answered item can be resolved.", got=f"item {item}")
            connection.execute(
                "UPDATE answers SET undone = ? WHERE queue = ? AND item = ?"
                " AND kind = 'resolve' AND undone IS NULL",
                (tables.timestamp(), asked.label_key, item),
            )
            number = tables.insert_answer(
                connection, asked.label_key, item, annotator, "resolve", choice, comment,
                after_reveal=True,
            )  # fmt: skip
            tables.note_change(connection, asked.label_key)
            return tables.read_answer(connection, number)

    def add_all(
        self, asked: Questions, given: Sequence[tuple[int, str, int, str]], more: Chooser | None
    ) -> int:
        """Keep (item, annotator, choice, comment) rows of a file, all or none; how many are new."""
        # ``more`` opens slots that the file needs; None: only what was asked about may be in it.
        with self.transaction() as connection:
            new = 0
            for item, annotator, choice, comment in given:
                self._open_up_to(connection, asked, item, more)
                whose = asked.label_key, item, annotator
                if tables.answer_where(connection, tables.OWN, *whose) is None:
                    tables.insert_answer(connection, *whose, "answer", choice, comment)
                    tables.count_answer(connection, asked.label_key, item, +1)
                    tables.end_lease(connection, *whose)
                    new += 1
            tables.note_change(connection, asked.label_key)
            return new

    def reading(self, read: Callable[[sqlite3.Connection], Any]) -> Any:
        """What a function reads from the tables, with nobody writing meanwhile."""
        with self._looking():
            return read(self._connection)

    def _open_up_to(
        self, connection: sqlite3.Connection, asked: Questions, item: int, more: Chooser | None
    ) -> None:
        while not connection.execute(
            "SELECT 1 FROM slots WHERE queue = ? AND item = ?", (asked.label_key, item)
        ).fetchone():
            slot = None if more is None else more(connection)
            if slot is None:
                raise DataError(
                    "Only items that were asked about can be labelled: others would bias it.",
                    got=f"item {asked.ids[item]!s}",
                    do="Raise the budget, or leave it out.",
                )
            tables.insert_slot(connection, asked.label_key, slot)

    # Reading ------------------------------------------------------------------------------------

    def changes(self, asked: Questions) -> int:
        """A number that grows whenever an answer of the queue changes."""
        found = self._read("SELECT changes FROM queues WHERE name = ?", asked)
        return int(found[0][0]) if found else 0

    def slots(self, asked: Questions) -> list[Slot]:
        """All slots that were opened, in order."""
        with self._looking():
            return tables.read_slots(self._connection, asked.label_key)

    def open_items(self, asked: Questions) -> set[int]:
        """Items that were asked about and have fewer answers than they need."""
        found = self._read("SELECT item FROM slots WHERE queue = ? AND is_open = 1", asked)
        return {item for (item,) in found}

    def answers(self, asked: Questions, item: int | None = None) -> list[GivenAnswer]:
        """Answers that count (not undone), in the order they were given."""
        with self._looking():
            return tables.read_answers(self._connection, asked.label_key, item)

    def last_answer(self, asked: Questions, annotator: str) -> GivenAnswer | None:
        """What an annotator did last, for "undo"."""
        with self._looking():
            return tables.answer_where(self._connection, tables.LAST, asked.label_key, annotator)

    def counts(self, asked: Questions, annotator: str = "") -> dict[str, int]:
        """How many items are complete, opened, answered and skipped by this annotator."""
        with self._looking():
            return tables.read_counts(self._connection, asked.label_key, annotator)

    def _read(self, statement: str, asked: Questions) -> list[tuple[Any, ...]]:
        with self._looking():
            return self._connection.execute(statement, (asked.label_key,)).fetchall()

    @contextlib.contextmanager
    def _looking(self) -> Iterator[None]:
        """Nobody writes meanwhile, and damage is said in our words."""
        with self._lock:
            try:
                yield
            except DATABASE_ERRORS as error:
                raise StoreError(
                    f"{self.path} must be a label book that can be read.",
                    got=f"{error}",
                    do="Restore it from a copy: labels cannot be made again.",
                ) from error

    @contextlib.contextmanager
    def transaction(self, *, durable: bool = True) -> Iterator[sqlite3.Connection]:
        """All of what is done inside, or nothing; on the disk at the end, if ``durable``."""
        with self._lock:
            try:
                with atomic(self._connection) as connection:
                    yield connection
            except DATABASE_ERRORS as error:
                raise self._unwritable(error) from error
        if durable:
            try:
                self._disk.wait()  # others write meanwhile
            except OSError as error:
                raise self._unwritable(error) from error

    def _unwritable(self, error: Exception) -> StoreError:
        return StoreError(
            f"{self.path} must be a file that fireassay can write.",
            got=f"{error}",
            do="Nothing was saved. Check free space and permissions, then try again.",
        )


def _close(disk: GroupCommit, connection: sqlite3.Connection) -> None:
    disk.close()
    connection.close()


# Leases: an item is one annotator's for some minutes, so that no two label the same one.


def lease_of(
    connection: sqlite3.Connection, queue: str, annotator: str, session: str, more: Chooser,
    lease_s: float,
) -> Lease | None:  # fmt: skip
    """The lease that this browser has, prolonged, or one of the next free item; None: all done."""
    now = time.time()
    row = connection.execute(
        "SELECT token, item, granted, after_reveal FROM leases "
        "WHERE queue = ? AND annotator = ? AND session = ? AND expires > ?",
        (queue, annotator, session, now),
    ).fetchone()
    if row is not None:
        connection.execute("UPDATE leases SET expires = ? WHERE token = ?", (now + lease_s, row[0]))
        return Lease(row[0], row[1], annotator, row[2], bool(row[3]))
    cursor = connection.execute(
        "SELECT rank FROM cursors WHERE queue = ? AND annotator = ?", (queue, annotator)
    ).fetchone()
    passed = cursor[0] if cursor else 0
    found = tables.free_slot(connection, queue, annotator, now, above=passed)
    if found is None:
        slot = more(connection)
        if slot is not None:
            tables.insert_slot(connection, queue, slot)
            found = slot.rank, slot.item
        elif passed:
            found = tables.free_slot(connection, queue, annotator, now, above=0)
    if found is None:
        return None
    rank, item = found
    connection.execute(
        "INSERT INTO cursors VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET rank = excluded.rank",
        (queue, annotator, rank),
    )
    return grant(connection, queue, item, annotator, session, lease_s, after_reveal=False)


def grant(
    connection: sqlite3.Connection, queue: str, item: int, annotator: str, session: str,
    lease_s: float, *, after_reveal: bool,
) -> Lease:  # fmt: skip
    """Give an item to an annotator."""
    token, now = secrets.token_urlsafe(18), time.time()
    connection.execute(
        "INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (token, queue, item, annotator, session, now, now + lease_s, int(after_reveal)),
    )
    return Lease(token, item, annotator, now, after_reveal)


def still_free(connection: sqlite3.Connection, queue: str, lease: tuple[Any, ...]) -> bool:
    """Whether a lease (item, annotator, granted, after_reveal, expires) can still be answered."""
    item, annotator, _, _, expires = lease
    now = time.time()
    return (
        expires > now or tables.free_slot(connection, queue, annotator, now, item=item) is not None
    )


_SAID = """
SELECT queue, item, annotator, choice FROM answers
WHERE undone IS NULL AND kind = 'answer' AND choice >= 0 ORDER BY number
"""


def twice_labelled(run: str | Path) -> tuple[int, int]:
    """Items that their first two annotators label differently, and items with two annotators."""
    # The latest answer of each counts; "cannot tell" and "other" are no answers.
    if not (Path(run) / BOOK).is_file():
        return 0, 0
    given: dict[tuple[str, int], dict[str, int]] = {}
    with LabelBook(run) as book:
        for queue, item, annotator, choice in book.reading(lambda c: c.execute(_SAID).fetchall()):
            given.setdefault((queue, item), {})[annotator] = choice
    pairs = [list(answers.values())[:2] for answers in given.values() if len(answers) > 1]
    return sum(one != other for one, other in pairs), len(pairs)
