"""A run with nothing left to do loads nothing; whatever has changed is seen."""

import sqlite3
import subprocess
import sys

import numpy as np
import pytest

from fireassay.assessment import read_config, run_assessment
from fireassay.assessment.run import start

pytestmark = pytest.mark.extras
onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

TOML = """
[model]
path = "m.onnx"
classes = [0, 1]
[data]
test = "test.npz"
[run]
parts = ["accuracy", "curation"]
folder = "run"
[gates.max]
"accuracy.error" = 0.4
"""


LOADED = """
import sys
from fireassay.cli.main import app
try:
    app(["run"])
except SystemExit as stopped:
    assert not stopped.code, stopped.code
print([name for name in {names!r} if name in sys.modules])
"""


def onnx_file(path, sign=1.0):
    helper, floats = onnx.helper, onnx.TensorProto.FLOAT
    weights = np.array([[-4.0, 4.0], [0.0, 0.0]], dtype=np.float32) * np.float32(sign)
    graph = helper.make_graph(
        [
            helper.make_node("MatMul", ["rows", "W"], ["scores"]),
            helper.make_node("Softmax", ["scores"], ["answer"], axis=1),
        ],
        "small",
        [helper.make_tensor_value_info("rows", floats, [None, 2])],
        [helper.make_tensor_value_info("answer", floats, [None, 2])],
        [onnx.numpy_helper.from_array(weights, "W")],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.write_bytes(made.SerializeToString())


def rows(path, n=60):
    X = np.random.default_rng(n).normal(size=(n, 2)).astype(np.float32)
    np.savez(path, X=X, y=(X[:, 0] + X[:, 1] / 3 > 0).astype(int))


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("done")
    onnx_file(folder / "m.onnx")
    rows(folder / "test.npz")
    (folder / "fireassay.toml").write_text(TOML)
    return folder, run(folder)


def run(folder, **options):
    said = []
    outcome = run_assessment(read_config(folder / "fireassay.toml"), say=said.append, **options)
    return outcome, said


@pytest.fixture
def nothing_loaded(monkeypatch):
    def load(*_, **__):
        raise AssertionError("loaded")

    monkeypatch.setattr(start, "load_context", load)


def test_a_second_run_gives_the_same_without_loading_anything(done, nothing_loaded):
    folder, (first, said) = done
    again, said_again = run(folder)
    assert said_again == said
    assert again.report.document() == first.report.document()
    assert (again.verdict.status, again.exit_code) == (first.verdict.status, first.exit_code)
    assert again.costs == first.costs


def test_a_second_run_loads_neither_parts_nor_what_they_need(done):
    folder, _ = done
    names = [
        *("onnxruntime", "pandas", "scipy", "networkx", "torch", "sklearn", "pyarrow"),
        *("fireassay.assessment.parts.troubles", "fireassay.assessment.parts.field_draws"),
        *("fireassay.reliability.assess", "fireassay.discovery.search"),
        *("fireassay.curation.curate", "fireassay.supervision.registry"),
        *("fireassay.attacks.registry", "fireassay.survival.observe"),
    ]
    again = subprocess.run(
        [sys.executable, "-c", LOADED.format(names=names)],
        cwd=folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "limit" in again.stdout
    assert again.stdout.splitlines()[-1] == "[]"


CHANGES = {
    "rows": lambda folder: rows(folder / "test.npz", 80),
    "model": lambda folder: onnx_file(folder / "m.onnx", 2.0),
    "settings": lambda folder: _add(folder, "[accuracy]\nconfidence = 0.99\n"),
    "a limit": lambda folder: _add(folder, '[gates.min]\n"accuracy.accuracy" = 0.1\n'),
    "result": lambda folder: _end(folder / "run" / "result.json", " "),
    "no page": lambda folder: (folder / "run" / "report.html").unlink(),
    "labels": lambda folder: sqlite3.connect(folder / "run" / "labels.sqlite").execute(
        "CREATE TABLE t (a)"
    ),
    "damage": lambda folder: _damage(folder / "run"),
}


def _add(folder, text):
    _end(folder / "fireassay.toml", text)


def _end(path, text):
    path.write_text(path.read_text() + text)


def _damage(run):
    with sqlite3.connect(run / "run.sqlite") as journal:
        changed = journal.execute("UPDATE tasks SET checksum = 'x' WHERE status = 'done'")
        assert changed.rowcount


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_has_changed_is_seen(done, nothing_loaded, tmp_path, change):
    import shutil

    folder = tmp_path / "project"
    shutil.copytree(done[0], folder)
    run(folder)
    CHANGES[change](folder)
    with pytest.raises(AssertionError, match="loaded"):
        run(folder)


@pytest.mark.parametrize(
    "options", [{"only": ["accuracy"]}, {"seed": 1}, {"max_queries": 5}, {"samples": False}]
)
def test_other_questions_are_asked(done, nothing_loaded, options):
    with pytest.raises(AssertionError, match="loaded"):
        run(done[0], **options)
