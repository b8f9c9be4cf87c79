"""No number passes that was made from something else than what is assessed now."""

import json
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from fireassay.cli.main import app

TOML = """
[model]
path = "thresholds:model"
classes = [0, 1]
[data]
test = "test.npz"
[run]
parts = ["accuracy"]
[gates.max]
"accuracy.error" = 0.2
[accuracy]
confidence = 0.95
"""
GOOD = """
import numpy as np
def model(X):
    return np.column_stack([X[:, 0] <= 0.5, X[:, 0] > 0.5]).astype(float)
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A model that is right on all rows, assessed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    write_rows(tmp_path)
    (tmp_path / "thresholds.py").write_text(GOOD)
    (tmp_path / "fireassay.toml").write_text(TOML)
    assert call(tmp_path, "run").exit_code == 0
    assert call(tmp_path, "check").exit_code == 0
    return tmp_path


def write_rows(folder, seed=0):
    X = np.random.default_rng(seed).random((200, 2))
    np.savez(folder / "test.npz", X=X, y=(X[:, 0] > 0.5).astype(int))


def call(folder, command, *arguments, run="fireassay-run"):
    given = ["--trust"] if command == "run" else [run]
    sys.modules.pop("thresholds", None)
    return CliRunner().invoke(app, [command, *given, *arguments])


def ends_badly(how):
    return f"import os, signal, sys\ndef model(X):\n    {how}\n"


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_a_changed_model_whose_run_is_killed_does_not_pass(project):
    (project / "thresholds.py").write_text(ends_badly("os.kill(os.getpid(), signal.SIGKILL)"))
    command = [sys.executable, "-m", "fireassay", "run", "--trust"]
    assert subprocess.run(command, cwd=project, check=False).returncode == -9
    checked = call(project, "check")
    assert checked.exit_code == 3, checked.stdout
    assert "made from another model" in checked.stdout
    assert "has not come to its end" in checked.stdout
    # The model comes back as it was, but nobody has finished a run since.
    (project / "thresholds.py").write_text(GOOD)
    assert call(project, "check").exit_code == 3
    assert call(project, "run").exit_code == 0
    assert call(project, "check").exit_code == 0


@pytest.mark.parametrize("how", ["sys.exit(0)", "raise KeyboardInterrupt"])
def test_a_model_that_ends_the_program_is_not_the_end_of_a_run(project, how):
    (project / "thresholds.py").write_text(ends_badly(how))
    assert call(project, "run").exit_code not in (0, None)
    checked = call(project, "check")
    assert checked.exit_code == 3
    assert "has not come to its end" in checked.stdout


def test_a_run_that_breaks_while_loading_leaves_its_mark(project):
    (project / "thresholds.py").write_text("raise ImportError('gone')")
    assert call(project, "run").exit_code != 0
    (project / "thresholds.py").write_text(GOOD)
    checked = call(project, "check")
    assert checked.exit_code == 3
    assert "has not come to its end" in checked.stdout


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda p: (p / "thresholds.py").write_text(GOOD + "# new"), "another model"),
        (lambda p: write_rows(p, seed=1), "other test rows"),
        (lambda p: (p / "test.npz").unlink(), "other test rows"),
        (lambda p: (p / "fireassay.toml").write_text(TOML.replace("0.95", "0.9")), "settings"),
        (lambda p: (p / "fireassay.toml").write_text(TOML + "[reliability]\n"), None),
    ],
)
def test_what_has_changed_since_the_run_is_said(project, change, words):
    change(project)
    for command in ("check", "report"):
        done = call(project, command)
        assert done.exit_code == (0 if words is None else 3), done.stdout
        assert words is None or words in done.stdout
        told = json.loads(call(project, command, "--json").stdout)["reservations"]
        assert told.keys() == (set() if words is None else {"accuracy"})
    page = (project / "fireassay-run" / "report.html").read_text()
    assert ("Stale: made with" in page) == (words is not None)


def test_limits_are_those_of_the_configuration_now(project):
    (project / "fireassay.toml").write_text(TOML.replace("= 0.2", "= 0.001"))
    assert call(project, "check").exit_code == 3
    assert "0.1 %" in call(project, "check").stdout


def test_a_run_that_was_put_aside_is_compared_as_it_is(project):
    (project / "fireassay-run").rename(project / "first")
    write_rows(project, seed=1)
    assert call(project, "run").exit_code == 0
    assert call(project, "compare", "fireassay-run", run="first").exit_code == 0
    assert call(project, "check", run="first").exit_code == 0
    write_rows(project, seed=2)
    compared = call(project, "compare", "fireassay-run", run="first")
    assert compared.exit_code == 3
    assert "not now: fireassay-run, accuracy: made from other test rows" in compared.stdout
