import numpy as np
import pytest

from fireassay import curation
from fireassay.core import ParameterError
from fireassay.curation import CurationFindings
from fireassay.curation.stability import votes_fit
from fireassay.curation.votes import VotePatterns


@pytest.fixture(scope="module")
def world():
    votes, y = curation.simulate_votes([0.7] * 8, 0.6, 500, seed=0)
    return curation.curate(votes), y


def test_a_clear_order_is_stable(world):
    result, y = world
    found = result.stability(y, n_boot=40, seeds=range(4))
    assert found.shares["decreasing"] == 1.0
    assert found.stable is True
    assert found.bootstrap_shares["decreasing"] > 0.9
    assert len(found.panel) == 20
    own = found.panel[found.panel["labeler"] == "majority"]
    assert (own["same_labels"] == 1).all()
    assert own["rank_correlation"].to_numpy() == pytest.approx(1)


def test_without_labels_only_agreement_is_shown(world):
    result, _ = world
    found = result.stability(seeds=(0,))
    assert found.stable is None
    assert "verdict" not in found.panel
    assert list(found.charts()) == ["stability"]


def test_an_unstable_panel_takes_back_valid(world):
    result, y = world
    trend = result.validate(y)
    wrong = np.where(result.score > np.median(result.score), 1 - result.labels, result.labels)
    unstable = result.stability(wrong, n_boot=0, seeds=(0,))
    assert unstable.stable is False
    assert CurationFindings(result, trend).verdict == "decreasing"
    robust = result.robustness(y, validity=trend)
    assert robust.verdict == "robust"
    answer = CurationFindings(result, trend, robustness=robust, stability=unstable)
    assert answer.verdict == "not shown"
    headline = answer.evidence().headline
    assert "the label models disagree" in headline
    assert "Classifier: not enough evidence" in headline


def test_the_labeler_to_trust_is_majority_unless_another_is_shown_to_order_better(world):
    result, y = world
    found = result.stability(y, n_boot=0, seeds=(0,))
    better = found.panel[found.panel["gain_low"] > 0]
    assert found.trusted == "majority" if better.empty else found.trusted in set(better["labeler"])
    assert f"Judged by true labels, {found.trusted} is to be preferred" in found.in_words()
    wrong = np.where(result.score > np.median(result.score), 1 - result.labels, result.labels)
    none = result.stability(wrong, n_boot=0, seeds=(0,), labelers=("majority",))
    assert none.trusted is None
    assert "trust none" in none.in_words()
    unseen = result.stability(seeds=(0,))
    assert unseen.trusted == "majority"
    assert "no test" in unseen.in_words()


@pytest.fixture(scope="module")
def unequal():
    """One good function among guesses, which majority vote takes for equals."""
    votes, y = curation.simulate_votes([0.95, 0.9, 0.55, 0.55, 0.55, 0.55, 0.55], 0.9, 2000, seed=3)
    return curation.curate(votes), y


def test_a_labeler_that_orders_better_is_found_by_true_and_audited_labels_and_by_a_model(unequal):
    result, y = unequal
    rows = result.audit_rows(400)
    for judged, judge in (
        ({"y": y, "n_boot": 0}, "true labels"),
        ({"audit": (rows, y[rows])}, "400 audited labels"),
        ({"predictions": y}, "the model's answers, which may be wrong"),
    ):
        found = result.stability(seeds=(0,), labelers=("majority", "snorkel"), **judged)
        assert (found.judge, found.trusted) == (judge, "snorkel")
        by = found.panel.set_index("labeler")
        assert by.loc["majority", "gain_low"] == 0
        assert by.loc["snorkel", "nested_accuracy"] > by.loc["majority", "nested_accuracy"]
    assert by.loc["snorkel", "same_as_model"] == (
        (curation.curate(result.patterns.votes[result.patterns.of_row], labeler="snorkel").labels
         == y).mean()
    )  # fmt: skip


def test_labels_without_any_relation_choose_another_labeler_in_few_worlds(unequal):
    result, _ = unequal
    rng, chosen = np.random.default_rng(0), []
    for _ in range(100):
        rows = np.sort(rng.choice(2000, 200, replace=False))
        audit = rows, rng.integers(0, 2, 200)
        found = result.stability(seeds=(0,), labelers=("majority", "snorkel"), audit=audit)
        chosen.append(found.trusted != "majority")
    assert np.mean(chosen) <= 0.07


def test_the_nested_accuracy_is_the_mean_over_ten_sets_with_ties_in_expectation(unequal):
    result, y = unequal
    found = result.stability(
        y, n_boot=0, seeds=(0,), labelers=("majority",), groups=np.arange(2000)
    )
    mean = result.validate(y).accuracy.mean()
    assert found.panel["nested_accuracy"].iloc[0] == pytest.approx(mean, abs=1e-9)


def test_the_truth_explains_the_votes_better_than_chance():
    votes, y = curation.simulate_votes([0.9, 0.8, 0.7], 0.7, 2000, seed=1)
    rng = np.random.default_rng(0)
    each = VotePatterns(
        np.asarray(votes, dtype=np.int8), np.ones(2000, dtype=np.int64),
        np.arange(2000, dtype=np.int32), 2,
    )  # fmt: skip
    true, chance = np.eye(2)[np.asarray(y)], np.eye(2)[rng.integers(0, 2, 2000)]
    assert votes_fit(each, true) > votes_fit(each, chance) + 0.05


def test_groups_are_resampled_whole(world):
    result, y = world
    found = result.stability(y, n_boot=10, seeds=(0,), groups=np.arange(500) // 25)
    assert sum(found.bootstrap_shares.values()) == pytest.approx(1)
    assert found.n_boot == 10


def test_a_loaded_result_gives_the_same_panel(world, tmp_path):
    result, y = world
    loaded = curation.Curation.load(result.save(tmp_path / "result"))
    a, b = (r.stability(y, n_boot=20, seeds=(0,)) for r in (result, loaded))
    assert a.panel.equals(b.panel)
    assert a.bootstrap_shares == b.bootstrap_shares


def test_bad_panels(world):
    result, y = world
    with pytest.raises(ParameterError):
        result.stability(y, seeds=())
    with pytest.raises(ParameterError, match="label model"):
        result.stability(y, labelers=[np.zeros((500, 2))])
