"""The four states, and everything that keeps a gate from passing."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from fireassay.core import Assumption, Estimate, Evidence, Measure, ParameterError
from fireassay.report import Report
from fireassay.statistics import share

ERROR = Estimate(0.04, 0.02, 0.06, 0.95, 100, "Wilson")
MEASURES = (Measure("error", "Wrong", "share", "low", "Share of rows that it gets wrong."),)


def part(question="accuracy", **numbers):
    return Evidence(question, "headline", estimates=numbers, measures=MEASURES)


def judged(gates, *parts, **options):
    return Report(parts or [part(error=ERROR)]).verdict(gates, **options)


@pytest.mark.parametrize(
    ("gates", "status", "code"),
    [
        ({"max": {"error": 0.06}}, "pass", 0),
        ({"max": {"error": 0.05}}, "not enough evidence", 3),
        ({"max": {"error": 0.01}}, "fail", 1),
        ({"min": {"error": 0.02}}, "pass", 0),
        ({"min": {"error": 0.03}}, "not enough evidence", 3),
        ({"min": {"error": 0.07}}, "fail", 1),
        ({"max": {"accuracy.error": 0.06}}, "pass", 0),
        ({}, "no limits set", 3),
    ],
)
def test_the_four_states(gates, status, code):
    verdict = judged(gates)
    assert (verdict.status, verdict.exit_code, bool(verdict)) == (status, code, code == 0)


def test_a_failed_gate_outranks_an_undecided_one_which_outranks_a_pass():
    second = part("survival", trash=ERROR)
    both = {"error": 0.06, "trash": 0.05}
    assert judged({"max": both}, part(error=ERROR), second).status == "not enough evidence"
    worse = {"error": 1e-9, "trash": 0.05}
    assert judged({"max": worse}, part(error=ERROR), second).status == "fail"


def test_any_failed_part_prevents_a_pass_gated_or_not():
    failed = Evidence.failed("survival", "boom")
    verdict = judged({"max": {"error": 1.0}}, part(error=ERROR), failed)
    assert (verdict.status, verdict.failed_parts) == ("not enough evidence", ("survival",))
    assert judged({"max": {"error": 0.001}}, part(error=ERROR), failed).exit_code == 1
    absent = Evidence.not_available("survival", "no torch")
    assert judged({"max": {"error": 1.0}}, part(error=ERROR), absent).exit_code == 0


CONTRADICTED = Assumption("Rows are independent.", "contradicted", "9 repeat.", "independent-rows")
RESTING = replace(ERROR, rests_on=("independent-rows",))
NAN = Estimate(math.nan, math.nan, math.nan, 0.95, 0, "m")


@pytest.mark.parametrize(
    ("evidence", "why"),
    [
        (Evidence.failed("accuracy", "boom"), "accuracy is failed: boom"),
        (Evidence.not_available("accuracy", "no labels"), "is not available: no labels"),
        (part("reliability", other=ERROR), "accuracy has not run"),
        (part(error=NAN), "not estimable"),
        (part(error=replace(ERROR, high=math.nan)), "not estimable"),
        (part(error=Estimate.point(0.0, 9, "m")), "has no interval"),
        (part(error=Estimate(0.0, 0.0, 0.0, 0.95, 9, "m")), "has no interval"),
        (replace(part(error=ERROR), stale="another model"), "stale, made with another model"),
        (replace(part(error=ERROR), partial="stopped after 1 minute"), "partial: stopped after"),
        (
            replace(part(error=RESTING), assumptions=(CONTRADICTED,)),
            r"contradicts that rows are independent \(independent-rows",
        ),
        (
            replace(part(error=ERROR), assumptions=(replace(CONTRADICTED, id=""),)),
            "the data contradicts that",
        ),
    ],
)
@pytest.mark.parametrize("limit", [1.0, -1.0])
def test_what_cannot_be_relied_on_is_undecided_wherever_the_limit_is(evidence, why, limit):
    verdict = judged({"max": {"accuracy.error": limit}}, evidence)
    assert verdict.status == "not enough evidence"
    assert verdict.checks[0].status == "undecided"
    with pytest.raises(AssertionError, match=why):
        raise AssertionError(verdict.checks[0].explanation)
    strict = judged({"max": {"accuracy.error": limit}}, evidence, strict=True)
    assert (strict.status, strict.exit_code) == ("fail", 1)


def test_other_numbers_of_the_part_do_not_suffer_from_an_assumption():
    evidence = replace(part(error=RESTING, other=ERROR), assumptions=(CONTRADICTED,))
    assert judged({"max": {"other": 0.06}}, evidence).status == "pass"


def test_an_accepted_assumption_counts_with_its_reason():
    evidence = replace(part(error=RESTING), assumptions=(CONTRADICTED,))
    accept = {"independent-rows": "one row per patient, see protocol 7"}
    verdict = judged({"max": {"error": 0.06}}, evidence, accept=accept)
    assert verdict.status == "pass"
    assert "accepted: independent-rows (one row per patient" in verdict.checks[0].explanation
    assert Report([evidence], accepted=accept).verdict({"max": {"error": 0.06}}).status == "pass"
    with pytest.raises(ParameterError, match="needs a reason"):
        judged({"max": {"error": 0.06}}, evidence, accept={"independent-rows": " "})


def test_a_count_is_compared_as_it_is():
    counted = part(found=Estimate.count(3, 40))
    assert judged({"max": {"found": 3}}, counted).status == "pass"
    assert judged({"max": {"found": 2}}, counted).status == "fail"
    assert judged({"min": {"found": 4}}, counted).status == "fail"


UPPER = Estimate.bound(0.05, 0.975, 59, "m")
LOWER = Estimate.bound(0.02, 0.975, 59, "m")


@pytest.mark.parametrize(
    ("gates", "numbers", "status"),
    [
        ({"max": {"pmi_upper": 0.05}}, {"pmi_upper": UPPER}, "pass"),
        ({"max": {"pmi_upper": 0.0499}}, {"pmi_upper": UPPER}, "undecided"),
        ({"max": {"pmi_upper": 0.001}}, {"pmi_upper": UPPER}, "undecided"),
        ({"max": {"pmi_upper": 0.03}}, {"pmi_upper": UPPER, "pmi_lower": LOWER}, "undecided"),
        ({"max": {"pmi_upper": 0.019}}, {"pmi_upper": UPPER, "pmi_lower": LOWER}, "fail"),
        ({"min": {"pmi_lower": 0.02}}, {"pmi_upper": UPPER, "pmi_lower": LOWER}, "pass"),
        ({"min": {"pmi_lower": 0.051}}, {"pmi_upper": UPPER, "pmi_lower": LOWER}, "fail"),
        # A lower bound cannot show that something is small, an upper one that it is large.
        ({"max": {"pmi_lower": 0.9}}, {"pmi_lower": LOWER}, "undecided"),
        ({"max": {"pmi_lower": 0.01}}, {"pmi_lower": LOWER}, "fail"),
        ({"min": {"pmi_upper": 0.01}}, {"pmi_upper": UPPER}, "undecided"),
        ({"max": {"odd_bound": 0.05}}, {"odd_bound": UPPER}, "pass"),
        ({"max": {"odd_bound": 0.04}}, {"odd_bound": UPPER}, "undecided"),
    ],
)
def test_the_other_end_of_a_bound_is_its_sibling(gates, numbers, status):
    assert judged(gates, part("reliability", **numbers)).checks[0].status == status


def test_a_bound_beyond_its_limit_without_a_sibling_says_so():
    found = judged({"max": {"pmi_upper": 0.01}}, part("reliability", pmi_upper=UPPER))
    assert "no bound from the other side" in found.checks[0].explanation


def test_many_gates_fail_only_after_holm():
    # Each alone: 9 of 100 at a limit of 4 % has P(Bin(100, 0.04) >= 9) = 0.019 < 0.025.
    numbers = {name: share(9, 100) for name in "abcde"}
    alone = judged({"max": {"a": 0.04}}, part(**numbers))
    assert alone.status == "fail"
    together = judged({"max": dict.fromkeys("abcde", 0.04)}, part(**numbers))
    assert together.status == "not enough evidence"
    assert "5 limits checked at once" in together.checks[0].explanation
    clear = {**numbers, "a": share(30, 100)}
    some = judged({"max": dict.fromkeys("abcde", 0.04)}, part(**clear))
    assert [check.status for check in some.checks] == ["fail", *["undecided"] * 4]


def test_with_holm_five_good_numbers_on_their_limit_seldom_make_a_fail():
    rng, worlds, n, limit = np.random.default_rng(0), 400, 300, 0.1
    gates = {"max": dict.fromkeys("abcde", limit)}
    failed = passed = 0
    for _ in range(worlds):
        found = judged(gates, part(**{k: share(rng.binomial(n, limit), n) for k in "abcde"}))
        failed += found.status == "fail"
        passed += found.status == "pass"
    assert failed <= stats.binom.ppf(0.999, worlds, 0.025)
    assert passed == 0


def test_the_exact_p_value_agrees_with_the_exact_interval():
    # The limit just inside and just outside of the far end of a Clopper-Pearson interval.
    for hits in (0, 1, 9, 50, 99, 100):
        estimate = share(hits, 100)
        for direction, end, sign in (("max", estimate.low, -1), ("min", estimate.high, 1)):
            if not 0 < end < 1:
                continue
            near = {direction: {"a": end + sign * 1e-9}}, {direction: {"a": end - sign * 1e-9}}
            statuses = [judged(gate, part(a=estimate)).checks[0].status for gate in near]
            assert statuses == ["fail", "undecided"]


def test_print_says_state_label_limit_and_advice():
    text = str(judged({"max": {"error": 0.05}}, part(error=share(3, 100))))
    assert text.startswith("INCONCLUSIVE: wrong is not shown to stay within 5 %.")
    assert "Wrong (≤ 5 %): the limit 5 % lies between 0.6 % and 8.5 %" in text
    assert "too close to call" in text
    assert "nothing here is a pass" in str(judged({}))
