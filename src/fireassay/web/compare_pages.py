"""Two runs side by side, and one number over all runs of a project."""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.exceptions import HTTPException
from fastapi.responses import HTMLResponse

from fireassay.core.estimate import Estimate
from fireassay.core.measure import Measure
from fireassay.web.pages import render
from fireassay.web.run_rows import RunRow, RunRows
from fireassay.web.sample_view import MOVED
from fireassay.web.trend import trend_chart, trend_numbers
from fireassay.web.workspace import Run, Workspace

router = APIRouter()
Wanted = Annotated[str, Query(pattern="^([0-9a-f]{12}|)$")]


@dataclass(frozen=True)
class Change:
    """One number in two runs, ready to be read."""

    part: str
    label: str
    before: str
    after: str
    change: str
    became: str
    paired: bool
    low: float
    high: float
    value: float


@router.get("/compare")
def compare_page(request: Request, before: Wanted = "", after: Wanted = "") -> HTMLResponse:
    """What changed from one run to another."""
    runs = _finished(request)
    fields: dict[str, Any] = {"runs": runs, "before": before, "after": after, "found": None}
    if not before and after in runs:
        fields["before"] = _the_one_before(runs, after)
    if fields["before"] in runs and after in runs and fields["before"] != after:
        fields["found"] = _compared(runs[fields["before"]][0], runs[after][0])
        fields["samples"] = request.app.state.samples.get(runs[after][0].folder)
    return HTMLResponse(render("compare.html", **fields, moved=MOVED, csrf=request.state.csrf))


@router.get("/trend")
def trend_page(
    request: Request,
    number: Annotated[str, Query(max_length=300)] = "",
    project: Annotated[str, Query(max_length=1000)] = "",
) -> HTMLResponse:
    """One number over all runs of a project, the oldest first."""
    runs = _finished(request)
    projects = sorted({row.project for _, row in runs.values()})
    wider = len(projects) > 1
    if project and project not in projects:
        raise HTTPException(404)
    chosen = [(run, row) for run, row in runs.values() if not project or row.project == project]
    chosen.sort(key=lambda pair: (pair[1].began, pair[0].label))
    numbers = trend_numbers([run.folder for run, _ in chosen])
    number = number if number in numbers else next(iter(numbers), "")
    page = render(
        "trend.html",
        projects=projects if wider else [],
        project=project,
        numbers={name: entry[0].label for name, entry in numbers.items()},
        number=number,
        rows=[
            (run, row, numbers[number][0], numbers[number][1].get(run.folder))
            for run, row in chosen
        ]
        if number
        else [],
        chart=trend_chart(chosen, *numbers[number]) if number else None,
        csrf=request.state.csrf,
    )
    return HTMLResponse(page)


def _finished(request: Request) -> dict[str, tuple[Run, RunRow]]:
    """Runs with a result, the newest first."""
    workspace: Workspace = request.app.state.workspace
    rows: RunRows = request.app.state.run_rows
    found = [(run, rows.get(run.folder)) for run in workspace.runs().values()]
    kept = [(run, row) for run, row in found if isinstance(row, RunRow)]
    kept.sort(key=lambda pair: (pair[1].began, pair[0].label), reverse=True)
    return {run.key: (run, row) for run, row in kept}


def _the_one_before(runs: dict[str, tuple[Run, RunRow]], after: str) -> str:
    """The newest older run, of the same project if there is one."""
    _, row = runs[after]
    older = [key for key, (_, other) in runs.items() if key != after and other.began <= row.began]
    same = [key for key in older if runs[key][1].project == row.project]
    others = [key for key in runs if key != after]
    return next(iter([*same, *older, *others]), "")


def _compared(before: Run, after: Run) -> dict[str, Any]:
    from fireassay.assessment.paired_runs import pair_runs
    from fireassay.assessment.run_folder import read_gates, read_report, reservations
    from fireassay.report import compare_reports

    reports = (
        read_report(before.folder, charts=False),
        read_report(after.folder, charts=False),
    )
    pairs = pair_runs(before.folder, after.folder, reports)
    found = compare_reports(*reports, pairs.changes)
    changes = [_change(d, f"{d.part}.{d.number}" in pairs.changes) for d in found.differences]
    order = ("worse", "better", "changed", "no change shown")
    return {
        "verdicts": [
            report.verdict(read_gates(run.folder))
            for run, report in zip((before, after), reports, strict=True)
        ],
        "changes": sorted(changes, key=lambda change: order.index(change.became)),
        "changed": _together(found.changed),
        "only_before": found.only_before,
        "only_after": found.only_after,
        "newly_wrong": len(pairs.newly_wrong),
        "newly_right": len(pairs.newly_right),
        "reservations": {
            run.label: reservations(run.folder, report)
            for run, report in zip((before, after), reports, strict=True)
        },
    }


def _change(found: Any, paired: bool) -> Change:
    measure: Measure = found.measure
    change: Estimate = found.change
    became = "no change shown"
    if found.clear and measure.better == "neither":
        became = "changed"
    elif found.clear:
        became = "better" if (change.value > 0) == (measure.better == "high") else "worse"
    ends = [x for x in (change.low, change.high, change.value, 0.0) if abs(x) < float("inf")]
    half = max(map(abs, ends), default=0.0) * 1.1 or 1.0

    def at(x: float) -> float:
        return round(50 + 50 * min(max(x / half, -1.0), 1.0), 2)

    return Change(
        found.part,
        measure.label,
        measure.shown(found.before),
        measure.shown(found.after),
        measure.shown(change),
        became,
        paired,
        at(change.low),
        at(change.high),
        at(change.value),
    )


def _together(changed: tuple[str, ...]) -> list[str]:
    """ "accuracy: other data", "survival: other data" → "other data (accuracy, survival)"."""
    parts: dict[str, list[str]] = {}
    for text in changed:
        part, _, what = text.partition(": ")
        parts.setdefault(what, []).append(part)
    return [f"{what} ({', '.join(names)})" for what, names in parts.items()]
