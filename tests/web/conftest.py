import http.client
import re
import socket
import threading
import time
import urllib.parse

import numpy as np
import pytest

from fireassay.web.queue import write_queue

pytest.importorskip("fastapi", reason="the app needs the extra 'web'")
uvicorn = pytest.importorskip("uvicorn", reason="the app needs the extra 'web'")


def digit_queue(folder, n=30, name="digits", **settings):
    """A queue of small pictures with known predictions and confidences."""
    rng = np.random.default_rng(0)
    given = {
        "classes": ["cat", "dog", "owl"],
        "predicted": [["cat", "dog", "owl"][i % 3] for i in range(n)],
        "confidence": rng.uniform(0.7, 0.99, n),
        "search": "adversarial-distance",
    }
    return write_queue(folder, rng.random((n, 8, 8)), name=name, **{**given, **settings})


class Client:
    """A browser without a screen: keeps cookies, sends forms with their tokens."""

    def __init__(self, port):
        self.port = port
        self.cookies = {}
        self.csrf = ""

    def request(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            sent = {"host": f"127.0.0.1:{self.port}", **(headers or {})}
            if self.cookies:
                sent["cookie"] = "; ".join(f"{k}={v}" for k, v in self.cookies.items())
            sent = {key: value for key, value in sent.items() if value is not None}
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            answer.text = answer.read().decode("utf-8", "replace")
            for header in answer.headers.get_all("set-cookie") or ():
                key, _, value = header.split(";")[0].partition("=")
                self.cookies[key] = value
            found = re.search(r'name="csrf" content="([^"]+)"', answer.text)
            self.csrf = found.group(1) if found else self.csrf
            return answer
        finally:
            connection.close()

    def get(self, path, **headers):
        return self.request("GET", path, headers=headers)

    def post(self, path, fields=(), headers=None, csrf=True):
        form = dict(fields)
        if csrf:
            form["csrf"] = self.csrf
        kind = {"content-type": "application/x-www-form-urlencoded", **(headers or {})}
        return self.request("POST", path, urllib.parse.urlencode(form), kind)

    def sign_in(self, name):
        self.get("/")
        assert self.post("/annotator", {"name": name}).status == 303
        return self


class Running:
    """The real app in a thread, on a free port."""

    def __init__(self, folders, **access):
        from fireassay.web.security import Access
        from fireassay.web.server import create_app

        self.socket = socket.socket()
        self.socket.bind(("127.0.0.1", 0))
        self.socket.listen(128)
        self.port = self.socket.getsockname()[1]
        access = Access(access.pop("host", "127.0.0.1"), self.port, **access)
        self.app = create_app(folders, access)
        config = uvicorn.Config(
            self.app, log_level="error", timeout_graceful_shutdown=1, ws="none", lifespan="on"
        )
        self.server = uvicorn.Server(config)
        run = lambda: self.server.run(sockets=[self.socket])  # noqa: E731
        self.thread = threading.Thread(target=run, daemon=True)
        self.thread.start()
        deadline = time.monotonic() + 20
        while not self.server.started and time.monotonic() < deadline:
            time.sleep(0.01)

    def client(self):
        return Client(self.port)

    def queue(self, name):
        return next(
            key
            for key, opened in self.app.state.workspace.queues().items()
            if opened.queue.name == name
        )

    def stop(self):
        self.server.should_exit = True
        self.thread.join(20)
        self.socket.close()


@pytest.fixture
def start():
    started = []

    def starting(folders, **access):
        started.append(Running(folders, **access))
        return started[-1]

    yield starting
    for running in started:
        running.stop()


@pytest.fixture
def make_queue():
    return digit_queue


def sure_of_the_first(X):
    """Two classes by the first number of a row: its own probability."""
    p = np.clip(np.asarray(X, dtype=float).reshape(len(X), -1)[:, 0], 0.01, 0.99)
    return np.column_stack([1 - p, p])


@pytest.fixture(scope="session")
def make_run():
    """A real run of one part on rows of any kind, with its table of samples."""
    from fireassay.assessment.context import Context
    from fireassay.assessment.parts.table import settings_models
    from fireassay.assessment.run.judging import Judge
    from fireassay.assessment.run.loop import Run
    from fireassay.classifiers import as_classifier
    from fireassay.data import DataSet
    from fireassay.engine import Executor, RunStore
    from fireassay.report.gates import parse_gates

    def making(folder, X, y, *, model=sure_of_the_first, gates=None, samples=True, **more):
        with RunStore(folder) as store:
            context = Context(
                as_classifier(model, classes=tuple(sorted(set(y))), bounds=(0.0, 1.0)),
                DataSet(X, y, **more),
                executor=Executor(store=store, progress=False),
            )
            settings = {name: kind() for name, kind in settings_models().items()}
            judge = Judge(parse_gates(gates or {}))
            Run(context, ("accuracy",), settings, judge=judge, samples=samples).go()
        return folder

    return making


@pytest.fixture(scope="session")
def small_rows():
    """Rows of a table, their labels and a slice."""
    rng = np.random.default_rng(3)
    X = rng.random((150, 3))
    y = np.where(rng.random(150) < X[:, 0], "dog", "cat")
    return X, y, {"site": np.array(["north", "south", "west"])[np.arange(150) % 3]}


@pytest.fixture
def page_of(browser):
    """A fresh browser per person; any script error or blocked script fails the test."""
    contexts, problems = [], []

    def opening(**settings):
        contexts.append(browser.new_context(**settings))
        page = contexts[-1].new_page()
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialog: problems.append(f"dialog {dialog.message}"))
        page.on("console", lambda m: problems.append(m.text) if "Security Policy" in m.text else 0)
        return page

    yield opening
    for context in contexts:
        context.close()
    assert not problems
