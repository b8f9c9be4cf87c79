"""Evidence as a page, a document, a CI result, an assurance argument."""

from fireassay.report.gates import Gate, GateCheck, Verdict
from fireassay.report.report import Report

__all__ = ["Gate", "GateCheck", "Report", "Verdict"]
