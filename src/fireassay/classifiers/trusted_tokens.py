"""Which secret of the user's may go to which server: the user says so, not a received file."""

import hashlib
from pathlib import Path
from urllib.parse import urlsplit

from fireassay.classifiers.trusted_files import is_trusted_digest, remember_digest
from fireassay.core.errors import UntrustedFileError


def check_token(url: str, token_env: str | None, *, trust: bool = False) -> None:
    """Refuse to send an environment variable to a server that the user has not named for it.

    Raises
    ------
    UntrustedFileError
        If only a configuration asks for it: any variable of the user's could be named in one.
    """
    if token_env is None or trust or is_trusted_digest(_digest(url, token_env)):
        return
    raise UntrustedFileError(
        f"The configuration asks to send the environment variable {token_env!r} to {_origin(url)}.",
        got="no word of yours that it may",
        do="If that server is to get it, say so once: fireassay run --trust.",
    )


def remember_token(url: str, token_env: str | None) -> Path | None:
    """Keep in the user's settings that this variable may go to this server.

    Returns
    -------
    Path | None
        Where it was written down; None without a variable.
    """
    if token_env is None:
        return None
    return remember_digest(_digest(url, token_env), f"${token_env} to {_origin(url)}")


def _origin(url: str) -> str:
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return f"{parts.scheme}://{parts.hostname or ''}:{port}"


def _digest(url: str, token_env: str) -> str:
    return hashlib.sha256(f"token\0{_origin(url)}\0{token_env}".encode()).hexdigest()
