"""Models behind a real server on this machine, well-behaved and not."""

import json
import logging
import pickle
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

import fireassay as fa
from fireassay.classifiers.backends.http import HttpClassifier
from fireassay.classifiers.backends.http_transport import _retry_after
from fireassay.core import BudgetExceededError, ModelError, ParameterError, ProbabilityError

X = np.random.default_rng(0).random((20, 3))
TOKEN = "s3cret-token-value"


def answer(rows: np.ndarray) -> np.ndarray:
    return np.column_stack([rows[:, 0], 1 - rows[:, 0]])


class Server:
    """Answers with what ``script`` returns for each request: status, headers, body."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, dict[str, str], Any]] = []
        self.script: Callable[[int, Any], tuple[int, dict[str, str], bytes]] = plain
        self.drip_s = 0.0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length", 0))
                body = json.loads(self.rfile.read(length)) if length else None
                number = len(outer.requests)
                outer.requests.append((self.command, self.path, dict(self.headers), body))
                status, headers, content = outer.script(number, body)
                self.send_response(status)
                for name, value in {"Content-Length": str(len(content)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                try:
                    if outer.drip_s:
                        for byte in content:
                            self.wfile.write(bytes([byte]))
                            self.wfile.flush()
                            time.sleep(outer.drip_s)
                    else:
                        self.wfile.write(content)
                except OSError:
                    pass  # the client has gone

            do_GET = do_POST

            def log_message(self, *args: Any) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.http.shutdown()
    running.http.server_close()


def plain(_number: int, body: Any) -> tuple[int, dict[str, str], bytes]:
    rows = answer(np.array(body["instances"]))
    return 200, {}, json.dumps({"predictions": rows.tolist()}).encode()


def first(*failures: tuple[int, dict[str, str], bytes]) -> Any:
    """These answers first, then good ones."""
    return lambda number, body: failures[number] if number < len(failures) else plain(number, body)


def always(status: int, content: bytes, **headers: str) -> Any:
    return lambda number, body: (status, headers, content)


def classifier(server: Server, **options: Any) -> HttpClassifier:
    return HttpClassifier(server.url, **{"backoff_s": 0.01, "timeout_s": 5.0, **options})


def test_rows_go_out_as_they_are_in_requests_of_limited_size(server: Server) -> None:
    model = fa.as_classifier(server.url + "/predict", batch_size=8)
    assert server.requests == []
    np.testing.assert_allclose(model.predict_proba(X), answer(X), atol=1e-12)
    assert [len(body["instances"]) for *_, body in server.requests] == [8, 8, 4]
    assert model.queries == 20
    assert all("Authorization" not in headers for _, _, headers, _ in server.requests)


def test_kserve_v2_reads_the_models_own_input_name_and_picks_the_probabilities(
    server: Server,
) -> None:
    def kserve(_number: int, body: Any) -> tuple[int, dict[str, str], bytes]:
        if body is None:
            metadata = {"name": "m", "inputs": [{"name": "pixels", "datatype": "FP64"}]}
            return 200, {}, json.dumps(metadata).encode()
        (tensor,) = body["inputs"]
        assert (tensor["name"], tensor["datatype"]) == ("pixels", "FP64")
        rows = answer(np.array(tensor["data"]).reshape(tensor["shape"]))
        outputs = [
            {"name": "label", "shape": [len(rows)], "datatype": "INT64", "data": [0] * len(rows)},
            {
                "name": "probabilities",
                "shape": list(rows.shape),
                "datatype": "FP64",
                "data": rows.ravel().tolist(),
            },
        ]
        return 200, {}, json.dumps({"outputs": outputs}).encode()

    server.script = kserve
    model = fa.as_classifier(server.url + "/v2/models/m/infer")
    np.testing.assert_allclose(model.predict_proba(X), answer(X), atol=1e-12)
    assert [path for _, path, *_ in server.requests] == ["/v2/models/m", "/v2/models/m/infer"]


def test_kserve_without_metadata_uses_the_usual_name(server: Server) -> None:
    def kserve(_number: int, body: Any) -> tuple[int, dict[str, str], bytes]:
        if body is None:
            return 404, {}, b"no metadata"
        rows = answer(np.array(body["inputs"][0]["data"]).reshape(body["inputs"][0]["shape"]))
        output = {"name": "o", "shape": list(rows.shape), "data": rows.tolist()}
        return 200, {}, json.dumps({"outputs": [output]}).encode()

    server.script = kserve
    model = fa.as_classifier(server.url + "/v2/models/m/infer")
    np.testing.assert_allclose(model.predict_proba(X), answer(X), atol=1e-6)
    assert server.requests[1][3]["inputs"][0]["name"] == "input-0"


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_passing_failures_are_tried_again_and_rows_counted_once(
    server: Server, status: int
) -> None:
    server.script = first((status, {}, b"later"), (status, {}, b"later"))
    model = classifier(server)
    np.testing.assert_allclose(model.predict_proba(X), answer(X), atol=1e-12)
    assert (len(server.requests), model.queries) == (3, 20)


def test_retry_after_is_honoured(server: Server) -> None:
    server.script = first((429, {"Retry-After": "0.3"}, b""))
    began = time.monotonic()
    classifier(server).predict_proba(X)
    assert time.monotonic() - began >= 0.3
    server.requests.clear()
    server.script = always(429, b"", **{"Retry-After": "3600"})
    with pytest.raises(ModelError, match="wait 3600 s"):
        classifier(server).predict_proba(X)
    assert len(server.requests) == 1


def test_a_server_that_keeps_failing_is_given_up(server: Server) -> None:
    server.script = always(500, b"out of memory")
    with pytest.raises(ModelError, match=r"status 500: out of memory after 3 attempts"):
        classifier(server, retries=2).predict_proba(X)
    assert len(server.requests) == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_lasting_failures_are_not_tried_again(server: Server, status: int) -> None:
    server.script = always(status, b"no")
    with pytest.raises(ModelError, match=f"status {status}"):
        classifier(server).predict_proba(X)
    assert len(server.requests) == 1


def test_a_hanging_server_times_out(server: Server) -> None:
    def hang(_number: int, body: Any) -> tuple[int, dict[str, str], bytes]:
        time.sleep(1.0)
        return plain(0, body)

    server.script = hang
    began = time.monotonic()
    with pytest.raises(ModelError, match=r"within 0\.2 s after 2 attempts"):
        classifier(server, timeout_s=0.2, retries=1).predict_proba(X)
    assert time.monotonic() - began < 0.9


@pytest.mark.parametrize("headers", [{}, {"Content-Length": ""}])
def test_a_server_that_drips_bytes_times_out_as_a_whole(
    server: Server, headers: dict[str, str]
) -> None:
    server.drip_s = 0.05  # each byte well within the timeout, the whole answer far beyond it
    server.script = lambda number, body: (200, headers, plain(number, body)[2])
    began = time.monotonic()
    with pytest.raises(ModelError, match=r"within 0\.4 s"):
        classifier(server, timeout_s=0.4, retries=0).predict_proba(X)
    assert time.monotonic() - began < 2.0


def test_nobody_listening(server: Server) -> None:
    model = HttpClassifier("http://127.0.0.1:9", retries=1, backoff_s=0.01)
    with pytest.raises(ModelError, match=r"ConnectionRefused.*2 attempts"):
        model.predict_proba(X)


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (b"<html>", ModelError, "JSON"),
        (b"\xff\xfe", ModelError, "JSON"),
        (b"[" * 100_000, ModelError, "JSON"),
        (b"", ModelError, "JSON"),
        (b"[1, 2]", ModelError, "predictions"),
        (b'{"result": 1}', ModelError, "Got the keys 'result'"),
        (b'{"predictions": [[0.5, 0.5]]}', ProbabilityError, "20 rows"),
        (b'{"predictions": [[NaN, 1.0]]}', ProbabilityError, "20 rows|NaN"),
        (b'{"predictions": [{"boxes": [], "scores": []}]}', ModelError, "detectors"),
        (b'{"predictions": "cat"}', ProbabilityError, "numbers"),
    ],
)
def test_answers_that_are_no_probabilities_are_refused(
    server: Server, content: bytes, error: type[ValueError], message: str
) -> None:
    server.script = always(200, content)
    with pytest.raises(error, match=message):
        classifier(server, retries=0).predict_proba(X)


@pytest.mark.parametrize("announced", [True, False])
def test_a_huge_answer_is_cut_off(server: Server, announced: bool) -> None:
    headers = {} if announced else {"Content-Length": "100000000"}
    server.script = always(200, b"x" * 200_000, **headers)
    with pytest.raises(ModelError, match="100000 bytes"):
        classifier(server, max_bytes=100_000).predict_proba(X)


def test_an_answer_cut_short_is_tried_again(server: Server) -> None:
    server.script = first((200, {"Content-Length": "500", "Connection": "close"}, b'{"pre'))
    np.testing.assert_allclose(
        classifier(server, timeout_s=0.5).predict_proba(X), answer(X), atol=1e-12
    )
    assert len(server.requests) == 2


def test_redirects_to_another_host_are_not_followed(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARD_TOKEN", TOKEN)
    other = Server()
    try:
        for status in (301, 302, 303, 307, 308):
            server.script = always(status, b"", Location=f"{other.url}/steal?q={TOKEN}")
            with pytest.raises(ModelError, match="redirect") as raised:
                classifier(server, token_env="WARD_TOKEN").predict_proba(X)
            assert TOKEN not in str(raised.value)
        assert other.requests == []
    finally:
        other.http.shutdown()
        other.http.server_close()


def test_a_redirect_on_the_same_host_is_followed(server: Server) -> None:
    server.script = first((307, {"Location": "/elsewhere"}, b""))
    classifier(server).predict_proba(X)
    assert [path for _, path, *_ in server.requests] == ["/", "/elsewhere"]
    server.script = always(307, b"", Location="/again")
    with pytest.raises(ModelError, match="endless"):
        classifier(server).predict_proba(X)


def test_the_token_is_sent_and_shows_up_nowhere_else(
    server: Server, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("WARD_TOKEN", TOKEN)
    model = classifier(server, token_env="WARD_TOKEN", retries=0)
    model.predict_proba(X)
    assert server.requests[0][2]["Authorization"] == f"Bearer {TOKEN}"
    server.script = always(401, f"bad token: Bearer {TOKEN}".encode())
    with pytest.raises(ModelError) as raised:
        model.predict_proba(X)
    texts = [str(raised.value), repr(raised.value), repr(model), model.sha256, caplog.text]
    texts += [repr(vars(model)), repr(pickle.dumps(model)), repr(raised.value.__context__)]
    assert not any(TOKEN in text for text in texts)
    monkeypatch.delenv("WARD_TOKEN")
    with pytest.raises(ModelError, match="export WARD_TOKEN"):
        model.predict_proba(X)


def test_secrets_in_addresses_are_refused_or_hidden() -> None:
    with pytest.raises(ParameterError, match="token_env") as raised:
        fa.as_classifier(f"http://user:{TOKEN}@127.0.0.1/")
    assert TOKEN not in str(raised.value)
    model = fa.as_classifier(f"http://127.0.0.1:9/m?key={TOKEN}", retries=0)
    assert TOKEN not in repr(model)
    with pytest.raises(ModelError) as failed:
        model.predict_proba(X)
    assert TOKEN not in str(failed.value)


def test_budget_threads_and_travel(server: Server) -> None:
    model = classifier(server, max_queries=50, batch_size=5)
    with ThreadPoolExecutor(5) as pool:
        answers = list(pool.map(lambda _: model.predict_proba(X[:10]), range(5)))
    assert all(np.array_equal(rows, answers[0]) for rows in answers)
    assert model.queries == 50
    before = len(server.requests)
    with pytest.raises(BudgetExceededError):
        model.predict_proba(X[:1])
    assert len(server.requests) == before
    copy = pickle.loads(pickle.dumps(classifier(server)))
    np.testing.assert_array_equal(copy.predict_proba(X[:10]), answers[0])


@pytest.mark.parametrize(
    ("url", "options", "error"),
    [
        ("http://", {}, ParameterError),
        ("http://127.0.0.1", {"timeout_s": 0}, ParameterError),
        ("http://127.0.0.1", {"retries": -1}, ParameterError),
        ("http://127.0.0.1", {"device": "cpu"}, ParameterError),
        ("http://127.0.0.1", {"output": "labels"}, ModelError),
        ("ftp://127.0.0.1/m", {}, ModelError),
    ],
)
def test_bad_options(url: str, options: dict[str, Any], error: type[ValueError]) -> None:
    with pytest.raises(error):
        fa.as_classifier(url, **options)


def test_seconds_of_a_retry_after_header():
    assert (_retry_after("7"), _retry_after("soon"), _retry_after(None)) == (7.0, None, None)
