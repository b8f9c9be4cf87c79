"""Start the app: on this machine only, or elsewhere with a token."""

import os
import secrets
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from fireassay.core.errors import ParameterError
from fireassay.core.extras import require
from fireassay.web.security import SHORTEST_TOKEN, Access, is_loopback

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

    Parameters
    ----------
    folders
        Run folders, or folders of run folders.
    host
        127.0.0.1 (only this machine) needs no token; any other address gets one: the value of the
        environment variable FIREASSAY_TOKEN, or a new one. If the variable is set it is needed on
        this machine, too.
    port
        None: the first free one from 8765.
    allowed_hosts
        Names under which browsers reach it, if not by number.
    ready
        Called with the address to open, once the app answers.
    """
    require("fastapi", "web", "The local app")
    uvicorn = require("uvicorn", "web", "The local app")
    from fireassay.web.app import create_app

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
        if ready is not None:
            announce = threading.Thread(
                target=_announce, args=(server, ready, address(access)), daemon=True
            )
            announce.start()
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


def _announce(server: object, ready: Callable[[str], None], where: str) -> None:
    if _wait_until_started(server):
        ready(where)


def _warm_up(server: object) -> None:
    """Load what the second page needs while the first one is read."""
    if _wait_until_started(server):
        threading.Event().wait(_FIRST_PAGE_S)
        import fireassay.assessment.run_folder
        import fireassay.discovery
        import fireassay.statistics.kappa  # noqa: F401


def _wait_until_started(server: object) -> bool:
    pause = threading.Event()
    for _ in range(1200):
        if getattr(server, "started", False):
            return True
        pause.wait(0.05)
    return False
