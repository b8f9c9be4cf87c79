import math

import pytest
from scipy.stats import beta

from fireassay.core import Estimate, Evidence
from fireassay.report import Gate
from fireassay.report.looks_and_changes import at_fraction, judge_spent
from fireassay.statistics import share


def part(**estimates):
    return Evidence("accuracy", "h", estimates=estimates)


def test_an_exact_share_is_computed_anew():
    found = at_fraction(part(error=share(7, 300)), "error", 1 / 20).estimates["error"]
    assert found.high == pytest.approx(beta.isf(0.025 / 20, 8, 293))
    assert found.low == pytest.approx(beta.ppf(0.025 / 20, 7, 294))
    assert found.confidence == pytest.approx(1 - 0.05 / 20)


def test_an_exact_bound_is_computed_anew_on_both_sides():
    n, k = 500, 10
    upper = Estimate.bound(beta.isf(0.025, k + 1, n - k), 0.975, n, "Clopper-Pearson")
    lower = Estimate.bound(beta.ppf(0.025, k, n - k + 1), 0.975, n, "Clopper-Pearson")
    pmi = Estimate(k / n, lower.value, upper.value, 0.95, n, "Clopper-Pearson")
    given = part(pmi=pmi, pmi_upper=upper, pmi_lower=lower)
    found = at_fraction(given, "pmi_upper", 0.1).estimates
    assert found["pmi_upper"].value == pytest.approx(beta.isf(0.0025, k + 1, n - k))
    assert found["pmi_lower"].value == pytest.approx(beta.ppf(0.0025, k, n - k + 1))


def test_what_else_has_an_interval_is_stretched_enough():
    """More than the normal quantiles ask for, and as much as a bound without errors."""
    auc = Estimate(0.8, 0.7, 0.9, 0.95, 100, "DeLong")
    found = at_fraction(part(auc=auc), "auc", 1 / 40).estimates["auc"]
    assert found.high > 0.8 + 0.1 * 3.23 / 1.96
    assert "stretched" in found.method
    n = 300
    zero = part(pmi_upper=Estimate.bound(1 - 0.025 ** (1 / n), 0.975, n, "betting"))
    spent = at_fraction(zero, "pmi_upper", 1 / 40).estimates["pmi_upper"].value
    assert spent >= 1 - (0.025 / 40) ** (1 / n)
    grouped = Estimate(0.1, 0.05, 0.2, 0.95, 100, "groups-max, approximate")
    wide = at_fraction(part(error=grouped), "error", 1 / 40).estimates["error"]
    assert wide.high - 0.1 > 0.1 * math.log(0.025 / 40) / math.log(0.025)


def test_no_fraction_no_pass():
    gate = Gate("accuracy.error", "max", 0.5)
    for left, status in ((1.0, "pass"), (0.1, "pass"), (0.0, "not enough evidence")):
        verdict = judge_spent(
            [part(error=share(1, 100))], [gate], {}, strict=False, fractions={gate.number: left}
        )
        assert verdict.status == status


def test_ends_made_on_other_scales_go_as_far_as_their_quantiles_ask():
    """A ratio whose log is normal, an AUC whose logit is: at 1/20 of the error, 3.02 for 1.96."""
    spread = math.log(2) / 1.959964
    ratio = Estimate(2.0, 1.0, 4.0, 0.95, 100, "delta method on logs")
    found = at_fraction(part(ratio=ratio), "ratio", 1 / 20).estimates["ratio"]
    assert found.high >= 2 * math.exp(3.0233 * spread)  # 5.82; a straight stretch gave 5.62
    assert found.low <= 2 * math.exp(-3.0233 * spread)
    centre, half = math.log(0.98 / 0.02), 1.3
    low, high = (1 / (1 + math.exp(-centre - side * half)) for side in (-1, 1))
    auc = Estimate(0.98, low, high, 0.95, 100, "DeLong, logit")
    spent = at_fraction(part(auc=auc), "auc", 1 / 20).estimates["auc"]
    assert spent.low <= 1 / (1 + math.exp(-centre + half * 3.0233 / 1.959964))
    assert spent.high > high
