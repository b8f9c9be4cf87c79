"""Pages about runs: the list of all, a run with its progress, a part with charts and tables."""

import base64
from dataclasses import asdict
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Path, Request
from fastapi.exceptions import HTTPException
from fastapi.responses import HTMLResponse, Response

from fireassay.core import Chart
from fireassay.core.evidence import Evidence
from fireassay.report.number_chart import numbers_chart
from fireassay.web.chart_links import linked
from fireassay.web.events import stream
from fireassay.web.pages import render
from fireassay.web.progress import RunProgress, run_progress
from fireassay.web.run_rows import RunRows
from fireassay.web.run_view import MOST_ROWS, RunView, RunViews, table_chart
from fireassay.web.sample_set import SampleSet
from fireassay.web.workspace import Run, Workspace

router = APIRouter()
Key = Annotated[str, Path(pattern="^[0-9a-f]{12}$")]
Number = Annotated[int, Path(ge=0, le=10_000_000)]
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
            "progress": run_progress(run.folder),
            "waiting": run.has_waiting_search(),
        }
        for run in workspace.runs().values()
    ]
    runs.sort(key=lambda entry: getattr(entry["row"], "began", "") or "9", reverse=True)
    projects = [
        (project, run_progress(project.run_folder)) for project in workspace.projects().values()
    ]
    page = render(
        "home.html",
        runs=runs,
        questions=_questions(runs),
        projects=projects,
        queues=queues,
        counts={q.key: q.book.counts(q.queue) for q in queues},
        problems=workspace.problems,
        csrf=request.state.csrf,
    )
    return HTMLResponse(page)


@router.get("/events")
async def home_events(request: Request) -> Response:
    """What the runs at work are doing, live."""
    workspace: Workspace = request.app.state.workspace

    def look() -> dict[str, Any]:
        return {run.key: _now(run_progress(run.folder)) for run in workspace.runs().values()}

    return stream(request, look)


@router.get("/runs/{key}")
def run_page(request: Request, key: Key) -> HTMLResponse:
    """A run: progress, gates, answers."""
    run = find_run(request, key)
    workspace: Workspace = request.app.state.workspace
    queues = [q for q in workspace.queues().values() if q.run.key == key]
    page = render(
        "run.html",
        run=run,
        view=_view(request, run),
        progress=run_progress(run.folder),
        queues=queues,
        charts=_charts(_view(request, run)),
        csrf=request.state.csrf,
    )
    return HTMLResponse(page)


@router.get("/runs/{key}/events")
async def run_events(request: Request, key: Key) -> Response:
    """Progress of a run, live."""
    run = find_run(request, key)

    def look() -> dict[str, Any]:
        now = run_progress(run.folder)
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
def part_page(request: Request, key: Key, number: Number) -> HTMLResponse:
    """One part of the report."""
    run = find_run(request, key)
    view, part = _part(request, run, number)
    rows = request.app.state.samples.get(run.folder).get("test")
    page = render(
        "part.html",
        run=run,
        view=view,
        part=part,
        number=number,
        chart=numbers_chart(part),
        charts={name: linked(c, part.question, name, key, rows) for name, c in part.charts.items()},
        places=_places(rows, part),
        rows_of=_rows_of(rows, part.question),
        table_charts={name: table_chart(table) for name, table in part.tables.items()},
        most_rows=MOST_ROWS,
        csrf=request.state.csrf,
    )
    return HTMLResponse(page)


@router.get("/runs/{key}/parts/{number}/samples/{sample}/{picture}.png")
def sample_picture(
    request: Request, key: Key, number: Number, sample: Number, picture: Number
) -> Response:
    """A picture of a sample."""
    _, part = _part(request, find_run(request, key), number)
    pictures = list(part.samples[sample].pictures.values()) if sample < len(part.samples) else []
    if picture >= len(pictures):
        raise HTTPException(404)
    content = base64.b64decode(pictures[picture].partition(",")[2])
    return Response(content, media_type="image/png", headers=PICTURE_HEADERS)


def _now(progress: RunProgress) -> dict[str, Any]:
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
    from fireassay.assessment.parts import PARTS  # loads what the first page need not wait for

    return [name for name in PARTS if name in found] + sorted(found - set(PARTS))


def find_run(request: Request, key: str) -> Run:
    """The run of a key."""
    workspace: Workspace = request.app.state.workspace
    run = workspace.runs().get(key)
    if run is None:
        raise HTTPException(404)
    return run


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
        if sample.source != "test":
            continue
        at = (
            np.flatnonzero(ids.astype(np.str_) == str(sample.row))
            if ids.dtype.kind == "U"
            else (np.flatnonzero(ids == sample.row))
        )
        if len(at):
            found[sample.row] = int(at[0])
    return found


def _charts(view: RunView | None) -> list[Chart | None]:
    return [] if view is None else [numbers_chart(part) for part in view.report.parts]
