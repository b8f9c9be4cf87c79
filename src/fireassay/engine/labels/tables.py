"""SQL tables of a label book and the statements on them."""

import contextlib
import datetime
import secrets
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from fireassay.core.errors import StoreError
from fireassay.engine.journal_tables import DATABASE_ERRORS, atomic, check_schema
from fireassay.engine.labels.records import CANNOT_TELL, AnsweredDifferentlyError, GivenAnswer, Slot

VERSION = 2
_APPLICATION_ID = 0x46414C42  # "FALB": a fireassay label book

_TABLES = """
CREATE TABLE queues (
    name TEXT PRIMARY KEY,
    content_sha256 TEXT NOT NULL,
    people INTEGER NOT NULL,
    changes INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE TABLE slots (
    queue TEXT NOT NULL,
    rank INTEGER NOT NULL,
    item INTEGER NOT NULL,
    arm TEXT NOT NULL,
    probability REAL,
    answers INTEGER NOT NULL DEFAULT 0,
    is_open INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (queue, rank),
    UNIQUE (queue, item)
) WITHOUT ROWID;
CREATE INDEX open_slots ON slots (queue, rank) WHERE is_open = 1;
CREATE TABLE leases (
    token TEXT PRIMARY KEY,
    queue TEXT NOT NULL,
    item INTEGER NOT NULL,
    annotator TEXT NOT NULL,
    session TEXT NOT NULL,
    granted REAL NOT NULL,
    expires REAL NOT NULL,
    after_reveal INTEGER NOT NULL,
    UNIQUE (queue, item, annotator)
) WITHOUT ROWID;
CREATE TABLE cursors (
    queue TEXT NOT NULL,
    annotator TEXT NOT NULL,
    rank INTEGER NOT NULL,
    PRIMARY KEY (queue, annotator)
) WITHOUT ROWID;
CREATE TABLE answers (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    token TEXT NOT NULL UNIQUE,
    queue TEXT NOT NULL,
    item INTEGER NOT NULL,
    annotator TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('answer', 'skip', 'resolve')),
    choice INTEGER,
    comment TEXT NOT NULL,
    seconds REAL,
    created TEXT NOT NULL,
    after_reveal INTEGER NOT NULL,
    undone TEXT
);
CREATE INDEX answers_of_item ON answers (queue, item, annotator) WHERE undone IS NULL;
CREATE INDEX answers_of_annotator ON answers (queue, annotator, number) WHERE undone IS NULL;
"""

# What is said after every answer is counted when it changes, not by looking at every label.
_TALLIES = """
CREATE TABLE slot_tallies (
    queue TEXT PRIMARY KEY,
    opened INTEGER NOT NULL,
    complete INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE answer_tallies (
    queue TEXT NOT NULL,
    annotator TEXT NOT NULL,
    answered INTEGER NOT NULL,
    skipped INTEGER NOT NULL,
    PRIMARY KEY (queue, annotator)
) WITHOUT ROWID;
INSERT INTO slot_tallies SELECT queue, count(*), sum(is_open = 0) FROM slots GROUP BY queue;
INSERT INTO answer_tallies SELECT queue, annotator, sum(kind = 'answer'), sum(kind = 'skip')
    FROM answers WHERE undone IS NULL GROUP BY queue, annotator;
CREATE TRIGGER slot_opened AFTER INSERT ON slots BEGIN
    INSERT INTO slot_tallies VALUES (new.queue, 1, new.is_open = 0) ON CONFLICT DO UPDATE
    SET opened = opened + 1, complete = complete + excluded.complete;
END;
CREATE TRIGGER slot_changed AFTER UPDATE OF is_open ON slots BEGIN
    UPDATE slot_tallies SET complete = complete + old.is_open - new.is_open
    WHERE queue = new.queue;
END;
CREATE TRIGGER answer_given AFTER INSERT ON answers BEGIN
    INSERT INTO answer_tallies
    VALUES (new.queue, new.annotator, new.kind = 'answer', new.kind = 'skip')
    ON CONFLICT DO UPDATE
    SET answered = answered + excluded.answered, skipped = skipped + excluded.skipped;
END;
CREATE TRIGGER answer_undone AFTER UPDATE OF undone ON answers
WHEN old.undone IS NULL AND new.undone IS NOT NULL BEGIN
    UPDATE answer_tallies
    SET answered = answered - (new.kind = 'answer'), skipped = skipped - (new.kind = 'skip')
    WHERE queue = new.queue AND annotator = new.annotator;
END;
CREATE INDEX untold_answers ON answers (queue, item) WHERE choice = -1 AND undone IS NULL;
"""

# What brings a book from version i to version i + 1.
_STEPS = (_TABLES, _TALLIES)


def connect(path: Path) -> sqlite3.Connection:
    """Open or make a label book, whose commits go to the log that `log_of` names."""
    with contextlib.ExitStack() as failing:
        try:
            connection = sqlite3.connect(
                path, isolation_level=None, check_same_thread=False, timeout=20.0
            )
            failing.callback(connection.close)
            connection.execute("PRAGMA journal_mode = WAL")
            level = "FULL" if log_of(connection, path) is None else "NORMAL"
            connection.execute(f"PRAGMA synchronous = {level}")
            _prepare(connection, path)
        except DATABASE_ERRORS as error:
            raise StoreError(
                f"{path} must be a file that fireassay can write.",
                got=f"{error}",
                do="Check free space and permissions; labels that are there are kept.",
            ) from error
        failing.pop_all()
        return connection


def log_of(connection: sqlite3.Connection, path: Path) -> Path | None:
    """File of the last commits; None (some network disks): each commit waits for the disk."""
    mode = connection.execute("PRAGMA journal_mode").fetchone()[0]
    return path.with_name(f"{path.name}-wal") if mode == "wal" else None


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    with atomic(connection):
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        owner = int(connection.execute("PRAGMA application_id").fetchone()[0])
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if tables and (owner != _APPLICATION_ID or version > VERSION):
            raise StoreError(
                f"{path} must be a label book of version {VERSION} or older.",
                got=f"version {version}" if owner == _APPLICATION_ID else "another program's file",
                do="Update fireassay, or use another run folder.",
            )
        if tables:
            check_schema(connection, "".join(_STEPS[:version]), path)
        for statement in _statements("".join(_STEPS[version:])):
            connection.execute(statement)
        if version < VERSION:
            connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {VERSION}")


def _statements(script: str) -> Iterator[str]:
    """One by one: a whole script would end the transaction that it belongs to."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


ANSWER_FIELDS = "number, item, annotator, kind, choice, comment, seconds, created, after_reveal"
# An annotator's own answer to an item.
OWN = "queue = ? AND item = ? AND annotator = ? AND undone IS NULL AND kind = 'answer'"
# The last answer or skip of an annotator in a queue.
LAST = (
    "queue = ? AND annotator = ? AND undone IS NULL AND kind != 'resolve'"
    " ORDER BY number DESC LIMIT 1"
)


def read_slots(connection: sqlite3.Connection, queue: str) -> list[Slot]:
    """All slots of a queue, in order."""
    rows = connection.execute(
        "SELECT rank, item, arm, probability, answers FROM slots WHERE queue = ? ORDER BY rank",
        (queue,),
    )
    return [Slot(*row) for row in rows]


def read_answers(
    connection: sqlite3.Connection, queue: str, item: int | None = None
) -> list[GivenAnswer]:
    """Answers of a queue, or of one item, that are not undone."""
    one = "" if item is None else " AND item = ?"
    rows = connection.execute(
        f"SELECT {ANSWER_FIELDS} FROM answers "  # noqa: S608 - own columns
        f"WHERE queue = ? AND undone IS NULL{one} ORDER BY number",
        (queue,) if item is None else (queue, item),
    )
    return [to_answer(row) for row in rows]


def read_counts(connection: sqlite3.Connection, queue: str, annotator: str) -> dict[str, int]:
    """How many items are complete and opened, and how many an annotator answered and skipped."""
    opened, complete = connection.execute(
        "SELECT opened, complete FROM slot_tallies WHERE queue = ?", (queue,)
    ).fetchone() or (0, 0)
    answered, skipped = connection.execute(
        "SELECT answered, skipped FROM answer_tallies WHERE queue = ? AND annotator = ?",
        (queue, annotator),
    ).fetchone() or (0, 0)
    return {"complete": complete, "opened": opened, "answered": answered, "skipped": skipped}


def free_slot(
    connection: sqlite3.Connection, queue: str, annotator: str, now: float, *, above: int = 0,
    item: int | None = None,
) -> tuple[int, int] | None:  # fmt: skip
    """The first open slot that this annotator may have."""
    # A lease from the future, before a clock was set back, holds nothing: it would last too long.
    one = "" if item is None else " AND s.item = :item"
    # Left to itself SQLite walks through all slots, finished ones too.
    index = "INDEXED BY open_slots" if item is None else ""
    row = connection.execute(
        f"""
        SELECT s.rank, s.item FROM slots s {index}
        WHERE s.queue = :queue AND s.is_open = 1 AND s.rank > :above{one}
          AND NOT EXISTS (SELECT 1 FROM answers a WHERE a.queue = s.queue AND a.item = s.item
                          AND a.annotator = :annotator AND a.undone IS NULL
                          AND a.kind != 'resolve')
          AND NOT EXISTS (SELECT 1 FROM leases l WHERE l.queue = s.queue AND l.item = s.item
                          AND l.annotator = :annotator AND l.expires > :now
                          AND l.granted <= :now)
          AND s.answers + (SELECT count(*) FROM leases l WHERE l.queue = s.queue
                           AND l.item = s.item AND l.expires > :now AND l.granted <= :now)
              < (SELECT people FROM queues WHERE name = s.queue)
        ORDER BY s.rank LIMIT 1
        """,  # noqa: S608 - the inserted text is a constant
        {"queue": queue, "annotator": annotator, "now": now, "above": above, "item": item},
    ).fetchone()
    return None if row is None else (row[0], row[1])


def insert_slot(connection: sqlite3.Connection, queue: str, slot: Slot) -> None:
    """Open a slot."""
    connection.execute(
        "INSERT INTO slots (queue, rank, item, arm, probability) VALUES (?, ?, ?, ?, ?)",
        (queue, slot.rank, slot.item, slot.arm, slot.probability),
    )


def insert_answer(
    connection: sqlite3.Connection, queue: str, item: int, annotator: str, kind: str,
    choice: int | None, comment: str = "", *, token: str = "", seconds: float | None = None,
    after_reveal: bool = False,
) -> int:  # fmt: skip
    """Keep an answer now, under the token of its form or a new one; returns its number."""
    token = token or secrets.token_urlsafe(18)
    number = connection.execute(
        "INSERT INTO answers (token, queue, item, annotator, kind, choice, comment, seconds,"
        " created, after_reveal) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (token, queue, item, annotator, kind, choice, comment, seconds, timestamp(),
         int(after_reveal)),
    ).lastrowid  # fmt: skip
    return int(number or 0)


def count_answer(connection: sqlite3.Connection, queue: str, item: int, step: int) -> None:
    """Count one more or one less answer to an item, which opens or closes its slot."""
    connection.execute(
        "UPDATE slots SET answers = answers + :step,"
        " is_open = (answers + :step < (SELECT people FROM queues WHERE name = :queue))"
        " WHERE queue = :queue AND item = :item",
        {"step": step, "queue": queue, "item": item},
    )


def tell(
    connection: sqlite3.Connection, queue: str, item: int, annotator: str, choice: int
) -> None:
    """Keep an answer that overrules those of others and undoes the annotator's own before."""
    before = read_answers(connection, queue, item)
    for answer in before:
        if answer.kind == "resolve" or answer.annotator == annotator:
            mark_undone(connection, answer.number)
        if answer.kind == "answer" and answer.annotator == annotator:
            count_answer(connection, queue, item, -1)
    others = [a for a in before if a.kind == "answer" and a.annotator != annotator]
    overrules = any(answer.choice != choice for answer in others)
    for kind in ("answer", "resolve") if overrules else ("answer",):
        insert_answer(connection, queue, item, annotator, kind, choice)
    count_answer(connection, queue, item, +1)
    end_lease(connection, queue, item, annotator)
    note_change(connection, queue)


def take_back_last(connection: sqlite3.Connection, queue: str) -> int | None:
    """Take back the last label of all, with the resolution it came with; returns its item."""
    given = [a for a in read_answers(connection, queue) if a.kind != "skip"]
    labels = [a for a in given if a.choice != CANNOT_TELL]
    if not labels:
        return None
    last = labels[-1]
    for answer in labels:
        if (answer.item, answer.annotator) == (last.item, last.annotator):
            mark_undone(connection, answer.number)
            if answer.kind == "answer":
                count_answer(connection, queue, answer.item, -1)
    note_change(connection, queue)
    return last.item


def note_change(connection: sqlite3.Connection, queue: str) -> None:
    """Let readers know that answers of the queue have changed."""
    connection.execute("UPDATE queues SET changes = changes + 1 WHERE name = ?", (queue,))


def mark_undone(connection: sqlite3.Connection, number: int) -> None:
    """Take an answer back; it stays in the table."""
    connection.execute("UPDATE answers SET undone = ? WHERE number = ?", (timestamp(), number))


def answer_where(connection: sqlite3.Connection, where: str, *values: Any) -> GivenAnswer | None:
    """The first answer that fits, or None."""
    asked = f"SELECT {ANSWER_FIELDS} FROM answers WHERE {where}"  # noqa: S608 - own columns
    row = connection.execute(asked, values).fetchone()
    return None if row is None else to_answer(row)


def read_answer(connection: sqlite3.Connection, number: int) -> GivenAnswer:
    """The answer of a number that is known to be there."""
    found = answer_where(connection, "number = ?", number)
    assert found is not None
    return found


def end_lease(connection: sqlite3.Connection, queue: str, item: int, annotator: str) -> None:
    """Take an item back from an annotator."""
    connection.execute(
        "DELETE FROM leases WHERE queue = ? AND item = ? AND annotator = ?",
        (queue, item, annotator),
    )


def to_answer(row: tuple[Any, ...]) -> GivenAnswer:
    """A row of the table as an answer."""
    answer = GivenAnswer(*row)
    return replace(answer, after_reveal=bool(answer.after_reveal))


def timestamp() -> str:
    """The time, as the tables keep it."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def repeated(
    connection: sqlite3.Connection, kept: GivenAnswer, given: tuple[str, int | None, str]
) -> GivenAnswer:
    """The answer that a form has given already, if it is this one and still counts."""
    undone = connection.execute(
        "SELECT undone FROM answers WHERE number = ?", (kept.number,)
    ).fetchone()[0]
    if undone is None and (kept.kind, kept.choice, kept.comment) == given:
        return kept
    raise AnsweredDifferentlyError(
        "A form counts once.",
        got="another answer for an item that you have answered already, perhaps in another tab"
        if undone is None
        else "an answer from before you took it back",
        do="Nothing was saved now, and what was saved stays. To change it, take it back.",
    )
