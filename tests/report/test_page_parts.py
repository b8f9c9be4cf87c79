"""Small pieces of pages: sentences, groups of samples, lines, boxes in notebooks."""

from fireassay.core import Estimate, Evidence, Sample
from fireassay.report import Verdict
from fireassay.report.open_points import Doubt
from fireassay.report.page import groups_by_reason, interval_line, sparkline, together
from fireassay.report.report import report_html, verdict_html
from fireassay.report.verdict import within_a_sentence


def test_sentences():
    assert str(Doubt("discovery", "failed (disk full)", "discovery")) == (
        "discovery: failed (disk full)"
    )
    assert within_a_sentence("The labels are right.") == "the labels are right."
    assert within_a_sentence("ONNX is read.") == "ONNX is read."
    share = Estimate(0.9, 0.8, 0.95, confidence=0.95, n=50, method="Clopper-Pearson")
    part = Evidence("accuracy", "", estimates={"accuracy": share}, answer="accuracy")
    assert interval_line(part) == "95 % interval 0.80 to 0.95, from 50 observations."
    assert together("95 %") == "95\N{NO-BREAK SPACE}%"


def test_neighbours_of_one_reason_are_one_group():
    groups = groups_by_reason([Sample(1, "a"), Sample(2, "a"), Sample(3, "b")])
    assert [(why, len(own)) for why, own in groups] == [("a", 2), ("b", 1)]


def test_a_line_fills_its_box():
    assert sparkline([0.0, 1.0]) == "2.0,38.0 118.0,2.0"


def test_boxes_in_notebooks():
    nothing = Verdict("no limits set", ())
    assert "NO LIMITS SET" in verdict_html(nothing)
    assert "How often" in report_html([Evidence("accuracy", "How often?")], "T", nothing)
