"""The app: pages about runs, queues and labels, behind the gate."""

import contextlib
import logging
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.exceptions import HTTPException, RequestValidationError
from fastapi.responses import HTMLResponse, Response

from fireassay.core.errors import FireassayError, StoreError
from fireassay.engine.label_records import LeaseLostError
from fireassay.report.chart_embed import chart_script, chart_styles
from fireassay.web import (
    compare_pages,
    label_pages,
    project_pages,
    queue_pages,
    run_pages,
    sample_pages,
)
from fireassay.web.pages import render, static_files
from fireassay.web.run_rows import RunRows
from fireassay.web.run_view import RunViews
from fireassay.web.sample_set import SampleSets
from fireassay.web.sample_view import SampleViews
from fireassay.web.security import Access, Gate
from fireassay.web.workspace import Workspace

logger = logging.getLogger(__name__)


def create_app(folders: Sequence[str | Path], access: Access | None = None) -> FastAPI:
    """The app for some run folders (or folders of run folders)."""
    workspace = Workspace(folders)

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        del app
        yield
        workspace.close()

    app = FastAPI(
        title="fireassay", docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan
    )
    app.state.workspace = workspace
    app.state.views, app.state.run_rows = RunViews(), RunRows()
    app.state.samples, app.state.sample_views = SampleSets(), SampleViews()
    app.include_router(run_pages.router)
    app.include_router(project_pages.router)
    app.include_router(compare_pages.router)
    app.include_router(sample_pages.router)
    app.include_router(queue_pages.router)
    app.include_router(label_pages.router)
    app.add_api_route("/static/{name}", _static, methods=["GET"])
    app.add_exception_handler(404, _bad_address)
    app.add_exception_handler(405, _bad_address)
    app.add_exception_handler(RequestValidationError, _bad_address)
    app.add_exception_handler(FireassayError, _own_error)
    app.add_exception_handler(Exception, _crash)
    app.add_middleware(Gate, access=access or Access())
    return app


def _static(name: str) -> Response:
    # Made from the installed libraries once per installation, which takes some seconds.
    if name == "charts.js":
        return _file(chart_script().encode(), "text/javascript; charset=utf-8")
    if name == "charts.css":
        return _file(chart_styles().encode(), "text/css; charset=utf-8")
    known = static_files().get(name)
    if known is None:
        raise HTTPException(404)
    return _file(*known)


def _file(content: bytes, kind: str) -> Response:
    return Response(content, media_type=kind, headers={"cache-control": "no-cache"})


def _page(request: Request, status: int, title: str, text: str) -> Response:
    page = render("error.html", title=title, text=text, csrf=_csrf(request))
    return HTMLResponse(page, status_code=status)


def _csrf(request: Request) -> str:
    return str(getattr(request.state, "csrf", ""))


async def _bad_address(request: Request, error: Exception) -> Response:
    del error
    return _page(request, 404, "Not here", "There is nothing at this address.")


async def _own_error(request: Request, error: Exception) -> Response:
    if isinstance(error, LeaseLostError):
        return _page(request, 409, "Not saved", str(error))
    status = 500 if isinstance(error, StoreError) else 400
    return _page(request, status, "That did not work", str(error))


async def _crash(request: Request, error: Exception) -> Response:
    logger.error("Unexpected error at %s", request.url.path, exc_info=error)
    return _page(
        request, 500, "An error of the app", "Nothing was saved. The terminal shows what happened."
    )
