"""The tutorial, typed by hand: every command and every Python block of the page, in its order."""

import csv
import json
import os
import re
import subprocess
import sys
import threading
import warnings
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

pytestmark = [pytest.mark.slow, pytest.mark.extras]
PAGE = (Path(__file__).parents[2] / "docs" / "tutorial.md").read_text()
_FENCE = re.compile(r"^( *)```(\w+)\n(.*?)^\1```", re.M | re.S)
TABS = re.findall(r'^=== "(.+)"$', PAGE, re.M)
JUDGED = "Predictions in two minutes"
AFTER = [
    "2. See what it will cost", "3. Run it", "Labels from the field", "4. Read the report",
    "5. Keep it that way", "The same in Python",
]  # fmt: skip


def blocks(text):
    """Language and code of every block, without its indentation."""
    return [(kind, re.sub(rf"^{space}", "", code, flags=re.M))
            for space, kind, code in _FENCE.findall(text)]  # fmt: skip


def tab(name):
    return PAGE.split(f'=== "{name}"')[1].split("\n=== ")[0].split("\n`init` sends")[0]


def section(title):
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


@pytest.fixture(scope="module")
def names():
    """What a reader has: an estimator, a network, and rows that neither was trained on."""
    torch = pytest.importorskip("torch")
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 650)
    X = (rng.normal(size=(650, 4)) + 6 * np.eye(3, 4)[y]).astype(np.float32)
    estimator = LogisticRegression(max_iter=500).fit(X[:400], y[:400])
    linear = torch.nn.Linear(4, 3)
    with torch.no_grad():
        linear.weight.copy_(torch.tensor(estimator.coef_))
        linear.bias.copy_(torch.tensor(estimator.intercept_))
    return {
        "numpy": np, "torch": torch, "estimator": estimator, "module": linear,
        "X_train": X[:400], "y_train": y[:400], "X_test": X[400:550], "y_test": y[400:550],
        "images_in_0_1": X[400:550], "labels": y[400:550], "example_batch": torch.tensor(X[:8]),
        "field": X[550:],
    }  # fmt: skip


class Reader:
    """Somebody who types what stands on the page, in a folder of their own."""

    def __init__(self, folder, names, said=()):
        folder.mkdir(exist_ok=True)
        self.folder, self.names, self.said = folder, dict(names), dict(said)
        settings = {"FIREASSAY_SETTINGS": str(folder / "settings"), "BROWSER": "true"}
        self.environment = os.environ | settings

    def types(self, text, before=None):
        """Python blocks and commands, one after the other; returns what the commands printed."""
        printed = []
        for kind, code in blocks(text):
            if kind == "python":
                here = Path.cwd()
                os.chdir(self.folder)
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")  # of the exporter, as a reader sees it
                        exec(compile(code, "tutorial", "exec"), self.names)
                finally:
                    os.chdir(here)
            elif kind == "sh":
                for line in code.splitlines():
                    if before is not None:
                        before(line)
                    printed.append(self.command(line.split("#")[0].split()))
        return printed

    def command(self, words):
        words = [self.said.get(word, word) for word in words]
        assert words[0] == "fireassay"
        done = subprocess.run(
            [sys.executable, "-m", *words], cwd=self.folder, env=self.environment,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout


@pytest.fixture(scope="module")
def reader(tmp_path_factory, names):
    """After the first tab: a model file, rows, and a fireassay.toml."""
    found = Reader(tmp_path_factory.mktemp("tutorial"), names)
    found.types(tab("scikit-learn"))
    return found


def test_nothing_on_the_page_is_left_out():
    first = PAGE.split("\n## 2.")[0]
    told = blocks(section(JUDGED)) + [block for name in TABS for block in blocks(tab(name))]
    assert told == blocks(first)
    assert TABS == ["scikit-learn", "torch", "ONNX", "an HTTP service", "any Python code"]
    assert re.findall(r"^## (.+)$", PAGE, re.M)[3:] == AFTER
    kinds = {kind for kind, _ in blocks(PAGE)}
    assert kinds == {"python", "sh", "text", "yaml"}


def test_predictions(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2000)
    p = np.where(rng.random(2000) < 0.98, 0.05 + 0.9 * y, 0.5)
    text = "".join(f"{a},{b:.2f}\n" for a, b in zip(y, p, strict=True))
    (tmp_path / "predictions.csv").write_text("y_true,y_prob\n" + text)
    (said,) = Reader(tmp_path, {}).types(section(JUDGED))
    assert "PASS" in said
    assert (tmp_path / "judged" / "report.html").is_file()


@pytest.mark.parametrize("name", ["scikit-learn", "torch", "ONNX", "any Python code"])
def test_a_tab(name, tmp_path, names):
    if name in ("torch", "ONNX"):
        pytest.importorskip("onnxscript")
    here = Reader(tmp_path / "here", names)
    if name == "ONNX":  # a model that gives probabilities, from somewhere else
        torch = names["torch"]
        whole = torch.nn.Sequential(names["module"], torch.nn.Softmax(dim=1))
        there = Reader(tmp_path / "here", names | {"module": whole})
        there.types(
            "\n".join(f"```python\n{c}```" for k, c in blocks(tab("torch")) if k == "python")
        )
    if name == "any Python code":
        package = here.folder / "my_package"
        package.mkdir()
        np.savez(
            package / "weights.npz", w=names["estimator"].coef_, b=names["estimator"].intercept_
        )
        (package / "__init__.py").touch()
        (package / "models.py").write_text(
            "from pathlib import Path\nimport numpy as np\n\n\ndef load():\n"
            "    kept = np.load(Path(__file__).parent / 'weights.npz')\n"
            "    def model(X):\n        e = np.exp(X @ kept['w'].T + kept['b'])\n"
            "        return e / e.sum(axis=1, keepdims=True)\n    return model\n"
        )
        np.savez(here.folder / "test.npz", X=names["X_test"], y=names["y_test"])
    (said,) = here.types(tab(name))
    assert "the order of the classes is verified" in said
    assert (here.folder / "fireassay.toml").is_file()


def test_the_tab_of_a_service(tmp_path, names):
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            rows = json.loads(self.rfile.read(int(self.headers["content-length"])))["instances"]
            found = names["estimator"].predict_proba(np.asarray(rows, dtype=float)).tolist()
            body = json.dumps({"predictions": found}).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    here = Reader(
        tmp_path / "here", names,
        {"http://127.0.0.1:8000/predict": f"http://127.0.0.1:{server.server_port}/predict"},
    )  # fmt: skip
    with open(here.folder / "test.csv", "w", newline="") as file:
        write = csv.writer(file)
        write.writerow([*"abcd", "diagnosis"])
        write.writerows([*row, label] for row, label in
                        zip(names["X_test"], names["y_test"], strict=True))  # fmt: skip
    try:
        (said,) = here.types(tab("an HTTP service"))
    finally:
        server.shutdown()
        server.server_close()
    assert "the order of the classes is verified" in said


def test_from_the_plan_to_the_check(reader):
    (plan,) = reader.types(section("2. See what it will cost"))
    assert "One query takes" in plan
    first, *more = reader.types(section("3. Run it"))
    assert "Right on" in first
    assert len(more) == 2
    reader.types(section("4. Read the report"))
    assert (reader.folder / "fireassay-run" / "report.html").is_file()
    (checked,) = reader.types(section("5. Keep it that way"))
    assert "PASS" in checked
    assert "<testsuite" in (reader.folder / "gates.xml").read_text()


def test_labels_from_the_field(reader, tmp_path, names):
    here = Reader(tmp_path / "here", names)
    for name in ("model.skops", "test.npz"):
        (here.folder / name).write_bytes((reader.folder / name).read_bytes())
    np.savez(here.folder / "field.npz", X=names["field"])
    assert "init … --operational field.npz" in section("Labels from the field")
    init = "fireassay init --model model.skops --data test.npz --operational field.npz"
    here.command(init.split())

    def somebody_labels(line):
        if "label add" in line:
            file = here.folder / "next.csv"
            with open(file, newline="") as opened:
                rows = list(csv.DictReader(opened))
            assert len(rows) == 50
            found = names["estimator"].predict(names["field"][[int(row["id"]) for row in rows]])
            for row, label in zip(rows, found, strict=True):
                row["label"] = label
            with open(file, "w", newline="") as opened:
                write = csv.DictWriter(opened, rows[0])
                write.writeheader()
                write.writerows(rows)

    *_, last = here.types(section("Labels from the field"), somebody_labels)
    result = json.loads((here.folder / "fireassay-run" / "result.json").read_text())
    assert "field_pmi_upper" in result["parts"]["reliability"]["estimates"]
    assert "reliability" in last


def test_the_same_in_python(tmp_path, names):
    here = Reader(tmp_path / "here", names)
    here.types(section("The same in Python"))
    assert here.names["report"].verdict({}).status == "no limits set"
    assert (here.folder / "report.html").is_file()
