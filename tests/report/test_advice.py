"""What would settle a limit: a number of labels that does, or something to do."""

import math

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import binom

from fireassay.core import Assumption, Estimate, Evidence, Measure, Table
from fireassay.report import Report
from fireassay.report.advice import _rounded_up
from fireassay.statistics import delong_interval, share
from fireassay.statistics.labels_needed import alpha_at_look

MEASURES = (
    Measure("error", "Wrong", "share", "low", ""),
    Measure("auroc", "Tells trouble", "auc", "high", ""),
    Measure("found", "Errors found", "count", "low", ""),
)


def part(status="done", **numbers):
    return Evidence("accuracy", "h", estimates=numbers, measures=MEASURES)


def advice(gates, *parts):
    return Report(parts).verdict(gates).advice


def test_every_limit_that_is_not_kept_has_advice():
    parts = [
        part(error=share(1, 100), found=Estimate.count(3, 40)),
        Evidence.failed("survival", "boom"),
        Evidence.not_available("curation", "there are no votes"),
    ]
    gates = {
        "max": {
            "error": 0.05, "found": 2, "survival.trash": 1, "curation.covered": 1,
            "discovery.sdr": 1,
        }
    }  # fmt: skip
    found = {item.gate.number: str(item) for item in advice(gates, *parts)}
    assert set(found) == set(gates["max"])
    assert "more rows" in found["error"]
    assert "labels change nothing: it must be at most 2" in found["found"]
    assert "Mend survival: boom" in found["survival.trash"]
    assert "Give curation what it needs: there are no votes" in found["curation.covered"]
    assert "fireassay run --only discovery" in found["discovery.sdr"]


def test_a_contradicted_assumption_is_to_be_mended_or_accepted():
    resting = Estimate(0.04, 0.02, 0.06, 0.95, 100, "Wilson", rests_on=("independent-rows",))
    evidence = Evidence(
        "accuracy",
        "h",
        estimates={"error": resting},
        assumptions=(Assumption("Rows are independent.", "contradicted", "9", "independent-rows"),),
    )
    (found,) = advice({"max": {"error": 0.5}}, evidence)
    assert "the data contradicts that rows are independent." in found.text
    assert '[gates.accept] "independent-rows"' in found.command


def by_groups(errors, rows):
    pairs, times = np.unique(np.stack([errors, rows]), axis=1, return_counts=True)
    wrong = np.concatenate([np.arange(m) < k for k, m in zip(errors, rows, strict=True)])
    table = np.vstack([pairs, times]).T.tolist()
    return Evidence(
        "accuracy",
        "h",
        estimates={
            "error": share(wrong, groups=np.repeat(np.arange(len(rows)), rows)),
            "largest_group": Estimate.count(int(max(rows)), len(wrong)),
        },
        tables={"groups": Table(("errors", "rows", "groups"), tuple(map(tuple, table)))},
        measures=MEASURES,
    )


@pytest.mark.parametrize("bad", [2, 3])
def test_after_as_many_groups_the_limit_is_kept_as_often_as_said(bad):
    """The unknown law of groups is what the Bayesian bootstrap of those seen makes of it."""
    rng, worlds, passed = np.random.default_rng(bad), 60, 0
    seen = np.r_[np.full(bad, 2), np.zeros(80 - bad, dtype=int)]
    gates = {"max": {"error": 0.05}}
    (found,) = advice(gates, by_groups(seen, np.full(80, 8)))
    assert "more groups" in found.text
    for _ in range(worlds):
        law = rng.dirichlet(np.ones(82))
        drawn = rng.choice(np.r_[seen, 8, 0], found.labels, p=law)
        world = by_groups(np.r_[seen, drawn], np.full(80 + found.labels, 8))
        passed += world.estimates["error"].high <= 0.05
    assert passed >= binom.ppf(0.001, worlds, 0.8)


@pytest.mark.parametrize(("k", "n"), [(0, 60), (1, 100), (3, 150)])
def test_after_as_many_labels_the_limit_is_kept_as_often_as_said(k, n):
    rng, worlds, passed = np.random.default_rng(k), 400, 0
    gates = {"max": {"error": 0.05}}
    (found,) = advice(gates, part(error=share(k, n)))
    for rate in rng.beta(k + 1, n - k + 1, size=worlds):  # a uniform prior, updated
        errors = k + rng.binomial(found.labels, rate)
        passed += share(errors, n + found.labels).high <= 0.05
    assert binom.ppf(0.001, worlds, 0.8) <= passed <= binom.ppf(0.999, worlds, 0.86)


def test_what_is_too_close_is_said_and_never_no_more_labels():
    gates = {"max": {"error": 0.05}}
    for k, n in ((5, 100), (6, 100)):
        (found,) = advice(gates, part(error=share(k, n)))
        assert found.labels is None
        assert "too close to call" in found.text
    (found,) = advice(gates, by_groups(np.r_[8, np.zeros(39, dtype=int)], np.full(40, 8)))
    assert found.labels != 0


def test_a_broken_limit_is_not_called_close():
    (found,) = advice({"max": {"error": 0.05}}, part(error=share(30, 100)))
    assert found.text.startswith("Improve the model: at 30 % more labels will not help.")


def test_with_as_many_rows_an_auroc_keeps_its_limit_as_often_as_promised():
    """The seen AUROC taken as true, all rows judged at what the second look may spend."""
    rng, auc, n, worlds, passed = np.random.default_rng(1), 0.85, 150, 250, 0
    shift = np.sqrt(2) * ndtri(auc)

    def sample(rows):
        positive = np.arange(rows) < rows // 2
        return rng.normal(size=rows) + shift * positive, positive

    # A sample whose AUROC is just about the true one.
    seen = min((delong_interval(*sample(n)) for _ in range(200)), key=lambda e: abs(e.value - auc))
    (found,) = advice({"min": {"auroc": 0.8}}, part(auroc=seen))
    level = 1 - 2 * alpha_at_look(0.025, 2)
    for _ in range(worlds):
        passed += delong_interval(*sample(n + found.labels), level).low >= 0.8
    assert passed >= binom.ppf(0.001, worlds, 0.8)
    assert passed <= 0.95 * worlds, "not far more rows than it takes"


@pytest.mark.parametrize(("value", "half", "n"), [(0.85, 0.08, 150), (0.83, 0.05, 400)])
def test_an_auroc_is_told_in_rows_by_which_its_interval_shrinks(value, half, n):
    estimate = Estimate(value, value - half, value + half, 0.95, n, "DeLong")
    (found,) = advice({"min": {"auroc": 0.8}}, part(auroc=estimate))
    shrunk = half * math.sqrt(n / (n + found.labels))
    # So narrow that even a value 0.84 spreads lower (power .8) keeps the limit at the second look.
    spread = shrunk / 1.96
    assert value - 0.8416 * spread - 2.8070 * spread == pytest.approx(0.8, abs=1e-3)


def test_a_number_that_a_run_does_not_have_is_not_said_to_lack_an_interval():
    (missing,) = advice({"max": {"accuracy.auroc": 0.1}}, part(error=share(3, 100)))
    assert "has no such number" in missing.text
    point = Estimate.point(0.5, 100, "counted")
    (without,) = advice({"max": {"accuracy.auroc": 0.1}}, part(auroc=point))
    assert "has no such number" not in without.text


def test_numbers_of_rows_are_never_too_small():
    assert (_rounded_up(97), _rounded_up(83_297)) == ("97", "about 84,000")
