"""Start a run and stop it: what it will cost comes first, what it does is shown as it happens."""

import hmac
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from fastapi import APIRouter, Request
from fastapi.exceptions import HTTPException
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from fireassay.core.errors import DataError, FireassayError, StoreError
from fireassay.web.pages import respond
from fireassay.web.projects import Project, find_projects
from fireassay.web.run_pages import FoundRun, Key
from fireassay.web.run_process import log_tail, plan_of, run_status, start_run, stop_run
from fireassay.web.workspace import Workspace, run_key

router = APIRouter()
_planning = threading.Lock()


@router.get("/projects/{key}")
def project_page(request: Request, key: Key) -> HTMLResponse:
    """A project: what it will do, and what that will cost once it is asked for."""
    return _page(request, _project(request, key))


@router.post("/projects/{key}/plan")
def project_plan(request: Request, key: Key) -> Response:
    """Measure the model on a few rows and price every part; for a script the price alone."""
    project = _project(request, key)
    problem, plan = project.problem, None
    if not problem:
        try:
            with _one_plan():
                plan = plan_of(project)
        except FireassayError as error:
            problem = str(error)
    if request.headers.get("x-fragment") != "plan":
        return _page(request, project, plan=plan, problem=problem)
    planned = project.sha256
    return respond(
        request, "plan.html", project=project, plan=plan, problem=problem, planned=planned
    )


@router.post("/projects/{key}/start")
def project_start(request: Request, key: Key) -> Response:
    """Start the run, as it was planned."""
    project = _project(request, key)
    if project.problem:
        raise DataError("This run cannot be started here.", got=project.problem)
    planned = request.state.form.get("planned", "")
    if not hmac.compare_digest(planned.encode(), project.sha256.encode()):
        raise DataError(
            "A run starts as it was planned.",
            got="a configuration that has changed since",
            do="Look at its cost again.",
        )
    start_run(project)
    return RedirectResponse(f"/runs/{run_key(project.run_folder)}", status_code=303)


@router.post("/runs/{key}/stop")
def run_stop(run: FoundRun) -> Response:
    """Interrupt a run that the app has started."""
    stop_run(run.folder)
    return RedirectResponse(f"/runs/{run.key}", status_code=303)


@contextmanager
def _one_plan() -> Iterator[None]:
    if not _planning.acquire(blocking=False):
        raise StoreError("One plan at a time.", got="another one is being made", do="Wait for it.")
    try:
        yield
    finally:
        _planning.release()


def _project(request: Request, key: str) -> Project:
    workspace: Workspace = request.app.state.workspace
    found = find_projects(workspace.folders).get(key)
    if found is None:
        raise HTTPException(404)
    return found


def _page(
    request: Request, project: Project, plan: dict[str, object] | None = None, problem: str = ""
) -> HTMLResponse:
    return respond(
        request,
        "project.html",
        project=project,
        plan=plan,
        planned=project.sha256,
        problem=problem or project.problem,
        progress=run_status(project.run_folder),
        run_key=run_key(project.run_folder) if project.run_folder.is_dir() else None,
        log=log_tail(project.run_folder),
    )
