"""Names of gates: which number is meant, and what happens when there is none."""

import pytest

from fireassay.core import Estimate, Evidence, Measure, ParameterError
from fireassay.report import Gate, Report
from fireassay.report.gates import check_limit

ERROR = Estimate(0.04, 0.02, 0.06, 0.95, 100, "Clopper-Pearson")
DECLARED = (Measure("field_error", "Wrong in the field", "share", "low", ""),)


def part(question="accuracy", measures=(), **numbers):
    return Evidence(question, "headline", estimates=numbers, measures=measures)


def test_unknown_and_ambiguous_names_are_usage_errors():
    report = Report([part(error=ERROR), part("survival", error=ERROR)])
    with pytest.raises(ParameterError, match="several parts"):
        report.verdict({"max": {"error": 1.0}})
    with pytest.raises(ParameterError, match=r"No part has the number 'eror'. Nearest: .*error"):
        report.verdict({"max": {"eror": 1.0}})
    with pytest.raises(ParameterError, match=r"No part has the number 'accuracy.nothing'"):
        report.verdict({"max": {"accuracy.nothing": 1.0}})
    with pytest.raises(ParameterError, match="under 'max' and 'min'"):
        report.verdict({"maximum": {"error": 1.0}})


@pytest.mark.parametrize("name", ["field_error", "accuracy.field_error", "survival.standing"])
def test_a_number_that_is_not_there_yet_is_undecided(name):
    report = Report([part(measures=DECLARED, error=ERROR)])
    verdict = report.verdict({"max": {name: 1.0}})
    assert verdict.checks[0].status == "undecided"
    assert verdict.exit_code == 3


@pytest.mark.parametrize("text", ["pmi", "pmi=", "pmi=x", "pmi=nan", "=="])
def test_gates_that_cannot_be_read(text):
    with pytest.raises(ParameterError):
        Gate.parse(text, "max")


def test_a_share_of_five_is_five_per_cent():
    error = Measure("error", "Wrong", "share", "low", "")
    with pytest.raises(ParameterError, match=r"Write 0\.05 for 5 %\."):
        check_limit(Gate("error", "max", 5), error)
