"""Who labels what: items are leased, answers are on the disk before anyone hears "saved"."""

import contextlib
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from fireassay.core.errors import DataError, StoreError
from fireassay.web import label_schema
from fireassay.web.label_records import Answer, Chooser, Lease, LeaseLostError, Slot
from fireassay.web.label_statements import (
    ANSWER_FIELDS,
    count_answer,
    free_slot,
    insert_answer,
    insert_slot,
    mark_undone,
    note_change,
    read_answer,
    read_answers,
    read_slots,
    timestamp,
    to_answer,
)
from fireassay.web.queue import Queue

BOOK = "labels.sqlite"
LEASE_S = 600.0


class LabelBook:
    """``labels.sqlite`` of a run folder. Safe for many threads, and for several servers."""

    def __init__(self, run: str | Path, *, lease_s: float = LEASE_S) -> None:
        self.path = Path(run) / BOOK
        self.lease_s = lease_s
        self._lock = threading.RLock()
        self._connection = label_schema.connect(self.path)
        self._durable = True  # whether a commit waits for the disk

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # Handing out --------------------------------------------------------------------------------

    def register(self, queue: Queue) -> None:
        """Make sure that the labels here are labels of this queue's items."""
        with self._transaction() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO queues (name, content_sha256) VALUES (?, ?)",
                (queue.name, queue.content_sha256),
            )
            row = connection.execute(
                "SELECT content_sha256 FROM queues WHERE name = ?", (queue.name,)
            ).fetchone()
        if row[0] != queue.content_sha256:
            raise StoreError(
                f"The labels of {queue.name!r} in {self.path} must belong to its items.",
                got="a queue with other items",
                do="Restore the queue, or write the new one under another name.",
            )

    def lease(self, queue: Queue, annotator: str, session: str, more: Chooser) -> Lease | None:
        """The item that this browser labels next (the same until it is answered), or None.

        No item is leased to more people than it needs, and never twice to one name. ``more`` opens
        a further slot when all open ones are taken.
        """
        # A lease need not survive a power cut; the next answer takes it to the disk anyway.
        with self._transaction(durable=False) as connection:
            return self._lease(connection, queue, annotator, session, more)

    def _lease(
        self,
        connection: sqlite3.Connection,
        queue: Queue,
        annotator: str,
        session: str,
        more: Chooser,
    ) -> Lease | None:
        now = time.time()
        row = connection.execute(
            "SELECT token, item, granted, after_reveal FROM leases "
            "WHERE queue = ? AND annotator = ? AND session = ? AND expires > ?",
            (queue.name, annotator, session, now),
        ).fetchone()
        if row is not None:
            connection.execute(
                "UPDATE leases SET expires = ? WHERE token = ?", (now + self.lease_s, row[0])
            )
            return Lease(row[0], row[1], annotator, row[2], bool(row[3]))
        cursor = connection.execute(
            "SELECT rank FROM cursors WHERE queue = ? AND annotator = ?", (queue.name, annotator)
        ).fetchone()
        passed = cursor[0] if cursor else 0
        found = free_slot(connection, queue, annotator, now, above=passed)
        if found is None:
            slot = more(connection)
            if slot is not None:
                insert_slot(connection, queue.name, slot)
                found = slot.rank, slot.item
            elif passed:
                found = free_slot(connection, queue, annotator, now, above=0)
        if found is None:
            return None
        rank, item = found
        connection.execute(
            "INSERT INTO cursors VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET rank = excluded.rank",
            (queue.name, annotator, rank),
        )
        return self._grant(connection, queue.name, item, annotator, session, after_reveal=False)

    def _grant(
        self,
        connection: sqlite3.Connection,
        queue: str,
        item: int,
        annotator: str,
        session: str,
        *,
        after_reveal: bool,
    ) -> Lease:
        token, now = secrets.token_urlsafe(18), time.time()
        connection.execute(
            "INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (token, queue, item, annotator, session, now, now + self.lease_s, int(after_reveal)),
        )
        return Lease(token, item, annotator, now, after_reveal)

    # Answering ----------------------------------------------------------------------------------

    def answer(
        self,
        queue: Queue,
        token: str,
        choice: int | None,
        *,
        comment: str = "",
        skip: bool = False,
    ) -> Answer:
        """Keep the answer to a leased item; it is on the disk when this returns.

        The same token again (a repeated request) changes nothing and returns the kept answer.

        Raises
        ------
        LeaseLostError
            If the lease ran out and somebody else has the item.
        """
        with self._transaction() as connection:
            kept = connection.execute(
                f"SELECT {ANSWER_FIELDS} FROM answers WHERE token = ?",  # noqa: S608 - own columns
                (token,),
            ).fetchone()
            if kept is not None:
                return to_answer(kept)
            lease = connection.execute(
                "SELECT item, annotator, granted, after_reveal, expires FROM leases "
                "WHERE token = ? AND queue = ?",
                (token, queue.name),
            ).fetchone()
            if lease is None or not self._still_free(connection, queue, lease):
                raise LeaseLostError(
                    "An answer must come while the item is yours.",
                    got="an item that was given to somebody else meanwhile",
                    do="Nothing was saved; go on with the next one.",
                )
            item, annotator, granted, after_reveal, _ = lease
            seconds = round(time.time() - granted, 2)
            connection.execute("DELETE FROM leases WHERE token = ?", (token,))
            kind = "skip" if skip else "answer"
            number = insert_answer(
                connection, token, queue.name, item, annotator, kind, choice, comment, seconds,
                after_reveal,
            )  # fmt: skip
            if not skip:
                count_answer(connection, queue, item, +1)
            note_change(connection, queue.name)
            return read_answer(connection, number)

    def _still_free(
        self, connection: sqlite3.Connection, queue: Queue, lease: tuple[Any, ...]
    ) -> bool:
        item, annotator, _, _, expires = lease
        now = time.time()
        if expires > now:
            return True
        return free_slot(connection, queue, annotator, now, item=item) is not None

    def undo(self, queue: Queue, annotator: str, session: str) -> Answer | None:
        """Take back the last answer or skip of an annotator, who gets the item again.

        It stays in the file, marked as undone. A new answer is marked as given after the model's
        answer was shown, if it was.
        """
        with self._transaction() as connection:
            row = connection.execute(
                f"SELECT {ANSWER_FIELDS} FROM answers "  # noqa: S608 - own columns
                "WHERE queue = ? AND annotator = ? AND undone IS NULL AND kind != 'resolve' "
                "ORDER BY number DESC LIMIT 1",
                (queue.name, annotator),
            ).fetchone()
            if row is None:
                return None
            last = to_answer(row)
            mark_undone(connection, last.number)
            if last.kind == "answer":
                count_answer(connection, queue, last.item, -1)
            connection.execute(
                "DELETE FROM leases WHERE queue = ? AND annotator = ? AND session = ?",
                (queue.name, annotator, session),
            )
            connection.execute(
                "DELETE FROM leases WHERE queue = ? AND item = ?"
                " AND (annotator = ? OR expires <= ?)",
                (queue.name, last.item, annotator, time.time()),
            )
            seen = last.after_reveal or (
                queue.reveal and last.kind == "answer" and queue.has_prediction(last.item)
            )
            # A skipped item may have gone to somebody else since.
            if free_slot(connection, queue, annotator, time.time(), item=last.item):
                self._grant(
                    connection, queue.name, last.item, annotator, session, after_reveal=seen
                )
            note_change(connection, queue.name)
            return last

    def offer_skipped_again(self, queue: Queue, annotator: str) -> int:
        """Take back all skips of an annotator; returns how many."""
        with self._transaction() as connection:
            found = connection.execute(
                "UPDATE answers SET undone = ? WHERE queue = ? AND annotator = ?"
                " AND kind = 'skip' AND undone IS NULL",
                (timestamp(), queue.name, annotator),
            ).rowcount
            connection.execute(
                "DELETE FROM cursors WHERE queue = ? AND annotator = ?", (queue.name, annotator)
            )
            return int(found)

    def resolve(
        self, queue: Queue, item: int, annotator: str, choice: int, comment: str = ""
    ) -> Answer:
        """Settle a conflict; the answers stay, the resolution counts."""
        with self._transaction() as connection:
            asked = connection.execute(
                "SELECT 1 FROM slots WHERE queue = ? AND item = ? AND answers > 0",
                (queue.name, item),
            ).fetchone()
            if asked is None:
                raise DataError("Only an answered item can be resolved.", got=f"item {item}")
            connection.execute(
                "UPDATE answers SET undone = ? WHERE queue = ? AND item = ?"
                " AND kind = 'resolve' AND undone IS NULL",
                (timestamp(), queue.name, item),
            )
            number = insert_answer(
                connection, secrets.token_urlsafe(18), queue.name, item, annotator, "resolve",
                choice, comment, None, 1,
            )  # fmt: skip
            note_change(connection, queue.name)
            return read_answer(connection, number)

    def add_all(
        self, queue: Queue, given: Sequence[tuple[int, str, int, str]], more: Chooser
    ) -> int:
        """Keep (item, annotator, choice, comment) rows that come from a file: all, or none.

        What an annotator has answered before is left as it is; returns how many were new.
        """
        with self._transaction() as connection:
            new = 0
            for item, annotator, choice, comment in given:
                self._open_up_to(connection, queue, item, more)
                before = connection.execute(
                    "SELECT kind FROM answers WHERE queue = ? AND item = ? AND annotator = ?"
                    " AND undone IS NULL AND kind = 'answer'",
                    (queue.name, item, annotator),
                ).fetchone()
                if before is not None:
                    continue
                insert_answer(
                    connection, secrets.token_urlsafe(18), queue.name, item, annotator, "answer",
                    choice, comment, None, 0,
                )  # fmt: skip
                count_answer(connection, queue, item, +1)
                connection.execute(
                    "DELETE FROM leases WHERE queue = ? AND item = ? AND annotator = ?",
                    (queue.name, item, annotator),
                )
                new += 1
            note_change(connection, queue.name)
            return new

    def open_slots(self, queue: Queue, slots: Sequence[Slot]) -> None:
        """Open slots that another program handed out before."""
        with self._transaction() as connection:
            for slot in slots:
                insert_slot(connection, queue.name, slot)

    def reading(self, read: Callable[[sqlite3.Connection], Any]) -> Any:
        """What a function reads from the tables, with nobody writing meanwhile."""
        with self._lock:
            return read(self._connection)

    def _open_up_to(
        self, connection: sqlite3.Connection, queue: Queue, item: int, more: Chooser
    ) -> None:
        while not connection.execute(
            "SELECT 1 FROM slots WHERE queue = ? AND item = ?", (queue.name, item)
        ).fetchone():
            slot = None if queue.state_file else more(connection)
            if slot is None:
                raise DataError(
                    "Only items that were asked about can be labelled: others would bias it.",
                    got=f"item {queue.ids[item]!s}",
                    do="Raise the budget, or leave it out.",
                )
            insert_slot(connection, queue.name, slot)

    # Reading ------------------------------------------------------------------------------------

    def changes(self, queue: Queue) -> int:
        """A number that grows whenever an answer of the queue changes."""
        with self._lock:
            row = self._connection.execute(
                "SELECT changes FROM queues WHERE name = ?", (queue.name,)
            ).fetchone()
        return int(row[0]) if row else 0

    def slots(self, queue: Queue) -> list[Slot]:
        """All slots that were opened, in order."""
        with self._lock:
            return read_slots(self._connection, queue.name)

    def answers(self, queue: Queue, item: int | None = None) -> list[Answer]:
        """Answers that count (not undone), in the order they were given."""
        with self._lock:
            return read_answers(self._connection, queue.name, item)

    def last_answer(self, queue: Queue, annotator: str) -> Answer | None:
        """What an annotator did last, for "undo"."""
        with self._lock:
            row = self._connection.execute(
                f"SELECT {ANSWER_FIELDS} FROM answers "  # noqa: S608 - own columns
                "WHERE queue = ? AND annotator = ? AND undone IS NULL AND kind != 'resolve' "
                "ORDER BY number DESC LIMIT 1",
                (queue.name, annotator),
            ).fetchone()
        return None if row is None else to_answer(row)

    def counts(self, queue: Queue, annotator: str = "") -> dict[str, int]:
        """How many items are complete, opened, answered and skipped by this annotator."""
        with self._lock:
            complete, opened = self._connection.execute(
                "SELECT count(*) FILTER (WHERE is_open = 0), count(*) FROM slots WHERE queue = ?",
                (queue.name,),
            ).fetchone()
            answered, skipped = self._connection.execute(
                "SELECT count(*) FILTER (WHERE kind = 'answer'),"
                " count(*) FILTER (WHERE kind = 'skip') FROM answers"
                " WHERE queue = ? AND annotator = ? AND undone IS NULL",
                (queue.name, annotator),
            ).fetchone()
        return {
            "complete": complete, "opened": opened, "answered": answered, "skipped": skipped
        }  # fmt: skip

    @contextlib.contextmanager
    def _transaction(self, *, durable: bool = True) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                if durable != self._durable:
                    level = "FULL" if durable else "NORMAL"
                    self._connection.execute(f"PRAGMA synchronous = {level}")
                    self._durable = durable
                self._connection.execute("BEGIN IMMEDIATE")
                try:
                    yield self._connection
                    self._connection.execute("COMMIT")
                except BaseException:
                    if self._connection.in_transaction:
                        self._connection.execute("ROLLBACK")
                    raise
            except sqlite3.Error as error:
                raise StoreError(
                    f"{self.path} must be a file that fireassay can write.",
                    got=f"{error}",
                    do="Nothing was saved. Check free space and permissions, then try again.",
                ) from error
