"""Servers with request and answer formats of their own: real ones, on this machine."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

import fireassay as fa
from fireassay.classifiers.backends.http import Template
from fireassay.cli.main import app
from fireassay.core import ModelError, ParameterError

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])
MODEL = LogisticRegression(max_iter=1000).fit(X, NAMES[Y])
P = MODEL.predict_proba(X)


def scores(rows):
    return MODEL.predict_proba(np.array(rows))


def torchserve(body):
    """A handler's answer: for every row a dict of class and probability."""
    return [dict(zip(NAMES[[2, 0, 1]], p[[2, 0, 1]], strict=True)) for p in scores(body["data"])]


def chat(body):
    """A chat model: the row stands in the question, JSON text in the answer."""
    row = json.loads(body["messages"][1]["content"].removeprefix("Classify "))
    said = dict(zip(NAMES.tolist(), scores([row])[0].tolist(), strict=True))
    return {"choices": [{"message": {"role": "assistant", "content": json.dumps(said)}}]}


def columns(body):
    found = scores(body["inputs"])
    return {"result": {name: found[:, i].tolist() for i, name in enumerate(NAMES)}}


def nested(body):
    return {"outputs": [{"scores": p.tolist()} for p in scores(body["inputs"])]}


def logits(body):
    return {"answer": {"logits": np.log(scores(body["inputs"])).tolist()}}


KINDS = {
    "torchserve": torchserve,
    "chat": chat,
    "columns": columns,
    "nested": nested,
    "logits": logits,
}


class Handler(BaseHTTPRequestHandler):
    under_way, most, sizes = 0, 0, []
    lock = threading.Lock()
    all_here = threading.Event()

    def do_POST(self):
        with Handler.lock:
            Handler.under_way += 1
            Handler.most = max(Handler.most, Handler.under_way)
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.startswith("/together"):
            Handler.all_here.wait(0.5)
        found = KINDS[self.path.rsplit("/", 1)[1]](body)
        Handler.sizes.append(len(body.get("inputs", body.get("data", [0]))))
        content = json.dumps(found).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        with Handler.lock:
            Handler.under_way -= 1

    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def url():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


CHAT = (
    '{"model": "m", "messages": [{"role": "system", "content": "Answer in JSON."}, '
    '{"role": "user", "content": "Classify {row}"}]}'
)


@pytest.mark.parametrize(
    ("kind", "request_", "answer", "named"),
    [
        ("torchserve", '{"data": {rows}}', "$", True),
        ("chat", CHAT, "choices[0].message.content", True),
        ("columns", '{"inputs": {rows}}', "result", True),
        ("nested", '{"inputs": {rows}, "parameters": {"all": true}}', "outputs[*].scores", False),
        ("logits", '{"inputs": {rows}}', "answer", False),
    ],
)
@pytest.mark.parametrize("concurrency", [1, 3])
def test_formats_of_servers(url, kind, request_, answer, named, concurrency):
    model = fa.as_classifier(
        f"{url}/{kind}",
        classes=None if named else NAMES.tolist(),
        request=request_,
        answer=answer,
        batch_size=16,
        concurrency=concurrency,
    )
    found = model.predict_proba(X[:50])
    by_name = found[:, [model.classes.index(name) for name in NAMES]]
    np.testing.assert_allclose(by_name, P[:50], atol=1e-12)
    assert model.queries == 50


@pytest.mark.slow
def test_requests_are_no_larger_than_the_batch_and_run_side_by_side(url):
    Handler.sizes.clear()
    Handler.most = 0
    model = fa.as_classifier(
        f"{url}/together/nested",
        request='{"inputs": {rows}}',
        answer="outputs[*].scores",
        batch_size=7,
        concurrency=4,
    )
    np.testing.assert_allclose(model.predict_proba(X), P, atol=1e-12)
    assert max(Handler.sizes) == 7
    assert sum(Handler.sizes) == len(X)
    assert 2 <= Handler.most <= 4


def test_what_is_not_at_the_path_is_said(url):
    model = fa.as_classifier(f"{url}/nested", request='{"inputs": {rows}}', answer="scores")
    with pytest.raises(ModelError, match=r"must have 'scores' at \$. Got the keys 'outputs'"):
        model.predict_proba(X[:2])


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        ('{"inputs": rows}', "a"),
        ('{"inputs": []}', "a"),
        ('{"a": {rows}, "b": {row}}', "a"),
        ('{"inputs": {rows}}', "a[b]"),
        ('{"inputs": {rows}}', "a["),
    ],
)
def test_templates_are_checked_before_anything_is_sent(request_, answer):
    with pytest.raises(ParameterError):
        Template(request_, answer)


def test_from_init_to_run_with_a_server_of_its_own_format(url, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("test.npz", X=X, y=NAMES[Y])
    words = ["init", "--model", f"{url}/columns", "--data", "test.npz"]
    words += ["--request", '{"inputs": {rows}}', "--answer", "result"]
    started = CliRunner().invoke(app, words)
    assert started.exit_code == 0, started.output
    assert "the order of the classes is verified" in started.output
    text = (tmp_path / "fireassay.toml").read_text()
    assert "[model.http]" in text
    assert 'answer = "result"' in text
    done = CliRunner().invoke(app, ["run", "--only", "accuracy"])
    assert done.exit_code == 0, done.output
    found = json.loads((tmp_path / "fireassay-run" / "result.json").read_text())
    accuracy = found["parts"]["accuracy"]["estimates"]["accuracy"]["value"]
    assert accuracy == pytest.approx(MODEL.score(X, NAMES[Y]))
