"""A second model on the same data: what depends on the data alone is not computed again."""

import json
from pathlib import Path

import numpy as np
import pytest

from fireassay.ambiguity import fitting
from fireassay.assessment import make_plan, read_config
from fireassay.assessment.run.start import run_assessment
from fireassay.data import digits
from fireassay.supervision.autoencoder import Autoencoder

_MODEL = """
import numpy as np
weights = np.random.default_rng(SEED).normal(size=(64, 3))
def model(X):
    scores = X.reshape(len(X), -1) @ weights
    grown = np.exp(scores - scores.max(axis=1, keepdims=True))
    return grown / grown.sum(axis=1, keepdims=True)
"""
_CONFIG = """
[model]
path = "model{seed}:model"
[data]
test = "test.npz"
train = "train.npz"
[run]
folder = "{folder}"
parts = ["ambiguity", "supervision"]
{store}
[ambiguity]
samples = 40
[supervision]
supervisors = ["max-softmax", "autoencoder"]
samples = 60
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    data = digits()
    chosen = data.subset(np.flatnonzero(data.labels < 3))
    X, y = np.asarray(chosen.X), np.asarray(chosen.labels)
    np.savez(tmp_path / "train.npz", X=X[:300], y=y[:300])
    np.savez(tmp_path / "test.npz", X=X[300:], y=y[300:])
    for seed in (0, 1):
        (tmp_path / f"model{seed}.py").write_text(_MODEL.replace("SEED", str(seed)))
    return tmp_path


def _run(project: Path, seed: int, folder: str, store: str = "") -> bytes:
    file = project / "fireassay.toml"
    file.write_text(_CONFIG.format(seed=seed, folder=folder, store=store))
    run_assessment(read_config(file), trust=True, accept_below_baseline=True)
    return (project / folder / "result.json").read_bytes()


def _never(*given: object, **more: object) -> None:
    raise AssertionError("computed again")


@pytest.mark.slow
def test_the_second_model_trains_nothing_and_gets_the_same_bytes(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _run(project, 0, "first")
    with monkeypatch.context() as patch:
        patch.setattr(fitting, "train_groups", _never)
        patch.setattr(Autoencoder, "_fit", _never)
        second = _run(project, 1, "second")
        file = project / "fireassay.toml"
        planned = make_plan(read_config(file), trust=True)
    row = planned.row("ambiguity")
    assert row is not None
    assert row.in_store
    assert "in store" in str(planned)
    without = _run(project, 1, "without", 'store = "off"')
    assert second == without
    parts = json.loads(second)["parts"]
    assert {name: part["status"] for name, part in parts.items()} == {
        "ambiguity": "done",
        "supervision": "done",
    }
    planned = make_plan(read_config(file), trust=True)
    row = planned.row("ambiguity")
    assert row is not None
    assert not row.in_store
