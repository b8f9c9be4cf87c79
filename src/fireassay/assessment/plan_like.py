"""A plan corrected by what a smaller run of the same model really took."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from fireassay.assessment.planning import Plan, PlanRow
from fireassay.assessment.run_folder import read_costs
from fireassay.core import DataError

_FACTORS: Final = ("queries", "seconds", "disk_mb")
_START_S: Final = 3.0  # libraries, first pictures: does not grow with the rows


def plan_like(plan: Plan, run: Path) -> Plan:
    """The plan with each part's queries, minutes and disk times what that run took over its plan.

    A run on a hundredth of the rows tells what no plan can know: when attacks end, how much of a
    part is not the model's work. Where it asked just what was planned, up to three seconds that it
    took longer are its start, and are added instead. Memory is what the run held, and what the plan
    adds for more rows.
    Parts that the run has not done stay as planned.

    Parameters
    ----------
    plan
        Of the whole.
    run
        The folder of the smaller run.

    Raises
    ------
    DataError
        If that folder has no part with both a plan and what it took.
    """
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
