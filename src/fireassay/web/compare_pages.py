"""Two runs side by side, and one number over all runs of a project."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.exceptions import HTTPException
from fastapi.responses import HTMLResponse

from fireassay.core import Chart
from fireassay.core.drawing import axis, rounded
from fireassay.core.drawing.axes import WIDTH, Unit, level
from fireassay.core.errors import FireassayError
from fireassay.core.estimate import Estimate
from fireassay.core.evidence import Evidence
from fireassay.core.measure import Measure
from fireassay.web.latest import Latest
from fireassay.web.pages import respond
from fireassay.web.sample_query import MOVED
from fireassay.web.workspace import Run, Workspace

if TYPE_CHECKING:
    from fireassay.report import Verdict
    from fireassay.report.page_charts import IntervalBar


@dataclass(frozen=True)
class Answer:
    """The number that answers one question, as a small interval with its words."""

    part: str
    number: int
    words: str
    short: str
    bar: "IntervalBar | None"
    state: str


@dataclass(frozen=True)
class RunRow:
    """One run in the list of all: what it is about, its verdict, an interval for each question."""

    title: str
    model: str
    day: str
    began: str
    project: str
    verdict: "Verdict"
    answers: tuple[Answer, ...]


class RunRows(Latest[RunRow | str]):
    """Rows of the list of runs, read again when their results, limits or configuration change."""

    def __init__(self) -> None:
        super().__init__(
            _row,
            lambda run: (run / "result.json", run / "gates.json", run.parent / "fireassay.toml"),
        )


def _row(folder: Path) -> RunRow | str:
    """The row of a run, or why it cannot be read."""
    from fireassay.assessment.run.folder import project_folder
    from fireassay.assessment.run.judging import read_judged

    try:
        judged = read_judged(folder, charts=False)
        report, verdict = judged.report, judged.verdict
        project = str(project_folder(folder))
    except (FireassayError, ImportError, OSError) as error:
        return str(error)
    about = report.about
    told = ("", "", "") if about is None else (about.model, about.day, about.began)
    answers = tuple(_answer(part, i, verdict) for i, part in enumerate(report.parts))
    return RunRow(report.title, *told, project, verdict, answers)


def _answer(part: Evidence, number: int, verdict: "Verdict") -> Answer:
    from fireassay.report.page_charts import interval_bar

    checks = [c for c in verdict.checks if c.part == part.question]
    order = ("fail", "undecided", "pass")
    state = min((c.status for c in checks), key=order.index, default="none")
    if part.status != "done" or not part.answer:
        return Answer(part.question, number, part.reason or part.status, "", None, part.status)
    measure = part.measure(part.answer)
    estimate = part.estimates[part.answer]
    gate = next((c.gate for c in checks if c.measure and c.measure.name == part.answer), None)
    words, bar = measure.shown(estimate), interval_bar(measure, part.estimates, gate)
    return Answer(
        part.question, number, f"{measure.label}: {words}", measure.told(estimate), bar,
        "stale" if part.stale else state,
    )  # fmt: skip


Numbers = dict[str, tuple[Measure, dict[Path, Estimate]]]


def trend_numbers(folders: Sequence[Path]) -> Numbers:
    """The numbers of some runs by name: what each is, and its value in each run that has it."""
    # Numbers that answer a question come first, then those that most runs have.
    from fireassay.report import Report

    found: Numbers = {}
    leading: set[str] = set()
    for folder in folders:
        try:
            parts = Report.from_json(folder / "result.json").parts
        except (FireassayError, OSError):
            continue  # the list of runs says why
        for part in parts:
            for name, estimate in part.estimates.items():
                key = f"{part.question}.{name}"
                found.setdefault(key, (part.measure(name), {}))[1][folder] = estimate
            if part.answer:
                leading.add(f"{part.question}.{part.answer}")
    order = sorted(found, key=lambda key: (key not in leading, -len(found[key][1])))
    return {key: found[key] for key in order}


def trend_chart(
    runs: Sequence[tuple["Run", "RunRow"]], measure: Measure, values: dict[Path, Estimate]
) -> Chart | None:
    """The runs from left to right, oldest first; a mark opens its run."""
    shown = [
        {
            "run": f"{i + 1}. {run.label}",
            **{
                name: rounded(getattr(values[run.folder], name))
                for name in ("value", "low", "high")
            },
            "text": f"{run.label}: {measure.shown(values[run.folder])}",
            "href": f"/runs/{run.key}",
        }
        for i, (run, _) in enumerate(runs)
        if run.folder in values
    ]
    if not shown:
        return None
    newest = runs[-1][1].verdict.checks  # whose limit is drawn
    limits = [c.gate.limit for c in newest if c.measure and c.measure.name == measure.name]
    unit: Unit = "share" if measure.unit == "share" else "number"
    across = {"labelAngle": -30, "title": None}
    x = {"field": "run", "type": "ordinal", "sort": None, "axis": across}
    up = axis(measure.label, unit)
    y = {"field": "value", "type": "quantitative", "scale": {"zero": False}, "axis": up}
    ends = {"y": {**y, "field": "low"}, "y2": {"field": "high"}}
    hover = {
        "tooltip": [{"field": "text", "type": "nominal", "title": " "}],
        "href": {"field": "href", "type": "nominal"},
    }
    line = {"type": "line", "opacity": 0.4}
    rule, point = {"type": "rule", "strokeWidth": 2}, {"type": "point", "filled": True, "size": 70}
    layer = [
        {"mark": line, "encoding": {"x": x, "y": y}},
        {"mark": rule, "encoding": {"x": x, **ends, **hover}},
        {"mark": point, "encoding": {"x": x, "y": y, **hover}},
        *(level("y", limits[0], "limit", limit=True) if limits else ()),
    ]
    spec = {"width": WIDTH, "height": 240, "data": {"values": shown}, "layer": layer}
    said = f"{measure.label}, run by run, each with its interval."
    return Chart(spec, said, "Dots with intervals.")


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
    return respond(request, "compare.html", **fields, moved=MOVED)


@router.get("/trend")
def trend_page(
    request: Request,
    number: Annotated[str, Query(max_length=300)] = "",
    project: Annotated[str, Query(max_length=1000)] = "",
) -> HTMLResponse:
    """One number over all runs of a project, the oldest first."""
    runs = _finished(request)
    projects = sorted({row.project for _, row in runs.values()})
    if project and project not in projects:
        raise HTTPException(404)
    chosen = [(run, row) for run, row in runs.values() if not project or row.project == project]
    chosen.sort(key=lambda pair: (pair[1].began, pair[0].label))
    numbers = trend_numbers([run.folder for run, _ in chosen])
    number = number if number in numbers else next(iter(numbers), "")
    rows, chart = [], None
    if number:
        measure, values = numbers[number]
        rows = [(run, row, measure, values.get(run.folder)) for run, row in chosen]
        chart = trend_chart(chosen, measure, values)
    return respond(
        request,
        "trend.html",
        projects=projects if len(projects) > 1 else [],
        project=project,
        numbers={name: entry[0].label for name, entry in numbers.items()},
        number=number,
        rows=rows,
        chart=chart,
    )


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
    from fireassay.assessment.run.compare import pair_runs
    from fireassay.assessment.run.folder import reservations
    from fireassay.assessment.run.judging import read_judged
    from fireassay.report import compare_reports

    judged = [read_judged(run.folder, charts=False) for run in (before, after)]
    reports = (judged[0].report, judged[1].report)
    pairs = pair_runs(before.folder, after.folder, reports)
    found = compare_reports(*reports, pairs.changes)
    changes = [_change(d, f"{d.part}.{d.number}" in pairs.changes) for d in found.differences]
    order = ("worse", "better", "changed", "no change shown")
    both = zip((before, after), reports, strict=True)
    return {
        "verdicts": [each.verdict for each in judged],
        "changes": sorted(changes, key=lambda change: order.index(change.became)),
        "changed": _together(found.changed),
        "only_before": found.only_before,
        "only_after": found.only_after,
        "newly_wrong": len(pairs.newly_wrong),
        "newly_right": len(pairs.newly_right),
        "reservations": {run.label: reservations(run.folder, report) for run, report in both},
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

    before, after, told = (measure.shown(each) for each in (found.before, found.after, change))
    low, high, value = (at(x) for x in (change.low, change.high, change.value))
    return Change(
        found.part, measure.label, before, after, told, became, paired, low, high, value
    )  # fmt: skip


def _together(changed: tuple[str, ...]) -> list[str]:
    """ "accuracy: other data", "survival: other data" → "other data (accuracy, survival)"."""
    parts: dict[str, list[str]] = {}
    for text in changed:
        part, _, what = text.partition(": ")
        parts.setdefault(what, []).append(part)
    return [f"{what} ({', '.join(names)})" for what, names in parts.items()]
