"""Everything about a queue that changes with its answers."""

import itertools
import math
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fireassay.core import Chart
from fireassay.core.errors import NotEnoughEvidenceError
from fireassay.core.estimate import Estimate
from fireassay.engine.labels.records import Chooser, Consensus, GivenAnswer, Slot, consensus
from fireassay.report.page_charts import chart_data
from fireassay.web.queue import Queue
from fireassay.web.review import Precision, precision

if TYPE_CHECKING:
    from fireassay.discovery import RunningRatio


_MOST_PAIRS = 45


@dataclass(frozen=True)
class Agreement:
    """Fleiss' kappa over all, Cohen's kappa for each two; None with the reason where undefined."""

    items: int
    annotators: tuple[str, ...]
    fleiss: Estimate | None
    reason: str
    pairs: tuple[tuple[str, str, int, Estimate | None], ...]


def agreement(answers: Iterable[GivenAnswer]) -> Agreement:
    """Agreement on the items that two or more people answered; "cannot tell" is an answer."""
    # Loads scipy; the first page must not wait for that.
    from fireassay.statistics.kappa import fleiss_kappa

    given: dict[int, dict[str, int]] = {}
    for answer in answers:
        if answer.kind == "answer" and answer.choice is not None:
            given.setdefault(answer.item, {})[answer.annotator] = answer.choice
    shared = {item: votes for item, votes in given.items() if len(votes) > 1}
    people = sorted({name for votes in shared.values() for name in votes})
    choices = sorted({choice for votes in shared.values() for choice in votes.values()})
    fleiss, reason = None, "no item has two answers yet"
    if shared:
        given_by_item = [list(votes.values()) for votes in shared.values()]
        counts = np.array([[votes.count(choice) for choice in choices] for votes in given_by_item])
        fleiss, reason = _defined(fleiss_kappa, counts)
    return Agreement(len(shared), tuple(people), fleiss, reason, _pairs(shared, people))


def _pairs(
    shared: dict[int, dict[str, int]], people: list[str]
) -> tuple[tuple[str, str, int, Estimate | None], ...]:
    from fireassay.statistics.kappa import cohen_kappa

    found = []
    for one, two in itertools.islice(itertools.combinations(people, 2), _MOST_PAIRS):
        both = [(v[one], v[two]) for v in shared.values() if one in v and two in v]
        if both:
            first, second = zip(*both, strict=True)
            kappa, _ = _defined(cohen_kappa, list(first), list(second))
            found.append((one, two, len(both), kappa))
    return tuple(found)


def _defined(kappa: object, *data: object) -> tuple[Estimate | None, str]:
    assert callable(kappa)
    try:
        return kappa(*data), ""
    except NotEnoughEvidenceError as error:
        return None, str(error)


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
    wrong = np.array([queue.is_wrong(i, found[i].label) for i in items])
    budget_spent = queue.budget is not None and len(items) >= queue.limit
    return running_ratio(queue.confidence[items], wrong, fixed=budget_spent and not adaptive)


def in_order(queue: Queue) -> Chooser:
    """Opens the items one after the other, up to the budget; "cannot tell" costs none of it."""

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
    people = Counter(answer.annotator for answer in answers if answer.kind == "answer")
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
        "answered": status.answered, "settled": status.settled, "cannot_tell": status.cannot_tell,
        "conflicts": len(status.conflicts), "limit": queue.limit,
        "budget_left": status.budget_left, "annotators": len(status.annotators),
        "sdr": None, "precision": None,
    }  # fmt: skip
    now = None if status.curve is None else status.curve.now
    # Not a number: nothing was expected and nothing found (all confidences are 1).
    if status.curve is not None and now is not None and not math.isnan(now.value):
        ends = {name: getattr(now, name) for name in ("value", "low", "high")}
        ends = {name: end if math.isfinite(end) else None for name, end in ends.items()}
        told = ("errors", "expected", "n", "p_value", "valid_as")
        chart = chart_data(curve_chart(status.curve))
        result["sdr"] = {**ends, **{name: getattr(now, name) for name in told}, "chart": chart}
    if status.precision is not None:
        share, verdicts = status.precision.overall, dict(status.precision.verdicts)
        told = ("value", "low", "high", "n", "method")
        result["precision"] = {name: getattr(share, name) for name in told} | {"verdicts": verdicts}
    return result


def curve_chart(curve: "RunningRatio") -> Chart:
    """The discovery ratio as it grows."""
    from fireassay.discovery.charts import ratio_chart

    return ratio_chart(curve, "ratio")
