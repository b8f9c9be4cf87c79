"""What is asked of the tables of a label book, and written to them, within one transaction."""

import datetime
import secrets
import sqlite3
from dataclasses import replace
from typing import Any

from fireassay.engine.label_records import AnsweredDifferentlyError, GivenAnswer, Slot
from fireassay.engine.questions import CANNOT_TELL

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
    connection: sqlite3.Connection,
    queue: str,
    annotator: str,
    now: float,
    *,
    above: int = 0,
    item: int | None = None,
) -> tuple[int, int] | None:
    """The first open slot that this annotator may have.

    A lease from the future, before a clock was set back, holds nothing: it would last too long.
    """
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
        {
            "queue": queue,
            "annotator": annotator,
            "now": now,
            "above": above,
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
    """Keep an answer that counts from now on, whatever this annotator or others said before.

    What others said stays and is overruled; what the annotator said is marked as undone.
    """
    before = read_answers(connection, queue, item)
    for answer in before:
        if answer.kind == "resolve" or answer.annotator == annotator:
            mark_undone(connection, answer.number)
        if answer.kind == "answer" and answer.annotator == annotator:
            count_answer(connection, queue, item, -1)
    token = secrets.token_urlsafe
    insert_answer(
        connection, token(18), queue, item, annotator, "answer", choice, "", None, 0
    )  # fmt: skip
    count_answer(connection, queue, item, +1)
    others = [a for a in before if a.kind == "answer" and a.annotator != annotator]
    if any(answer.choice != choice for answer in others):
        insert_answer(
            connection, token(18), queue, item, annotator, "resolve", choice, "", None, 0
        )  # fmt: skip
    connection.execute(
        "DELETE FROM leases WHERE queue = ? AND item = ? AND annotator = ?",
        (queue, item, annotator),
    )
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


def read_answer(connection: sqlite3.Connection, number: int) -> GivenAnswer:
    """One answer."""
    row = connection.execute(
        f"SELECT {ANSWER_FIELDS} FROM answers WHERE number = ?",  # noqa: S608 - own columns
        (number,),
    ).fetchone()
    return to_answer(row)


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
