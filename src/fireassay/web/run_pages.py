"""Pages about runs: the list of all, a run with its progress, a part with charts and tables."""

import base64
import pathlib
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from fastapi import APIRouter, Depends, Path, Request
from fastapi.exceptions import HTTPException
from fastapi.responses import HTMLResponse, Response

from fireassay.core import Chart
from fireassay.core.drawing import axis, rounded
from fireassay.core.drawing.axes import WIDTH, told_apart
from fireassay.core.errors import FireassayError
from fireassay.core.evidence import Evidence, Table
from fireassay.report.page_charts import numbers_chart
from fireassay.web.compare_pages import RunRows
from fireassay.web.latest import Latest
from fireassay.web.pages import linked, respond, stream
from fireassay.web.run_process import RunStatus, run_status
from fireassay.web.sample_rows import SampleSet
from fireassay.web.security import POLICY
from fireassay.web.workspace import Run, Workspace, run_key

if TYPE_CHECKING:
    from fireassay.report import Report, Verdict


MOST_ROWS = 2000


@dataclass(frozen=True)
class RunView:
    """The report, the verdict on its gates, and why charts are missing, if they are."""

    report: "Report"
    verdict: "Verdict"
    problem: str
    screen: str = ""
    has_page: bool = False


class RunViews(Latest[RunView]):
    """Reports by folder, read again when ``result.json`` changes."""

    def __init__(self) -> None:
        super().__init__(_read, lambda run: (run / "result.json",))


def _read(folder: pathlib.Path) -> RunView:
    from fireassay.assessment.run.folder import PAGE, configuration
    from fireassay.assessment.run.judging import judge_of, read_judged
    from fireassay.report import Report
    from fireassay.report.first_screen import first_screen
    from fireassay.report.page import screen_html

    problem = ""
    try:
        judged = read_judged(folder)
    except (FireassayError, ImportError) as error:
        # The numbers are in result.json; only charts and pictures need the journal.
        problem = f"Charts cannot be read: {error}"
        judge = judge_of(folder, configuration(folder))
        judged = judge.judge(Report.from_json(folder / "result.json"))
    report, verdict = judged.report, judged.verdict
    screen = first_screen(report.parts, verdict, report.accepted, report.about)
    here = f"/runs/{run_key(folder)}"
    rows = f"{here}/samples?" if (folder / "samples").is_dir() else ""
    links = {"part": f"{here}/parts/", "from_zero": True, "rows": rows}
    shown = screen_html(screen, report.parts, links)
    return RunView(report, verdict, problem, shown, (folder / PAGE).is_file())


def table_chart(table: Table) -> Chart | None:
    """A table's numeric columns as points, two at a time; the page has boxes to choose them."""
    numeric = [i for i in range(len(table.columns)) if _is_numeric(table, i)]
    if len(numeric) < 2 or len(table.rows) < 3:
        return None
    values = [
        {f"c{k}": rounded(row[i]) for k, i in enumerate(numeric)}
        | {"text": "; ".join(f"{table.columns[i]}: {_short(x)}" for i, x in enumerate(row))[:300]}
        for row in table.rows[:MOST_ROWS]
    ]
    fields = [f"c{k}" for k in range(len(numeric))]
    names = told_apart(str(table.columns[i]) for i in numeric)
    select = {"input": "select", "options": fields, "labels": names}
    axes = {"x": "across", "y": "up"}
    plain: dict[str, Any] = {"type": "quantitative", "axis": axis("")}
    spec = {
        "width": WIDTH,
        "height": 260,
        "params": [
            {"name": name, "value": field, "bind": {**select, "name": f"{name} "}}
            for name, field in zip(axes.values(), fields, strict=False)
        ],
        "data": {"values": values},
        "transform": [{"calculate": f"datum[{n}]", "as": letter} for letter, n in axes.items()],
        "mark": {"type": "point", "size": 30},
        "encoding": {
            "x": {"field": "x", **plain},
            "y": {"field": "y", **plain},
            "tooltip": [{"field": "text", "type": "nominal", "title": " "}],
        },
    }
    return Chart(spec, "Each point is a row: choose what to draw.", "A cloud of points.")


def _is_numeric(table: Table, column: int) -> bool:
    kinds = {type(row[column]) for row in table.rows}
    return bool(kinds) and all(issubclass(k, int | float) and k is not bool for k in kinds)


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


router = APIRouter()
Key = Annotated[str, Path(pattern="^[0-9a-f]{12}$")]
Number = Annotated[int, Path(ge=0, le=10_000_000)]


def find_run(request: Request, key: Key) -> Run:
    """The run of a key."""
    workspace: Workspace = request.app.state.workspace
    run = workspace.runs().get(key)
    if run is None:
        raise HTTPException(404)
    return run


FoundRun = Annotated[Run, Depends(find_run)]
_WITH_SAMPLES = {  # pictures of the worst inputs are in the page
    "content-security-policy": POLICY.replace("img-src 'self'", "img-src 'self' data:")
}
_OFFLINE = {
    "content-security-policy": "default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; sandbox allow-scripts"
}
PICTURE_HEADERS = {"content-security-policy": "default-src 'none'; sandbox"}


@router.get("/")
def home(request: Request) -> HTMLResponse:
    """Everything that is served: runs, what can be started, what waits for people."""
    workspace: Workspace = request.app.state.workspace
    rows: RunRows = request.app.state.run_rows
    queues = list(workspace.queues().values())  # first: it finds what cannot be read
    runs = [
        {
            "run": run,
            "row": rows.get(run.folder),
            "progress": run_status(run.folder),
            "waiting": run.has_waiting_search(),
        }
        for run in workspace.runs().values()
    ]
    runs.sort(key=lambda entry: getattr(entry["row"], "began", "") or "9", reverse=True)
    return respond(
        request,
        "home.html",
        runs=runs,
        questions=_questions(runs),
        projects=[(one, run_status(one.run_folder)) for one in workspace.projects().values()],
        queues=queues,
        counts={q.key: q.book.counts(q.queue) for q in queues},
        problems=workspace.problems,
    )


@router.get("/events")
async def home_events(request: Request) -> Response:
    """What the runs at work are doing, live."""
    workspace: Workspace = request.app.state.workspace

    def look() -> dict[str, Any]:
        return {run.key: _now(run_status(run.folder)) for run in workspace.runs().values()}

    return stream(request, look)


@router.get("/runs/{key}")
def run_page(request: Request, run: FoundRun) -> HTMLResponse:
    """A run: progress, gates, answers."""
    workspace: Workspace = request.app.state.workspace
    queues = [q for q in workspace.queues().values() if q.run.key == run.key]
    return respond(
        request,
        "run.html",
        headers=_WITH_SAMPLES,
        run=run,
        view=_view(request, run),
        progress=run_status(run.folder),
        queues=queues,
    )


@router.get("/runs/{key}/report")
def report_page(run: FoundRun) -> HTMLResponse:
    """The run's own page: its policy is inside it, and here it may send nothing anywhere."""
    from fireassay.assessment.run.folder import PAGE

    path = run.folder / PAGE
    if not path.is_file():
        raise HTTPException(404)
    return HTMLResponse(path.read_text(encoding="utf-8"), headers=_OFFLINE)


@router.get("/runs/{key}/events")
async def run_events(request: Request, run: FoundRun) -> Response:
    """Progress of a run, live."""

    def look() -> dict[str, Any]:
        now = run_status(run.folder)
        return {
            **_now(now),
            "done": now.done,
            "total": now.total,
            "tasks": [asdict(task) for task in now.tasks],
            "log": list(now.log),
            "can_stop": now.can_stop,
        }

    return stream(request, look)


@router.get("/runs/{key}/parts/{number}")
def part_page(request: Request, run: FoundRun, number: Number) -> HTMLResponse:
    """One part of the report."""
    view, part = _part(request, run, number)
    rows = sample_sets(request, run).get("test")
    return respond(
        request,
        "part.html",
        run=run,
        view=view,
        part=part,
        number=number,
        chart=numbers_chart(part),
        charts={
            name: linked(c, part.question, name, run.key, rows) for name, c in part.charts.items()
        },
        places=_places(rows, part),
        rows_of=_rows_of(rows, part.question),
        table_charts={name: table_chart(table) for name, table in part.tables.items()},
        most_rows=MOST_ROWS,
    )


@router.get("/runs/{key}/parts/{number}/samples/{sample}/{picture}.png")
def sample_picture(
    request: Request, run: FoundRun, number: Number, sample: Number, picture: Number
) -> Response:
    """A picture of a sample."""
    _, part = _part(request, run, number)
    pictures = list(part.samples[sample].pictures.values()) if sample < len(part.samples) else []
    if picture >= len(pictures):
        raise HTTPException(404)
    content = base64.b64decode(pictures[picture].partition(",")[2])
    return Response(content, media_type="image/png", headers=PICTURE_HEADERS)


def _now(progress: RunStatus) -> dict[str, Any]:
    """What a live row says; nothing that changes while nothing happens."""
    live = progress.live
    return {
        "running": progress.running,
        "state": progress.state,
        "part": f"{live.part} ({live.number} of {live.total})" if live.part else "",
        "step": progress.step,
        "left": progress.time_left,
        "said": progress.log[-1] if progress.running and progress.log else "",
        "result": str(progress.result_changed),
    }


def _questions(runs: list[dict[str, Any]]) -> list[str]:
    """The questions that any run has an answer to, in the order of the report."""
    found = {a.part for entry in runs for a in getattr(entry["row"], "answers", ())}
    if not found:
        return []
    # Loads what the first page need not wait for.
    from fireassay.assessment.parts.table import PARTS

    return [name for name in PARTS if name in found] + sorted(found - set(PARTS))


def sample_sets(request: Request, run: Run) -> dict[str, SampleSet]:
    """The tables of rows of a run by name; empty where none was written."""
    found: dict[str, SampleSet] | None = request.app.state.samples.get(run.folder)
    return found or {}


def _view(request: Request, run: Run) -> RunView | None:
    views: RunViews = request.app.state.views
    return views.get(run.folder)


def _part(request: Request, run: Run, number: int) -> tuple[RunView, Evidence]:
    view = _view(request, run)
    if view is None or number >= len(view.report.parts):
        raise HTTPException(404)
    return view, view.report.parts[number]


def _rows_of(rows: SampleSet | None, part: str) -> str:
    """The query for the rows that a part looked at; empty where there are none in the table."""
    if rows is None or part not in rows.facts["parts"] or not rows.flags(part).any():
        return ""
    return f"part={part}"


def _places(rows: SampleSet | None, part: Evidence) -> dict[int | str, int]:
    """Where the samples of a part stand in the table of all rows."""
    if rows is None:
        return {}
    ids = np.asarray(rows.columns["ids"])
    found = {}
    for sample in part.samples:
        if sample.source == "test":
            at = np.flatnonzero(ids == (str(sample.row) if ids.dtype.kind == "U" else sample.row))
            if len(at):
                found[sample.row] = int(at[0])
    return found
