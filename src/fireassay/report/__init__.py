"""Evidence as a page, a document, a CI result, an assurance argument."""

from fireassay.report.comparison import Comparison, Difference, compare_reports
from fireassay.report.gate_assertion import assert_gate
from fireassay.report.gates import Gate, GateCheck, Verdict
from fireassay.report.report import Report
from fireassay.report.schema import result_schema

__all__ = [
    "Comparison",
    "Difference",
    "Gate",
    "GateCheck",
    "Report",
    "Verdict",
    "assert_gate",
    "compare_reports",
    "result_schema",
]
