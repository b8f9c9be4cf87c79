"""The discovery ratio of a queue as it grows, with an interval that holds while one looks."""

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fireassay.web.label_records import Slot
from fireassay.web.outcomes import Outcome
from fireassay.web.queue import Queue

_MOST_POINTS = 60
_MOST_WORK = 60_000


@dataclass(frozen=True)
class Point:
    """The ratio after ``n`` labels and its interval."""

    n: int
    sdr: float
    low: float
    high: float


@dataclass(frozen=True)
class Curve:
    """Errors found against errors expected, label by label.

    ``valid_as`` is "sequential" while labels come in (the interval holds at every look), "fixed"
    when the preset budget of a search that does not look at labels is spent (exact Poisson).
    """

    errors: int
    expected: float
    n: int
    sdr: float
    low: float
    high: float
    p_value: float
    valid_as: str
    points: tuple[Point, ...]


def curve(
    queue: Queue, slots: Sequence[Slot], found: Mapping[int, Outcome], *, adaptive: bool
) -> Curve | None:
    """The curve of the settled items in the order they were asked; None without any."""
    # Loads scikit-learn through its package; the first page must not wait for that.
    from fireassay.discovery.discovery_ratio import sdr
    from fireassay.discovery.sequential import sequential_p_value

    asked = [slot.item for slot in slots if slot.arm == "search" and slot.item in found]
    items = [i for i in asked if found[i].state == "settled" and queue.has_prediction(i)]
    if not items:
        return None
    confidence = np.asarray(queue.confidence[items], dtype=np.float64)
    wrong = np.array([found[i].label != int(queue.predicted[i]) for i in items])
    now = sdr(confidence, wrong)
    budget_spent = queue.budget is not None and len(items) >= queue.limit
    if budget_spent and not adaptive:
        (low, high), p_value, valid_as = now.interval, now.p_value, "fixed"
    else:
        low, high = _interval(confidence.tobytes(), wrong.tobytes())
        p_value, valid_as = sequential_p_value(confidence, wrong), "sequential"
    return Curve(
        now.errors, now.expected, now.n, float(now), low, high, p_value, valid_as,
        tuple(_point(confidence, wrong, n) for n in _looks(len(items))),
    )  # fmt: skip


def _looks(n: int) -> list[int]:
    """After how many labels the curve has a point: always the last one.

    Fewer for long curves, whose intervals take longer; steps are powers of two, so that points
    computed before are met again.
    """
    points = max(2, min(_MOST_POINTS, _MOST_WORK // n))
    step = 2 ** math.ceil(math.log2(max(1.0, n / points)))
    return [*range(step, n, step), n]


def _point(
    confidence: np.ndarray[tuple[int], np.dtype[np.float64]],
    wrong: np.ndarray[tuple[int], np.dtype[np.bool_]],
    n: int,
) -> Point:
    from fireassay.discovery.discovery_ratio import ratio

    low, high = _interval(confidence[:n].tobytes(), wrong[:n].tobytes())
    return Point(n, ratio(float(wrong[:n].sum()), float((1 - confidence[:n]).sum())), low, high)


@functools.lru_cache(maxsize=20_000)
def _interval(confidence: bytes, wrong: bytes) -> tuple[float, float]:
    """Kept: a point in the past does not change when a label is added."""
    from fireassay.discovery.sequential import sequential_interval

    return sequential_interval(
        np.frombuffer(confidence, dtype=np.float64), np.frombuffer(wrong, dtype=np.bool_)
    )
