import numpy as np
import pytest

from fireassay import curation
from fireassay.core import DataError


def test_known_miscalibration_is_measured_and_mended():
    rng = np.random.default_rng(0)
    stated = rng.uniform(0.5, 1, size=4000)
    posterior = np.column_stack([stated, 1 - stated])
    result = curation.curate(np.zeros((4000, 3), int), labeler=posterior, prune=None)
    y = (rng.random(4000) >= 0.5 + (stated - 0.5) / 2).astype(int)
    found = result.calibration(y)
    # Accuracy is half as far from 0.5 as stated: the mean gap is a quarter of the range.
    assert found.ece.low < 0.125 < found.ece.high
    assert found.recalibrated_ece.value < 0.03
    assert np.corrcoef(found.recalibrated, stated)[0, 1] > 0.9
    assert 0 < found.slope < 1


def test_calibrated_confidences_are_left_alone():
    votes, y = curation.simulate_votes([0.7] * 6, 0.7, 5000, seed=0)
    result = curation.curate(votes, labeler="one-coin", prune=None)
    found = result.calibration(y)
    assert found.ece.value < 0.03
    assert found.slope == pytest.approx(1, abs=0.1)
    majority = curation.curate(votes, prune=None).calibration(y)
    assert majority.ece.value > found.ece.value


def test_an_audit_is_enough():
    votes, y = curation.simulate_votes([0.7] * 6, 0.7, 2000, seed=1)
    result = curation.curate(votes, 2)
    rows = result.audit_rows(200)
    found = result.calibration(y[rows], rows)
    assert found.n == 200
    assert found.recalibrated.shape == (2000,)
    assert list(found.charts()) == ["calibration"]
    with pytest.raises(DataError, match="same number"):
        result.calibration(y[:10])
