import numpy as np
import pytest

pytest.importorskip("torch")

from fireassay.classifiers import as_classifier
from fireassay.papers import error_pictures
from fireassay.papers.discovery_run import NAMES, Searched
from fireassay.papers.error_mechanisms import Task


def corner(X, light):
    """Critical where the upper left corner has a very light (or very dark) pixel."""
    own = X[:, :6, :6].mean(axis=3)
    extreme = own.max(axis=(1, 2)) - 0.8 if light else 0.2 - own.min(axis=(1, 2))
    critical = 1 / (1 + np.exp(-30 * extreme))
    return np.column_stack([1 - critical, critical])


@pytest.mark.parametrize("light", [True, False])
def test_what_leads_to_errors_is_found(tmp_path, monkeypatch, light):
    rng = np.random.default_rng(0)
    X = rng.uniform(0.35, 0.65, (60, 16, 16, 3)).astype(np.float32)
    spots = rng.choice([0.7, 0.95], (60, 6, 6, 1), p=[0.8, 0.2])
    X[:, :6, :6] = spots if light else 1 - spots
    y = NAMES[np.arange(60) % 2]  # half of what is predicted critical is not
    model = as_classifier(lambda rows: corner(rows, light), classes=NAMES.tolist(), bounds=(0, 1))
    nothing = (X, np.zeros(60, dtype=int))
    confidence = model.predict_proba(X)[:, 1]
    own = Searched(
        tmp_path, Task(nothing, nothing, nothing, 1, "squares"), model, [], X, y, confidence, 5.0
    )
    measured = own.log_mae("hopskipjump", 60, 0)
    assert own.log_mae("hopskipjump", 60, 0)[1] == measured[1] > 0  # kept, with its seconds
    monkeypatch.setattr(error_pictures, "searched", lambda *_: own)
    settings = {"hopskipjump": 60}
    found = error_pictures.explained_errors({"kind": "bias", "seed": 0}, "", settings, errors=6)
    assert found["errors"] == 6
    assert found["heaviest superpixel lighter than its image"] == (6 if light else 0)
    with np.load(tmp_path / "pictures.npz") as arrays:
        assert model.predict(arrays["nine"]).tolist() == ["critical", "other", "critical"]
        charts = error_pictures.pictures(arrays)
    assert {name: chart.svg()[:4] for name, chart in charts.items()} == {
        "fig_8": "<svg",
        "fig_9": "<svg",
    }
