"""The surrogate of the rectified bound: how often it is fitted."""

import numpy as np
import pytest

from fireassay import as_classifier, reliability
from fireassay.reliability import betting_bound


def test_the_surrogate_is_fitted_on_ten_thousand_labels_at_most():
    assert betting_bound._refits(100, 200) == [40, 80]
    assert betting_bound._refits(20_480, 300_000)[-1] == 10_240
    assert betting_bound._refits(10**5, 2 * 10**5) == betting_bound._refits(20_480, 300_000)
    assert betting_bound._refits(10**6, 2 * 10**6)[-1] == 1280  # of two million rows each


@pytest.mark.slow
def test_a_bound_from_many_labels_still_holds_and_gains_from_field_rows():
    rng = np.random.default_rng(0)
    X = rng.random((30_000, 1))
    y = (rng.random(30_000) < X[:, 0]).astype(int)  # wrong in a quarter of the cases
    model = as_classifier(lambda X: np.hstack([1 - X, X]), classes=[0, 1])
    field = rng.random((60_000, 1))
    found = reliability.assess(model, X, y, operational=field)
    assert 0.25 < found.pmi_upper < 0.26
    assert abs(found.pmi - 0.25) < 0.01
