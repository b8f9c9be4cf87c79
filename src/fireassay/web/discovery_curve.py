"""The discovery ratio of a queue as it grows, with an interval that holds while one looks."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from fireassay.engine.consensus import Consensus
from fireassay.engine.label_records import Slot
from fireassay.web.queue import Queue

if TYPE_CHECKING:
    from fireassay.discovery import RunningRatio


def curve(
    queue: Queue, slots: Sequence[Slot], found: Mapping[int, Consensus], *, adaptive: bool
) -> "RunningRatio | None":
    """The ratio of the settled items in the order they were asked; None without any."""
    # Loads scikit-learn through its package; the first page must not wait for that.
    from fireassay.discovery import running_ratio

    asked = [slot.item for slot in slots if slot.arm == "search" and slot.item in found]
    items = [i for i in asked if found[i].state == "settled" and queue.has_prediction(i)]
    if not items:
        return None
    wrong = np.array([found[i].label != int(queue.predicted[i]) for i in items])
    budget_spent = queue.budget is not None and len(items) >= queue.limit
    return running_ratio(queue.confidence[items], wrong, fixed=budget_spent and not adaptive)
