"""What would settle a limit: a number of labels that does, or something to do."""

import math

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import binom

from fireassay.core import Assumption, Estimate, Evidence, Measure
from fireassay.report import Report
from fireassay.statistics import delong_interval, share
from fireassay.statistics.grouped_share import GroupCounts, effective_rows
from fireassay.statistics.labels_needed import alpha_at_look, labels_needed

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
        part(error=share(3, 100), found=Estimate.count(3, 40)),
        Evidence.failed("survival", "boom"),
        Evidence.not_available("curation", "there are no votes"),
    ]
    gates = {
        "max": {
            "error": 0.05, "found": 2, "survival.trash": 1, "curation.covered": 1,
            "discovery.sdr": 1,
        }
    }  # fmt: skip
    found = {item.gate.number: item.text for item in advice(gates, *parts)}
    assert set(found) == set(gates["max"])
    assert "more labels" in found["error"]
    assert "no number of labels changes it, it must be at most 2" in found["found"]
    assert "mend what broke in survival (boom)" in found["survival.trash"]
    assert "give curation what it needs: there are no votes" in found["curation.covered"]
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
    assert "Rows are independent." in found.text
    assert '[gates.accept] "independent-rows"' in found.text


def by_groups(hits, size):
    """A share of rows in groups whose rows are all alike: a group is worth one row."""
    wrong = np.repeat(hits, size)
    groups = np.repeat(np.arange(len(hits)), size)
    counts = GroupCounts.of(wrong, groups)
    worth = Estimate.point(effective_rows(counts), len(wrong), "jackknife")
    return {"error": share(wrong, groups=groups), "effective_n": worth}


def test_rows_that_repeat_each_other_are_counted_as_what_they_are_worth():
    hits = np.zeros(60, dtype=bool)
    hits[0] = True
    numbers = by_groups(hits, 4)
    (found,) = advice({"max": {"error": 0.05}}, part(**numbers))
    repeats = 240 / numbers["effective_n"].value
    assert 3.5 < repeats < 4.5  # four rows say as much as one
    n = round(240 / repeats)
    alone = labels_needed(round(n / 60), n, 0.05).more
    assert found.labels == math.ceil(alone * repeats)
    assert "rows are worth one" in found.text


def test_with_as_many_rows_of_groups_the_limit_is_shown_in_most_worlds():
    rng, worlds, passed = np.random.default_rng(0), 120, 0
    hits = np.zeros(60, dtype=bool)
    hits[0] = True
    gates = {"max": {"error": 0.05}}
    (found,) = advice(gates, part(**by_groups(hits, 4)))
    more = math.ceil(found.labels / 4)
    for rate in rng.beta(1.5, 59.5, size=worlds):  # Jeffreys, after 1 of 60
        world = np.concatenate([hits, rng.random(more) < rate])
        passed += bool(Report([part(**by_groups(world, 4))]).verdict(gates))
    assert passed >= binom.ppf(0.001, worlds, 0.8)


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


def test_a_share_beyond_its_limit_is_told_what_it_would_have_to_be():
    (found,) = advice({"max": {"error": 0.05}}, part(error=share(30, 100)))
    assert found.labels is None
    assert "no number of labels passes at 30 %" in found.text
    assert "it must be at most" in found.text


def test_a_number_that_a_run_does_not_have_is_not_said_to_lack_an_interval():
    (missing,) = advice({"max": {"accuracy.auroc": 0.1}}, part(error=share(3, 100)))
    assert "has no such number" in missing.text
    point = Estimate.point(0.5, 100, "counted")
    (without,) = advice({"max": {"accuracy.auroc": 0.1}}, part(auroc=point))
    assert "has no such number" not in without.text
