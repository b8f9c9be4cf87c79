"""Runs that the app starts: only what lies in its folder, as planned, and they outlive the app."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pytest.importorskip("fastapi")
pytestmark = pytest.mark.extras

from fireassay.cli.loading import remember  # noqa: E402
from fireassay.core import Estimate, Evidence, Measure  # noqa: E402
from fireassay.engine.run_lock import RunLock  # noqa: E402
from fireassay.report import Report  # noqa: E402
from fireassay.web import run_process  # noqa: E402
from fireassay.web.projects import find_projects  # noqa: E402
from fireassay.web.run_process import (  # noqa: E402
    process_mark,
    run_status,
    started_process,
    stop_run,
)

TOML = """
[model]
path = "waits:model"
classes = ["a", "b"]
[data]
test = "test.csv"
[run]
parts = ["accuracy"]
folder = "{folder}"
"""
# Answers at once, except where a file says to wait: so a run can be caught in the middle.
MODEL = """
import os, pathlib, time
import numpy as np
HERE = pathlib.Path(__file__).parent
def model(X):
    (HERE / "environment.txt").write_text(os.environ.get("FIREASSAY_TOKEN", "none"))
    while (HERE / "wait").exists():
        time.sleep(0.05)
    p = np.clip(np.asarray(X, dtype=float)[:, 0], 0, 1)
    return np.column_stack([1 - p, p])
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project whose code the user has trusted, in settings of its own."""
    folder = tmp_path / "served" / "mine"
    folder.mkdir(parents=True)
    monkeypatch.setenv("FIREASSAY_SETTINGS", str(tmp_path / "settings"))
    (folder / "fireassay.toml").write_text(TOML.format(folder="out"))
    (folder / "waits.py").write_text(MODEL)
    x = np.random.default_rng(0).random(60)
    lines = [f"{v:.4f},{'b' if v > 0.4 else 'a'}" for v in x]
    (folder / "test.csv").write_text("x,label\n" + "\n".join(lines) + "\n")
    return folder


def wait_for(look, seconds=60):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = look()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError("it did not happen")


def test_only_what_lies_below_the_folder_is_offered(tmp_path, project):
    served = project.parent
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "fireassay.toml").write_text(TOML.format(folder="out"))
    (served / "link").symlink_to(tmp_path / "outside")
    (served / "other").mkdir()
    (served / "other" / "fireassay.toml").symlink_to(tmp_path / "outside" / "fireassay.toml")
    (served / "away").mkdir()
    (served / "away" / "fireassay.toml").write_text(TOML.format(folder="../../away"))
    (served / "broken").mkdir()
    (served / "broken" / "fireassay.toml").write_text("[model\n")
    found = {p.name: p.problem for p in find_projects([served]).values()}
    assert set(found) == {"mine", "away", "broken"}
    assert found["mine"] == ""
    assert "outside" in found["away"]
    assert "cannot be read" in found["broken"]


def test_what_has_not_been_planned_does_not_start(project, start):
    served = start([project.parent])
    client = served.client()
    home = client.get("/").text
    key = re.search(r"/projects/([0-9a-f]{12})", home).group(1)
    assert client.get(f"/projects/{key}").status == 200
    assert client.post(f"/projects/{key}/start", {"planned": ""}).status == 400
    assert client.post(f"/projects/{key}/start", {"planned": "0" * 64}).status == 400
    assert client.post(f"/projects/{key}/start", csrf=False).status == 403
    assert client.post("/projects/000000000000/start").status == 404
    assert not (project / "out").exists()


def test_a_folder_with_other_files_is_left_alone(project, start):
    served = start([project.parent])
    client = served.client()
    key = re.search(r"/projects/([0-9a-f]{12})", client.get("/").text).group(1)
    (project / "out").mkdir()
    (project / "out" / "thesis.txt").write_text("all of it")
    planned = find_projects([project.parent])[key].sha256
    answer = client.post(f"/projects/{key}/start", {"planned": planned})
    assert answer.status == 500
    assert "must be a run folder" in answer.text
    assert [file.name for file in (project / "out").iterdir()] == ["thesis.txt"]


def test_only_its_own_process_is_stopped(tmp_path):
    stranger = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        mark = process_mark(stranger.pid)
        assert mark is not None
        for told in (
            {"process": stranger.pid, "mark": "1"},
            {"process": stranger.pid},
            {"process": 1, "mark": process_mark(1)},
            {"process": "1", "mark": "1"},
        ):
            (tmp_path / "started.json").write_text(json.dumps(told))
            assert started_process(tmp_path) is None
            with pytest.raises(ValueError, match="Only a run that the app has started"):
                stop_run(tmp_path)
        (tmp_path / "started.json").write_text(json.dumps({"process": stranger.pid, "mark": mark}))
        assert started_process(tmp_path) == stranger.pid
    finally:
        stranger.kill()
        stranger.wait()
    assert started_process(tmp_path) is None


@pytest.mark.slow
def test_a_model_that_is_not_trusted_is_not_run(project, start):
    served = start([project.parent])
    client = served.client()
    key = re.search(r"/projects/([0-9a-f]{12})", client.get("/").text).group(1)
    page = client.post(f"/projects/{key}/plan", headers={"x-fragment": "plan"}).text
    assert "--trust" in page
    assert "Start the run" not in page
    assert not (project / "environment.txt").exists()


@pytest.mark.slow
def test_a_run_outlives_the_app_and_can_be_stopped_and_goes_on(project, start, monkeypatch):
    monkeypatch.setenv("FIREASSAY_TOKEN", "a secret of the app, 24 characters")
    remember("waits:model", project, None)
    first = start([project.parent])
    client = first.client()
    key = re.search(r"/projects/([0-9a-f]{12})", client.get("/").text).group(1)
    plan = client.post(f"/projects/{key}/plan", headers={"x-fragment": "plan"}).text
    assert re.search(r"accuracy</th><td class=\"n\" data-label=\"queries\">60<", plan)
    planned = re.search(r'name="planned" value="(\w+)"', plan).group(1)
    toml = (project / "fireassay.toml").read_text()
    (project / "fireassay.toml").write_text(toml + "# changed\n")
    assert client.post(f"/projects/{key}/start", {"planned": planned}).status == 400
    (project / "fireassay.toml").write_text(toml)
    (project / "wait").touch()
    assert client.post(f"/projects/{key}/start", {"planned": planned}).status == 303
    run = project / "out"
    wait_for(lambda: (run / "run.sqlite").exists())
    first.stop()
    number = started_process(run)
    assert number is not None
    second = start([project.parent])  # another app finds the run again
    client = second.client()
    home = client.get("/").text
    assert "running" in home
    key_of_run = next(iter(second.app.state.workspace.runs()))
    assert client.post(f"/projects/{key}/start", {"planned": planned}).status == 500
    assert client.post(f"/runs/{key_of_run}/stop", csrf=False).status == 403
    assert client.post(f"/runs/{key_of_run}/stop").status == 303
    wait_for(lambda: started_process(run) is None)
    assert not run_status(run).running
    assert "goes on" in "\n".join(run_status(run).log)
    assert (
        not (run / "result.json").exists()
        or "accuracy" not in json.loads((run / "result.json").read_text())["parts"]
    )
    (project / "wait").unlink()
    assert client.post(f"/projects/{key}/start", {"planned": planned}).status == 303
    wait_for(lambda: (run / "samples" / "samples.json").exists() and started_process(run) is None)
    assert "accuracy" in json.loads((run / "result.json").read_text())["parts"]
    assert (project / "environment.txt").read_text() == "none"
    assert not (run / "live.json").exists()


def share(value, low, high):
    return Estimate(value, low, high, 0.95, 400, "Clopper-Pearson")


def test_the_list_shows_verdicts_and_only_a_pass_is_green(tmp_path, start):
    measure = Measure("accuracy", "Right", "share", "high", "How often.")
    for name, limit in (("good", 0.5), ("bad", 0.99), ("open", 0.9), ("none", None)):
        folder = tmp_path / name
        folder.mkdir()
        part = Evidence(
            "accuracy", "90 %", estimates={"accuracy": share(0.9, 0.85, 0.94)},
            measures=(measure,), answer="accuracy", sentence="Right on 90 %.",
        )  # fmt: skip
        Report([part], name).to_json(folder / "result.json")
        gates = {"max": {}, "min": {} if limit is None else {"accuracy.accuracy": limit}}
        (folder / "gates.json").write_text(json.dumps(gates))
    page = start([tmp_path]).client().get("/").text
    rows = {
        re.search(r"/(\w+)</a>", row).group(1): row
        for row in re.findall(r"<tr data-run.*?</tr>", page, re.DOTALL)
    }
    assert "✓ pass" in rows["good"]
    assert "✗ fail" in rows["bad"]
    assert "? not enough evidence" in rows["open"]
    assert "○ no limits set" in rows["none"]
    for name, row in rows.items():
        assert ("good" in re.findall(r'class="(?:tag|mark) (\w+)"', row)) == (name == "good")
        assert re.search(r"90(\.\d)?\s%", row)
        assert "<svg" in row


def test_a_zombie_and_a_dead_process_are_not_running(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)  # dead, and nobody has asked yet
    (tmp_path / "run.lock").write_text(str(ended.pid))
    assert not run_status(tmp_path).running
    ended.wait()
    holding = (
        "import sys, time; from pathlib import Path; from fireassay.engine.run_lock import RunLock;"
        "held = RunLock(Path(sys.argv[1])); print('held', flush=True); time.sleep(60)"
    )
    program = [sys.executable, "-c", holding, str(tmp_path / "run.lock")]
    with subprocess.Popen(program, stdout=subprocess.PIPE) as alive:
        assert alive.stdout.readline() == b"held\n"
        assert run_status(tmp_path).running
        os.kill(alive.pid, signal.SIGKILL)
    assert not run_status(tmp_path).running


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc which files are open")
def test_a_number_that_a_killed_run_left_is_not_a_run_once_another_process_has_it(tmp_path):
    lock = tmp_path / "run.lock"
    lock.write_text(str(os.getppid()))  # a process, but none that writes here
    assert run_process.lock_owner(tmp_path) is None
    held = RunLock(lock)
    assert run_process.lock_owner(tmp_path) == os.getpid()
    held.release()
    assert run_process.lock_owner(tmp_path) is None


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pipe with a name")
@pytest.mark.timeout(60)
def test_pipes_and_links_in_a_received_folder_are_not_read(tmp_path):
    for name in ("started.json", "live.json", "run.lock", "run.log"):
        os.mkfifo(tmp_path / name)
    assert run_process.started_process(tmp_path) is None
    assert run_process.live_of(tmp_path) == run_process.Live()
    assert run_process.lock_owner(tmp_path) is None
    assert run_process.log_tail(tmp_path) == []
    (tmp_path / "run.log").unlink()
    (tmp_path / "run.log").symlink_to("/etc/hostname")
    assert run_process.log_tail(tmp_path) == []


def test_a_process_that_has_ended_is_forgotten_so_that_its_number_can_be_another_ones():
    ended = subprocess.Popen([sys.executable, "-c", ""])
    run_process._children[ended.pid] = ended
    run_process._see_off(ended)
    assert ended.pid not in run_process._children
