"""The pipeline as users call it: rules of the paper, invariances, bad votes."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta

from fireassay import curation
from fireassay.core import DataError, ParameterError, ProbabilityError
from fireassay.curation import curate

LABELERS = ["majority", "snorkel", "dawid-skene", "one-coin", "triplet"]


def world(n=300, m=6, k=2, seed=0):
    return curation.simulate_votes(np.linspace(0.6, 0.9, m), 0.6, n, k, seed=seed)


def test_majority_is_the_softmax_of_the_counts_and_ties_go_to_the_default():
    votes = [[1, 1, 0], [0, 1, -1], [-1, -1, -1], [0, 0, -1]]
    result = curate(votes, prune=None, default_class=1)
    assert result.labels.tolist() == [1, 1, 1, 0]
    e = np.e
    assert result.confidence == pytest.approx([e**2 / (e**2 + e), 0.5, 0.5, e**2 / (e**2 + 1)])


def test_intervals_are_clopper_pearson_of_the_votes():
    votes = [[1, 1, 0, -1], [1, 1, 1, 1], [-1, -1, -1, -1]]
    posterior = curate(votes, prune=None)
    n, s = np.array([3, 4]), np.array([3, 4]) * posterior.confidence[:2]
    assert posterior.lower[:2] == pytest.approx(beta.ppf(0.025, s, n - s + 1))
    assert posterior.upper[:2] == pytest.approx(beta.ppf(0.975, s + 1, n - s))
    assert (posterior.lower[2], posterior.upper[2]) == (0.0, 1.0)
    paper = curate(votes, prune=None, interval="paper")
    # round(3 / 2) = 2 of 3 and round(4 / 2) = 2 of 4, whatever the labels are.
    assert paper.lower[:2] == pytest.approx(beta.ppf(0.025, [2, 2], [2, 3]))


def test_datasets_are_nested_views_in_descending_score():
    votes, _ = world()
    result = curate(votes)
    assert [len(d) for d in result.datasets] == [30 * i for i in range(1, 11)]
    for smaller, larger in zip(result.datasets, result.datasets[1:], strict=False):
        assert np.shares_memory(smaller, larger)
        assert set(smaller.tolist()) <= set(larger.tolist())
    assert (np.diff(result.score[result.order]) <= 0).all()
    assert np.array_equal(result.score, np.round(result.lower, 9))
    by_confidence = curate(votes, order_by="confidence")
    assert (np.diff(by_confidence.confidence[by_confidence.order]) <= 1e-9).all()
    assert np.array_equal(np.sort(np.concatenate(result.added_rows)), np.arange(300))
    for number, ring in enumerate(result.added_rows, start=1):
        assert (result.dataset_number[ring] == number).all()


def test_same_seed_same_bytes_other_seed_other_ties(tmp_path):
    votes, _ = world()
    a, b, c = curate(votes, seed=1), curate(votes, seed=1), curate(votes, seed=2)
    assert a.save(tmp_path / "a").read_bytes() == b.save(tmp_path / "b").read_bytes()
    assert not np.array_equal(a.order, c.order)
    assert np.array_equal(np.sort(a.score[a.order]), np.sort(c.score[c.order]))
    again = curation.Curation.load(tmp_path / "a")
    assert np.array_equal(again.order, a.order)
    assert again.settings == a.settings
    assert again.validate(world()[1]).auc == a.validate(world()[1]).auc


@pytest.mark.parametrize("labeler", LABELERS)
@pytest.mark.parametrize("k", [2, 3])
def test_every_labeler_beats_its_parts(labeler, k):
    votes, y = world(4000, 6, k)
    result = curate(votes, k, labeler=labeler, prune=None)
    alone = [(votes[:, j] == y)[votes[:, j] >= 0].mean() for j in range(6)]
    covered = (votes != -1).any(axis=1)
    assert (result.labels == y)[covered].mean() > np.mean(alone) + 0.05
    assert result.posterior == pytest.approx(result.posterior.clip(0, 1))
    assert result.posterior.sum(axis=1) == pytest.approx(np.ones(4000))
    assert (result.posterior[~covered] == 1 / k).all()


@pytest.mark.parametrize("labeler", LABELERS)
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_permuting_rows_permutes_results(labeler, seed):
    votes, _ = world(80, 5, 3, seed)
    rows = np.random.default_rng(seed).permutation(80)
    a = curate(votes, 3, labeler=labeler, prune=None)
    b = curate(votes[rows], 3, labeler=labeler, prune=None)
    assert np.array_equal(a.labels[rows], b.labels)
    assert b.lower == pytest.approx(a.lower[rows], abs=1e-12)


@pytest.mark.parametrize("labeler", ["majority", "dawid-skene", "one-coin", "triplet"])
def test_renaming_classes_renames_labels(labeler):
    votes, _ = world(2000, 6, 3)
    names = np.array([2, 0, 1])
    renamed = np.where(votes >= 0, names[votes], -1)
    a = curate(votes, 3, labeler=labeler, prune=None, default_class=0)
    b = curate(renamed, 3, labeler=labeler, prune=None, default_class=2)
    assert (names[a.labels] == b.labels).mean() > 0.999
    assert b.confidence == pytest.approx(a.confidence, abs=1e-3)


@pytest.mark.parametrize("make", [
    lambda v: scipy.sparse.csr_matrix(v.astype(int) + 1),
    lambda v: scipy.sparse.coo_array(v.astype(int) + 1),
    lambda v: pd.DataFrame(v),
    lambda v: v.astype(np.float32),
    lambda v: np.asfortranarray(v),
    lambda v: np.lib.stride_tricks.as_strided(v, v.shape, v.strides, writeable=False),
    lambda v: v.tolist(),
    lambda v: v.astype(object),
])  # fmt: skip
def test_any_storage_of_the_same_votes(make):
    votes, _ = world(120, 5)
    a, b = curate(votes, labeler="snorkel"), curate(make(votes), labeler="snorkel")
    assert np.array_equal(a.order, b.order)
    assert np.array_equal(a.labels, b.labels)


def test_fit_votes_are_used_for_pruning_and_fitting():
    votes, _ = world(100, 5)
    more = np.concatenate([votes, np.repeat(votes[:, :1], 5, axis=1)] * 2)
    result = curate(votes, fit_votes=more)
    assert len(result.kept_lfs) < 5
    with pytest.raises(DataError, match="same labelling functions"):
        curate(votes, fit_votes=more[:, :3])


def test_given_probabilities_keep_the_votes_count():
    votes, _ = world(50, 4)
    given_probabilities = np.random.default_rng(0).dirichlet([1, 1], size=50)
    result = curate(votes, labeler=given_probabilities, prune=None)
    assert np.array_equal(result.labels, given_probabilities.argmax(axis=1))
    assert result.confidence == pytest.approx(given_probabilities.max(axis=1))
    n = (votes != -1).sum(axis=1)
    assert (result.upper[n == 0] == 1).all()
    with pytest.raises(ProbabilityError, match="50 rows"):
        curate(votes, labeler=given_probabilities[:-1])


def test_a_users_own_labeler():
    class Always:
        name = "always one"

        def fit(self, patterns, seed=0):
            return self

        def posterior(self, votes):
            return np.tile([0.25, 0.75], (len(votes), 1))

    result = curate([[0, 0, 0], [0, 1, 1]], labeler=Always(), prune=None)
    assert result.labels.tolist() == [1, 1]
    assert result.settings.labeler == "always one"


def test_effective_votes_widen_the_interval_of_dependent_votes():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=500)
    shared = np.where(rng.random(500) < 0.7, y, 1 - y)
    votes = np.column_stack([shared, shared, shared, *(
        np.where(rng.random(500) < 0.7, y, 1 - y) for _ in range(2)
    )])  # fmt: skip
    plain = curate(votes, prune=None)
    careful = curate(votes, prune=None, effective_votes=True)
    assert (careful.lower <= plain.lower + 1e-12).all()
    assert careful.lower.mean() < plain.lower.mean() - 0.02


def test_pruning_by_errors_keeps_two_good_independent_functions():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, size=3000)
    votes = np.column_stack([np.where(rng.random(3000) < 0.92, y, 1 - y) for _ in range(5)])
    assert len(curate(votes, prune=0.5).kept_lfs) == 1
    assert len(curate(votes, prune=0.5, prune_by="errors").kept_lfs) == 5


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(1, 30), m=st.integers(1, 6), k=st.integers(2, 4), abstain=st.floats(0, 1),
    labeler=st.sampled_from(LABELERS), interval=st.sampled_from(["posterior", "paper"]),
    order_by=st.sampled_from(["lower_bound", "confidence"]), options=st.booleans(),
    seed=st.integers(0, 10**6),
)  # fmt: skip
def test_no_votes_break_it(n, m, k, abstain, labeler, interval, order_by, options, seed):
    rng = np.random.default_rng(seed)
    votes = rng.integers(0, k, size=(n, m))
    votes[rng.random((n, m)) < abstain] = -1
    result = curate(
        votes, k, labeler=labeler, interval=interval, order_by=order_by,
        prune_by="errors" if options else "votes", effective_votes=options, seed=seed,
    )  # fmt: skip
    assert ((result.labels >= 0) & (result.labels < k)).all()
    assert (result.lower >= 0).all()
    assert (result.upper <= 1).all()
    assert (result.lower <= result.upper).all()
    assert sorted(result.order.tolist()) == list(range(n))
    y = rng.integers(0, k, size=n)
    trend = result.validate(y, n_permutations=20)
    assert trend.verdict in ("decreasing", "increasing", "none")
    assert np.isfinite([trend.rho, trend.p_value, trend.auc, trend.permutation_p]).all()
    bounds = result.bounds(y)
    assert (bounds.low <= bounds.high).all()
    assert result.robustness(y, validity=trend).verdict
    assert result.lf_analysis(y).shape[0] == m


# Bad votes ------------------------------------------------------------------------------------


def test_nobody_votes_anywhere():
    result = curate(np.full((20, 4), -1), default_class=1)
    assert (result.labels == 1).all()
    assert (result.lower == 0).all()
    assert any("No labelling function votes" in warning for warning in result.warnings)
    assert result.validate(np.ones(20)).verdict == "none"
    assert result.evidence().status == "done"


@pytest.mark.parametrize("labeler", LABELERS)
@pytest.mark.parametrize("votes", [
    np.array([[0], [1], [-1], [1]] * 5),
    np.repeat(np.array([[0], [1], [1], [0]] * 5), 4, axis=1),
    np.array([[0, 1], [1, 0], [0, 1]] * 7),
])  # fmt: skip
def test_too_few_independent_functions_is_a_warning(labeler, votes):
    result = curate(votes, labeler=labeler)
    assert len(result.kept_lfs) == 1
    assert any("at least 3" in warning for warning in result.warnings)
    checks = [a.check for a in result.evidence().assumptions]
    assert any("at least 3" in check for check in checks)


@pytest.mark.parametrize(("votes", "message"), [
    ([[0, 2], [1, 1]], "2 in row 0, labelling function 1"),
    ([[0, 1], [-2, 1]], "-2 in row 1, labelling function 0"),
    ([[0, np.nan]], "Write an abstention as -1"),
    ([[0, 0.5]], "whole numbers"),
    ([["a", "b"]], "whole numbers"),
    ([[0, None]], "abstention as -1"),
    ([0, 1, 1], "reshape"),
    (np.zeros((0, 3)), "at least one row"),
    (np.zeros((3, 0)), "at least one row"),
    ([[0, 1], [0]], "rectangular"),
    (np.zeros((2, 2), dtype=complex), "whole numbers"),
    (scipy.sparse.csr_matrix([[3, 0]]), "class plus one"),
    (scipy.sparse.csr_matrix([[-1, 0]]), "class plus one"),
])  # fmt: skip
def test_bad_votes_are_refused_with_a_reason(votes, message):
    with pytest.raises(DataError, match=message):
        curate(votes)


@pytest.mark.parametrize("bad", [
    {"n_classes": 1}, {"labeler": "magic"}, {"labeler": 3}, {"prune": 1.5}, {"order_by": "luck"},
    {"interval": "wald"}, {"confidence": 0}, {"confidence": 1}, {"n_sets": 0}, {"default_class": 2},
    {"seed": -1}, {"seed": None}, {"prune_by": "taste"},
])  # fmt: skip
def test_bad_parameters_are_refused(bad):
    with pytest.raises(ParameterError):
        curate([[0, 1, 1], [1, 1, 0]], **bad)


def test_fewer_samples_than_sets_says_so():
    result = curate([[0, 1, 1], [1, 1, 1]], prune=None)
    assert [len(d) for d in result.datasets][-1] == 2
    assert any("cannot fill" in warning for warning in result.warnings)
    assert result.validate([1, 1]).verdict == "none"
