import numpy as np
import pytest

from fireassay import as_classifier, reliability
from fireassay.core import NotEnoughEvidenceError, ParameterError
from fireassay.reliability import ConservativePrior, conservative_upper
from fireassay.reliability.conservative_bayes import posterior_confidence, sensitivity


@pytest.mark.parametrize(("failures", "n"), [(0, 500), (2, 500), (12, 500)])
@pytest.mark.parametrize("p", [0.01, 0.03, 0.08])
def test_no_prior_with_the_stated_properties_is_worse(failures, n, p):
    """The worst of many random two-block priors on a fine grid, against the closed form."""
    prior = ConservativePrior(epsilon=0.005, theta=0.6, floor=0.001)
    bound = posterior_confidence(p, failures, n, prior)
    grid = np.linspace(0.001, 0.999, 4000)
    log_l = failures * np.log(grid) + (n - failures) * np.log1p(-grid)
    likelihood = np.exp(log_l - log_l.max())
    inside = grid <= prior.epsilon
    # The posterior is worst when all mass below epsilon sits at the least likely point there,
    # and all other mass at the most likely point above p.
    worst_inside = likelihood[inside].min()
    worst_outside = likelihood[grid > p].max()
    by_search = 0.6 * worst_inside / (0.6 * worst_inside + 0.4 * worst_outside)
    assert bound == pytest.approx(by_search, rel=0.05)
    rng = np.random.default_rng(0)
    for _ in range(200):
        a, b = (
            rng.dirichlet(np.full(inside.sum(), 0.02)),
            rng.dirichlet(np.full((~inside).sum(), 0.02)),
        )
        weights = np.concatenate([0.6 * a, 0.4 * b])
        posterior = weights * likelihood
        if posterior.sum() > 0:
            assert posterior[grid <= p].sum() / posterior.sum() >= bound - 1e-9


def test_zero_failures_have_a_closed_form():
    prior = ConservativePrior(epsilon=1e-4, theta=0.9)
    upper = conservative_upper(0, 3000, prior, 0.95)
    odds = (0.9 / 0.1) * ((1 - 1e-4) / (1 - upper)) ** 3000
    assert odds / (1 + odds) == pytest.approx(0.95, rel=1e-9)


def test_failures_need_a_floor():
    with pytest.raises(NotEnoughEvidenceError, match="floor"):
        conservative_upper(1, 1000, ConservativePrior(), 0.95)
    floored = conservative_upper(1, 1000, ConservativePrior(1e-3, 0.5, 1e-4), 0.95)
    assert 1e-3 < floored < 1


def test_more_tests_and_more_belief_help_and_nothing_underflows():
    prior = ConservativePrior(1e-4, 0.5)
    bounds = [conservative_upper(0, n, prior, 0.975) for n in (100, 1000, 10_000, 10**7)]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[-1] == pytest.approx(1e-4, rel=0.01)
    believer = conservative_upper(0, 1000, ConservativePrior(1e-4, 0.95), 0.975)
    assert believer < bounds[1]
    assert conservative_upper(5, 10**6, ConservativePrior(1e-3, 0.5, 1e-7), 0.975) <= 1


def test_below_epsilon_nothing_is_claimed():
    assert posterior_confidence(5e-5, 0, 10**6, ConservativePrior(1e-4, 0.9)) == 0


def test_sensitivity_shows_what_the_floor_decides():
    table = sensitivity(3, 500, ConservativePrior(1e-3, 0.5, 1e-5), 0.975)
    half = table[table["theta"] == 0.5].sort_values("floor")["pmi_upper"].to_numpy()
    assert (np.diff(half) <= 1e-12).all()
    assert half[0] > half[-1]


@pytest.mark.parametrize(
    "bad", [{"theta": 0}, {"theta": 1}, {"epsilon": 0}, {"epsilon": 0.1, "floor": 0.2}]
)
def test_impossible_priors_are_refused(bad):
    with pytest.raises(ParameterError):
        ConservativePrior(**bad)


def test_refusal_in_an_assessment_is_a_stated_result():
    model = as_classifier(lambda X: np.tile([0.6, 0.4], (len(X), 1)), classes=[0, 1])
    X = np.random.default_rng(0).random((50, 2))
    found = reliability.assess(model, X, np.arange(50) % 2, method="conservative-bayes")
    assert found.pmi_upper == 1
    assert "No claim" in found.headline
    assert any("floor" in note for note in found.notes)
