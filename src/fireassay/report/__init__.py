"""Evidence as a page, a document, a CI result, an assurance argument."""

from typing import TYPE_CHECKING

from fireassay.core.lazy import lazy_names

if TYPE_CHECKING:
    from fireassay.report.advice import Advice as Advice
    from fireassay.report.comparison import ComparedRun as ComparedRun
    from fireassay.report.comparison import Difference as Difference
    from fireassay.report.comparison import MovedAnswers as MovedAnswers
    from fireassay.report.comparison import RunComparison as RunComparison
    from fireassay.report.comparison import compare_reports as compare_reports
    from fireassay.report.comparison import comparison_html as comparison_html
    from fireassay.report.document import About as About
    from fireassay.report.document import DataFacts as DataFacts
    from fireassay.report.document import result_schema as result_schema
    from fireassay.report.gates import Gate as Gate
    from fireassay.report.report import Report as Report
    from fireassay.report.report import assert_gate as assert_gate
    from fireassay.report.verdict import GateCheck as GateCheck
    from fireassay.report.verdict import Verdict as Verdict

lazy_names(__name__)
