"""SQL tables of a run's journal, their check, and the identity of a task."""

import contextlib
import functools
import hashlib
import inspect
import sqlite3
import types
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fireassay.core.errors import ParameterError, StoreError
from fireassay.core.hashing import sha256
from fireassay.engine.local import Task
from fireassay.version import __version__

Schema = frozenset[tuple[str, str, str | None]]
# What SQLite says about a damaged file may quote bytes that are no text.
DATABASE_ERRORS = (sqlite3.Error, UnicodeDecodeError)


@contextlib.contextmanager
def atomic(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """All of what is done inside, or nothing."""
    try:
        connection.execute("BEGIN IMMEDIATE")
        yield connection
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def check_schema(connection: sqlite3.Connection, statements: str, path: Path) -> None:
    """Refuse a database that was not made by exactly these statements."""
    # A view in place of a table could compute for ever, a trigger could change what is written.
    others = _schema(connection) ^ _made_by(statements)
    if others:
        kind, name, _ = min(others, key=str)
        raise StoreError(
            f"{path} must have the tables of fireassay, and nothing else.",
            got=f"another {kind}: {name[:60]!r}",
            do="It was changed by another program: use another run folder.",
        )


@functools.cache
def _made_by(statements: str) -> Schema:
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(statements)
        return _schema(connection)


def _schema(connection: sqlite3.Connection) -> Schema:
    rows = connection.execute("SELECT type, name, sql FROM sqlite_master LIMIT 1000")
    return frozenset((str(kind), str(name), sql) for kind, name, sql in rows)


def task_ids(task: Task, rows: list[Any], shared: Mapping[str, Any]) -> list[str]:
    """One id for each row; other code, row, shared content or fireassay version: another id."""
    given = {key: _hashable(value) for key, value in shared.items()}
    common = sha256(__version__, function_identity(task), given)
    return [sha256(common, row) for row in rows]


def function_name(task: Task) -> str:
    """The function as ``module:name``."""
    if isinstance(task, functools.partial):
        return function_name(task.func)
    return f"{task.__module__}:{task.__qualname__}"


def function_identity(task: Task) -> str:
    """A hash of the function's name and source text."""
    if isinstance(task, functools.partial):
        bound = {str(key): _hashable(value) for key, value in task.keywords.items()}
        return sha256(function_identity(task.func), [_hashable(a) for a in task.args], bound)
    name = function_name(task)
    if "<" in name:
        raise ParameterError(
            "A task of a stored run must be a function at the top level of a module.",
            got=name,
            do="Move it there, and pass what it needs through the row or shared=.",
        )
    return sha256(name, _source_hash(task))


def _source_hash(task: Task) -> str:
    if isinstance(task, types.BuiltinFunctionType | types.BuiltinMethodType):
        return "builtin"
    try:
        return sha256(inspect.getsource(task))
    except (OSError, TypeError):  # no source file: typed into an interpreter
        code = getattr(task, "__code__", None)
        if code is None:
            return ""
        return hashlib.sha256(code.co_code + repr(code.co_consts).encode()).hexdigest()


def _hashable(value: Any) -> Any:
    return function_identity(value) if isinstance(value, types.FunctionType) else value


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
    """Create the tables of a new journal, or bring an older one up to date."""
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
