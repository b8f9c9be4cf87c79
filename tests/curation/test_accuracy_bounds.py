import numpy as np
import pytest

from fireassay import curation
from fireassay.core import DataError, ParameterError
from fireassay.curation.labelers.triplet import FittedTriplet


def exact_world(n, seed, accuracies=(0.6, 0.7, 0.8, 0.9, 0.65), k=2):
    """Votes whose posterior is known exactly."""
    votes, y = curation.simulate_votes(accuracies, 0.7, n, k, seed=seed)
    truth = FittedTriplet.from_accuracy(np.array(accuracies), np.full(k, 1 / k))
    result = curation.curate(votes, k, labeler=truth.posterior(votes), prune=None, seed=seed)
    return result, y


def test_bounds_of_one_cell_by_hand():
    # One cell: h says 1 in 80 %, Y is 1 in 90 %: agreement between 0.7 and 0.9, then widened.
    n = 10_000
    posterior = np.tile([0.1, 0.9], (n, 1))
    result = curation.curate(np.ones((n, 3), int), labeler=posterior, prune=None, n_sets=1)
    h = (np.arange(n) < 0.8 * n).astype(int)
    found = result.bounds(h, confidence=0.95, n_bins=1)
    widening = 0.5 * np.sqrt(1 / n) + np.sqrt(np.log(40) / (2 * n))
    assert found.low[0] == pytest.approx(0.7 - widening)
    assert found.high[0] == pytest.approx(0.9 + widening)
    assert found.verdict == "not enough evidence"


def test_claims_a_decrease_only_when_bounds_separate():
    result, _ = exact_world(60_000, 0, accuracies=(0.97, 0.97, 0.6, 0.6, 0.6))
    found = result.bounds(result.labels)
    assert (found.verdict == "decreasing") == (found.rest_high < found.low[0])
    flat = curation.curate(
        np.ones((500, 3), int), labeler=np.tile([0.2, 0.8], (500, 1)), prune=None
    )
    assert flat.bounds(np.ones(500, int)).verdict == "not enough evidence"


def test_a_decrease_can_be_shown_without_labels():
    n = 40_000
    sure = np.arange(n) % 2 == 0
    posterior = np.where(sure[:, None], [0.01, 0.99], [0.5, 0.5])
    votes = np.where(sure[:, None], [1, 1, 1, 1], [0, 1, 0, 1])
    result = curation.curate(votes, labeler=posterior, prune=None, default_class=1, n_sets=2)
    found = result.bounds(np.where(sure, 1, np.arange(n) // 2 % 2))
    # Where the posterior is 50:50 nothing rules out that the classifier is always right there.
    assert found.verdict == "not enough evidence"
    constant = result.bounds(np.ones(n, int))
    assert constant.verdict == "decreasing"
    assert constant.rest_high < 0.55 < 0.95 < constant.low[0]


def test_more_models_only_widen():
    votes, _ = curation.simulate_votes([0.7] * 6, 0.7, 3000, seed=1)
    result = curation.curate(votes, labeler="dawid-skene", prune=None)
    h = result.labels
    one = result.bounds(h)
    many = result.bounds(h, labelers=("majority", "snorkel"), seeds=(0, 1))
    assert (many.low <= one.low).all()
    assert (many.high >= one.high).all()
    assert len(many.models) == 5
    with pytest.raises(ParameterError, match="label model"):
        result.bounds(h, labelers=[np.zeros((3000, 2))])


def test_probabilities_and_bad_predictions():
    result, y = exact_world(200, 0)
    probabilities = np.eye(2)[y]
    assert result.bounds(probabilities).low == pytest.approx(result.bounds(y).low)
    with pytest.raises(DataError, match=r"0\.\.1"):
        result.bounds(y + 1)
    with pytest.raises(DataError, match="same number of rows"):
        result.bounds(y[:-1])


@pytest.mark.slow
def test_bounds_hold_when_the_label_model_is_right():
    rng = np.random.default_rng(0)
    misses = 0
    for seed in range(200):
        k = 2 + seed % 3
        result, y = exact_world(1500, seed, k=k)
        skill = rng.uniform(0.5, 1)
        h = np.where(rng.random(1500) < skill, y, rng.integers(k, size=1500))
        found = result.bounds(h)
        real = np.array([(h[d] == y[d]).mean() for d in result.datasets])
        misses += bool(((real < found.low) | (real > found.high)).any())
    assert misses <= 0.05 * 200
