"""Checks before every request: right host, right token, right size, no forged forms."""

import hashlib
import hmac
import ipaddress
import secrets
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

FORM_BYTES = 64 * 1024
UPLOAD_BYTES = 20 * 2**20
SHORTEST_TOKEN = 16
_MOST_FIELDS = 50
_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    # "no-referrer" would make browsers send "Origin: null" with our own forms.
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
)
_HOW_TO_OPEN = (
    "This app needs its token. Open the address that was printed when it was started,"
    " with ?token=... at the end."
)


@dataclass(frozen=True)
class Access:
    """Who may use the app."""

    host: str = "127.0.0.1"
    port: int = 8765
    token: str | None = field(default=None, repr=False)
    allowed_hosts: Sequence[str] = ()

    def allows_host(self, header: str) -> bool:
        """Whether a Host header names this app: no other site can point its name here."""
        # On this machine only: the names of loopback. Elsewhere: any numeric address (which no
        # other site can claim) and the names that were allowed.
        name, _, port = header.rpartition(":") if not header.endswith("]") else (header, "", "")
        if not name:
            name, port = header, ""
        if (port or "80") != str(self.port):
            return False
        name = name.lower()
        if name in _LOOPBACK_NAMES or name in {known.lower() for known in self.allowed_hosts}:
            return True
        return not is_loopback(self.host) and _is_address(name.strip("[]"))

    def knows(self, given: str) -> bool:
        """Compare a token in constant time."""
        return self.token is not None and hmac.compare_digest(
            _digest(given, "token"), _digest(self.token, "token")
        )


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host == "localhost":
        return True
    return _is_address(host) and ipaddress.ip_address(host).is_loopback


def csrf_token(session: str) -> str:
    """What a form must carry: only pages of this app can know it."""
    return _digest(session, "form")


class Gate:
    """ASGI middleware. Every request that changes something is checked here, not in its handler."""

    def __init__(self, app: Application, access: Access) -> None:
        self.app = app
        self.access = access
        self._session_cookie = f"fireassay_session_{access.port}"
        self._token_cookie = f"fireassay_token_{access.port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it with the reason."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        cookies = _cookies(headers.get("cookie", ""))
        if not self.access.allows_host(headers.get("host", "")):
            await _refuse(send, 421, "This name is not one of this app. Use the printed address.")
            return
        if self.access.token is not None and not self._has_token(headers, cookies):
            given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
            if scope["method"] == "GET" and self.access.knows(given):
                cookie = self._cookie(self._token_cookie, _digest(given, "cookie"))
                # Away from the address with the token; never to a path that a link could name.
                await _answer(send, 303, b"", [(b"location", b"/"), cookie])
                return
            await _refuse(send, 401, _HOW_TO_OPEN)
            return
        session = cookies.get(self._session_cookie, "")
        fresh = len(session) < 24
        if fresh:
            session = secrets.token_urlsafe(24)
        scope.setdefault("state", {})
        scope["state"].update(session=session, csrf=csrf_token(session), form={}, body=b"")
        if scope["method"] not in ("GET", "HEAD"):
            refused = await self._check_change(scope, headers, receive, fresh=fresh)
            if refused is not None:
                await _refuse(send, *refused)
                return
        cookies_to_set = [self._cookie(self._session_cookie, session)] if fresh else []
        await self.app(scope, receive, _with_headers(send, cookies_to_set))

    def _has_token(self, headers: dict[str, str], cookies: dict[str, str]) -> bool:
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        expected = _digest(self.access.token or "", "cookie")
        return self.access.knows(bearer) or hmac.compare_digest(
            cookies.get(self._token_cookie, "").encode(), expected.encode()
        )

    async def _check_change(
        self, scope: Scope, headers: dict[str, str], receive: Receive, *, fresh: bool
    ) -> tuple[int, str] | None:
        origin = headers.get("origin")
        site = headers.get("sec-fetch-site", "same-origin")
        foreign = origin is not None and urlsplit(origin).netloc != headers["host"]
        if foreign or site not in ("same-origin", "none"):
            return 403, "A form of another site must not change anything here."
        limit = UPLOAD_BYTES if scope["path"].endswith("/import") else FORM_BYTES
        body = await _body(receive, limit, headers.get("content-length", ""))
        if body is None:
            return 413, f"At most {limit} bytes can be sent."
        form = _form(body) if "urlencoded" in headers.get("content-type", "") else {}
        sent = headers.get("x-csrf-token") or form.get("csrf", "")
        if fresh or not hmac.compare_digest(sent.encode(), scope["state"]["csrf"].encode()):
            return 403, "This page is too old or not of this app. Nothing was saved: load it again."
        scope["state"].update(form=form, body=body)
        return None

    def _cookie(self, name: str, value: str) -> tuple[bytes, bytes]:
        text = f"{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000"
        return b"set-cookie", text.encode("ascii")


def _with_headers(send: Send, more: list[tuple[bytes, bytes]]) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = {name.lower() for name, _ in message["headers"]}
            own = [*_HEADERS, *more]
            if b"content-security-policy" not in given:
                own.append((b"content-security-policy", POLICY.encode()))
            if b"cache-control" not in given:
                own.append((b"cache-control", b"no-store"))
            message = {**message, "headers": [*message["headers"], *own]}
        await send(message)

    return sending


async def _body(receive: Receive, limit: int, declared: str) -> bytes | None:
    """The whole body, or None if it is too long (not read to its end then)."""
    if declared.isdecimal() and int(declared) > limit:
        return None
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        part = message.get("body", b"")
        size += len(part)
        if size > limit:
            return None
        parts.append(part)
        if not message.get("more_body", False):
            return b"".join(parts)


def _form(body: bytes) -> dict[str, str]:
    try:
        fields = parse_qs(body.decode("utf-8"), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError:
        return {}
    return {name: values[-1] for name, values in fields.items()}


def _cookies(header: str) -> dict[str, str]:
    try:
        return {name: morsel.value for name, morsel in SimpleCookie(header).items()}
    except CookieError:
        return {}


async def _refuse(send: Send, status: int, reason: str) -> None:
    await _answer(send, status, reason.encode(), [])


async def _answer(send: Send, status: int, body: bytes, headers: list[tuple[bytes, bytes]]) -> None:
    kind = (b"content-type", b"text/plain; charset=utf-8")
    headers = [kind, (b"content-length", str(len(body)).encode()), *headers]
    sending = _with_headers(send, [])
    await sending({"type": "http.response.start", "status": status, "headers": headers})
    await sending({"type": "http.response.body", "body": body})


def _digest(secret: str, purpose: str) -> str:
    return hmac.new(secret.encode("utf-8"), purpose.encode(), hashlib.sha256).hexdigest()


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
