"""The tables of a run's journal, and the way from older ones."""

import sqlite3
from pathlib import Path

from fireassay.core.errors import StoreError
from fireassay.engine.expected_schema import check_schema

VERSION = 2
_APPLICATION_ID = 0x46413031  # "FA01": says that the file is a fireassay journal

_TABLES = """
CREATE TABLE tasks (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    function TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'done', 'failed')),
    result BLOB,
    artifact TEXT,
    error TEXT,
    finished INTEGER
);
CREATE INDEX tasks_by_name ON tasks (name);
CREATE TABLE timings (task INTEGER PRIMARY KEY REFERENCES tasks, seconds REAL NOT NULL);
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""

# Results and facts without a checksum cannot be relied on: they are made again.
_CHECKSUMS = """
ALTER TABLE tasks ADD COLUMN checksum TEXT;
UPDATE tasks SET status = 'pending', result = NULL, artifact = NULL;
ALTER TABLE meta ADD COLUMN checksum TEXT;
DELETE FROM meta;
"""

# What brings a journal from version i to version i + 1.
_STEPS = (_TABLES, _CHECKSUMS)


def prepare(connection: sqlite3.Connection, path: Path) -> None:
    """Create the tables of a new journal, or bring an older one up to date.

    Raises
    ------
    StoreError
        If the file is no journal of fireassay, or of a newer fireassay.
    """
    version = check_version(connection, path)
    for step in range(version, VERSION):
        connection.executescript(
            f"BEGIN; {_STEPS[step]} PRAGMA user_version = {step + 1};"
            f"PRAGMA application_id = {_APPLICATION_ID}; COMMIT;"
        )


def check_version(connection: sqlite3.Connection, path: Path) -> int:
    """The journal's version, 0 for a new one."""
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    owner = int(connection.execute("PRAGMA application_id").fetchone()[0])
    empty = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
    if not empty and owner != _APPLICATION_ID:
        raise StoreError(
            f"{path} must be the journal of a fireassay run.",
            got="an SQLite file of another program",
            do="Use another run folder.",
        )
    if version > VERSION:
        raise StoreError(
            f"This fireassay reads runs up to version {VERSION}.",
            got=f"version {version} in {path}",
            do="Update fireassay, or use another run folder.",
        )
    if not empty:
        check_schema(connection, "".join(_STEPS[:version]), path)
    return version
