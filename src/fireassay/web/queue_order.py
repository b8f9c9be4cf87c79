"""The next item of a queue that is labelled in the order of its file."""

import sqlite3

from fireassay.engine.label_records import Chooser, Slot
from fireassay.web.queue import Queue


def in_order(queue: Queue) -> Chooser:
    """Opens the items of a queue one after the other, up to its budget.

    An item that nobody can tell costs no budget.
    """

    def choose(connection: sqlite3.Connection) -> Slot | None:
        (opened,) = connection.execute(
            "SELECT opened FROM slot_tallies WHERE queue = ?", (queue.label_key,)
        ).fetchone() or (0,)
        if opened >= queue.limit:
            if queue.purpose == "review" or opened >= len(queue):
                return None
            (untold,) = connection.execute(
                "SELECT count(DISTINCT item) FROM answers AS one WHERE queue = ? AND choice = -1"
                " AND undone IS NULL AND NOT EXISTS (SELECT 1 FROM answers WHERE queue = one.queue"
                " AND item = one.item AND undone IS NULL AND choice >= 0)",
                (queue.label_key,),
            ).fetchone()
            if opened - untold >= queue.limit:
                return None
        return Slot(rank=opened + 1, item=opened)

    return choose
