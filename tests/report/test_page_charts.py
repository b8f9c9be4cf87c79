"""What pages need besides the drawings: styles, data, limits, dots with intervals."""

from fireassay.core import Chart, Estimate, Evidence
from fireassay.core.drawing import axis, bars, curves
from fireassay.report import Report
from fireassay.report.page_charts import (
    _round_values,
    chart_data,
    chart_styles,
    csp_hash,
    numbers_chart,
    with_limits,
)


def test_styles_know_the_dark_scheme_and_data_never_ends_a_script():
    assert "prefers-color-scheme: dark" in chart_styles()
    assert "<" not in chart_data(Chart(bars([("<b>", 1.0)], "n")))
    assert csp_hash("") == "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"


def test_a_limit_is_a_line_on_the_axis_of_its_number():
    error = Estimate(0.04, 0.02, 0.06, 0.95, 100, "Clopper-Pearson")
    found = Evidence("accuracy", "Right on 96 %.", estimates={"error": error})
    spec = curves({"error": ([1, 2], [0.1, 0.2])}, {"axis": axis("n")}, {"axis": axis("")})
    chart = Chart({**spec, "usermeta": {"limits": {"error": "y"}}})
    checks = Report([found]).verdict({"max": {"accuracy.error": 0.1}}).checks
    drawn = with_limits(chart, found, checks).body["layer"]
    assert drawn[-1]["data"]["values"] == [{"at": 0.1, "word": "limit: at most 0.1"}]


def test_shares_are_dots_with_their_intervals():
    share = Estimate(0.9, 0.8, 0.95, confidence=0.95, n=50, method="Clopper-Pearson")
    found = Evidence("accuracy", "Right on nine of ten.", estimates={"accuracy": share})
    assert numbers_chart(found).body["data"]["values"][0]["text"] == "0.90 [0.80, 0.95]"
    assert numbers_chart(Evidence("accuracy", "Nothing.")) is None


def test_ticks_are_round_values():
    assert _round_values(0.02, 0.11) == [0.05, 0.1]
