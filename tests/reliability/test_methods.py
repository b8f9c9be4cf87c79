"""Every method on a constant, a label-flipped, a perfect and an ordinary classifier."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from fireassay import as_classifier, reliability
from fireassay.core import DataError
from fireassay.data import unit_square
from fireassay.data.unit_square import unit_square_label
from fireassay.statistics import clopper_pearson

DATA = unit_square(600, seed=1)
FIELD = unit_square(3000, seed=2).X
SMALL = {"ram": reliability.Ram(cells=30), "worst-case": reliability.WorstCase(cells=40)}


def truth(X, flip=False):
    p = np.where(unit_square_label(X) == int(not flip), 0.99, 0.01)
    return np.column_stack([1 - p, p])


MODELS = {
    "perfect": as_classifier(truth, classes=[0, 1]),
    "flipped": as_classifier(lambda X: truth(X, flip=True), classes=[0, 1]),
    "constant": as_classifier(lambda X: np.tile([0.9, 0.1], (len(X), 1)), classes=[0, 1]),
}
TRUE_PMI = {"perfect": 0.0, "flipped": 1.0, "constant": float(DATA.y.mean())}


def assess(name, method, **options):
    method = SMALL.get(method, method)
    return reliability.assess(MODELS[name], DATA.X, DATA.y, FIELD, method=method, **options)


@pytest.mark.parametrize("method", reliability.METHODS)
@pytest.mark.parametrize("name", MODELS)
def test_every_method_answers_sensibly(name, method):
    found = assess(name, method)
    assert found.method == method
    assert 0 <= found.pmi_lower <= found.pmi <= found.pmi_upper <= 1
    assert found.n_errors == {"perfect": 0, "flipped": 600, "constant": int(DATA.y.sum())}[name]
    if found.is_bound:
        # "worst-case" is exact only where cells have one label; these are coarse.
        slack = 0.02 if method == "worst-case" else 0.0
        assert found.pmi_upper >= TRUE_PMI[name] - slack
    else:
        # What is no bound says so, and shows an honest one beside it.
        assert found.evidence().estimates["pmi_upper"].value >= TRUE_PMI[name]
        if name != "perfect" and found.pmi_upper < 0.8 * TRUE_PMI[name]:
            assert found.details.contradiction_p < 1e-6
    assert len(found.assumptions) >= 6
    assert found.is_bound == (method != "ram")


def test_the_default_orders_the_models():
    bounds = [assess(name, "rectified").pmi_upper for name in ("perfect", "constant", "flipped")]
    assert bounds == sorted(bounds)
    assert bounds[0] < 0.01
    assert bounds[2] == 1


def test_zero_errors_is_still_a_bound():
    found = assess("perfect", "rectified")
    alone = clopper_pearson(0, 600, 0.975, "upper")[1]
    assert found.pmi == 0
    assert alone <= found.pmi_upper <= 1.05 * alone


@pytest.mark.parametrize("rows", [50, 400, 3000])
def test_the_headline_is_never_wider_than_its_clopper_pearson_part(rows):
    tree = DecisionTreeClassifier(max_depth=4, random_state=0).fit(DATA.X[:100], DATA.y[:100])
    found = reliability.assess(tree, DATA.X[100:], DATA.y[100:], operational=FIELD[:rows])
    errors, n = found.n_errors, found.n_labels
    level = 0.025 if rows < n else 0.9 * 0.025
    assert found.pmi_upper <= clopper_pearson(errors, n, 1 - level, "upper")[1] + 1e-12
    assert found.pmi_upper >= errors / n


def test_same_seed_same_bytes(tmp_path):
    first, second = assess("constant", "rectified"), assess("constant", "rectified")
    a, b = first.save(tmp_path / "a.npz"), second.save(tmp_path / "b.npz")
    assert a.read_bytes() == b.read_bytes()
    other = assess("constant", "rectified", seed=5)
    assert other.provenance.seed == 5


@pytest.mark.parametrize("method", reliability.METHODS)
def test_results_survive_saving(method, tmp_path):
    found = assess("constant", method)
    loaded = reliability.ReliabilityResult.load(found.save(tmp_path / "r.npz"))
    assert loaded.pmi_upper == found.pmi_upper
    assert loaded.assumptions == found.assumptions
    assert loaded.comparison.equals(found.comparison)
    assert type(loaded.details) is type(found.details)
    if method == "rectified":
        assert loaded.details == found.details
        assert loaded.evidence().to_dict() == found.evidence().to_dict()


def test_evidence_and_charts():
    found = assess("constant", "ram")
    assert set(found.charts()) == {"labels", "profile", "cells", "refinement"}
    evidence = found.evidence()
    assert "<svg" in evidence.charts["cells"].svg()
    assert evidence.estimates["acu"].value == found.details.acu
    rectified = assess("constant", "rectified").evidence()
    assert rectified.estimates["pmi_upper"].kind == "bound"
    assert rectified.provenance.labels == 600
    assert rectified.provenance.queries == 3600
    assert rectified.provenance.model_sha256
    prior = assess("constant", "conservative-bayes")
    assert "sensitivity" in prior.charts()


def test_confusions_add_up_and_hold_jointly():
    found = assess("constant", "rectified")
    table = found.confusions
    assert table["count"].sum() == found.n_errors
    row = table.iloc[0]
    assert (row["true"], row["predicted"]) == (1, 0)
    assert row["upper"] == clopper_pearson(found.n_errors, 600, 0.975, "upper")[1]
    assert row["upper_joint"] == clopper_pearson(found.n_errors, 600, 1 - 0.0125, "upper")[1]
    assert table.iloc[1]["upper"] < 0.01


def test_row_order_and_class_names_do_not_matter():
    order = np.random.default_rng(0).permutation(600)
    base = assess("constant", "worst-case")
    moved = reliability.assess(
        MODELS["constant"], DATA.X[order], DATA.y[order], FIELD[::-1], method=SMALL["worst-case"]
    )
    assert moved.pmi_upper == base.pmi_upper
    named = as_classifier(lambda X: np.tile([0.9, 0.1], (len(X), 1)), classes=["red", "green"])
    words = np.array(["red", "green"])[DATA.y]
    found = reliability.assess(named, DATA.X, words, operational=FIELD)
    assert found.pmi_upper == assess("constant", "rectified").pmi_upper
    assert found.confusions.iloc[0]["predicted"] == "red"


@pytest.mark.parametrize("method", reliability.METHODS)
def test_every_number_is_described_and_rests_on_stated_assumptions(method):
    evidence = assess("constant", method).evidence()
    stated = {assumption.id for assumption in evidence.assumptions}
    assert "" not in stated
    for name, estimate in evidence.estimates.items():
        assert evidence.measure(name) in reliability.MEASURES
        assert set(estimate.rests_on) <= stated
    upper, lower = evidence.estimates["pmi_upper"], evidence.estimates["pmi_lower"]
    assert upper.kind == lower.kind == "bound"
    assert upper.confidence == lower.confidence == 0.975
    assert lower.value <= upper.value
    if "pmi" in evidence.estimates:  # two one-sided bounds at 97.5 % make an interval at 95 %
        pmi = evidence.estimates["pmi"]
        assert pmi.confidence == pytest.approx(0.95)
        assert (pmi.low, pmi.high) == (lower.value, upper.value)


def test_exact_is_clopper_pearson_on_the_labels_alone():
    found = assess("constant", "exact", confidence=0.9)
    errors = int(DATA.y.sum())
    assert found.pmi_upper == clopper_pearson(errors, 600, 0.9, "upper")[1]
    assert found.pmi_lower == clopper_pearson(errors, 600, 0.9, "lower")[0]


def test_a_method_of_ones_own_is_taken():
    class Half(reliability.Exact):
        name = "half"
        uses = ("groups",)

        def run(self, problem):
            assert problem.groups is not None
            return super().run(problem)

    found = assess("constant", Half(), groups=np.arange(600) // 2)
    assert found.method == "half"
    with pytest.raises(DataError, match="same number"):
        assess("constant", Half(), groups=np.arange(3))


def test_printing_a_result_reads_well():
    text = str(assess("perfect", "rectified"))
    # A bound is rounded to its own side.
    said = "At most 0.64 % of inputs are misclassified (97.5 % confidence, 0 errors"
    assert text.startswith(said)
    assert "Field error rate, at most: 0.64 %" in text


def test_the_page_names_every_method_and_design():
    page = (Path(__file__).parents[2] / "docs" / "reliability.md").read_text()
    for row in (*reliability.METHODS.values(), *reliability.DESIGNS.values()):
        assert row.name in page
        assert row.summary
