"""What was planned for each part, what it took, and the budget that is left."""

import contextlib
import signal
import threading
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fireassay.assessment.planning import PlanRow
from fireassay.core import Evidence


class OutOfTimeError(BaseException):
    """The run's time is over. As with Ctrl-C, no part may take it for an error of its own."""


@dataclass(frozen=True)
class Spent:
    """What a part took. Kept apart from results, which must not depend on it.

    ``queries`` are rows that it asked about, ``rows_sent`` those that the model got for them:
    fewer where answers were kept, more where blocks were filled up. ``quiet_seconds`` are those
    that it would have taken with a processor to itself: a plan is compared with them. With workers
    or on a cluster they are those of all processes together.
    """

    queries: int
    rows_sent: int
    labels: int
    seconds: float
    memory_mb: float
    disk_mb: float
    quiet_seconds: float


@dataclass(frozen=True)
class Budget:
    """The most that a run may spend in all, with what earlier starts of it have spent."""

    max_minutes: float | None = None
    max_queries: int | None = None

    def refusal(self, planned: PlanRow | None, seconds: float, queries: int) -> str | None:
        """Why a part does not fit into what is left, or None."""
        if self.max_minutes is not None:
            left = self.max_minutes - seconds / 60
            if left <= 0 or (planned is not None and planned.seconds / 60 > left):
                need = "more" if planned is None else f"about {planned.seconds / 60:.2f} minutes"
                return (
                    f"it needs {need}, {max(0.0, left):.2f} of {self.max_minutes:g} minutes are "
                    "left (run.max_minutes)"
                )
        if self.max_queries is not None:
            remain = self.max_queries - queries
            if remain <= 0 or (planned is not None and planned.queries > remain):
                need = "more" if planned is None else f"up to {planned.queries:,}"
                return (
                    f"it needs {need} queries, {max(0, remain):,} of {self.max_queries:,} are "
                    "left (run.max_queries)"
                )
        return None

    @contextlib.contextmanager
    def enforced(self, model: Any, seconds: float, queries: int) -> Iterator[None]:
        """Stop a part that goes beyond what is left: `OutOfTimeError`, `BudgetExceededError`."""
        before = getattr(model, "max_queries", None)
        if self.max_queries is not None and hasattr(model, "max_queries"):
            sent = model.queries + getattr(model, "probe_queries", 0)
            allowed = sent + max(0, self.max_queries - queries)
            model.max_queries = allowed if before is None else min(before, allowed)
        left = None if self.max_minutes is None else max(0.01, 60 * self.max_minutes - seconds)
        try:
            with _stopped_after(left):
                yield
        finally:
            if hasattr(model, "max_queries"):
                model.max_queries = before


@contextlib.contextmanager
def _stopped_after(seconds: float | None) -> Iterator[None]:
    """Raise `OutOfTimeError` after so many seconds (POSIX, main thread; elsewhere never)."""
    usable = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if seconds is None or not usable:
        yield
        return

    def stop(number: int, frame: Any) -> None:
        del number, frame
        raise OutOfTimeError

    previous = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def cost_record(planned: PlanRow | None, spent: Spent) -> dict[str, Any]:
    """Plan and truth of one part as plain types."""
    kept = None
    if planned is not None and planned.reason is None:
        kept = {key: value for key, value in asdict(planned).items() if key in asdict(spent)}
    return {"planned": kept, "actual": asdict(spent)}


def queries_of(evidence: Evidence, counted: int) -> int:
    """Rows that were sent: counted here, or (from worker processes) as the part says."""
    said = 0 if evidence.provenance is None else evidence.provenance.queries
    return max(counted, said)


def folder_mb(folder: Path) -> float:
    """Megabytes of the files of a run."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 2**20


def in_words(costs: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Plan against truth of the parts that have both, in one line."""
    both = [cost for cost in costs.values() if cost.get("planned")]
    if not both:
        return None
    planned, actual = (
        {key: sum(cost[side][key] for cost in both) for key in ("seconds", "queries")}
        for side in ("planned", "actual")
    )
    times = actual["seconds"] / max(planned["seconds"], 1e-9)
    return (
        f"plan: {planned['seconds'] / 60:.2f} minutes, took {actual['seconds'] / 60:.2f} "
        f"({times:.2g} times the plan); {planned['queries']:,} queries, sent {actual['queries']:,}"
    )
