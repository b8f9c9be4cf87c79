"""Servers that sign their own certificate, send bombs, or give the token back."""

import base64
import contextlib
import gzip
import html
import json
import shutil
import ssl
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest

import fireassay as fa
from fireassay.classifiers.backends.http import HttpClassifier
from fireassay.classifiers.backends.http_transport import reveals
from fireassay.core import ModelError, ParameterError

X = np.random.default_rng(0).random((4, 3))
TOKEN = "s3cret-token_value.42"
Reply = tuple[int, dict[str, str], bytes]


def good(body: Any) -> Reply:
    rows = np.array(body["instances"])
    answer = np.column_stack([rows[:, 0], 1 - rows[:, 0]]).tolist()
    return 200, {}, json.dumps({"predictions": answer}).encode()


class Served:
    """A real server on loopback, with or without TLS."""

    def __init__(self, reply: Callable[[Any], Reply], tls: ssl.SSLContext | None = None) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, headers, content = reply(body)
                self.send_response(status)
                for name, value in {"Content-Length": str(len(content)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                with contextlib.suppress(OSError):  # the client has heard enough
                    self.wfile.write(content)

            def log_message(self, *args: Any) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.http.handle_error = lambda *_: None  # type: ignore[method-assign]
        if tls is not None:
            self.http.socket = tls.wrap_socket(self.http.socket, server_side=True)
        kind = "http" if tls is None else "https"
        self.url = f"{kind}://127.0.0.1:{self.http.server_port}/"
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()

    def __enter__(self) -> "Served":
        return self

    def __exit__(self, *_: object) -> None:
        self.http.shutdown()
        self.http.server_close()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One that its owner has signed, with its key beside it."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl to make a certificate")
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
         "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
         "-keyout", "key.pem", "-out", "own.pem"],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip
    return folder / "own.pem"


def tls_of(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))
    return context


def test_a_self_signed_server_is_refused_and_used_with_its_certificate(certificate: Path) -> None:
    with Served(good, tls_of(certificate)) as server:
        with pytest.raises(ModelError, match=r"certificate.*ca_file"):
            fa.as_classifier(server.url, retries=0).predict_proba(X)
        model = fa.as_classifier(server.url, ca_file=str(certificate), retries=0)
        np.testing.assert_array_equal(model.predict_proba(X)[:, 0], X[:, 0])
    with pytest.raises(ParameterError, match="ca_file"):
        fa.as_classifier("https://127.0.0.1/", ca_file="/nowhere.pem")
    with pytest.raises(ParameterError, match="ca_file"):
        fa.as_classifier("https://127.0.0.1/", ca_file=str(Path(__file__)))


def test_a_certificate_for_another_name_is_refused(certificate: Path) -> None:
    with Served(good, tls_of(certificate)) as server:
        url = server.url.replace("127.0.0.1", "localhost")
        with pytest.raises(ModelError, match="certificate"):
            fa.as_classifier(url, ca_file=str(certificate), retries=0).predict_proba(X)


BOMB = """
import resource, sys
import numpy as np, fireassay as fa
from fireassay.core import ModelError
model = fa.as_classifier(sys.argv[1], retries=0)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    model.predict_proba(np.zeros((2, 3)))
except ModelError as error:
    assert "compressed" in str(error), error
    print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.parametrize("packed", ["gzip", "deflate"])
def test_compressed_bombs_are_never_unpacked(packed: str) -> None:
    big = bytes(2**28)  # 256 MiB of zeros in about 1 MB
    content = gzip.compress(big, 1) if packed == "gzip" else zlib.compress(big, 1)
    with Served(lambda _: (200, {"Content-Encoding": packed}, content)) as server:
        done = subprocess.run(
            [sys.executable, "-c", BOMB, server.url],
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 64, "megabytes"


ECHOES = {
    "plain": TOKEN,
    "upper": TOKEN.upper(),
    "spaced": " ".join(TOKEN),
    "cut in lines": "\n".join(TOKEN),
    "reversed": TOKEN[::-1],
    "base64": base64.b64encode(TOKEN.encode()).decode(),
    "base64 of the header": base64.b64encode(f"Bearer {TOKEN}".encode()).decode(),
    "base64, shifted": base64.b64encode(f"x{TOKEN}y".encode()).decode(),
    "base64 for addresses": base64.urlsafe_b64encode(f"??{TOKEN}".encode()).decode(),
    "base32": base64.b32encode(TOKEN.encode()).decode(),
    "hex": TOKEN.encode().hex(),
    "hex with colons": TOKEN.encode().hex(":"),
    "percent": quote(TOKEN, safe=""),
    "all percent": "".join(f"%{b:02x}" for b in TOKEN.encode()),
    "percent twice": quote("".join(f"%{b:02x}" for b in TOKEN.encode())),
    "entities": "".join(f"&#{ord(c)};" for c in TOKEN),
    "named entities": html.escape(f"<{TOKEN}>"),
    "JSON escapes": "".join(f"\\u{ord(c):04x}" for c in TOKEN),
    "hex escapes": "".join(f"\\x{ord(c):02x}" for c in TOKEN),
    "JSON escapes, reversed": "".join(f"\\u{ord(c):04x}" for c in TOKEN[::-1]),
    "numbers": json.dumps(list(TOKEN.encode())),
}


@pytest.mark.parametrize("dress", ECHOES)
def test_a_token_sent_back_is_shown_nowhere(
    dress: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("SERVER_TOKEN", TOKEN)
    echo = ECHOES[dress]
    replies: list[Reply] = [
        (403, {}, f"denied: {echo}".encode()),
        (403, {}, b"x" * 190 + echo.encode()),  # where the excerpt is cut
        (307, {"Location": f"http://elsewhere.invalid/{quote(echo)}"}, b""),
        (200, {}, json.dumps({echo: [1]}).encode()),
        (200, {}, json.dumps({"predictions": [[echo, echo]] * 4}).encode()),
        (200, {}, f"[{echo}".encode()),
    ]
    for reply in replies:
        with Served(lambda _, reply=reply: reply) as server:  # type: ignore[misc]
            model = HttpClassifier(server.url, token_env="SERVER_TOKEN", retries=0)
            with pytest.raises(ModelError) as caught:
                model.predict_proba(X)
        chain: BaseException | None = caught.value
        while chain is not None:
            assert echo[:10] not in str(chain)
            assert not reveals(str(chain), TOKEN)
            chain = chain.__cause__ or chain.__context__
    assert not reveals(caplog.text, TOKEN)


def test_ordinary_answers_are_not_taken_for_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVER_TOKEN", TOKEN)
    with Served(good) as server:
        model = HttpClassifier(server.url, token_env="SERVER_TOKEN", retries=0)
        np.testing.assert_array_equal(model.predict_proba(X)[:, 0], X[:, 0])
    assert not reveals(json.dumps(np.random.default_rng(0).random((500, 10)).tolist()), TOKEN)
    assert not reveals("status 500: internal server error", TOKEN)
