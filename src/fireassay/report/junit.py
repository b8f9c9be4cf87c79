"""Gates and parts as JUnit XML, which every CI server shows."""

import re
from collections.abc import Sequence
from xml.etree import ElementTree

from fireassay.core import Evidence
from fireassay.report.gates import Verdict

# Characters that XML 1.0 forbids even when escaped.
_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_junit(evidence: Sequence[Evidence], verdict: Verdict, title: str) -> str:
    """One test case per part and per gate; a part that did not run is an error or skipped."""
    suite = ElementTree.Element("testsuite", name=_clean(title))
    for item in evidence:
        case = _case(suite, "parts", item.question)
        if item.status == "failed":
            ElementTree.SubElement(case, "error", message=_clean(item.reason))
        elif item.status == "not available":
            ElementTree.SubElement(case, "skipped", message=_clean(item.reason))
    for check in verdict.checks:
        gate = check.gate
        case = _case(suite, "gates", f"{gate.direction} {gate.number} {gate.limit:g}")
        if check.status == "fail":
            ElementTree.SubElement(case, "failure", message=_clean(check.explanation))
        elif check.status == "not enough evidence":
            ElementTree.SubElement(case, "error", message=_clean(check.explanation))
    for kind, attribute in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        suite.set(attribute, str(len(suite.findall(f"testcase/{kind}"))))
    suite.set("tests", str(len(suite)))
    ElementTree.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suite, "unicode")


def _case(suite: ElementTree.Element, kind: str, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(
        suite, "testcase", classname=f"fireassay.{kind}", name=_clean(name)
    )


def _clean(text: str) -> str:
    return _ILLEGAL.sub("\ufffd", text)
