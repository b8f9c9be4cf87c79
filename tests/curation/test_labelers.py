"""Labelers against crowd-kit (oracles/), closed forms, and worlds with known error rates."""

from pathlib import Path

import numpy as np
import pytest

from fireassay import curation
from fireassay.assessment.context import Context
from fireassay.assessment.parts import curation as curation_part
from fireassay.classifiers import as_classifier
from fireassay.core import ParameterError
from fireassay.curation import LABELERS, DawidSkene, MajorityVote, Snorkel, Triplet
from fireassay.curation.votes import VotePatterns, unique_patterns
from fireassay.data import DataSet

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


@pytest.fixture
def smoothed_majority():
    """A labeler of a user's own, registered as docs/extending.md says."""

    class SmoothedMajority:
        name = "smoothed-majority"
        summary = "shares of the votes, with one vote for every class added"

        def fit(self, patterns, seed=0):
            del seed
            self.n_classes = patterns.n_classes
            return self

        def posterior(self, votes):
            counts = np.stack([(votes == c).sum(axis=1) for c in range(self.n_classes)], axis=1)
            return (counts + 1) / (counts + 1).sum(axis=1, keepdims=True)

    LABELERS.register(SmoothedMajority())
    yield "smoothed-majority"
    del LABELERS._rows["smoothed-majority"]


def check_labeler(name):
    """What every labeler must do, a user's own included."""
    labeler = LABELERS[name]
    assert labeler.name == name
    assert labeler.summary
    votes, y = curation.simulate_votes([0.8, 0.75, 0.7, 0.85, 0.6], 0.8, 500, 3, seed=1)
    patterns = unique_patterns(votes, 3)
    posterior = labeler.fit(patterns, seed=3).posterior(patterns.votes)
    assert posterior.shape == (len(patterns.votes), 3)
    assert (posterior >= 0).all()
    assert posterior.sum(axis=1) == pytest.approx(np.ones(len(posterior)))
    # Same seed, same posterior; without draws, any seed.
    seed = 3 if getattr(labeler, "draws", True) else 4
    assert np.array_equal(labeler.fit(patterns, seed=seed).posterior(patterns.votes), posterior)
    by_name = curation.curate(votes, 3, labeler=name, prune=None, seed=3)
    assert by_name.settings.labeler == name
    assert (by_name.labels == y).mean() > 0.7
    unvoted = (votes == -1).all(axis=1)
    assert by_name.confidence[unvoted] == pytest.approx(np.full(unvoted.sum(), 1 / 3))
    by_object = curation.curate(votes, 3, labeler=labeler, prune=None, seed=3)
    assert np.array_equal(by_name.order, by_object.order)
    # Votes of samples in another order, or counted instead of repeated, teach the same.
    shuffled = np.random.default_rng(0).permutation(500)
    again = curation.curate(votes[shuffled], 3, labeler=name, prune=None, seed=3)
    assert again.confidence == pytest.approx(by_name.confidence[shuffled], abs=1e-6)


@pytest.mark.parametrize("name", list(LABELERS))
def test_every_labeler_of_the_registry(name):
    check_labeler(name)


def test_a_users_labeler_is_known_by_name_everywhere(smoothed_majority):
    check_labeler(smoothed_majority)
    votes, y = curation.simulate_votes([0.8] * 5, 0.8, 200, seed=0)
    result = curation.curate(votes, labeler=smoothed_majority)
    panel = result.stability(y, n_boot=2, seeds=(0,)).panel
    assert panel["labeler"].tolist() == list(LABELERS)
    assert smoothed_majority in LABELERS.listed()
    context = Context(as_classifier(lambda X: np.eye(2)[X[:, 0].astype(int)], classes=[0, 1]),
                      DataSet(y[:, None].astype(float), y), votes=votes)  # fmt: skip
    answer = curation_part.run(context, curation_part.Settings(labeler=smoothed_majority))
    assert answer.result.curation.settings.labeler == smoothed_majority
    asked = curation_part.evidence(answer).provenance
    assert (asked.model_sha256, asked.queries) == (context.model.sha256, 200)


def test_a_name_that_is_nearly_right_is_guessed():
    with pytest.raises(ParameterError, match="Did you mean snorkel"):
        curation.curate([[0, 1, 1]], labeler="snorkle")
    with pytest.raises(ParameterError, match="name of its own"):
        LABELERS.register(MajorityVote())


@pytest.mark.parametrize("labeler", list(LABELERS.values()), ids=list(LABELERS))
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
