import math

import numpy as np
import pytest
from scipy.special import ndtr

from fireassay import as_classifier, reliability
from fireassay.core import DataError, ParameterError
from fireassay.reliability.rare_events import margin_of, normal_cdf


def beyond_plane(d, p):
    """The model is wrong in a corner of the unit box whose volume is p."""
    reach = (p * math.factorial(d)) ** (1 / d)

    def probabilities(X):
        q = 0.5 + 0.5 * (X.sum(axis=1) - d + reach) / d
        return np.column_stack([1 - q, q])

    return as_classifier(probabilities, classes=[0, 1], bounds=(0, 1))


def boxes(count, d):
    return np.zeros((count, d)), np.ones((count, d)), np.zeros(count, dtype=np.int64)


@pytest.mark.parametrize(("d", "p"), [(2, 1e-2), (2, 1e-5), (8, 1e-3)])
def test_known_probabilities_are_found_with_the_claimed_precision(d, p):
    margin = margin_of(beyond_plane(d, p).predict_proba)
    found = reliability.Splitting(1000)(margin, *boxes(20, d), 0)
    error = found.log_p - math.log(p)
    assert abs(error.mean()) < 0.11
    assert error.std(ddof=1) <= 0.21  # 0.15 plus the sampling error of twenty runs
    assert ((found.low <= math.log(p)) & (math.log(p) <= found.high)).sum() >= 16
    assert (found.moved > 0.8).all()


def test_last_particle_and_its_poisson_interval():
    margin = margin_of(beyond_plane(2, 1e-2).predict_proba)
    settings = reliability.Splitting(40, 12, last_particle=True)
    found = settings(margin, *boxes(20, 2), 1)
    truth = math.log(1e-2)
    assert ((found.low <= truth) & (truth <= found.high)).sum() >= 16
    # About -n ln p particles are dropped, one at a time.
    assert found.levels.mean() == pytest.approx(-40 * truth, rel=0.15)


def test_one_protocol_two_estimators():
    margin = margin_of(beyond_plane(2, 0.02).predict_proba)
    for estimator in (reliability.MonteCarlo(4000), reliability.Splitting(500)):
        found = estimator(margin, *boxes(4, 2), 0)
        assert np.exp(found.log_p).mean() == pytest.approx(0.02, rel=0.2)
        assert (found.low <= found.log_p).all()
        assert (found.log_p <= found.high).all()


def test_a_ball_around_an_input():
    found = reliability.splitting(beyond_plane(2, 1e-3), [0.5, 0.5], 0, 0.5, seed=1)
    assert found.log_p == pytest.approx(math.log(1e-3), abs=0.35)  # 3.5 standard deviations
    assert found.low < found.log_p < found.high
    assert found.mixes
    assert found.p == pytest.approx(math.exp(found.log_p))
    assert found.diagnostics["levels"] == pytest.approx(10, abs=2)
    again = reliability.splitting(beyond_plane(2, 1e-3), [0.5, 0.5], 0, 0.5, seed=1)
    assert again.log_p == found.log_p
    runs = reliability.splitting(beyond_plane(2, 1e-3), [0.5, 0.5], 0, 0.5, seed=2, replicates=6)
    assert len(runs.replicates) == 6
    assert runs.low < math.log(1e-3) < runs.high
    assert runs.high - runs.low < 0.4


def test_no_failure_is_an_upper_bound_not_zero():
    model = as_classifier(
        lambda X: np.column_stack([X[:, 0] * 0 + 0.8, X[:, 0] * 0 + 0.2]), classes=[0, 1]
    )
    found = reliability.splitting(model, [0.5, 0.5], 0, 0.1)
    assert found.is_upper_bound
    assert found.log_p == -math.inf
    assert -math.inf < found.high < math.log(0.01)
    deep = reliability.splitting(beyond_plane(2, 1e-12), [0.5, 0.5], 0, 0.5, smallest=-10)
    assert deep.is_upper_bound
    assert deep.high == pytest.approx(-10, abs=1)


def test_a_ball_that_always_fails_and_ties():
    model = beyond_plane(2, 1e-3)
    assert reliability.splitting(model, [0.2, 0.2], 1, 0.1).p == 1
    tied = as_classifier(lambda X: np.full((len(X), 2), 0.5), classes=["a", "b"])
    assert reliability.splitting(tied, [0.0, 0.0], "a", 1.0).is_upper_bound
    assert reliability.splitting(tied, [0.0, 0.0], "b", 1.0).p == 1


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"radius": 0}, ParameterError),
        ({"label": 7}, DataError),
        ({"particles": 3}, ParameterError),
        ({"method": "magic"}, ParameterError),
        ({"x": [3.0, 3.0]}, ParameterError),
        ({"x": [np.nan, 0.0]}, DataError),
    ],
)
def test_bad_arguments_are_refused(change, error):
    arguments = {"x": [0.5, 0.5], "label": 0, "radius": 0.1, **change}
    with pytest.raises(error):
        reliability.splitting(beyond_plane(2, 1e-3), **arguments)


def test_the_table_of_the_normal_distribution():
    g = np.concatenate([np.linspace(-8.4, 8.4, 40_001), [-20.0, 20.0]]).reshape(-1, 1)
    found = normal_cdf(g)
    assert found.shape == g.shape
    np.testing.assert_allclose(found[:-2], ndtr(g[:-2]), rtol=1e-4)
    np.testing.assert_allclose(1 - found[g < 5], ndtr(-g[g < 5]), rtol=1e-4)
    assert (np.diff(found[:-2, 0]) >= 0).all()
    assert found[-2, 0] < 1e-16
    assert found[-1, 0] == 1


def test_the_margin_is_positive_exactly_where_the_model_is_wrong():
    rng = np.random.default_rng(0)
    scores = np.round(rng.normal(size=(3000, 5)), 1)  # many ties
    labels = rng.integers(0, 5, 3000)
    margin = margin_of(lambda rows: scores)(np.zeros((3000, 1)), labels)
    np.testing.assert_array_equal(margin > 0, scores.argmax(axis=1) != labels)
    own = scores[np.arange(3000), labels]
    other = np.where(np.arange(5) == labels[:, None], -np.inf, scores).max(axis=1)
    np.testing.assert_allclose(margin, other - own, atol=1e-12)
