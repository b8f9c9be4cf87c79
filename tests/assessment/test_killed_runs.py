"""A full run, killed three times, gives the bytes of a run that nobody disturbed."""

import sqlite3
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.datasets import load_digits

from fireassay.assessment import initialise
from fireassay.assessment.parts.table import PARTS

MODEL = """
import numpy as np
from sklearn.linear_model import LogisticRegression
d = np.load("train.npz")
model = LogisticRegression(max_iter=300).fit(d["X"], d["y"])
"""
SMALLER = """
[ambiguity]
samples = 60
[supervision]
samples = 60
supervisors = ["max-softmax", "softmax-entropy", "pcs"]
[discovery]
budget = 20
drawn = 20
pool = 60
max_queries = 60
[survival]
samples = 60
budget = 60
"""


@pytest.fixture
def project(tmp_path):
    """Three digits, a linear model, and rules that vote on field rows: all parts can run."""
    X, y = load_digits(n_class=3, return_X_y=True)
    X = X / 16
    rng = np.random.default_rng(0)
    order = rng.permutation(len(X))
    for name, rows in (("train", order[:200]), ("test", order[200:400]), ("field", order[400:])):
        np.savez(tmp_path / f"{name}.npz", X=X[rows], y=y[rows])
    field = y[order[400:]]
    votes = np.where(rng.random((len(field), 6)) < 0.8, field[:, None], -1)
    np.save(tmp_path / "votes.npy", votes)
    (tmp_path / "three_digits.py").write_text(MODEL)
    return tmp_path


def journalled(run):
    """Finished tasks, read without disturbing the writer."""
    if not (run / "run.sqlite").exists():
        return 0
    with sqlite3.connect(f"file:{run / 'run.sqlite'}?mode=ro", uri=True) as journal:
        try:
            return journal.execute("SELECT count(*) FROM tasks WHERE status='done'").fetchone()[0]
        except sqlite3.OperationalError:  # being created at this very moment
            return 0


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_killed_at_three_points_a_run_gives_the_same_bytes(project, monkeypatch):
    monkeypatch.chdir(project)
    monkeypatch.setattr(sys, "path", list(sys.path))
    data = {"test": "test.npz", "train": "train.npz", "operational": "field.npz"}
    text = initialise(
        "three_digits:model", {**data, "votes": "votes.npy"}, folder=project, trust=True
    ).text
    kept = "\n".join(text.split("[accuracy]")[0].splitlines())
    (project / "fireassay.toml").write_text(kept + "\n" + SMALLER)
    command = [sys.executable, "-m", "fireassay", "run", "--trust"]
    run = project / "fireassay-run"
    whole = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert whole.returncode == 0, whole.stdout + whole.stderr
    undisturbed, tasks = (run / "result.json").read_bytes(), journalled(run)
    run.rename(project / "undisturbed")
    killed_at = []
    for share in (0.2, 0.5, 0.8):
        process = subprocess.Popen(command, cwd=project, stdout=subprocess.DEVNULL)
        while journalled(run) < share * tasks and process.poll() is None:
            time.sleep(0.005)
        process.kill()
        process.wait()
        assert process.returncode < 0, "the run was over before it could be killed"
        killed_at.append(journalled(run))
    assert 0 < killed_at[0] < killed_at[1] < killed_at[2] < tasks
    assert subprocess.run(command, cwd=project, check=False, capture_output=True).returncode == 0
    assert (run / "result.json").read_bytes() == undisturbed
    run.rename(project / "killed")
    shared = [*command, "--workers", "2"]
    assert subprocess.run(shared, cwd=project, check=False, capture_output=True).returncode == 0
    assert (run / "result.json").read_bytes() == undisturbed, "two workers gave another answer"
    for name in PARTS:
        assert f'"{name}": {{' in undisturbed.decode()
