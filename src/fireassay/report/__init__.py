"""Evidence as a page, a document, a CI result, an assurance argument."""

from typing import TYPE_CHECKING

from fireassay.core.lazy import lazy_names

if TYPE_CHECKING:
    from fireassay.report.advice import Advice
    from fireassay.report.comparison import (
        ComparedRun,
        Difference,
        MovedAnswers,
        RunComparison,
        compare_reports,
        comparison_html,
    )
    from fireassay.report.document import About, DataFacts, result_schema
    from fireassay.report.gates import Gate
    from fireassay.report.report import Report, assert_gate
    from fireassay.report.verdict import GateCheck, Verdict

__all__ = [
    "About",
    "Advice",
    "ComparedRun",
    "DataFacts",
    "Difference",
    "Gate",
    "GateCheck",
    "MovedAnswers",
    "Report",
    "RunComparison",
    "Verdict",
    "assert_gate",
    "compare_reports",
    "comparison_html",
    "result_schema",
]

lazy_names(__name__)
