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
            "SELECT count(*) FROM slots WHERE queue = ?", (queue.label_key,)
        ).fetchone()
        if opened >= queue.limit:
            (untold,) = connection.execute(
                "SELECT count(*) FROM (SELECT item FROM answers WHERE queue = ?"
                " AND undone IS NULL AND kind != 'skip' GROUP BY item HAVING max(choice) = -1)",
                (queue.label_key,),
            ).fetchone()
            if queue.purpose == "review" or opened - untold >= queue.limit or opened >= len(queue):
                return None
        return Slot(rank=opened + 1, item=opened)

    return choose
