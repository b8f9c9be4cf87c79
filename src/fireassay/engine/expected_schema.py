"""A database that somebody sends must have our tables, and nothing that acts by itself."""

import functools
import sqlite3
from pathlib import Path

from fireassay.core.errors import StoreError

Schema = frozenset[tuple[str, str, str | None]]
# What SQLite says about a damaged file may quote bytes that are no text.
DATABASE_ERRORS = (sqlite3.Error, UnicodeDecodeError)


def check_schema(connection: sqlite3.Connection, statements: str, path: Path) -> None:
    """Refuse a database that was not made by exactly these statements.

    A view in the place of a table could compute for ever, a trigger could change what is written.

    Raises
    ------
    StoreError
        Names the first table, index, view or trigger that is another one.
    """
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
    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(statements)
        return _schema(connection)
    finally:
        connection.close()


def _schema(connection: sqlite3.Connection) -> Schema:
    rows = connection.execute("SELECT type, name, sql FROM sqlite_master LIMIT 1000")
    return frozenset((str(kind), str(name), sql) for kind, name, sql in rows)
