"""Leases: an item is one annotator's for some minutes, so that no two label the same one."""

import secrets
import sqlite3
import time
from typing import Any

from fireassay.engine.labels.records import Chooser, Lease
from fireassay.engine.labels.tables import free_slot, insert_slot


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
    found = free_slot(connection, queue, annotator, now, above=passed)
    if found is None:
        slot = more(connection)
        if slot is not None:
            insert_slot(connection, queue, slot)
            found = slot.rank, slot.item
        elif passed:
            found = free_slot(connection, queue, annotator, now, above=0)
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
    return expires > now or free_slot(connection, queue, annotator, now, item=item) is not None
