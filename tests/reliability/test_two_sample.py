"""Labels from elsewhere that no column shows by itself."""

import numpy as np
import pytest
from scipy.stats import binom

from fireassay import as_classifier, reliability
from fireassay.reliability.drift import classifier_two_sample_p

MODEL = as_classifier(lambda X: np.tile([0.6, 0.4], (len(X), 1)), classes=[0, 1])


@pytest.mark.slow
def test_the_level_is_kept():
    rejected = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        a, b = rng.normal(size=(80, 3)), rng.normal(size=(150, 3))
        rejected += classifier_two_sample_p(a, b, seed) <= 0.05
    assert rejected <= binom.ppf(0.999, 60, 0.05)


def test_a_shift_of_an_interaction_contradicts_the_ledger():
    rng = np.random.default_rng(0)
    X, field = rng.normal(size=(400, 2)), rng.normal(size=(2000, 2))
    y = rng.integers(0, 2, 400)
    field[:, 1] = np.sign(field[:, 0]) * np.abs(field[:, 1])  # both columns stay normal
    found = reliability.assess(MODEL, X, y, field)
    assert found.labels_from_elsewhere
    assert found.headline.startswith("Not valid")
    assert not reliability.assess(MODEL, X, y, rng.normal(size=(2000, 2))).labels_from_elsewhere
