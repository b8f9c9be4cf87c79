"""Labelers against crowd-kit (oracles/), closed forms, and worlds with known error rates."""

from pathlib import Path

import numpy as np
import pytest

from fireassay import curation
from fireassay.core import ParameterError
from fireassay.curation.labelers import DawidSkene, MajorityVote, Snorkel, Triplet
from fireassay.curation.patterns import VotePatterns, unique_patterns

ORACLE = Path(__file__).parent / "oracles" / "crowdkit.npz"


@pytest.mark.parametrize(("name", "one_coin", "within"), [
    ("full", False, 1e-5),
    # crowd-kit stops its one-coin model on a change of the loss, a little before the optimum.
    ("one_coin", True, 2e-3),
])  # fmt: skip
def test_dawid_skene_equals_crowdkit(name, one_coin, within):
    with np.load(ORACLE) as oracle:
        votes, expected = oracle["votes"], oracle[name]
    patterns = unique_patterns(votes, 3)
    labeler = DawidSkene(one_coin=one_coin, smoothing=1e-6, max_steps=5000, tolerance=1e-10)
    model = labeler.fit(patterns)
    assert model.converged
    posterior = model.posterior(patterns.votes)[patterns.of_row]
    assert np.abs(posterior - expected).max() < within
    assert np.array_equal(posterior.argmax(axis=1), expected.argmax(axis=1))


def exact_patterns(given, prior, scale=10**9):
    """All vote patterns of independent functions, with their exact (large) expected counts."""
    m, outcomes, k = given.shape
    grid = np.indices((outcomes,) * m).reshape(m, -1).T
    weight = np.zeros(len(grid))
    for y in range(k):
        weight += prior[y] * np.prod([given[j, grid[:, j], y] for j in range(m)], axis=0)
    counts = np.round(weight * scale).astype(np.int64)
    return VotePatterns((grid - 1).astype(np.int8), counts, np.zeros(0, np.int32), k)


def test_triplet_recovers_one_sided_functions_exactly():
    # P(abstain, 0, 1 | class) for five functions, three of which vote for one class only.
    given = np.array([
        [[0.5, 0.9], [0.5, 0.1], [0.0, 0.0]],
        [[0.8, 0.4], [0.0, 0.0], [0.2, 0.6]],
        [[0.3, 0.3], [0.5, 0.2], [0.2, 0.5]],
        [[0.7, 0.5], [0.0, 0.0], [0.3, 0.5]],
        [[0.1, 0.1], [0.7, 0.3], [0.2, 0.6]],
    ])  # fmt: skip
    model = Triplet().fit(exact_patterns(given, [0.5, 0.5]))
    wanted = given[:, 1:, :]
    votes = wanted.sum(axis=2) > 0
    assert model.likelihood[votes] == pytest.approx(wanted[votes], abs=1e-4)


@pytest.mark.parametrize("k", [3, 4])
def test_triplet_recovers_accuracies_of_many_classes_exactly(k):
    accuracy, coverage = np.array([0.9, 0.7, 0.6, 0.5]), 0.8
    given = np.empty((4, k + 1, k))
    given[:, 0] = 1 - coverage
    for j, a in enumerate(accuracy):
        given[j, 1:] = coverage * np.where(np.eye(k) == 1, a, (1 - a) / (k - 1))
    prior = np.arange(1, k + 1) / np.arange(1, k + 1).sum()
    model = Triplet().fit(exact_patterns(given, prior))
    assert np.einsum("jyy->jy", model.likelihood)[:, 0] == pytest.approx(accuracy, abs=1e-4)


def test_one_sided_functions_do_not_collapse_dawid_skene():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=5000)
    votes = np.full((5000, 6), -1)
    for j in range(6):
        target = j % 2
        fires = rng.random(5000) < np.where(y == target, 0.6, 0.15)
        votes[fires, j] = target
    for labeler in ("dawid-skene", "one-coin", "triplet"):
        result = curation.curate(votes, labeler=labeler, prune=None)
        assert (result.labels == y).mean() > 0.8, labeler


def test_pseudo_votes_hold_a_function_that_hardly_votes():
    votes, _ = curation.simulate_votes([0.8] * 5, 0.9, 400, seed=0)
    votes[:, 4] = -1
    votes[0, 4], votes[1, 4] = 0, 1
    patterns = unique_patterns(votes, 2)
    confusion = DawidSkene().fit(patterns).confusion[4]
    assert (np.abs(confusion - 0.5) < 0.45).all()


@pytest.mark.parametrize("labeler", [MajorityVote(), Snorkel(), DawidSkene(), Triplet()])
def test_counts_are_the_same_as_repeated_rows(labeler):
    votes, _ = curation.simulate_votes([0.7, 0.8, 0.6, 0.9], 0.7, 60, seed=0)
    once = unique_patterns(votes, 2)
    repeated = VotePatterns(votes, np.ones(60, np.int64), np.arange(60), 2)
    a, b = (labeler.fit(p, 3).posterior(votes) for p in (once, repeated))
    assert a == pytest.approx(b, abs=1e-6)


@pytest.mark.parametrize("make", [
    lambda: Snorkel(n_steps=0), lambda: Snorkel(precision=1.0), lambda: DawidSkene(trust=0.0),
    lambda: DawidSkene(smoothing=0.0), lambda: Triplet(min_overlap=0),
    lambda: Snorkel(class_balance=(0.5, 0.6)).fit(unique_patterns(np.zeros((2, 3), int), 2)),
])  # fmt: skip
def test_bad_settings_are_refused(make):
    with pytest.raises(ParameterError):
        make()
