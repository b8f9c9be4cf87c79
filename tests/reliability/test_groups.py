"""Labels of patients: bounds count groups, and the ledger says what the groups show."""

import numpy as np
import pytest
from scipy.stats import binom

from fireassay import as_classifier, reliability
from fireassay.core import DataError, ParameterError
from fireassay.core.groups import Groups
from fireassay.report import Report
from fireassay.statistics import clopper_pearson

MODEL = as_classifier(lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), classes=[0, 1])


def patients(seed, sizes=(25,) * 40, p=0.08, correlation=0.3, rates=None):
    """Rows, labels and patients; each patient has an error rate of their own."""
    rng = np.random.default_rng(seed)
    sizes = np.asarray(sizes)
    s = 1 / correlation - 1
    rates = rng.beta(p * s, (1 - p) * s, len(sizes)) if rates is None else np.asarray(rates)
    patient = np.repeat(np.arange(len(sizes)), sizes)
    X = rng.random((len(patient), 3))
    right = (X[:, 0] > 0.5).astype(int)
    y = np.where(rng.random(len(patient)) < rates[patient], 1 - right, right)
    order = rng.permutation(len(patient))  # shuffled rows show no runs
    return X[order], y[order], patient[order]


def status(result):
    return {assumption.id: assumption.status for assumption in result.assumptions}


@pytest.mark.parametrize("method", ["rectified", "exact"])
def test_the_bound_counts_patients_and_says_what_the_rows_are_worth(method):
    X, y, patient = patients(1)
    found = reliability.assess(MODEL, X, y, groups=patient, method=method)
    plain = reliability.assess(MODEL, X, y, method=method)
    assert found.pmi_lower < found.pmi < found.pmi_upper
    assert found.pmi_upper > plain.pmi_upper + 0.02
    evidence = found.evidence()
    worth = evidence.estimates["effective_n"]
    # 25 rows per patient at a correlation of 0.3: a design effect of about 1 + 24 * 0.3 = 8.2.
    assert 1000 / 20 < worth.value < 1000 / 3
    assert worth.n == 1000
    assert "Effective sample size" in str(found)
    assert f"of 40 groups, worth {worth.value:.0f} independent ones" in found.headline
    assert "independent-groups" in evidence.estimates["pmi_upper"].rests_on
    assert "independent-rows" not in evidence.estimates["pmi_upper"].rests_on


@pytest.mark.slow
def test_covers_where_rows_as_independent_do_not():
    misses = {"groups": 0, "rows": 0}
    for seed in range(60):
        X, y, patient = patients(seed, (50,) * 20)
        wrong = ((X[:, 0] > 0.5).astype(int) != y).sum()
        misses["rows"] += clopper_pearson(wrong, len(y), 0.975, "upper")[1] < 0.08
        found = reliability.assess(MODEL, X, y, groups=patient, method="exact")
        misses["groups"] += found.pmi_upper < 0.08
    allowed = binom.ppf(0.999, 60, 0.025)
    assert misses["groups"] <= allowed < misses["rows"]


def test_the_ledger_gives_the_correlation_within_groups():
    X, y, patient = patients(2)
    found = reliability.assess(MODEL, X, y, groups=patient)
    assert status(found)["independent-rows"] == "contradicted"
    assert status(found)["independent-groups"] == "untestable"
    check = next(a.check for a in found.assumptions if a.id == "independent-rows")
    assert "p = 0.001" in check
    at_random = np.random.default_rng(0).permutation(patient)
    found = reliability.assess(MODEL, X, y, groups=at_random)
    assert status(found)["independent-rows"] == "supported"


def test_without_groups_independence_is_never_supported():
    X, y, _ = patients(3)
    assert status(reliability.assess(MODEL, X, y))["independent-rows"] == "untestable"
    X, y, _ = patients(3, (1,) * 300)
    near = X + np.random.default_rng(0).normal(0, 1e-6, X.shape)
    rows = np.random.default_rng(1).permutation(600)
    found = reliability.assess(MODEL, np.vstack([X, near])[rows], np.tile(y, 2)[rows])
    assert status(found)["independent-rows"] == "untestable"  # likeness is no objection
    found = reliability.assess(MODEL, np.vstack([X, X])[rows], np.tile(y, 2)[rows])
    assert status(found)["independent-rows"] == "contradicted"


def test_errors_in_runs_contradict_and_a_file_sorted_by_class_does_not():
    rng = np.random.default_rng(8)
    X = rng.random((1000, 3))
    y = (X[:, 0] > 0.5).astype(int)
    bad = np.repeat(rng.random(100) < 0.1, 10)  # of ten rows each, in the order they came
    found = reliability.assess(MODEL, X, np.where(bad & (rng.random(1000) < 0.8), 1 - y, y))
    assert status(found)["independent-rows"] == "contradicted"
    noisy = np.where(rng.random(1000) < 0.1, 1 - y, y)
    order = np.argsort(noisy, kind="stable")
    found = reliability.assess(MODEL, X[order], noisy[order])
    assert status(found)["independent-rows"] == "untestable"


def test_groups_max_is_a_second_line_and_keeps_no_limit_by_itself():
    X, y, patient = patients(5)
    found = reliability.assess(MODEL, X, y, groups=patient)
    lines = found.frame().set_index("method")["pmi_upper"]
    assert lines["groups-max"] < lines["groups-any"] == found.pmi_upper
    short = reliability.assess(MODEL, X, y, groups=patient, method="groups-max")
    assert short.pmi_upper == lines["groups-max"]
    limit = {"max": {"pmi_upper": short.pmi_upper + 1e-3}}
    refused = Report([short]).verdict(limit).checks[0]
    assert refused.status == "undecided"
    assert "rare-groups" in refused.explanation
    accepted = Report([short], accepted={"rare-groups": "all sites are known"}).verdict(limit)
    assert accepted.checks[0].status == "pass"


def test_a_group_above_the_declared_largest_one_is_refused():
    X, y, patient = patients(6)
    wide = reliability.assess(MODEL, X, y, groups=Groups(patient, largest=50)).pmi_upper
    assert wide > reliability.assess(MODEL, X, y, groups=patient).pmi_upper
    with pytest.raises(DataError, match="more than the declared 20"):
        reliability.assess(MODEL, X, y, groups=Groups(patient, largest=20))


def test_groups_do_not_go_with_weights_or_a_surrogate():
    X, y, patient = patients(7)
    for method, weights in (
        ("rectified", np.ones(len(y))),
        (reliability.Rectified(surrogate=lambda rows: np.full(len(rows), 0.1)), None),
    ):
        with pytest.raises(ParameterError, match="labels alone"):
            reliability.assess(MODEL, X, y, groups=patient, method=method, weights=weights)


def test_patients_that_differ_are_not_taken_for_another_profile():
    """Rows of one patient are alike: 20 patients of 30 rows are 20 draws of the field, not 600."""
    contradicted = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        patient = np.repeat(np.arange(20), 30)
        X = np.clip(rng.random((20, 2))[patient] + 0.02 * rng.normal(size=(600, 2)), 0, 1)
        field = rng.random((300, 2))
        found = reliability.assess(
            MODEL, X, X[:, 0] > 0.5, field, method="exact", groups=patient, seed=seed
        )
        contradicted += found.labels_from_elsewhere
    assert contradicted <= 1
