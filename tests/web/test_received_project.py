"""A received project in the app: nothing in its folder runs when it is viewed, planned or run."""

import os
import re
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

pytest.importorskip("fastapi")
skops_io = pytest.importorskip("skops.io")
pytestmark = pytest.mark.extras

from fireassay.cli.loading import remember  # noqa: E402
from fireassay.web.run_process import started_process  # noqa: E402

OURS = {
    *("fireassay", "numpy", "scipy", "sklearn", "pandas", "joblib", "threadpoolctl", "networkx"),
    *("typer", "rich", "jinja2", "click", "markupsafe", "pydantic", "pydantic_core", "starlette"),
    *("fastapi", "uvicorn", "skops", "torch", "onnxruntime", "sitecustomize", "usercustomize"),
}
NAMES = sorted({*sys.stdlib_module_names, *OURS} - {"__main__", "__future__"})
TOML = """
[model]
path = "{model}"
classes = [0, 1]
bounds = [0.0, 1.0]
[data]
test = "test.npz"
[run]
parts = ["accuracy", "reliability"]
workers = 2
"""
OWN = """
import pathlib
import numpy as np
WEIGHT = float(pathlib.Path("weight.txt").read_text())
def model(X):
    return np.column_stack([1 - X[:, 0] * WEIGHT, X[:, 0] * WEIGHT])
"""


def write_project(folder, model):
    folder.mkdir(parents=True)
    X = np.random.default_rng(0).random((80, 2))
    y = (X[:, 0] > 0.5).astype(int)
    np.savez(folder / "test.npz", X=X, y=y)
    skops_io.dump(LogisticRegression().fit(X, y), folder / "model.skops")
    (folder / "fireassay.toml").write_text(TOML.format(model=model))
    return folder


def finished(client, key, run):
    """Plan and start a project as the buttons do; what it said when it has ended."""
    plan = client.post(f"/projects/{key}/plan", headers={"x-fragment": "plan"}).text
    planned = re.search(r'name="planned" value="(\w+)"', plan)
    assert planned, plan
    assert client.post(f"/projects/{key}/start", {"planned": planned[1]}).status == 303
    deadline = time.monotonic() + 120
    while started_process(run) is not None and time.monotonic() < deadline:
        time.sleep(0.1)
    assert started_process(run) is None
    assert (run / "result.json").exists(), (run / "run.log").read_text()


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Names of modules that ran, out of a project that holds a file of every name: by stage."""
    from .conftest import Running

    place = tmp_path_factory.mktemp("sent")
    folder = write_project(place / "served" / "mine", "model.skops")
    marks = place / "marks"
    marks.mkdir()
    for name in NAMES:
        line = f"open({str(marks / name)!r}, 'w').close()\n"
        (folder / f"{name}.py").write_text(line)
        (folder / "fireassay-run").mkdir(exist_ok=True)
    started = []
    sys.addaudithook(lambda event, args: started.append(event) if "Popen" in event else None)
    changed = {
        "FIREASSAY_SETTINGS": str(place / "settings"),
        "PYTHONPATH": os.pathsep.join(paths()),
    }
    before = {name: os.environ.get(name) for name in changed}
    os.environ.update(changed)
    app = Running([place / "served"])
    try:
        client = app.client()
        key = re.search(r"/projects/([0-9a-f]{12})", client.get("/").text)[1]
        assert client.get(f"/projects/{key}").status == 200
        viewed = {"names": {file.name for file in marks.iterdir()}, "processes": list(started)}
        finished(client, key, folder / "fireassay-run")
        return {"view": viewed["names"], "run": {file.name for file in marks.iterdir()}} | viewed
    finally:
        app.stop()
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def paths():
    """What this process imports from, and an empty entry, which is the folder of a process."""
    return ["", *(entry for entry in sys.path if entry.endswith("src"))]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_no_file_beside_a_received_configuration_is_imported(ran, name):
    assert name not in ran["view"]
    assert name not in ran["run"]


@pytest.mark.slow
def test_a_project_that_is_viewed_starts_no_process(ran):
    assert ran["processes"] == []


@pytest.mark.slow
def test_without_a_safe_path_the_files_would_have_run(tmp_path):
    """The test above can fail: the same files do run where Python is started as usual."""
    (tmp_path / "fireassay.py").write_text("print('taken over')")
    done = subprocess.run(
        [sys.executable, "-m", "fireassay"], cwd=tmp_path, capture_output=True, check=False
    )
    assert b"taken over" in done.stdout


@pytest.mark.slow
def test_trusted_code_finds_the_files_beside_it(tmp_path, monkeypatch, start):
    monkeypatch.setenv("FIREASSAY_SETTINGS", str(tmp_path / "settings"))
    folder = write_project(tmp_path / "served" / "mine", "own:model")
    (folder / "own.py").write_text(OWN)
    (folder / "weight.txt").write_text("0.9")
    client = start([tmp_path / "served"]).client()
    key = re.search(r"/projects/([0-9a-f]{12})", client.get("/").text)[1]
    asked = client.post(f"/projects/{key}/plan", headers={"x-fragment": "plan"}).text
    assert "--trust" in asked
    remember("own:model", folder, None)
    finished(client, key, folder / "fireassay-run")
