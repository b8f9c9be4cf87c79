"""The app: pages about runs, queues and labels, behind the gate."""

import contextlib
import logging
import os
import secrets
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.exceptions import HTTPException, RequestValidationError
from fastapi.responses import Response

from fireassay.core.errors import FireassayError, ParameterError, StoreError
from fireassay.core.lazy import require
from fireassay.engine.labels.records import LeaseLostError
from fireassay.report.page_charts import chart_script, chart_styles
from fireassay.web import (
    compare_pages,
    label_pages,
    project_pages,
    queue_pages,
    run_pages,
    sample_pages,
)
from fireassay.web.compare_pages import RunRows
from fireassay.web.pages import respond, static_files
from fireassay.web.run_pages import RunViews
from fireassay.web.sample_query import SampleViews
from fireassay.web.sample_rows import SampleSets
from fireassay.web.security import SHORTEST_TOKEN, Access, Gate, is_loopback
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
    for part in (run_pages, project_pages, compare_pages, sample_pages, queue_pages, label_pages):
        app.include_router(part.router)
    app.add_api_route("/static/{name}", _static, methods=["GET"])
    for wrong in (404, 405, RequestValidationError):
        app.add_exception_handler(wrong, _bad_address)
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
    return respond(request, "error.html", status_code=status, title=title, text=text)


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


TOKEN_VARIABLE = "FIREASSAY_TOKEN"  # noqa: S105 - the name of a variable
_TRIED_PORTS = 20
_FIRST_PAGE_S = 1.0


def serve(
    folders: Sequence[str | Path],
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    allowed_hosts: Sequence[str] = (),
    ready: Callable[[str], None] | None = None,
) -> None:
    """Serve run folders until interrupted.

    Args:
        folders: Run folders, or folders of run folders.
        host: 127.0.0.1 (only this machine) needs no token; any other address gets one: the value of
            the environment variable FIREASSAY_TOKEN, or a new one. If the variable is set it is
            needed on this machine, too.
        port: None: the first free one from 8765.
        allowed_hosts: Names under which browsers reach it, if not by number.
        ready: Called with the address to open, once the app answers.
    """
    require("fastapi", "web", "The local app")
    uvicorn = require("uvicorn", "web", "The local app")

    token = _token(host)
    with _listen(host, port) as listening:
        access = Access(host, int(listening.getsockname()[1]), token, tuple(allowed_hosts))
        server = uvicorn.Server(
            uvicorn.Config(
                create_app(folders, access),
                log_level="warning",
                access_log=False,  # addresses may carry the token
                server_header=False,
                timeout_graceful_shutdown=1,
                timeout_keep_alive=30,
                limit_concurrency=500,
                ws="none",
                lifespan="on",
            )
        )
        told = (server, ready, address(access))
        threading.Thread(target=_announce, args=told, daemon=True).start()
        threading.Thread(target=_warm_up, args=(server,), daemon=True).start()
        server.run(sockets=[listening])


def address(access: Access) -> str:
    """What to open in the browser."""
    host = "127.0.0.1" if access.host in ("0.0.0.0", "::") else access.host  # noqa: S104
    shown = f"[{host}]" if ":" in host else host
    query = "" if access.token is None else f"?token={access.token}"
    return f"http://{shown}:{access.port}/{query}"


def _token(host: str) -> str | None:
    given = os.environ.get(TOKEN_VARIABLE)
    if given:
        if len(given) < SHORTEST_TOKEN:
            raise ParameterError(
                f"{TOKEN_VARIABLE} must have at least {SHORTEST_TOKEN} characters.",
                got=f"{len(given)}",
            )
        return given
    return None if is_loopback(host) else secrets.token_urlsafe(24)


def _listen(host: str, port: int | None) -> socket.socket:
    """A listening socket; without a wish the first free port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    wanted = [port] if port is not None else range(8765, 8765 + _TRIED_PORTS)
    problem: OSError | None = None
    for number in wanted:
        listening = socket.socket(family, socket.SOCK_STREAM)
        if sys.platform != "win32":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, number))
        except OSError as error:
            listening.close()
            problem = error
        else:
            listening.listen(128)
            return listening
    raise ParameterError(
        f"Expected a free port at {host}.",
        got=f"{problem}",
        do="Choose another with --port, or stop the program that has it.",
    )


def _announce(server: object, ready: Callable[[str], None] | None, where: str) -> None:
    if ready is not None and _wait_until_started(server):
        ready(where)


def _warm_up(server: object) -> None:
    """Load what the second page needs while the first one is read."""
    if _wait_until_started(server):
        threading.Event().wait(_FIRST_PAGE_S)
        import fireassay.assessment.run.folder
        import fireassay.discovery
        import fireassay.statistics.kappa  # noqa: F401


def _wait_until_started(server: object) -> bool:
    pause = threading.Event()
    for _ in range(1200):
        if getattr(server, "started", False):
            return True
        pause.wait(0.05)
    return False
