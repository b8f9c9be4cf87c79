"""Pages about runs: the list, a run with its progress, a part with its figures and tables."""

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from fastapi.exceptions import HTTPException
from fastapi.responses import HTMLResponse, Response

from fireassay.core.evidence import Evidence
from fireassay.web.events import stream
from fireassay.web.pages import render
from fireassay.web.progress import run_progress
from fireassay.web.run_view import MOST_ROWS, RunView, RunViews, estimates_chart, table_chart
from fireassay.web.workspace import Run, Workspace

router = APIRouter()
Key = Annotated[str, Path(pattern="^[0-9a-f]{12}$")]
Number = Annotated[int, Path(ge=0, le=10_000_000)]
# In its own document, as an image: the figure cannot run scripts nor load anything.
_FIGURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"


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
        chart=estimates_chart(part),
        table_charts={name: table_chart(table) for name, table in part.tables.items()},
        most_rows=MOST_ROWS,
        csrf=request.state.csrf,
    )
    return HTMLResponse(page)


@router.get("/runs/{key}/parts/{number}/figures/{figure}")
def figure(request: Request, key: Key, number: Number, figure: Number) -> Response:
    """A figure as an image."""
    import base64

    _, part = _part(request, _run(request, key), number)
    pictures = list(part.figures.values())
    if figure >= len(pictures):
        raise HTTPException(404)
    source = pictures[figure].source
    headers = {"content-security-policy": _FIGURE_POLICY}
    if source.startswith("data:image/png;base64,"):
        content = base64.b64decode(source.partition(",")[2])
        return Response(content, media_type="image/png", headers=headers)
    return Response(source, media_type="image/svg+xml", headers=headers)


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


def _charts(view: RunView | None) -> list[dict[str, Any] | None]:
    return [] if view is None else [estimates_chart(part) for part in view.report.parts]
