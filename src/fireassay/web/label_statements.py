"""What is asked of the tables of a label book, and written to them, within one transaction."""

import datetime
import sqlite3
from dataclasses import replace
from typing import Any

from fireassay.web.label_records import Answer, Chooser, Slot
from fireassay.web.queue import Queue

ANSWER_FIELDS = "number, item, annotator, kind, choice, comment, seconds, created, after_reveal"


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
        f"SELECT {ANSWER_FIELDS} FROM answers "  # noqa: S608 - own columns
        f"WHERE queue = ? AND undone IS NULL{one} ORDER BY number",
        (queue,) if item is None else (queue, item),
    )
    return [to_answer(row) for row in rows]


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


def free_slot(
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


def insert_slot(connection: sqlite3.Connection, queue: str, slot: Slot) -> None:
    """Open a slot."""
    connection.execute(
        "INSERT INTO slots (queue, rank, item, arm, probability) VALUES (?, ?, ?, ?, ?)",
        (queue, slot.rank, slot.item, slot.arm, slot.probability),
    )


def insert_answer(connection: sqlite3.Connection, *fields: Any) -> int:
    """Keep an answer now; fields as in the table, from token to seconds, then after_reveal."""
    *before, after_reveal = fields
    number = connection.execute(
        "INSERT INTO answers (token, queue, item, annotator, kind, choice, comment, seconds,"
        " created, after_reveal) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (*before, timestamp(), int(after_reveal)),
    ).lastrowid
    return int(number or 0)


def count_answer(connection: sqlite3.Connection, queue: Queue, item: int, step: int) -> None:
    """Count one more or one less answer to an item, which opens or closes its slot."""
    connection.execute(
        "UPDATE slots SET answers = answers + :step, is_open = (answers + :step < :people)"
        " WHERE queue = :queue AND item = :item",
        {"step": step, "people": queue.annotators_per_item, "queue": queue.name, "item": item},
    )


def note_change(connection: sqlite3.Connection, queue: str) -> None:
    """Let readers know that answers of the queue have changed."""
    connection.execute("UPDATE queues SET changes = changes + 1 WHERE name = ?", (queue,))


def mark_undone(connection: sqlite3.Connection, number: int) -> None:
    """Take an answer back; it stays in the table."""
    connection.execute("UPDATE answers SET undone = ? WHERE number = ?", (timestamp(), number))


def read_answer(connection: sqlite3.Connection, number: int) -> Answer:
    """One answer."""
    row = connection.execute(
        f"SELECT {ANSWER_FIELDS} FROM answers WHERE number = ?",  # noqa: S608 - own columns
        (number,),
    ).fetchone()
    return to_answer(row)


def to_answer(row: tuple[Any, ...]) -> Answer:
    """A row of the table as an answer."""
    answer = Answer(*row)
    return replace(answer, after_reveal=bool(answer.after_reveal))


def timestamp() -> str:
    """The time, as the tables keep it."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
