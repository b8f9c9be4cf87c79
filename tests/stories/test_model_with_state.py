"""A model that counts its calls has one identity for a whole run, and a second run asks nothing."""

import json
import sqlite3
import subprocess
import sys

import numpy as np
import pytest

from fireassay.classifiers import as_classifier

MODULE = """
import numpy as np
CALLS = [0]
def model(X):
    CALLS[0] += 1
    return np.hstack([1 - X[:, :1], X[:, :1]])
"""


def test_asking_a_function_does_not_change_its_identity():
    calls = [0]

    def model(X):
        calls[0] += 1
        return np.hstack([1 - X, X])

    classifier = as_classifier(model)
    before = classifier.sha256
    classifier.predict_proba([[0.25]])
    assert classifier.sha256 == before
    assert classifier.keeps_state
    assert not as_classifier(lambda X: np.hstack([1 - X, X])).keeps_state


@pytest.mark.slow
def test_a_run_has_one_model_and_the_same_command_goes_on(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.random((200, 3))
    np.savez(tmp_path / "test.npz", X=X, y=(X[:, 0] > 0.5).astype(int))
    (tmp_path / "counting.py").write_text(MODULE)
    (tmp_path / "fireassay.toml").write_text(
        '[model]\npath = "counting:model"\nbounds = [0, 1]\n[data]\ntest = "test.npz"\n'
        '[run]\nparts = ["accuracy", "survival"]\n[survival]\nsamples = 10\n'
    )
    command = [sys.executable, "-m", "fireassay", "run", "--trust", "--only", "survival", "--quiet"]
    for _ in range(2):
        subprocess.run(command, cwd=tmp_path, check=True)
    document = json.loads((tmp_path / "fireassay-run" / "result.json").read_text())
    assert document["parts"]["survival"]["status"] == "done"
    with sqlite3.connect(tmp_path / "fireassay-run" / "run.sqlite") as journal:
        names = [name for (name,) in journal.execute("SELECT name FROM tasks")]
    assert names.count("part survival") == 1
