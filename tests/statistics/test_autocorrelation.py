import numpy as np
import pytest
from scipy.signal import lfilter

from fireassay.statistics import autocorrelation_time


@pytest.mark.parametrize("memory", [0.5, 0.9, 0.95])
def test_an_autoregression_has_its_known_time(memory):
    rng = np.random.default_rng(0)
    found = [
        autocorrelation_time(lfilter([1], [1, -memory], rng.normal(size=20_000))) for _ in range(10)
    ]
    assert np.mean(found) == pytest.approx((1 + memory) / (1 - memory), rel=0.15)


def test_independent_and_constant_rows_have_time_one():
    rng = np.random.default_rng(1)
    assert {autocorrelation_time(rng.normal(size=500)) for _ in range(50)} == {1.0}
    assert autocorrelation_time(np.ones(10)) == 1.0
