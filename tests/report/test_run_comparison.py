import math
import re

import numpy as np
import pytest
from scipy import stats

from fireassay.core import Estimate, Evidence, Measure, ParameterError, Provenance
from fireassay.report import Report, assert_gate, compare_reports
from fireassay.report.comparison import signed
from fireassay.report.looks_and_changes import not_worse_check


def share(hits, n, confidence=0.95):
    ci = stats.binomtest(hits, n).proportion_ci(confidence, method="wilson")
    return Estimate(hits / n, ci.low, ci.high, confidence, n, "Wilson")


def run(estimate, seed=0, model="a", **more):
    provenance = Provenance(seed=seed, model_sha256=model, data_sha256="d")
    return Report(
        [Evidence("accuracy", "h", estimates={"error": estimate, **more}, provenance=provenance)]
    )


def test_the_difference_is_newcombes_interval():
    # Newcombe (1998), method 10, example (a): 56/70 against 48/80 gives 0.0524 to 0.3339.
    change = compare_reports(run(share(48, 80)), run(share(56, 70))).differences[0].change
    assert change.value == pytest.approx(0.2)
    assert (change.low, change.high) == pytest.approx((0.0524, 0.3339), abs=5e-5)


@pytest.mark.slow
def test_the_difference_covers():
    rng = np.random.default_rng(0)
    misses, repeats = 0, 400
    for _ in range(repeats):
        before, after = rng.binomial(200, 0.2), rng.binomial(300, 0.15)
        change = compare_reports(run(share(before, 200)), run(share(after, 300))).differences[0]
        misses += not change.change.low <= -0.05 <= change.change.high
    assert misses <= stats.binom.ppf(0.999, repeats, 0.05)


def test_what_changed_is_said():
    found = compare_reports(
        run(share(1, 10)), run(share(2, 10), seed=1, model="b", extra=share(1, 10))
    )
    assert set(found.changed) == {"accuracy: another model", "accuracy: seed 0, now 1"}
    assert found.only_after == ("accuracy.extra",)
    assert found.frame().loc[0, "after"] == 0.2


def test_a_bound_is_shown_but_not_judged():
    found = compare_reports(
        run(Estimate.bound(0.1, 0.9, 5, "m")), run(Estimate.bound(0.2, 0.9, 5, "m"))
    )
    assert found.differences[0].change.value == pytest.approx(0.1)
    assert not found.differences[0].clear
    assert found.differences[0].measure.shown(found.differences[0].change) == "0.10"


def test_other_confidence_is_brought_to_the_same():
    found = compare_reports(run(share(10, 100, 0.8)), run(share(10, 100, 0.95)))
    same = compare_reports(run(share(10, 100)), run(share(10, 100)))
    assert found.differences[0].change.low == pytest.approx(
        same.differences[0].change.low, abs=0.01
    )


def test_assert_gate_in_a_test_suite():
    evidence = run(share(10, 100)).parts[0]
    assert_gate(evidence, error=0.5)
    assert_gate(evidence, min={"accuracy.error": 0.01})
    with pytest.raises(AssertionError, match=r"error ≤ 0.1: the limit 0.1 lies"):
        assert_gate(evidence, error=0.1)
    with pytest.raises(AssertionError, match=r"error ≤ 0.01: even its lower end is 0.06"):
        assert_gate(evidence, error=0.01)
    with pytest.raises(AssertionError, match="not enough evidence"):
        assert_gate(Evidence.not_available("reliability", "no labels"), pmi_upper=0.1)
    with pytest.raises(ParameterError):
        assert_gate(evidence)
    nothing = Estimate(math.nan, math.nan, math.nan, 0.9, 0, "m")
    with pytest.raises(AssertionError, match="not estimable"):
        assert_gate(run(nothing), error=0.1)


def test_complementary_errors_are_not_promised():
    # Each model fails where the other does not: correlation -1, and the interval is too narrow.
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(400):
        first = int(rng.binomial(200, 0.5))
        found = compare_reports(run(share(first, 200)), run(share(200 - first, 200)))
        change = found.differences[0].change
        covered += change.low <= 0.0 <= change.high
    assert covered / 400 < 0.93
    assert "approximate" in change.method
    assert "independent" in change.method


def _compared(name, right, limit=0.85):
    from fireassay.report import ComparedRun

    report = run(share(100 - right, 100))
    return ComparedRun(name, report.verdict({"max": {"error": 1 - limit}})), report


def test_the_page_says_verdicts_changes_and_which_answers_moved(tmp_path):
    from fireassay.core import Sample
    from fireassay.report import MovedAnswers, comparison_html

    (old, first), (new, second) = _compared("v1", 97), _compared("<v2>", 60)
    found = compare_reports(first, second)
    wrong = (Sample(7, "newly wrong", said="cat: cat → <dog>"),)
    page = comparison_html(old, new, found, {"accuracy.error"}, MovedAnswers(wrong, (), 37, 0))
    assert page == comparison_html(
        old, new, found, {"accuracy.error"}, MovedAnswers(wrong, (), 37, 0)
    )
    text = page.replace("\N{NO-BREAK SPACE}", " ")
    assert "v1 → &lt;v2&gt;: pass → fail" in text
    assert "37 answers became wrong, 0 became right." in text
    assert "cat: cat → &lt;dog&gt;" in text
    assert "<strong>changed</strong>" in text  # nobody said which way is better
    assert "row by row" in text
    assert "script" not in page[page.index("<body>") :]
    body = page[page.index("<body>") :]
    # Only the pass of the first run is green, in its box and in its limit.
    assert re.findall(r'class="[^"]*\bgood\b[^"]*"', body) == [
        'class="verdict good"',
        'class="state good"',
    ]


def test_runs_without_common_rows_say_so():
    from fireassay.report import comparison_html

    (old, first), (new, second) = _compared("v1", 97), _compared("v2", 96)
    page = comparison_html(old, new, compare_reports(first, second))
    assert "share no labelled rows" in page
    assert "No change of a number is shown." in page


def test_changes_of_shares_are_told_in_points():
    error = Measure("error", "Wrong on the labelled rows", "share", "low", "How often.")
    change = Estimate(-0.021, -0.034, -0.008, 0.95, 700, "paired")
    assert signed(error, change) == "−2.1 points [−3.4, −0.8]"
    change = Estimate(0.002, -0.004, 0.008, 0.95, 900, "Newcombe, paired")
    assert not_worse_check("accuracy.error", change, error, 0.01, "v1").status == "pass"
