"""What was planned for each part, what it took, and the budget that is left."""

import contextlib
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from fireassay.assessment.plan.plan import Plan, PlanRow
from fireassay.assessment.run.folder import read_costs
from fireassay.core import DataError, Evidence

_LEAST_WRITING_S, _MOST_WRITING_S = 10.0, 30.0  # kept to judge and write under a limit of minutes


class OutOfTimeError(BaseException):
    """The run's time is over. As with Ctrl-C, no part may take it for an error of its own."""


@dataclass(frozen=True)
class Spent:
    """What a part took. Kept apart from results, which must not depend on it."""

    queries: int  # rows that it asked about
    delivered: int  # rows that reached the model: fewer where answers are kept, more with probes
    labels: int
    seconds: float
    memory_mb: float
    disk_mb: float
    quiet_seconds: float  # with a processor to itself; with workers those of all processes


@dataclass(frozen=True)
class Budget:
    """The most that a run may take: minutes from its start on, rows delivered in all its starts."""

    max_minutes: float | None = None
    max_queries: int | None = None
    began: float = field(default_factory=time.monotonic)

    def seconds_left(self, earlier: float = 0.0) -> float | None:
        """Seconds until the limit, if ``earlier`` were spent by starts before; None without."""
        if self.max_minutes is None:
            return None
        return 60 * self.max_minutes - earlier - (time.monotonic() - self.began)

    @property
    def stopped(self) -> str:
        """Why a part has not come to its end."""
        return f"stopped after {self.max_minutes:g} minutes"

    @property
    def look_until(self) -> float | None:
        """When the first look has to end, so that there is time to judge and to write."""
        if self.max_minutes is None:
            return None
        whole = 60 * self.max_minutes
        kept = min(max(_LEAST_WRITING_S, 0.25 * whole), 0.5 * whole, _MOST_WRITING_S)
        return self.began + whole - kept

    def refusal(
        self, planned: PlanRow | None, earlier: float, most: int, delivered: int
    ) -> str | None:
        """Why a part that may send ``most`` rows does not fit into what is left, or None."""
        left = self.seconds_left(earlier)
        if left is not None and (left <= 0 or (planned is not None and planned.seconds > left)):
            need = "more" if planned is None else f"about {planned.seconds / 60:.2f} minutes"
            return (
                f"it needs {need}, {max(0.0, left / 60):.2f} of {self.max_minutes:g} minutes are "
                "left (run.max_minutes)"
            )
        if self.max_queries is not None:
            remain = self.max_queries - delivered
            if most > remain:
                return (
                    f"it needs up to {most:,} queries, {max(0, remain):,} of "
                    f"{self.max_queries:,} are left (run.max_queries)"
                )
        return None

    @contextlib.contextmanager
    def enforced(self, earlier: float) -> Iterator[None]:
        """Stop a part that goes beyond the minutes that are left: `OutOfTimeError`."""
        left = self.seconds_left(earlier)
        with _stopped_after(None if left is None else max(0.01, left)):
            yield


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


def all_else(costs: Mapping[str, Mapping[str, Any]], delivered: int, seconds: float) -> Any:
    """The record of the first look: the rows delivered in a run that no part's record has."""
    in_parts = sum(cost["actual"].get("delivered", 0) for cost in costs.values())
    return cost_record(None, Spent(0, delivered - in_parts, 0, seconds, 0.0, 0.0, seconds))


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
    # A plan is for a free machine: seconds in line for a processor are not its error.
    quiet = sum(c["actual"].get("quiet_seconds", c["actual"]["seconds"]) for c in both)
    delivered = sum(cost["actual"].get("delivered", 0) for cost in costs.values())
    more = delivered > actual["queries"]
    why = "checks and filled-up batches count" if more else "known answers are kept"
    return (
        f"Time: {_lasting(quiet)} of computing ({_lasting(planned['seconds'])} planned), "
        f"{_lasting(actual['seconds'])} by the clock. "
        f"Rows: {actual['queries']:,} asked ({planned['queries']:,} planned at most), "
        f"{delivered:,.0f} reached the model ({why})."
    )


def _lasting(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.2g} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 6000 else f"{seconds / 3600:.1f} hours"


_FACTORS: Final = ("queries", "seconds", "disk_mb")
_START_S: Final = 3.0  # libraries, first pictures: does not grow with the rows


def plan_like(plan: Plan, run: Path) -> Plan:
    """The plan with queries, minutes and disk times what that run took over its own plan."""
    # Where the run asked just what was planned, up to three seconds that it took longer are its
    # start, and are added instead. Memory is what the run held, and what the plan adds for more
    # rows. Parts that the run has not done stay as planned.
    costs = {part: cost for part, cost in read_costs(run).items() if cost.get("planned")}
    if not costs:
        raise DataError(
            "A plan like an earlier run needs a run folder with costs.json.",
            got=str(run),
            do="Run a small part of the rows first: fireassay run in a project of its own.",
        )
    rows = tuple(
        _corrected(row, costs[row.part]) if row.part in costs and row.reason is None else row
        for row in plan.rows
    )
    return replace(plan, rows=rows, like=str(run))


def _corrected(row: PlanRow, cost: Mapping[str, Any]) -> PlanRow:
    before, taken = cost["planned"], cost["actual"]
    spent, start = taken.get("quiet_seconds", taken["seconds"]), 0.0
    if taken["queries"] == before["queries"]:
        start = min(max(0.0, spent - before["seconds"]), _START_S)
    taken = {**taken, "seconds": spent - start}
    factor = {
        name: taken[name] / before[name] if before.get(name) and name in taken else 1.0
        for name in _FACTORS
    }
    memory = taken["memory_mb"] + max(0.0, row.memory_mb - before["memory_mb"])
    return replace(
        row,
        queries=round(row.queries * factor["queries"]),
        seconds=start + row.seconds * factor["seconds"],
        disk_mb=row.disk_mb * factor["disk_mb"],
        memory_mb=memory,
    )
