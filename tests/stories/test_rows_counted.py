"""What a run reports as delivered is what the model received, counted by the model itself."""

import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from fireassay.assessment import read_config, run_assessment

RUNS = int(os.environ.get("FIREASSAY_RUNS", "9"))
PARTS = ("accuracy", "reliability", "discovery", "survival", "supervision")
MODEL = """
import os
import numpy as np
from pathlib import Path
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

FILE = Path(__file__).with_name("received")
def count(rows):
    with open(FILE, "ab", buffering=0) as file:
        file.write(b"%d\\n" % len(rows))

def function(X):
    count(X)
    p = 1 / (1 + np.exp(5 * (1 - X[:, 0] - X[:, 1])))
    return np.column_stack([1 - p, p])

class Counts:
    def predict_proba(self, X):
        count(X)
        return super().predict_proba(X)

class Line(Counts, LogisticRegression): pass
class Tree(Counts, DecisionTreeClassifier): pass
class Network(Counts, MLPClassifier): pass

def __getattr__(name):
    kinds = {"line": Line(), "tree": Tree(max_depth=4), "network": Network((4,), max_iter=20)}
    if name not in kinds:
        raise AttributeError(name)
    with np.load(Path(__file__).with_name("train.npz")) as data:
        return kinds[name].fit(data["X"], data["y"])
"""


class Server(ThreadingHTTPServer):
    """Counts the rows that it receives; every so often it is busy, after it has taken them."""

    daemon_threads = True

    def __init__(self, busy: float, seed: int) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.received, self.busy = 0, busy
        self.rng, self.counting = np.random.default_rng(seed), threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        rows = np.array(json.loads(body)["instances"], dtype=float)
        server: Server = self.server  # type: ignore[assignment]
        with server.counting:
            server.received += len(rows)
            busy = server.rng.random() < server.busy
        p = 1 / (1 + np.exp(5 * (1 - rows[:, 0] - rows[:, 1])))
        answer = json.dumps({"predictions": np.column_stack([1 - p, p]).tolist()}).encode()
        self.send_response(503 if busy else 200)
        self.send_header("Retry-After", "0")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def rows_of(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    X = rng.random((n, 4))
    return {"X": X, "y": (X[:, 0] + X[:, 1] + 0.2 * rng.normal(size=n) > 1).astype(int)}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(RUNS))
def test_rows_received_are_rows_reported(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(seed)
    for name, n in (("test", rng.integers(20, 300)), ("train", 120), ("field", 90)):
        np.savez(tmp_path / f"{name}.npz", **rows_of(rng, n))
    module = f"counting_{seed}_{tmp_path.name}"
    (tmp_path / f"{module}.py").write_text(MODEL)
    monkeypatch.syspath_prepend(str(tmp_path))
    kind = ("function", "server", "line", "tree", "network")[seed % 5]
    server = Server(rng.choice([0.0, 0.05]), seed) if kind == "server" else None
    path = f"{module}:{kind}"
    if server is not None:
        path = f"http://127.0.0.1:{server.server_address[1]}/"
    chosen = [part for part in PARTS if rng.random() < 0.5] or ["accuracy"]
    (tmp_path / "fireassay.toml").write_text(
        f"""[model]
path = "{path}"
[data]
test = "test.npz"
{'train = "train.npz"' if rng.random() < 0.7 else ""}
{'operational = "field.npz"' if rng.random() < 0.5 else ""}
[run]
parts = {json.dumps(chosen)}
[survival]
samples = {rng.integers(10, 14)}
budget = {rng.integers(10, 30)}
[discovery]
pool = 20
max_queries = 12
budget = 5
[supervision]
samples = 59
"""
    )
    config = read_config(tmp_path / "fireassay.toml")
    most = int(rng.integers(10, 900)) if rng.random() < 0.5 else None
    workers = 2 if most is None and rng.random() < 0.1 else 1
    for _ in range(2):  # the second start goes on, or has nothing to do
        run_assessment(
            config, trust=True, max_queries=most, workers=workers, accept_below_baseline=True
        )
    costs = json.loads((tmp_path / config.run.folder / "costs.json").read_text())
    reported = sum(cost["actual"]["delivered"] for cost in costs.values())
    file = tmp_path / "received"
    received = sum(map(int, file.read_text().split())) if file.exists() else 0
    if server is not None:
        received = server.received
        server.shutdown()
        server.server_close()
    assert reported == received > 0
    assert most is None or received <= most
