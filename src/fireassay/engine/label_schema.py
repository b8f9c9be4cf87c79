"""The tables of ``labels.sqlite``: slots handed out, leases on them, answers given."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from fireassay.core.errors import StoreError
from fireassay.engine.expected_schema import DATABASE_ERRORS, check_schema

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
    """Open or make a label book.

    Its commits go to a log that `log_of` names: an answer is kept once that is on the disk.

    Raises
    ------
    StoreError
        If the file cannot be written, or is not a label book of this version.
    """
    connection = None
    try:
        connection = sqlite3.connect(
            path, isolation_level=None, check_same_thread=False, timeout=20.0
        )
        connection.execute("PRAGMA journal_mode = WAL")
        level = "FULL" if log_of(connection, path) is None else "NORMAL"
        connection.execute(f"PRAGMA synchronous = {level}")
        _prepare(connection, path)
    except DATABASE_ERRORS as error:
        if connection is not None:
            connection.close()
        raise StoreError(
            f"{path} must be a file that fireassay can write.",
            got=f"{error}",
            do="Check free space and permissions; labels that are there are kept.",
        ) from error
    except StoreError:
        if connection is not None:
            connection.close()
        raise
    return connection


def log_of(connection: sqlite3.Connection, path: Path) -> Path | None:
    """The file that holds the last commits; None where the disk allows none (some networks).

    Without one every commit waits for the disk by itself.
    """
    mode = connection.execute("PRAGMA journal_mode").fetchone()[0]
    return path.with_name(f"{path.name}-wal") if mode == "wal" else None


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
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
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _statements(script: str) -> Iterator[str]:
    """One by one: a whole script would end the transaction that it belongs to."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
