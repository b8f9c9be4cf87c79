"""Pages about runs: the list, a run with its progress, a part with charts, samples and tables."""

import base64
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from fastapi.exceptions import HTTPException
from fastapi.responses import HTMLResponse, Response

from fireassay.core import Chart
from fireassay.core.evidence import Evidence
from fireassay.report.number_chart import numbers_chart
from fireassay.web.events import stream
from fireassay.web.pages import render
from fireassay.web.progress import run_progress
from fireassay.web.run_view import MOST_ROWS, RunView, RunViews, table_chart
from fireassay.web.workspace import Run, Workspace

router = APIRouter()
Key = Annotated[str, Path(pattern="^[0-9a-f]{12}$")]
Number = Annotated[int, Path(ge=0, le=10_000_000)]
_PICTURE_HEADERS = {"content-security-policy": "default-src 'none'; sandbox"}


@router.get("/")
def home(request: Request) -> HTMLResponse:
    """Everything that is served."""
    workspace: Workspace = request.app.state.workspace
    queues = list(workspace.queues().values())  # first: it finds what cannot be read
    runs = [
        {
            "run": run,
            "summary": run.summary(),
            "progress": run_progress(run.folder),
            "waiting": run.has_waiting_search(),
        }
        for run in workspace.runs().values()
    ]
    counts = {q.key: q.book.counts(q.queue) for q in queues}
    page = render(
        "home.html",
        runs=runs,
        queues=queues,
        counts=counts,
        problems=workspace.problems,
        csrf=request.state.csrf,
    )
    return HTMLResponse(page)


@router.get("/runs/{key}")
def run_page(request: Request, key: Key) -> HTMLResponse:
    """A run: progress, gates, answers."""
    run = _run(request, key)
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
    run = _run(request, key)

    def look() -> dict[str, Any]:
        now = run_progress(run.folder)
        return {
            "running": now.running,
            "done": now.done,
            "total": now.total,
            "tasks": [asdict(task) for task in now.tasks],
            "result": str(now.result_changed),
        }

    return stream(request, look)


@router.get("/runs/{key}/parts/{number}")
def part_page(request: Request, key: Key, number: Number) -> HTMLResponse:
    """One part of the report."""
    run = _run(request, key)
    view, part = _part(request, run, number)
    page = render(
        "part.html",
        run=run,
        view=view,
        part=part,
        number=number,
        chart=numbers_chart(part),
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
    _, part = _part(request, _run(request, key), number)
    pictures = list(part.samples[sample].pictures.values()) if sample < len(part.samples) else []
    if picture >= len(pictures):
        raise HTTPException(404)
    content = base64.b64decode(pictures[picture].partition(",")[2])
    return Response(content, media_type="image/png", headers=_PICTURE_HEADERS)


def _run(request: Request, key: str) -> Run:
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


def _charts(view: RunView | None) -> list[Chart | None]:
    return [] if view is None else [numbers_chart(part) for part in view.report.parts]
