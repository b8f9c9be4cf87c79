"""One HTTP request with limits on time, size and redirects, and detection of leaked tokens."""

import base64
import codecs
import contextlib
import html
import http.client
import math
import os
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from urllib.parse import SplitResult, unquote_plus, urljoin, urlsplit

from fireassay.core.errors import ModelError, ParameterError
from fireassay.core.validation import check_integer, check_real
from fireassay.version import __version__

_ESCAPE = re.compile(r"\\(?:u\{?([0-9a-fA-F]{1,6})\}?|x([0-9a-fA-F]{2})|([0-7]{3})|[abfnrtv])")
_NOT_LETTERS = re.compile(r"[\W_]+")
_LEAST = 6
_ROUNDS = 3


def reveals(text: str, secret: str) -> bool:
    """Whether a text repeats a secret: in any case, cut by characters, reversed or encoded."""
    # Base64, base32, hexadecimal, octal, percent, entities, JSON escapes, up to three nested.
    for _ in range(_ROUNDS):
        plain = _letters(text)
        if secret in text or any(form in plain for form in _encodings(secret)):
            return True
        opened = _opened(text)
        if opened == text:
            return False
        text = opened
    return False


@lru_cache(maxsize=8)
def _encodings(secret: str) -> tuple[str, ...]:
    """The secret's letters and digits, as they stand in every known encoding."""
    raw = secret.encode()
    found = [secret, secret[::-1], raw.hex(), raw[::-1].hex(), codecs.encode(secret, "rot13")]
    found += ["".join(f"{byte:03o}" for byte in raw), "".join(map(str, raw))]
    for encode, together, bits in ((base64.b64encode, 3, 6), (base64.b32encode, 5, 5)):
        for before in range(together):  # where the secret begins among the bytes before it
            whole = encode(b"\0" * before + raw).decode().rstrip("=")
            skipped, kept = -(-8 * before // bits), 8 * (before + len(raw)) // bits
            found.append(whole[skipped:kept])
            found.append(encode(b"\0" * before + raw[::-1]).decode().rstrip("=")[skipped:kept])
    letters = (_letters(form) for form in found)
    return tuple(dict.fromkeys(form for form in letters if len(form) >= _LEAST))


def _letters(text: str) -> str:
    return _NOT_LETTERS.sub("", text).casefold()


def _opened(text: str) -> str:
    """Percent signs, entities and escapes undone once."""
    if "\\" in text:
        text = _ESCAPE.sub(_escaped, text)
    if "&" in text:
        text = html.unescape(text)
    return unquote_plus(text) if "%" in text else text


def _escaped(match: re.Match[str]) -> str:
    wide, narrow, octal = match.groups()
    if not (wide or narrow or octal):
        return " "
    number = int(octal, 8) if octal else int(wide or narrow, 16)
    return chr(number) if number < 0x110000 else match.group()


_TRY_AGAIN = frozenset((429, 500, 502, 503, 504))
_MOST_REDIRECTS = 3
_CHUNK = 1 << 16
_LOOKED_AT = 1 << 16
_HIDDEN = "a text that repeats the token, and is not shown"


Sending = Callable[[], None]
Answer = tuple[int, http.client.HTTPMessage, bytes]  # status, headers, body


@dataclass(frozen=True)
class _Message:
    """What is sent to an address; ``sending`` is called before the body goes out."""

    method: str
    body: bytes | None
    headers: dict[str, str]
    sending: Sending


def _headers(body: bytes | None, token: str | None) -> dict[str, str]:
    kind = {} if body is None else {"Content-Type": "application/json"}
    bearer = {"Authorization": f"Bearer {token}"} if token else {}
    program = {"User-Agent": f"fireassay/{__version__}", "Connection": "close"}
    return {"Accept": "application/json", **program, **kind, **bearer}


@dataclass(frozen=True)
class Transport:
    """How requests are sent."""

    url: str
    token_env: str | None = None
    timeout_s: float = 30.0
    retries: int = 4
    backoff_s: float = 0.5
    max_wait_s: float = 60.0
    max_bytes: int = 64 * 2**20
    ca_file: str | None = None

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ParameterError(
                "A server's address must start with http:// or https://.", got=repr(self.shown)
            )
        if parts.username is not None or parts.password is not None:
            raise ParameterError(
                "A server's address must not contain a user name or password.",
                do="Put a token into an environment variable and pass its name as token_env=.",
            )
        check_real(self.timeout_s, "timeout_s", low=0)
        check_integer(self.retries, "retries")
        if self.ca_file is not None:
            self._context()

    @property
    def shown(self) -> str:
        """The address without user, password and query, for messages and hashes."""
        return _shown(self.url)

    def request(
        self, method: str, url: str, body: bytes | None = None, sending: Sending = lambda: None
    ) -> bytes:
        """The body of a successful answer; ``sending`` is called whenever a body goes out."""
        token = self._token()
        message = _Message(method, body, _headers(body, token), sending)
        for attempt in range(self.retries + 1):
            try:
                status, headers, content = self._attempt(url, message, token)
            except ssl.SSLCertVerificationError as failure:
                raise ModelError(
                    f"The certificate of {self.shown} must be valid.",
                    got=failure.verify_message,
                    do="If the server has signed its own, pass its certificate: ca_file=.",
                ) from None
            except (OSError, http.client.HTTPException) as failure:
                problem, pause = f"{type(failure).__name__}: {failure}", None
            else:
                if status == 200:
                    self._check_answer(content, headers, token)
                    return content
                problem = f"status {status}: {_excerpt(content, token)}"
                pause = _retry_after(headers.get("Retry-After"))
                if status not in _TRY_AGAIN:
                    raise self._failed(problem, token, attempt)
            wait = self.backoff_s * 2**attempt if pause is None else pause
            if attempt == self.retries or wait > self.max_wait_s:
                if pause is not None and wait > self.max_wait_s:
                    problem += f" (the server asks to wait {wait:.0f} s)"
                raise self._failed(problem, token, attempt)
            time.sleep(wait)
        raise AssertionError("unreachable")

    def _token(self) -> str | None:
        if self.token_env is None:
            return None
        token = os.environ.get(self.token_env, "").strip()
        if not token:
            raise ModelError(
                f"The environment variable {self.token_env!r} must hold the server's token.",
                got="nothing",
                do=f"Run: export {self.token_env}=…",
            )
        return token

    def _failed(self, problem: str, token: str | None, attempt: int) -> ModelError:
        if token and reveals(problem, token):  # servers may echo what they were sent
            problem = _HIDDEN
        again = f" after {attempt + 1} attempts" if attempt else ""
        return ModelError(
            f"The server {self.shown} must answer with status 200.",
            got=f"{problem}{again}",
            do="Check the address, the token (token_env=) and the server's log.",
        )

    def _check_answer(
        self, content: bytes, headers: http.client.HTTPMessage, token: str | None
    ) -> None:
        """Before anybody reads it: nothing to unpack, and nothing that should not be shown."""
        packed = (headers.get("Content-Encoding") or "identity").strip().lower()
        if packed != "identity":
            raise ModelError(
                f"The server {self.shown} must answer as it was asked, not compressed.",
                got=f"Content-Encoding {packed[:20]!r}" if token is None else "a Content-Encoding",
                do="Switch compression off for this address: an answer could unpack to anything.",
            )
        if token and reveals(content.decode("utf-8", "replace"), token):
            raise ModelError(
                f"The server {self.shown} must not send the token back.",
                got="an answer that repeats it",
                do="Mend the server; the answer is neither used nor shown.",
            )

    def _context(self) -> ssl.SSLContext:
        try:
            return ssl.create_default_context(cafile=self.ca_file)
        except (OSError, ssl.SSLError) as failure:
            raise ParameterError(
                "ca_file must be a file of certificates (PEM).", got=f"{self.ca_file!r}: {failure}"
            ) from None

    def _attempt(self, url: str, message: _Message, token: str | None) -> Answer:
        deadline = time.monotonic() + self.timeout_s
        for _ in range(_MOST_REDIRECTS + 1):
            status, headers, content = self._exchange(url, message, deadline)
            if not 300 <= status < 400:
                return status, headers, content
            url = self._followed(url, status, headers.get("Location") or "", token)
        raise ModelError(f"The server {self.shown} must answer.", got="endless redirects")

    def _followed(self, url: str, status: int, location: str, token: str | None) -> str:
        target = urljoin(url, location)
        shown = _shown(target)
        if token and reveals(location, token):
            shown = "an address that repeats the token"
        if status not in (307, 308) or _origin(urlsplit(target)) != _origin(urlsplit(self.url)):
            raise ModelError(
                f"The server {self.shown} must answer itself; data and tokens are not sent on.",
                got=f"a redirect (status {status}) to {shown}",
                do="Pass the final address, if you trust it.",
            )
        return target

    def _exchange(self, url: str, message: _Message, deadline: float) -> Answer:
        parts = urlsplit(url)
        where = parts.hostname or "", parts.port
        left = max(0.001, deadline - time.monotonic())
        connection: http.client.HTTPConnection
        if parts.scheme == "https":
            connection = http.client.HTTPSConnection(*where, timeout=left, context=self._context())
        else:
            connection = http.client.HTTPConnection(*where, timeout=left)
        expired = threading.Event()
        watchdog: threading.Timer | None = None
        try:
            connection.connect()
            left = max(0.001, deadline - time.monotonic())
            watchdog = threading.Timer(left, _cut, (connection.sock, expired))
            watchdog.daemon = True
            watchdog.start()
            path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            message.sending()
            connection.request(message.method, path, body=message.body, headers=message.headers)
            response = connection.getresponse()
            content = self._read(response)
            if expired.is_set():
                raise TimeoutError
            return response.status, response.headers, content
        except (OSError, http.client.HTTPException) as failure:
            if expired.is_set() or isinstance(failure, TimeoutError):
                raise TimeoutError(f"no whole answer within {self.timeout_s:g} s") from None
            raise
        finally:
            if watchdog is not None:
                watchdog.cancel()
            connection.close()

    def _read(self, response: http.client.HTTPResponse) -> bytes:
        chunks: list[bytes] = []
        size = 0
        while chunk := response.read(_CHUNK):
            size += len(chunk)
            if size > self.max_bytes:
                raise ModelError(
                    f"An answer of {self.shown} must not exceed {self.max_bytes} bytes.",
                    got="more",
                    do="Send fewer rows a request (batch_size=).",
                )
            chunks.append(chunk)
        if response.length:  # the connection ended before the announced length
            raise http.client.IncompleteRead(b"".join(chunks), response.length)
        return b"".join(chunks)


def _cut(connected: socket.socket, expired: threading.Event) -> None:
    """End an exchange from outside: a socket's own timeout starts anew with every byte."""
    expired.set()
    with contextlib.suppress(OSError):  # already closed
        connected.shutdown(socket.SHUT_RDWR)


def _origin(parts: SplitResult) -> tuple[str, str | None, int]:
    return parts.scheme, parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)


def _shown(url: str) -> str:
    parts = urlsplit(url)
    port = "" if parts.port is None else f":{parts.port}"
    return f"{parts.scheme}://{parts.hostname or ''}{port}{parts.path}"


def _excerpt(content: bytes, token: str | None) -> str:
    if token and reveals(content[:_LOOKED_AT].decode("utf-8", "replace"), token):
        return _HIDDEN  # also where the token stands at the cut
    text = " ".join(content[:400].decode("utf-8", "replace").split())
    return text[:200] or "no text"


def _retry_after(value: str | None) -> float | None:
    """Seconds in a Retry-After header: a number or a date."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds()
        except (TypeError, ValueError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None
