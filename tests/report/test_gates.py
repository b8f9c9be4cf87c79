import math

import pytest

from fireassay.core import Estimate, Evidence, ParameterError
from fireassay.report import Gate, Report


def part(question="reliability", **numbers):
    return Evidence(question, "headline", estimates=numbers)


ERROR_RATE = Estimate(0.04, 0.02, 0.06, 0.95, 100, "Clopper-Pearson")


@pytest.mark.parametrize(
    ("gates", "code"),
    [
        ({"max": {"error": 0.06}}, 0),
        ({"max": {"error": 0.05}}, 1),  # the value is inside, the upper end is not
        ({"min": {"error": 0.02}}, 0),
        ({"min": {"error": 0.03}}, 1),  # the value is inside, the lower end is not
        ({"max": {"reliability.error": 0.06}}, 0),
        ({}, 0),
    ],
)
def test_the_unfavourable_end_of_the_interval_counts(gates, code):
    assert Report([part(error=ERROR_RATE)]).verdict(gates).exit_code == code


def test_a_bound_is_compared_as_it_stands():
    report = Report([part(pmi_upper=Estimate.bound(0.05, 0.975, 59, "m"))])
    assert report.verdict({"max": {"pmi_upper": 0.05}}).exit_code == 0
    assert report.verdict({"min": {"pmi_upper": 0.05}}).exit_code == 0
    assert report.verdict({"max": {"pmi_upper": 0.0499}}).exit_code == 1


def test_a_part_that_did_not_run_is_never_a_pass():
    failed = Report([part(error=ERROR_RATE), Evidence.failed("survival", "boom")])
    assert failed.verdict({"max": {"error": 1.0}}).exit_code == 3
    assert failed.verdict({"max": {"trash": 1.0}}).exit_code == 3
    assert failed.verdict({"max": {"survival.trash": 1.0}}).exit_code == 3
    absent = Report([part(error=ERROR_RATE), Evidence.not_available("survival", "no torch")])
    assert absent.verdict({"max": {"error": 1.0}}).exit_code == 0
    assert absent.verdict({"max": {"survival.trash": 1.0}}).exit_code == 3


def test_a_failed_gate_outranks_missing_evidence():
    report = Report([part(error=ERROR_RATE), Evidence.failed("survival", "boom")])
    assert report.verdict({"max": {"error": 0.01, "survival.trash": 1.0}}).exit_code == 1


def test_a_number_that_is_not_estimable_is_missing_evidence():
    nothing = Estimate(math.nan, math.nan, math.nan, 0.95, 0, "m")
    assert Report([part(error=nothing)]).verdict({"max": {"error": 1.0}}).exit_code == 3


def test_unknown_and_ambiguous_names_are_usage_errors():
    report = Report([part(error=ERROR_RATE), part("survival", error=ERROR_RATE)])
    with pytest.raises(ParameterError, match="several parts"):
        report.verdict({"max": {"error": 1.0}})
    with pytest.raises(ParameterError, match="No part has the number 'pmi'"):
        report.verdict({"max": {"pmi": 1.0}})
    with pytest.raises(ParameterError, match="No part has the number"):
        report.verdict({"max": {"reliability.nothing": 1.0}})
    with pytest.raises(ParameterError, match="under 'max' and 'min'"):
        report.verdict({"maximum": {"error": 1.0}})


@pytest.mark.parametrize("text", ["pmi", "pmi=", "pmi=x", "pmi=nan", "=="])
def test_gates_that_cannot_be_read(text):
    with pytest.raises(ParameterError):
        Gate.parse(text, "max")
