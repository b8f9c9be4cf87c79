"""Limits fixed before the number is seen, and limits that move afterwards, through the commands."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from fireassay.cli.main import app

TOML = """
[model]
path = "guess:model"
classes = [0, 1]
[data]
test = "test.npz"
[run]
parts = ["accuracy"]
[gates.max]
"accuracy.error" = {limit}
"""
MODEL = """
import numpy as np
def model(X):
    p = 1 / (1 + np.exp(-8 * X[:, 0]))
    return np.column_stack([1 - p, p])
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = ((X[:, 0] + 0.1 * rng.normal(size=400)) > 0).astype(int)
    np.savez(tmp_path / "test.npz", X=X, y=y)
    (tmp_path / "guess.py").write_text(MODEL)
    (tmp_path / "fireassay.toml").write_text(TOML.format(limit=0.2))
    return tmp_path


def call(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def run():
    return call("run", "--trust", "--quiet")


def state(*words):
    said = call("check", "fireassay-run", "--json", *words)
    found = json.loads(said.stdout)
    return found["lock_state"], said.exit_code


def test_a_protocol_before_the_run_locks_its_limits(project):
    assert call("lock").exit_code == 0
    run()
    assert state() == ("locked", 0)
    assert state("--require-lock") == ("locked", 0)
    assert "Limits locked on" in (project / "fireassay-run" / "report.html").read_text()


def test_a_run_without_a_protocol_is_a_first_look(project):
    run()
    assert state() == ("first look", 0)
    assert state("--require-lock") == ("first look", 3)


def test_a_protocol_after_the_run_locks_nothing(project):
    run()
    call("lock")
    assert state()[0] == "first look"


@pytest.mark.slow
def test_six_limits_in_a_row_end_in_no_plain_pass(project):
    run()
    for limit in (0.001, 0.002, 0.01, 0.05, 0.1):
        call("check", "fireassay-run", "--max", f"error={limit}")
    said = call("check", "fireassay-run", "--max", "error=0.3")
    assert said.exit_code == 0
    assert "Exploratory" in said.output
    assert "7 limits tried" in said.output  # the configured one, and six


def test_a_limit_that_moves_in_the_configuration_breaks_the_protocol(project):
    call("lock")
    run()
    (project / "fireassay.toml").write_text(TOML.format(limit=0.4))
    assert state()[0] == "broken"
    assert state("--require-lock") == ("broken", 3)


def test_other_rows_break_the_protocol(project):
    call("lock")
    run()
    kept = np.load(project / "test.npz")
    np.savez(project / "test.npz", X=kept["X"][:300], y=kept["y"][:300])
    run()
    assert state()[0] == "broken"


@pytest.mark.slow
def test_rows_that_left_the_file_since_the_last_look_are_named(project):
    run()
    kept = np.load(project / "test.npz")
    X, y = kept["X"], kept["y"]
    wrong = np.flatnonzero((X[:, 0] > 0) != y)
    left = np.setdiff1d(np.arange(400), wrong)
    np.savez(project / "test.npz", X=X[left], y=y[left])
    for _ in range(2):  # the same command again does not take it back
        run()
        said = call("check", "fireassay-run")
        told = f"{len(wrong)} rows fewer than at the last look, all of them wrong then."
        assert told in " ".join(said.output.split())
        assert state()[0] == "exploratory"


@pytest.mark.slow
def test_an_amended_protocol_keeps_the_old_one(project):
    call("lock")
    assert call("lock").exit_code == 2
    assert call("lock", "--amend", "--reason", "the board asked").exit_code == 0
    run()
    assert state() == ("locked", 0)
    assert "amended 1 time" in call("check", "fireassay-run").output


@pytest.mark.slow
def test_several_runs_are_one_table_one_file_and_one_exit_code(project):
    run()
    call("run", "--trust", "--quiet", "--output", project / "second")
    said = call("check", "fireassay-run", "second", "--junit", "all.xml", "--summary", "all.md")
    assert said.exit_code == 0
    assert "2 of 2 runs pass." in said.output
    assert (project / "all.xml").read_text().count("<testsuite ") == 2
    assert (project / "all.md").read_text().count("## ") == 2
    assert call("check", "fireassay-run", "second", "--max", "error=0.000001").exit_code == 1


@pytest.mark.slow
def test_the_steps_of_the_action_run_as_they_are_written(project):
    import os
    import subprocess
    import sys
    from pathlib import Path

    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    run()  # the code beside the configuration is trusted from now on
    steps = yaml.safe_load((Path(__file__).parents[2] / "action.yml").read_text())["runs"]["steps"]
    scripts = {step["name"]: step["run"] for step in steps}
    path = f"{project / 'bin'}:{os.environ['PATH']}"
    (project / "bin").mkdir()
    command = project / "bin" / "fireassay"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m fireassay "$@"\n')
    command.chmod(0o755)
    given = {"CONFIG": "fireassay.toml", "PREDICTIONS": "", "ARGUMENTS": ""}
    given |= {"GITHUB_OUTPUT": "output", "GITHUB_STEP_SUMMARY": "summary"}
    for name in ("Run", "Check"):
        script = ["bash", "-e", "-c", scripts[name]]
        done = subprocess.run(
            script,
            env={**os.environ, "PATH": path, **given},
            cwd=project,
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
    assert (project / "output").read_text() == "verdict=pass\n"
    assert (
        "Accuracy" in (project / "summary").read_text()
        or "Error" in (project / "summary").read_text()
    )
