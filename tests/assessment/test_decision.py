"""What is judged is the decision that will be used, and mistakes have their own price."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import fireassay as fa
from fireassay.assessment import read_config
from fireassay.assessment.context import load_context
from fireassay.assessment.parts.operating_point import Decision, operating_point
from fireassay.core import ConfigError, ModelError, ParameterError
from fireassay.statistics.numbers.judged_rows import JudgedRows

COSTS = {"sepsis -> well": 50, "well -> sepsis": 1}


def ward(n=1500, seed=0):
    """True probabilities, a tenth of the rows sick."""
    rng = np.random.default_rng(seed)
    p = rng.beta(0.4, 3.6, n)
    y = np.where(rng.random(n) < p, "sepsis", "well")
    return np.column_stack([p, rng.random(n)]), y


def model():
    return fa.as_classifier(
        lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), classes=["well", "sepsis"], bounds=(0, 1)
    )


def test_sensitivity_and_ppv_of_the_decision_have_exact_plain_intervals():
    X, y = ward()
    report = fa.evaluate(model(), X, y, "accuracy", threshold={"sepsis": 0.2})
    found, said = report["accuracy"].estimates, X[:, 0] >= 0.2
    sick = y == "sepsis"
    for name, hit, among in (
        ("sensitivity[sepsis]", said, sick),
        ("recall[sepsis]", said, sick),
        ("specificity[sepsis]", ~said, ~sick),
        ("ppv[sepsis]", sick, said),
        ("precision[sepsis]", sick, said),
        ("mistake[sepsis -> well]", ~said, sick),
    ):
        exact = stats.binomtest(int(hit[among].sum()), int(among.sum()))
        interval = exact.proportion_ci(0.95, method="exact")
        assert found[name].value == pytest.approx(exact.statistic)
        assert (found[name].low, found[name].high) == pytest.approx(tuple(interval), rel=1e-6)
    assert found["accuracy"].value == pytest.approx((said == sick).mean())
    gates = {
        "min": {"accuracy.recall[sepsis]": 0.5},
        "max": {"accuracy.mistake[sepsis -> well]": 0.5},
    }
    assert report.verdict(gates).status == "pass"
    assert report.verdict({"min": {"accuracy.recall[sepsis]": 0.95}}).status == "fail"
    argmax = fa.evaluate(model(), X, y, "accuracy")["accuracy"].estimates
    assert argmax["recall[sepsis]"].value == pytest.approx((X[sick, 0] > 0.5).mean())
    own, kept = (e["calibration_error"].value for e in (argmax, found))
    assert own == pytest.approx(kept, rel=1e-9), "of the model's own confidences"


def test_expected_cost_and_the_threshold_that_would_be_cheapest():
    X, y = ward()
    found = fa.evaluate(model(), X, y, "accuracy", costs=COSTS)["accuracy"].estimates
    sick, said = y == "sepsis", X[:, 0] > 0.5
    expected = 50 * (sick & ~said).mean() + (~sick & said).mean()
    cost = found["expected_cost"]
    assert cost.value == pytest.approx(expected)
    assert cost.low < expected < cost.high < 50
    # With true probabilities the cheapest threshold is 1 / 51.
    assert found["best_threshold"].value == pytest.approx(1 / 51, abs=0.05)
    assert found["best_threshold"].n + found["cost_at_best_threshold"].n == len(y)
    assert found["saved_by_best_threshold"].low > 0


def test_the_held_out_cost_covers_what_the_chosen_threshold_costs():
    """The cost on the choosing half is too low; that on the other half is not."""
    big, truth = ward(200_000, seed=99)
    sick, missed = truth == "sepsis", 0
    for seed in range(60):
        X, y = ward(400, seed)
        own = np.column_stack([1 - X[:, 0], X[:, 0]])
        rows = JudgedRows.of((y == "sepsis").astype(int), own.argmax(axis=1), 2, own)
        found = operating_point(
            rows, own, ["well", "sepsis"], Decision.of(COSTS, None), seed=seed
        ).estimates
        said = big[:, 0] >= found["best_threshold"].value
        true_cost = 50 * (sick & ~said).mean() + (~sick & said).mean()
        held_out = found["cost_at_best_threshold"]
        missed += not held_out.low <= true_cost <= held_out.high
    assert missed <= stats.binom.ppf(0.999, 60, 0.05)


def test_a_run_of_the_file_judges_the_decision(tmp_path):
    X, y = ward(300)
    pd.DataFrame({"p": X[:, 0], "q": X[:, 1], "label": y}).to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "cost_model.py").write_text(
        "import numpy as np\ndef model(X): return np.column_stack([1 - X[:, 0], X[:, 0]])\n"
    )
    text = (
        '[model]\npath = "cost_model:model"\nclasses = ["well", "sepsis"]\n[data]\ntest = "t.csv"\n'
        '[decision]\ncosts = { "sepsis -> well" = 50, "* -> *" = 1 }\n'
        'threshold = { "sepsis" = 0.2 }\n[gates.min]\n"accuracy.recall[sepsis]" = 0.5\n'
    )
    file = tmp_path / "fireassay.toml"
    file.write_text(text)
    context = load_context(read_config(file), trust=True)
    np.testing.assert_array_equal(context.model.predict(context.test.X) == "sepsis", X[:, 0] >= 0.2)
    assert context.decision.matrix(context.model.classes).tolist() == [[0, 1], [50, 0]]
    for mistake, message in (
        ('threshold = { "sepsis" = 1.2 }', "decision.threshold"),
        ('threshold = "costs"', "decision.threshold"),
        ('costs = { "sepsis" = 1 }', "what is true and what is answered"),
        ('costs = { "a -> b" = -1 }', "decision.costs"),
    ):
        file.write_text(text.split("[decision]")[0] + f"[decision]\n{mistake}\n")
        with pytest.raises(ConfigError, match=message):
            read_config(file)


def test_costs_are_complete_and_of_known_classes():
    classes = ["a", "b", "c"]
    full = Decision.of({"* -> *": 1, "a -> *": 5, "* -> c": 2, "a -> c": 9}, None).matrix(classes)
    assert full.tolist() == [[0, 5, 9], [1, 0, 2], [1, 1, 0]]
    with pytest.raises(ParameterError, match="none for 'a -> c'"):
        Decision.of({"a -> b": 1, "b -> *": 1, "c -> *": 2}, None).matrix(classes)
    with pytest.raises(ParameterError, match="'d'"):
        Decision.of({"d -> *": 1}, None).matrix(classes)
    X, y = ward(200)
    with pytest.raises(ModelError, match="Every kind of mistake needs a cost"):
        fa.evaluate(model(), X, y, "accuracy", costs={"sepsis -> well": 3})


def test_attacks_make_the_decision_fall_and_reliability_counts_its_errors():
    """At threshold 0.2 'well' falls at 0.2, within reach of eps .15 from 0.1; argmax stands."""
    rng = np.random.default_rng(0)
    X = np.column_stack([np.full(60, 0.1), rng.random(60)])
    y = np.full(60, "well")
    settings = {"survival": {"eps": 0.15, "samples": 20, "budget": 100}}
    parts = ["survival", "reliability"]
    plain = fa.evaluate(model(), X, y, parts, settings=settings)
    decided = fa.evaluate(model(), X, y, parts, settings=settings, threshold={"sepsis": 0.2})
    stands = [r["survival"].estimates["standing_share"].value for r in (plain, decided)]
    assert stands == [1.0, 0.0]
    careful = fa.evaluate(model(), X, y, parts="reliability", threshold={"sepsis": 0.05})
    assert careful["reliability"].estimates["pmi"].value == 1.0
    assert plain["reliability"].estimates["pmi"].value == 0.0


def test_calibration_is_a_number_with_what_would_mend_it():
    X, y = ward(3000)
    boasting = fa.as_classifier(
        lambda X: (
            np.column_stack([(1 - X[:, 0]) ** 4, X[:, 0] ** 4])
            / ((1 - X[:, 0]) ** 4 + X[:, 0] ** 4)[:, None]
        ),
        classes=["well", "sepsis"],
    )
    part = fa.evaluate(boasting, X, y, "accuracy")["accuracy"]
    assert part.estimates["temperature"].value == pytest.approx(4, rel=0.2)
    before, after = (part.estimates[f"calibration_error{end}"] for end in ("", "_mended"))
    assert after.high < before.low
    assert any("no answer would change" in claim.text for claim in part.claims)
    gates = {"max": {"accuracy.calibration_error": 0.02}}
    assert fa.evaluate(boasting, X, y, "accuracy").verdict(gates).status == "fail"


def test_parts_that_rest_on_confidences_say_whether_these_are_true():
    X, y = ward(1000)
    boasting = fa.as_classifier(
        lambda X: np.tile([0.99, 0.01], (len(X), 1)),
        classes=["well", "sepsis"],
        bounds=(0, 1),
    )
    settings = {"discovery": {"search": "random", "budget": 20, "drawn": 0}}
    parts = ["accuracy", "discovery", "reliability"]
    for who, status in ((boasting, "contradicted"), (model(), "supported")):
        report = fa.evaluate(who, X, y, parts, settings=settings)
        for part in ("discovery", "reliability"):
            found = {a.id: a for a in report[part].assumptions}
            assert "off by" in found["calibrated"].check
        assert found["calibrated"].status == status
        assert "calibrated" not in report["reliability"].estimates["pmi_upper"].rests_on
