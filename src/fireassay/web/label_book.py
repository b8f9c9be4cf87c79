"""Who labels what: items are leased, answers are on the disk before anyone hears "saved"."""

import contextlib
import datetime
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from fireassay.core.errors import DataError, StoreError
from fireassay.web import label_schema
from fireassay.web.queue import Queue

BOOK = "labels.sqlite"
LEASE_S = 600.0
_FIELDS = "number, item, annotator, kind, choice, comment, seconds, created, after_reveal"


@dataclass(frozen=True)
class Slot:
    """An item that is asked about: its turn, its purpose, and with what chance it was drawn."""

    rank: int
    item: int
    arm: str = "search"
    probability: float | None = None
    answers: int = 0


@dataclass(frozen=True)
class Lease:
    """The right to answer one item for some minutes; ``token`` makes an answer count once."""

    token: str
    item: int
    annotator: str
    granted: float
    after_reveal: bool


@dataclass(frozen=True)
class Answer:
    """One answer: a choice (−1 cannot tell, −2 other), a skip, or the resolution of a conflict."""

    number: int
    item: int
    annotator: str
    kind: str
    choice: int | None
    comment: str
    seconds: float | None
    created: str
    after_reveal: bool


class LeaseLostError(DataError):
    """The item went to somebody else meanwhile; nothing was saved."""


Chooser = Callable[[sqlite3.Connection], Slot | None]


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
        found = _free_slot(connection, queue, annotator, now, above=passed)
        if found is None:
            slot = more(connection)
            if slot is not None:
                _insert_slot(connection, queue.name, slot)
                found = slot.rank, slot.item
            elif passed:
                found = _free_slot(connection, queue, annotator, now, above=0)
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
                f"SELECT {_FIELDS} FROM answers WHERE token = ?",  # noqa: S608 - own columns
                (token,),
            ).fetchone()
            if kept is not None:
                return _answer(kept)
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
            number = _insert(
                connection, token, queue.name, item, annotator, kind, choice, comment, seconds,
                after_reveal,
            )  # fmt: skip
            if not skip:
                _count(connection, queue, item, +1)
            _changed(connection, queue.name)
            return _read(connection, number)

    def _still_free(
        self, connection: sqlite3.Connection, queue: Queue, lease: tuple[Any, ...]
    ) -> bool:
        item, annotator, _, _, expires = lease
        now = time.time()
        if expires > now:
            return True
        return _free_slot(connection, queue, annotator, now, item=item) is not None

    def undo(self, queue: Queue, annotator: str, session: str) -> Answer | None:
        """Take back the last answer or skip of an annotator, who gets the item again.

        It stays in the file, marked as undone. A new answer is marked as given after the model's
        answer was shown, if it was.
        """
        with self._transaction() as connection:
            row = connection.execute(
                f"SELECT {_FIELDS} FROM answers "  # noqa: S608 - own columns
                "WHERE queue = ? AND annotator = ? AND undone IS NULL AND kind != 'resolve' "
                "ORDER BY number DESC LIMIT 1",
                (queue.name, annotator),
            ).fetchone()
            if row is None:
                return None
            last = _answer(row)
            _mark_undone(connection, last.number)
            if last.kind == "answer":
                _count(connection, queue, last.item, -1)
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
            if _free_slot(connection, queue, annotator, time.time(), item=last.item):
                self._grant(
                    connection, queue.name, last.item, annotator, session, after_reveal=seen
                )
            _changed(connection, queue.name)
            return last

    def offer_skipped_again(self, queue: Queue, annotator: str) -> int:
        """Take back all skips of an annotator; returns how many."""
        with self._transaction() as connection:
            found = connection.execute(
                "UPDATE answers SET undone = ? WHERE queue = ? AND annotator = ?"
                " AND kind = 'skip' AND undone IS NULL",
                (_now(), queue.name, annotator),
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
                (_now(), queue.name, item),
            )
            number = _insert(
                connection, secrets.token_urlsafe(18), queue.name, item, annotator, "resolve",
                choice, comment, None, 1,
            )  # fmt: skip
            _changed(connection, queue.name)
            return _read(connection, number)

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
                _insert(
                    connection, secrets.token_urlsafe(18), queue.name, item, annotator, "answer",
                    choice, comment, None, 0,
                )  # fmt: skip
                _count(connection, queue, item, +1)
                connection.execute(
                    "DELETE FROM leases WHERE queue = ? AND item = ? AND annotator = ?",
                    (queue.name, item, annotator),
                )
                new += 1
            _changed(connection, queue.name)
            return new

    def open_slots(self, queue: Queue, slots: Sequence[Slot]) -> None:
        """Open slots that another program handed out before."""
        with self._transaction() as connection:
            for slot in slots:
                _insert_slot(connection, queue.name, slot)

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
            _insert_slot(connection, queue.name, slot)

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
                f"SELECT {_FIELDS} FROM answers "  # noqa: S608 - own columns
                "WHERE queue = ? AND annotator = ? AND undone IS NULL AND kind != 'resolve' "
                "ORDER BY number DESC LIMIT 1",
                (queue.name, annotator),
            ).fetchone()
        return None if row is None else _answer(row)

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


def read_slots(connection: sqlite3.Connection, queue: str) -> list[Slot]:
    """All slots of a queue, in order."""
    rows = connection.execute(
        "SELECT rank, item, arm, probability, answers FROM slots WHERE queue = ? ORDER BY rank",
        (queue,),
    )
    return [Slot(*row) for row in rows]


def read_answers(
    connection: sqlite3.Connection, queue: str, item: int | None = None
) -> list[Answer]:
    """Answers of a queue, or of one item, that are not undone."""
    one = "" if item is None else " AND item = ?"
    rows = connection.execute(
        f"SELECT {_FIELDS} FROM answers "  # noqa: S608 - own columns
        f"WHERE queue = ? AND undone IS NULL{one} ORDER BY number",
        (queue,) if item is None else (queue, item),
    )
    return [_answer(row) for row in rows]


def in_order(queue: Queue) -> Chooser:
    """Opens the items of a queue one after the other, up to its budget.

    An item that nobody can tell costs no budget.
    """

    def choose(connection: sqlite3.Connection) -> Slot | None:
        (opened,) = connection.execute(
            "SELECT count(*) FROM slots WHERE queue = ?", (queue.name,)
        ).fetchone()
        if opened >= queue.limit:
            (untold,) = connection.execute(
                "SELECT count(*) FROM (SELECT item FROM answers WHERE queue = ?"
                " AND undone IS NULL AND kind != 'skip' GROUP BY item HAVING max(choice) = -1)",
                (queue.name,),
            ).fetchone()
            if queue.purpose == "review" or opened - untold >= queue.limit or opened >= len(queue):
                return None
        return Slot(rank=opened + 1, item=opened)

    return choose


def _free_slot(
    connection: sqlite3.Connection,
    queue: Queue,
    annotator: str,
    now: float,
    *,
    above: int = 0,
    item: int | None = None,
) -> tuple[int, int] | None:
    """The first open slot that this annotator may have."""
    one = "" if item is None else " AND s.item = :item"
    row = connection.execute(
        f"""
        SELECT s.rank, s.item FROM slots s
        WHERE s.queue = :queue AND s.is_open = 1 AND s.rank > :above{one}
          AND NOT EXISTS (SELECT 1 FROM answers a WHERE a.queue = s.queue AND a.item = s.item
                          AND a.annotator = :annotator AND a.undone IS NULL
                          AND a.kind != 'resolve')
          AND NOT EXISTS (SELECT 1 FROM leases l WHERE l.queue = s.queue AND l.item = s.item
                          AND l.annotator = :annotator AND l.expires > :now)
          AND s.answers + (SELECT count(*) FROM leases l WHERE l.queue = s.queue
                           AND l.item = s.item AND l.expires > :now) < :people
        ORDER BY s.rank LIMIT 1
        """,  # noqa: S608 - the inserted text is a constant
        {
            "queue": queue.name,
            "annotator": annotator,
            "now": now,
            "above": above,
            "people": queue.annotators_per_item,
            "item": item,
        },
    ).fetchone()
    return None if row is None else (row[0], row[1])


def _insert_slot(connection: sqlite3.Connection, queue: str, slot: Slot) -> None:
    connection.execute(
        "INSERT INTO slots (queue, rank, item, arm, probability) VALUES (?, ?, ?, ?, ?)",
        (queue, slot.rank, slot.item, slot.arm, slot.probability),
    )


def _insert(connection: sqlite3.Connection, *fields: Any) -> int:
    *before, after_reveal = fields
    number = connection.execute(
        "INSERT INTO answers (token, queue, item, annotator, kind, choice, comment, seconds,"
        " created, after_reveal) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (*before, _now(), int(after_reveal)),
    ).lastrowid
    return int(number or 0)


def _count(connection: sqlite3.Connection, queue: Queue, item: int, step: int) -> None:
    connection.execute(
        "UPDATE slots SET answers = answers + :step, is_open = (answers + :step < :people)"
        " WHERE queue = :queue AND item = :item",
        {"step": step, "people": queue.annotators_per_item, "queue": queue.name, "item": item},
    )


def _changed(connection: sqlite3.Connection, queue: str) -> None:
    connection.execute("UPDATE queues SET changes = changes + 1 WHERE name = ?", (queue,))


def _mark_undone(connection: sqlite3.Connection, number: int) -> None:
    connection.execute("UPDATE answers SET undone = ? WHERE number = ?", (_now(), number))


def _read(connection: sqlite3.Connection, number: int) -> Answer:
    row = connection.execute(
        f"SELECT {_FIELDS} FROM answers WHERE number = ?",  # noqa: S608 - own columns
        (number,),
    ).fetchone()
    return _answer(row)


def _answer(row: tuple[Any, ...]) -> Answer:
    answer = Answer(*row)
    return replace(answer, after_reveal=bool(answer.after_reveal))


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
