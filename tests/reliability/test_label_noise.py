import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from fireassay import as_classifier
from fireassay.core import ParameterError
from fireassay.reliability import Exact, LabelNoise, assess
from fireassay.reliability.label_noise import corrected_bound

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from label_noise_worlds import ROWS

MODEL = as_classifier(
    lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), classes=[0, 1], bounds=(0, 1)
)


@pytest.mark.parametrize("row", ROWS, ids=[f"{row.method}: {row.setting}" for row in ROWS])
def test_the_truth_is_covered(row):
    rng, runs = np.random.default_rng(0), 500
    misses = sum(row.world(rng)[0] for _ in range(runs))
    assert misses <= binom.ppf(0.999, runs, 0.05)  # two limits at 97.5 % each


def test_wrong_labels_that_are_ignored_do_not_cover():
    """What the correction is for: labels that agree with the model where it is wrong."""
    rng, missed = np.random.default_rng(1), 0
    for _ in range(200):
        differs = rng.binomial(1000, 0.05 * 0.6)  # four in ten of its errors have its own label
        missed += binomtest(int(differs), 1000).proportion_ci(0.95).high < 0.05
    assert missed > 100


def test_disagreement_is_twice_the_error_less_the_square():
    e = 0.1
    noise = LabelNoise(round(2 * e * (1 - e) * 10_000), 10_000)
    assert noise.rate == pytest.approx(e)
    assert LabelNoise(300, 10_000, "truth").rate == 0.03


def test_without_assumptions_the_rate_is_known_up_to_the_labels_errors():
    noise = LabelNoise(0, 10**7, "truth")
    exact = corrected_bound(0.05, 0.03, 0.08, 400, noise, 0.975)
    assert (exact.low, exact.upper) == pytest.approx((0.03, 0.08), abs=1e-5)
    assert np.isnan(exact.value)


def test_beside_the_uncorrected_bound_which_rests_on_right_labels():
    rng = np.random.default_rng(2)
    X = rng.random((500, 1))
    y = (X[:, 0] > 0.5) ^ (rng.random(500) < 0.05)
    plain = assess(MODEL, X, y, method=Exact())
    found = assess(MODEL, X, y, method=Exact(), label_noise=LabelNoise(6, 200))
    assert found.pmi_upper == plain.pmi_upper
    evidence = found.evidence()
    upper = evidence.estimates["corrected_pmi_upper"]
    assert upper.value > plain.pmi_upper
    assert evidence.estimates["corrected_pmi_lower"].value < plain.pmi_lower
    assert [a.id for a in evidence.contradicted("pmi_upper")] == ["labels-right"]
    assert evidence.contradicted("corrected_pmi_upper") == ()
    point = assess(MODEL, X, y, method=Exact(), label_noise=LabelNoise(6, 200, apart=True))
    rate = point.n_errors / 500
    assert point.corrected.value == pytest.approx(
        (rate - LabelNoise(6, 200).rate) / (1 - 2 * LabelNoise(6, 200).rate)
    )
    assert point.corrected.upper < upper.value


def test_a_point_is_for_two_classes_only():
    three = as_classifier(lambda X: np.full((len(X), 3), 1 / 3), classes=[0, 1, 2])
    X = np.random.default_rng(3).random((50, 1))
    with pytest.raises(ParameterError, match="two classes"):
        assess(
            three, X, np.arange(50) % 3, method=Exact(), label_noise=LabelNoise(1, 20, apart=True)
        )
    with pytest.raises(ParameterError, match="corrects a bound"):
        assess(MODEL, X, X[:, 0] > 0.5, method="ram", label_noise=LabelNoise(1, 20))
