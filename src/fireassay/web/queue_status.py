"""Everything about a queue that changes with its answers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fireassay.core import Chart
from fireassay.engine.consensus import Consensus, consensus
from fireassay.engine.label_records import GivenAnswer, Slot
from fireassay.report.chart_embed import chart_data
from fireassay.web.agreement import Agreement, agreement
from fireassay.web.discovery_curve import curve
from fireassay.web.queue import Queue
from fireassay.web.review import Precision, precision

if TYPE_CHECKING:
    from fireassay.discovery import RunningRatio


@dataclass(frozen=True)
class QueueStatus:
    """How far a queue is and what can be concluded."""

    slots: tuple[Slot, ...]
    found: dict[int, Consensus]
    answered: int
    settled: int
    cannot_tell: int
    conflicts: tuple[int, ...]
    disagreements: tuple[int, ...]
    budget_left: int
    annotators: dict[str, int]
    agreement: Agreement
    curve: "RunningRatio | None"
    precision: Precision | None


def queue_status(
    queue: Queue, slots: Sequence[Slot], answers: Sequence[GivenAnswer], *, adaptive: bool
) -> QueueStatus:
    """Labels, agreement, and the discovery ratio or the generator's precision."""
    found = consensus(answers)
    states = [agreed.state for agreed in found.values()]
    people: dict[str, int] = {}
    for answer in answers:
        if answer.kind == "answer":
            people[answer.annotator] = people.get(answer.annotator, 0) + 1
    settled, untold = states.count("settled"), states.count("cannot tell")
    review = queue.purpose == "review"
    used = settled + untold if review else settled
    return QueueStatus(
        slots=tuple(slots),
        found=found,
        answered=len(found),
        settled=settled,
        cannot_tell=untold,
        conflicts=tuple(i for i, agreed in found.items() if agreed.state == "conflict"),
        disagreements=tuple(i for i, agreed in found.items() if agreed.disagreed),
        budget_left=max(0, queue.limit - used),
        annotators=people,
        agreement=agreement(answers),
        curve=None if review else curve(queue, slots, found, adaptive=adaptive),
        precision=precision(queue, slots, found) if review else None,
    )


def live(queue: Queue, status: QueueStatus) -> dict[str, Any]:
    """What the page draws while people label: plain numbers, None for infinity."""
    result: dict[str, Any] = {
        "answered": status.answered,
        "settled": status.settled,
        "cannot_tell": status.cannot_tell,
        "conflicts": len(status.conflicts),
        "limit": queue.limit,
        "budget_left": status.budget_left,
        "annotators": len(status.annotators),
        "sdr": None,
        "precision": None,
    }
    now = None if status.curve is None else status.curve.now
    # Not a number: nothing was expected and nothing found (all confidences are 1).
    if status.curve is not None and now is not None and not math.isnan(now.value):
        result["sdr"] = {
            "value": _finite(now.value),
            "low": _finite(now.low),
            "high": _finite(now.high),
            "errors": now.errors,
            "expected": now.expected,
            "n": now.n,
            "p_value": now.p_value,
            "valid_as": now.valid_as,
            "chart": chart_data(curve_chart(status.curve)),
        }
    if status.precision is not None:
        share = status.precision.overall
        result["precision"] = {
            "value": share.value,
            "low": share.low,
            "high": share.high,
            "n": share.n,
            "method": share.method,
            "verdicts": dict(status.precision.verdicts),
        }
    return result


def curve_chart(curve: "RunningRatio") -> Chart:
    """The discovery ratio as it grows."""
    from fireassay.discovery.charts import ratio_chart

    return ratio_chart(curve, "ratio")


def _finite(value: float) -> float | None:
    return value if abs(value) < float("inf") else None
