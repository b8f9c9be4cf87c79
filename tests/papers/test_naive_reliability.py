import numpy as np
import pytest

from fireassay import as_classifier, load, reliability
from fireassay.core import NotEnoughEvidenceError
from fireassay.papers.naive_reliability import Naive

X = np.random.default_rng(0).random((80, 2))
Y = (X[:, 0] > 0.5).astype(int)
LATE = as_classifier(
    lambda X: 1.0 * np.column_stack([X[:, 0] < 0.6, X[:, 0] >= 0.6]), classes=[0, 1]
)


def test_the_strawman_smears_the_test_error_and_claims_nothing(tmp_path):
    found = reliability.assess(LATE, X, Y, method=Naive(radius=0.001, samples=50))
    assert found.pmi == pytest.approx(found.n_errors / 80, abs=0.02)
    assert not found.is_bound
    assert "not a bound" in found.headline
    assert set(found.evidence().estimates) == {"pmi_upper", "pmi_lower"}
    assert load(found.save(tmp_path / "naive.npz")).details == found.details


def test_a_wide_ball_counts_points_that_are_not_test_rows():
    """Balls of radius 0.3 around a constant row: the share beyond 0.6 is known."""
    rows = np.tile([[0.5, 0.5]], (20, 1))
    found = reliability.assess(LATE, rows, np.zeros(20, dtype=int), method=Naive(0.3, 500))
    assert found.n_errors == 0
    assert found.pmi == pytest.approx(1 / 3, abs=0.02)


def test_one_class_has_no_radius():
    with pytest.raises(NotEnoughEvidenceError, match="two classes"):
        reliability.assess(LATE, X, np.zeros(80, dtype=int), method=Naive())
