"""Times of failure under real attacks on real models."""

import importlib
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from fireassay import data, survival
from fireassay.attacks import deepfool, hopskipjump, pgd
from fireassay.classifiers import as_classifier
from fireassay.core.errors import DataError, NotEnoughEvidenceError, ParameterError
from fireassay.survival.attacker_checks import adaptive
from fireassay.survival.defences import Conf, FeatureSqueezing, GaussIn, GaussOut
from fireassay.survival.rows import gradients_not_masked

observe_module = importlib.import_module("fireassay.survival.observe")


@pytest.fixture(scope="module")
def digits():
    return data.digits()


@pytest.fixture(scope="module")
def linear(digits):
    X, y = digits.X.reshape(len(digits), -1)[:1200], digits.labels[:1200]
    return as_classifier(LogisticRegression(C=0.1, max_iter=300).fit(X, y), bounds=(0, 1))


@pytest.fixture(scope="module")
def network(digits):
    pytest.importorskip("torch")
    made = survival.train_reference("mlp", digits.X[:1200], digits.labels[:1200], epochs=8, width=8)
    return made.model.classifier(batch_size=32)


@pytest.fixture
def samples(digits):
    return digits.X[1200:1240], digits.labels[1200:1240]


def test_black_box_rows_bracket_the_failure(linear, samples):
    X, y = samples[0].reshape(40, -1), samples[1]
    found = survival.observe(linear, X, y, [("hopskipjump", {"eps": 1.0})], budget=80)
    rows = found.frame()
    assert set(rows["sample"]) == set(np.flatnonzero(linear.predict(X) == y))
    fell = np.isfinite(rows["upper"])
    assert 0 < fell.sum() < len(rows)
    assert (rows["lower"] < rows["upper"]).all()
    assert (rows.loc[fell, "upper"] <= 80).all()
    assert (rows.loc[~fell, "lower"] == 80).all()
    assert (rows.loc[fell, "distance"] <= 1.0 + 1e-9).all()
    assert (rows.loc[fell, "distance"] > 0).all()
    assert (rows["success"] == fell).all()
    assert found.benign_accuracy.n == 40


def test_same_seed_same_rows_and_a_larger_budget_only_adds(linear, samples):
    X, y = samples[0].reshape(40, -1), samples[1]
    attack = [("hopskipjump", {"eps": 1.0})]
    first = survival.observe(linear, X, y, attack, budget=80, seed=3).frame()
    again = survival.observe(linear, X, y, attack, budget=80, seed=3).frame()
    pd.testing.assert_frame_equal(first, again)
    more = survival.observe(linear, X, y, attack, budget=200, seed=3).frame()
    assert more["success"].sum() >= first["success"].sum()


@pytest.mark.slow
def test_rows_are_the_same_in_two_processes(linear, samples, digits):
    X, y = digits.X.reshape(len(digits), -1)[1200:1300], digits.labels[1200:1300]
    attacks = [("hopskipjump", {"eps": 1.0}), ("boundary", {"eps": 1.0})]
    here = survival.observe(linear, X, y, attacks, budget=30)
    there = survival.observe(linear, X, y, attacks, budget=30, workers=2)
    pd.testing.assert_frame_equal(here.frame(), there.frame())
    limited = as_classifier(lambda X: linear.predict_proba(X), classes=range(10), max_queries=10**6)
    with pytest.raises(ParameterError, match="one process"):
        survival.observe(limited, X, y, attacks, workers=2)


@pytest.mark.extras
def test_gradient_queries_are_counted_by_the_stated_rule(network, samples):
    attack = [("pgd", {"norm": "linf", "eps": 0.1})]
    cheap = survival.observe(network, *samples, attack, budget=60, gradient_cost=0.0).frame()
    dear = survival.observe(network, *samples, attack, budget=60, gradient_cost=2.0).frame()
    both = cheap["success"] & dear["success"]
    # One gradient a step: with cost 2 a step is three forward-equivalents.
    assert both.sum() > 5
    assert (dear.loc[both, "upper"] > 1.5 * cheap.loc[both, "upper"]).all()
    assert (dear.loc[dear["success"], "upper"] <= 60).all()


@pytest.mark.extras
def test_attacks_fill_the_budget_and_single_steps_stand_at_it(network, samples):
    attacks = [("fgm", {"eps": 0.05}), ("pgd", {"eps": 0.05}), ("deepfool", {"eps": 0.5})]
    found = survival.observe(network, *samples, attacks, budget=120)
    rows = found.frame()
    stood = rows[~rows["success"]]
    assert (stood["lower"] == 120).all()
    assert rows.groupby("attack").size().nunique() == 1
    spent = rows[(rows["attack"] == "pgd") & ~rows["success"]]
    assert (spent["queries"] + 2 * spent["gradient_queries"] >= 110).all()
    evidence = found.evidence()
    assert {"standing_share", "survival_pgd", "mean_queries_fgm"} <= set(evidence.estimates)
    broken = rows.groupby("sample")["success"].any()
    assert evidence.estimates["standing_share"].value == pytest.approx(1 - broken.mean())


@pytest.mark.extras
def test_rejection_is_not_failure(network, samples):
    attack = [("pgd", {"eps": 0.2})]
    plain = survival.observe(network, *samples, attack, budget=60)
    shielded = survival.observe(network, *samples, attack, budget=60, defence=("conf", 0.7))
    assert shielded.benign_rejection_rate.value > 0
    guarded = survival.defend(network, Conf(0.7))
    assert shielded.frame()["success"].mean() <= plain.frame()["success"].mean()
    assert guarded.rejected(samples[0]).mean() == pytest.approx(
        shielded.benign_rejection_rate.value
    )
    X, y = (part[shielded.frame()["sample"]] for part in samples)
    for attack in (pgd, deepfool, hopskipjump):
        found = attack(guarded, X, y, eps=1.0, max_queries=60)
        # Every counted success was answered, with a wrong class and the asked confidence.
        assert found.success.any()
        answers = guarded.predict_proba(found.adversarial[found.success])
        assert (answers.argmax(axis=1) != y[found.success]).all()
        assert (answers.max(axis=1) >= 0.7).all()


@pytest.mark.extras
def test_a_random_model_falls_where_most_of_its_answers_are_wrong(network, samples):
    """By other draws than those that anybody has looked at; and the same rows every time."""
    attack = [("hopskipjump", {"eps": 1.0})]
    defence = GaussOut(0.2, seed=1)
    noisy, again = (
        survival.observe(network, *samples, attack, budget=60, defence=defence,
                         keep_adversarial=True)
        for _ in range(2)
    )  # fmt: skip
    pd.testing.assert_frame_equal(noisy.frame(), again.frame())
    shield = survival.defend(network, defence)
    fell = noisy.frame()[noisy.frame()["success"]]
    assert len(fell) > 5
    wrong = shield.wrong_share(noisy.adversarial, samples[1][fell["sample"]], 5000, 400)
    assert (wrong > 0.4).all()
    before = shield.wrong_share(samples[0], samples[1], 5000, 400)
    assert (before[noisy.frame()["sample"]] < 0.6).all()


def test_a_row_that_noise_alone_makes_wrong_was_not_right_before():
    """Of three that an attack broke: one as it is, one changed, one that most draws get right."""
    X = np.array([[0.4], [0.3], [0.9]])
    answers = np.column_stack([X[:, 0], 1 - X[:, 0]])
    target = survival.defend(lambda rows: answers[np.searchsorted([0.35, 0.6], rows[:, 0])],
                             GaussOut(0.05, seed=0))  # fmt: skip
    answers[[0, 1]] = [[0.3, 0.7], [0.4, 0.6]]
    found = SimpleNamespace(adversarial=X)
    part = pd.DataFrame({"success": [True] * 3, "distance": [0.0, 0.2, 0.1], "made_by": "fgm",
                         "lower": 1.0, "upper": 2.0})  # fmt: skip
    kept = observe_module._confirm_over_draws(part, found, target, np.zeros(3, dtype=int), 200)
    assert kept.tolist() == [False, True, True]
    assert part["success"].tolist() == [True, True, False]


def test_the_chance_of_a_wrong_answer_is_that_of_drawn_noise():
    rng = np.random.default_rng(0)
    answers, goal = rng.dirichlet(np.full(10, 0.5), 8), np.arange(8)
    noise = 0.1 * rng.standard_normal((40_000, 1, 10))
    drawn = ((answers + noise).argmax(axis=2) != goal).mean(axis=0)
    np.testing.assert_allclose(GaussOut(0.1).chance_wrong(answers, goal), drawn, atol=0.01)


def test_an_answer_may_be_right_on_average_and_wrong_most_of_the_time():
    close = np.array([[0.12] + [0.11] * 8])  # one class leads a little, over eight others
    model = adaptive(survival.defend(lambda X: np.repeat(close, len(X), 0),
                                                       GaussOut(0.1)))  # fmt: skip
    assert close.argmax() == 0
    assert model.mostly_wrong(close, np.array([0])).tolist() == [True]


@pytest.mark.extras
def test_noise_on_the_answer_hides_nothing_from_an_attacker_who_knows_it(network, samples):
    """The noise has mean zero: what falls without it falls with it, and stays fallen."""
    attack = [("pgd", {"eps": 0.12})]
    plain = survival.observe(network, *samples, attack, budget=120)
    noisy = survival.observe(
        network, *samples, attack, budget=120, defence=GaussOut(0.1, seed=1), keep_adversarial=True
    )
    fell = noisy.frame()["success"].to_numpy()
    assert noisy.standing().value <= plain.standing().value + 0.1
    y = samples[1][noisy.frame()["sample"]]
    shield = survival.defend(network, GaussOut(0.1, seed=1))
    wrong = shield.wrong_share(noisy.adversarial, y[fell], first=1000, count=60)
    assert wrong.mean() > 0.6


@pytest.mark.extras
def test_masked_gradients_are_noticed(network, samples):
    torch = pytest.importorskip("torch")
    honest = survival.observe(network, *samples, budget=100)
    (found,) = (a for a in honest.evidence().assumptions if a.id == "gradients-not-masked")
    assert found.status == "supported"
    assert honest.gradient_check.fell > 0
    assert honest.gradient_check.lost_with_size == 0

    class Hidden(torch.nn.Module):
        """The same answers; the gradient is that of something else."""

        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def forward(self, x):
            return self.inner(x.detach()) + 1e-9 * x.flatten(1)[:, :10]

    masked = as_classifier(
        Hidden(network.module), classes=range(10), bounds=(0, 1), output="logits"
    )
    hidden = survival.observe(masked, *samples, [("auto", {"eps": 0.25})], budget=300)
    (found,) = (a for a in hidden.evidence().assumptions if a.id == "gradients-not-masked")
    assert found.status == "contradicted"


def test_noise_on_the_answer_depends_on_the_input_alone(linear, samples):
    X = samples[0].reshape(40, -1)
    shield = survival.defend(linear, GaussOut(0.2, seed=4))
    whole = shield.predict_proba(X)
    np.testing.assert_array_equal(whole[7:9], shield.predict_proba(X[7:9]))
    np.testing.assert_allclose(whole.sum(axis=1), 1.0)
    other = shield.with_defence(draw=1).predict_proba(X)
    assert not np.allclose(whole, other)
    assert whole.var() != linear.predict_proba(X).var()


def test_bit_depth_rounds_within_the_bounds(linear, samples):
    X = samples[0].reshape(40, -1)
    squeezed = FeatureSqueezing(1).inputs(X, (0.0, 1.0))
    assert set(np.unique(squeezed)) <= {0.0, 1.0}
    np.testing.assert_allclose(FeatureSqueezing(8).inputs(X, (0.0, 1.0)), X, atol=1 / 500)
    np.testing.assert_array_equal(FeatureSqueezing(64).inputs(X, (0.0, 1.0)), X)


def test_noise_in_training_touches_the_asked_share(samples):
    X = samples[0]
    changed = GaussIn(0.5, share=0.25).training(X, seed=0)
    touched = (changed != X).reshape(len(X), -1).any(axis=1)
    assert touched.sum() == 10
    assert np.std((changed - X)[touched]) == pytest.approx(0.5, rel=0.15)


def test_epsilon_may_be_in_standard_deviations(linear, samples):
    X, y = samples[0].reshape(40, -1), samples[1]
    scaled = survival.observe(
        linear, X, y, [("hopskipjump", {"eps": 2.0})], budget=60, eps_scale=0.4
    ).frame()
    plain = survival.observe(linear, X, y, [("hopskipjump", {"eps": 0.8})], budget=60).frame()
    pd.testing.assert_frame_equal(scaled, plain)


def test_what_cannot_be_watched_is_refused(linear, samples):
    X, y = samples[0].reshape(40, -1), samples[1]
    attack = [("hopskipjump", {"eps": 1.0})]
    with pytest.raises(NotEnoughEvidenceError, match="classified correctly"):
        survival.observe(linear, X[:5], (y[:5] + 1) % 10, attack)
    wide = as_classifier(lambda X: np.eye(2)[(X[:, 0] > 0.5) * 1], bounds=(0, 255))
    with pytest.raises(DataError, match="clip range"):
        survival.observe(wide, X, (X[:, 0] > 0.5) * 1, attack)
    with pytest.raises(ParameterError, match="attacks"):
        survival.observe(linear, X, y, [])
    with pytest.raises(ParameterError, match="attack must be one of"):
        survival.observe(linear, X, y, ["nonsense"])
    with pytest.raises(ParameterError, match="different names"):
        survival.observe(linear, X, y, ["boundary", "boundary"])
    with pytest.raises(ParameterError, match="budget"):
        survival.observe(linear, X, y, attack, budget=0)
    with pytest.raises(ParameterError, match="defence must be one of"):
        survival.observe(linear, X, y, attack, defence=("wall", 1.0))


def test_a_campaign_may_keep_a_model_that_is_wrong_everywhere(linear, samples):
    X, y = samples[0].reshape(40, -1)[:5], (samples[1][:5] + 1) % 10
    found = survival.observe(linear, X, y, ["boundary"], empty_ok=True)
    assert len(found) == 0
    assert found.benign_accuracy.value == 0.0


def test_a_budget_of_one_query_breaks_nothing(linear, samples):
    X, y = samples[0].reshape(40, -1), samples[1]
    rows = survival.observe(linear, X, y, [("hopskipjump", {"eps": 1.0})], budget=1).frame()
    assert not rows["success"].any()
    assert (rows["lower"] == 1).all()


@pytest.mark.extras
def test_pixel_and_threshold_attacks_come_from_art(network, samples):
    pytest.importorskip("art")
    attacks = [
        ("art:PixelAttack", {"th": 3, "es": 1, "max_iter": 2, "norm": "linf", "label": "pixel"}),
        (
            "art:ThresholdAttack",
            {"th": 60, "es": 1, "max_iter": 2, "norm": "linf", "label": "thresh"},
        ),
    ]
    found = survival.observe(network, samples[0][:3], samples[1][:3], attacks, budget=100_000)
    rows = found.frame()
    assert set(rows["attack"]) == {"pixel", "thresh"}
    assert (rows["queries"] > 10).all()


def test_the_headline_says_size_budget_and_what_was_not_tried(linear, samples):
    X, y = samples[0].reshape(len(samples[0]), -1), samples[1]
    found = survival.observe(linear, X, y, "auto", budget=50)
    eps = found.frame()["eps"].iloc[0]
    evidence = found.evidence()
    assert f"withstand 50 queries within ℓ∞ ≤ {eps:.3g}; " in evidence.headline
    assert "not tried: pgd (the model gives no gradients)" in evidence.headline
    spent = found.frame()["queries"] + 2 * found.frame()["gradient_queries"]
    assert spent.max() <= 50
    assert set(found.frame().loc[found.frame()["success"], "made_by"]) <= {"square", "hopskipjump"}


@pytest.mark.parametrize(
    ("by_square", "standing", "status"),
    [(0, 20, "supported"), (1, 19, "supported"), (8, 12, "contradicted"), (0, 0, "supported")],
)
def test_a_search_that_breaks_what_gradients_left_says_so(by_square, standing, status):
    made_by = ["pgd"] * 5 + ["square"] * by_square + [""] * standing
    table = pd.DataFrame(
        {"attack": "auto", "made_by": made_by, "success": [name != "" for name in made_by],
         "gradient_queries": 10}
    )  # fmt: skip
    found = gradients_not_masked(table, 0.95)
    assert (found.id, found.status) == ("gradients-not-masked", status)
    assert gradients_not_masked(table.assign(gradient_queries=0), 0.95) is None
