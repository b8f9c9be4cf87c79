"""What every search must do: one table, crossed with the promises of ask and tell."""

import numpy as np
import pytest

import fireassay as fa
from fireassay import discovery
from fireassay.core.errors import (
    BudgetExceededError,
    DataError,
    NotEnoughEvidenceError,
    ParameterError,
)
from fireassay.discovery import SEARCHES
from fireassay.discovery.learning_searches import (
    ErrorsCovered,
    FacilityLocation,
    LakkarajuPublished,
)
from fireassay.discovery.strategy import Candidates

every_search = pytest.mark.parametrize("name", SEARCHES)


def start(name, corner, **changes):
    settings = {"scores": corner.scores, "budget": 12, "seed": 3, "audit_share": 0.0, **changes}
    return discovery.Search(name, model=corner.model, X=corner.X, **settings)


@every_search
def test_rows_are_asked_once_and_only_confident_ones(name, corner):
    search = start(name, corner)
    result = search.run(lambda row: corner.y[row])
    assert len(result.rows) == len(set(result.rows.tolist())) == 12
    confidence = corner.model.predict_proba(corner.X).max(axis=1)
    assert (confidence[result.rows] > 0.65).all()
    np.testing.assert_array_equal(
        result.wrong, corner.model.predict(corner.X)[result.rows] != corner.y[result.rows]
    )
    assert result.sdr == pytest.approx(
        result.wrong.sum() / (1 - confidence[result.rows]).sum(), rel=1e-9
    )
    with pytest.raises(BudgetExceededError, match="spent"):
        search.ask()


@every_search
def test_asking_again_without_telling_gives_the_same_row(name, corner):
    search = start(name, corner)
    assert search.ask() == search.ask()
    assert search.pending == [search.ask()]


@every_search
def test_a_resumed_search_asks_the_same_rows(name, corner, tmp_path):
    whole = start(name, corner).run(lambda row: corner.y[row])
    path = tmp_path / "search.npz"
    search = start(name, corner, path=path)
    for _ in range(5):
        row = search.ask()
        search.tell(row, corner.y[row])
    search.ask()
    del search
    result = discovery.Search.load(path).run(lambda row: corner.y[row])
    np.testing.assert_array_equal(result.rows, whole.rows)
    assert result.sdr_interval == whole.sdr_interval
    assert result.p_value == whole.p_value


@every_search
def test_undo_leads_back_to_the_same_search(name, corner):
    search = start(name, corner)
    first = [search.ask()]
    search.tell(first[0], corner.y[first[0]])
    row = search.ask()
    search.tell(row, "a")
    assert search.undo() == row
    assert search.pending == [row]
    search.tell(row, corner.y[row])
    result = search.run(lambda r: corner.y[r])
    np.testing.assert_array_equal(result.rows, start(name, corner).run(lambda r: corner.y[r]).rows)


@every_search
def test_the_same_seed_repeats_a_search(name, corner):
    first, second = (start(name, corner).run(lambda r: corner.y[r]) for _ in range(2))
    np.testing.assert_array_equal(first.rows, second.rows)


@every_search
def test_budget_zero_one_and_more_than_the_pool(name, corner):
    none = start(name, corner, budget=0)
    with pytest.raises(BudgetExceededError):
        none.ask()
    assert np.isnan(none.result.sdr)
    assert none.result.p_value == 1.0
    one = start(name, corner, budget=1).run(lambda r: corner.y[r])
    assert len(one.rows) == 1
    few = discovery.Search(
        name, model=corner.model, X=corner.X[:30], scores=corner.scores[:30], budget=1000,
        audit_share=0.0,
    )  # fmt: skip
    everything = few.run(lambda r: corner.y[r])
    assert len(everything.rows) == everything.pool_size < 31
    assert few.remaining == 0


@every_search
def test_a_perfect_and_a_hopeless_model(name, corner):
    perfect = start(name, corner).run(lambda r: corner.model.predict(corner.X[r : r + 1])[0])
    assert perfect.errors == 0
    assert perfect.sdr == 0
    assert perfect.sdr_interval[1] > 0
    flipped = {"a": "b", "b": "a"}
    hopeless = start(name, corner).run(
        lambda r: flipped[corner.model.predict(corner.X[r : r + 1])[0]]
    )
    assert hopeless.errors == 12
    assert hopeless.p_value < 0.05


@every_search
def test_one_candidate_and_identical_rows(name, corner):
    one = discovery.Search(
        name, model=corner.model, X=corner.X[:1], scores=[0.0], threshold=0.0, budget=3
    )
    assert len(one.run(lambda r: "a").rows) == 1
    same = np.repeat(corner.X[:1], 20, axis=0)
    result = discovery.Search(
        name, model=corner.model, X=same, scores=np.zeros(20), threshold=0.0, budget=5,
        audit_share=0.0,
    ).run(lambda r: "a")  # fmt: skip
    assert len(set(result.rows.tolist())) == 5


@every_search
def test_which_conclusion_is_valid(name, corner):
    search = start(name, corner)
    row = search.ask()
    search.tell(row, corner.y[row])
    assert search.result.valid_as == "sequential"
    done = search.run(lambda r: corner.y[r])
    assert done.valid_as == ("sequential" if SEARCHES[name].adaptive else "fixed")
    assert (done.error_rate is not None) == SEARCHES[name].draws


@pytest.mark.parametrize("name", ["score", "bansal-weld"])
def test_evidence_says_what_was_found_and_what_not(name, corner):
    result = start(name, corner).run(lambda r: corner.y[r])
    evidence = result.evidence()
    assert evidence.claims[0].holds == (result.p_value < 0.05)
    assert str(result.errors) in evidence.headline
    assert evidence.estimates["sdr"].value == pytest.approx(result.sdr)
    assert any("a search does not draw by lot" in limit for limit in evidence.limits)
    assert evidence.provenance.labels == 12
    assert len(result.frame()) == 12


def test_confidences_that_announce_no_error_have_a_count_and_no_ratio():
    X = np.random.default_rng(0).random((60, 2))
    answers = fa.as_classifier(
        lambda X: np.column_stack([X[:, 0] < 0.5, X[:, 0] >= 0.5]).astype(float), classes=[0, 1]
    )
    truth = (X[:, 0] >= 0.3).astype(int)
    done = discovery.Search("random", model=answers, X=X, budget=30, seed=0).run(lambda r: truth[r])
    evidence = done.evidence()
    assert done.errors > 1
    assert done.expected == 0
    assert evidence.answer == "errors_found"
    assert evidence.sentence == (
        f"The search found {done.errors} confident errors where its confidence announces none."
    )
    assert "inf" not in evidence.headline
    assert "sdr" not in evidence.charts


@every_search
def test_a_result_survives_its_file(name, corner, tmp_path):
    result = start(name, corner).run(lambda r: corner.y[r])
    loaded = discovery.SearchResult.load(result.save(tmp_path / "result.npz"))
    assert loaded.sdr == result.sdr
    np.testing.assert_array_equal(loaded.rows, result.rows)


def test_the_searches_find_the_corner(corner):
    """Errors hide where the sixth feature is above 1: a score that knows it finds them."""
    by_score = start("score", corner, budget=40).run(lambda r: corner.y[r])
    by_lot = start("random", corner, budget=40).run(lambda r: corner.y[r])
    assert by_score.errors > 2 * max(by_lot.errors, 1)
    assert by_score.p_value < 1e-6


def test_a_batch_is_asked_at_once_and_may_come_back_in_any_order(corner):
    search = start("bansal-weld", corner)
    rows = search.ask_many(4)
    assert search.pending == rows
    for row in reversed(rows):
        search.tell(row, corner.y[row])
    assert len(search.result.rows) == 4
    assert search.ask_many(100)[:1] == search.pending[:1]
    assert len(search.pending) == 8


def test_skipped_rows_cost_nothing(corner):
    search = start("random", corner)
    skipped = search.ask()
    search.skip(skipped)
    assert search.ask() != skipped
    result = search.run(lambda r: corner.y[r])
    assert len(result.rows) == 12
    assert skipped not in result.rows
    assert result.error_rate is None


def test_a_second_annotator_replaces_and_disagreement_is_kept(corner):
    search = start("random", corner)
    row = search.ask()
    search.tell(row, "a", annotator="first")
    search.tell(row, "b", annotator="second")
    assert search.result.labels == ("b",)
    assert search.disagreements == [row]
    assert search.remaining == 11


def test_the_matched_arm_is_labelled_along_and_tested(corner):
    search = start("score", corner, budget=50, matched_share=0.2)
    result = search.run(lambda r: corner.y[r])
    assert len(result.rows) == 40
    assert result.matched_random.n_random == 10
    assert start("score", corner).run(lambda r: corner.y[r]).matched_random is None


def test_labels_of_the_whole_pool_show_the_skill(corner):
    search = start("score", corner, budget=40)
    search.run(lambda r: corner.y[r])
    test = search.judged(corner.y).matched_random
    rows = search.state.rows
    wrong = corner.model.predict(corner.X)[rows] != corner.y[rows]
    direct = discovery.matched_random_test(search.state.confidence, wrong, search.result.queried)
    assert test == direct
    assert test.p_value < 1e-4
    with pytest.raises(DataError, match="every row"):
        search.judged(corner.y[:5])
    assert start("score", corner).judged(corner.y).matched_random is None


def test_labels_are_checked_before_they_count(corner):
    search = start("random", corner)
    row = search.ask()
    with pytest.raises(DataError, match="asked about"):
        search.tell(int(search.state.rows[search.state.rows != row][0]), "a")
    with pytest.raises(DataError, match="one of 'a', 'b'"):
        search.tell(row, "zebra")
    search.tell(row, discovery.OTHER)
    assert search.result.wrong.tolist() == [True]


def test_what_a_search_refuses(corner):
    with pytest.raises(ParameterError, match="bansal-weld"):
        start("nonsense", corner)
    with pytest.raises(ParameterError, match="critical_class"):
        start("random", corner, critical_class="zebra")
    with pytest.raises(NotEnoughEvidenceError, match="Lower threshold"):
        discovery.Search("random", model=corner.model, X=corner.X * 1e-9, threshold=0.9)
    with pytest.raises(DataError, match="same number"):
        start("score", corner, scores=[1.0, 2.0])
    with pytest.raises(DataError, match="NaN"):
        start("score", corner, scores=np.full(len(corner.X), np.nan))
    with pytest.raises(ParameterError, match="scores"):
        start("score", corner, scores=None)
    with pytest.raises(ParameterError, match="model="):
        discovery.Search("random")


def test_only_the_critical_class_is_searched(corner):
    result = start("random", corner, critical_class="b").run(lambda r: corner.y[r])
    assert set(result.predicted) == {"b"}


def test_adversarial_distance_is_measured_when_not_given(corner):
    search = discovery.Search(
        "adversarial-distance", model=corner.model, X=corner.X[:60], budget=5, max_queries=60
    )
    assert search.state.log_mae is not None
    assert search.state.queries <= 60 + 61 * len(search.state.rows)
    result = search.run(lambda r: corner.y[r])
    order = np.argsort(search.state.scores, kind="stable")[:5]
    np.testing.assert_array_equal(result.rows, search.state.rows[order])
    assert set(result.charts()) == {"sdr", "adversarial distance"}


# Formulas of single searches ------------------------------------------------------------------


@pytest.fixture
def small():
    rng = np.random.default_rng(0)
    return Candidates(rng.uniform(0.66, 0.99, 40), rng.standard_normal((40, 3)) * 0.05, seed=1)


def test_coverage_totals_are_the_definition(small):
    coverage, distances = ErrorsCovered(small), small.space.distances(np.arange(40))
    cover = np.exp(-(distances**2) / 0.001)
    for errors in ([], [3], [3, 17], [3, 17, 5]):
        if errors:
            coverage.add_error(errors[-1])
        covered = cover[errors].max(axis=0) if errors else np.zeros(40)
        by_hand = [small.confidence @ np.maximum(covered, cover[i]) for i in range(40)]
        np.testing.assert_allclose(coverage.totals, by_hand, rtol=1e-5)


def test_facility_savings_are_the_definition(small):
    search = FacilityLocation(small)
    distances = small.space.distances(np.arange(40))
    search.learn(4, True)
    search.learn(9, True)
    nearest = np.minimum(np.minimum(distances[4], distances[9]), 1.0)
    by_hand = nearest.mean() - np.minimum(nearest, distances).mean(axis=1)
    np.testing.assert_allclose(search._savings, by_hand, atol=1e-12)


def test_bandit_bound_is_the_formula(small):
    search = LakkarajuPublished(small)
    arm = int(np.argmax(np.bincount(small.clusters)))
    rows = np.flatnonzero(small.clusters == arm)[:2]
    search.learn(int(rows[0]), True)
    search.learn(int(rows[1]), False)
    size = int((small.clusters == arm).sum())
    weights = np.array([(size - 2) / size, (size - 2) / (size - 1)])
    bound = weights[0] / weights.sum() + np.sqrt(2 * np.log(3) / weights.sum())
    assert search._upper_bound(arm) == pytest.approx(bound)


def test_spread_and_utility_by_hand():
    features = np.array([[0.0], [1.0], [4.0]])
    assert discovery.spread(features, [0, 2]) == pytest.approx((0 + 0.25 + 0) / 3)
    assert np.isnan(discovery.spread(features, []))
    near = np.exp(-(0.25**2) / 0.001)
    assert discovery.bansal_weld_utility(features, [0.9, 0.8, 0.7], [0]) == pytest.approx(
        0.9 + 0.8 * near + 0.7 * np.exp(-1000)
    )
    assert discovery.bansal_weld_utility(features, [0.9, 0.8, 0.7], []) == 0.0


def test_principal_components_agree_with_scikit_learn():
    from sklearn.decomposition import PCA
    from sklearn.preprocessing import StandardScaler

    X = np.random.default_rng(0).standard_normal((60, 9)) @ np.random.default_rng(1).random((9, 9))
    theirs = PCA(5).fit_transform(StandardScaler().fit_transform(X))
    np.testing.assert_allclose(np.abs(discovery.principal_components(X)), np.abs(theirs), atol=1e-8)
    wide = discovery.principal_components(X[:4])
    assert wide.shape == (4, 4)
