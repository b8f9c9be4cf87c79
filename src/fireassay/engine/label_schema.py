"""The tables of ``labels.sqlite``: slots handed out, leases on them, answers given."""

import sqlite3
from pathlib import Path

from fireassay.core.errors import StoreError
from fireassay.engine.expected_schema import check_schema

VERSION = 1
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


def connect(path: Path) -> sqlite3.Connection:
    """Open or make a label book whose commits wait for the disk.

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
        connection.execute("PRAGMA synchronous = FULL")
        _prepare(connection, path)
    except sqlite3.Error as error:
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


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        owner = int(connection.execute("PRAGMA application_id").fetchone()[0])
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if tables and (owner != _APPLICATION_ID or version > VERSION):
            raise StoreError(
                f"{path} must be a label book of version {VERSION}.",
                got=f"version {version}" if owner == _APPLICATION_ID else "another program's file",
                do="Update fireassay, or use another run folder.",
            )
        if tables:
            check_schema(connection, _TABLES, path)
        else:
            for statement in _TABLES.split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
