"""The runner of the searches: attacks are kept in parts."""

import numpy as np
import pytest

from fireassay import as_classifier, discovery
from fireassay.papers import discovery_run


@pytest.fixture
def searched(tmp_path, monkeypatch):
    """Five rows of a model that looks at their first feature, attacked two at a time."""
    monkeypatch.setattr(discovery_run, "_PART", 2)
    model = as_classifier(
        lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]),
        classes=["other", "critical"],
        bounds=(0, 1),
    )
    X = np.linspace(0.55, 0.95, 15).reshape(5, 3)
    return discovery_run.Searched(tmp_path, None, model, [], X, None, X[:, 0], 0.0)


def test_attacks_in_parts_are_those_of_all_rows_at_once(searched):
    logs, _ = searched.log_mae("boundary", 80, seed=3)
    whole = discovery.measure_log_mae(searched.model, searched.X, "boundary", 80, seed=3)
    np.testing.assert_array_equal(logs, whole)


def test_a_killed_attack_loses_one_part(searched):
    first, _ = searched.log_mae("boundary", 80, seed=3)
    parts = sorted(searched.folder.glob("boundary-*.npz"))
    assert len(parts) == 3
    parts[0].unlink()
    before = searched.model.queries
    again, _ = searched.log_mae("boundary", 80, seed=3)
    np.testing.assert_array_equal(again, first)
    assert 0 < searched.model.queries - before <= 2 * 80 + 2  # two rows, and what they are said
