"""Gates and parts as JUnit XML, which every CI server shows."""

import re
from collections.abc import Sequence
from xml.etree import ElementTree

from fireassay.core import Evidence
from fireassay.report.verdict import Verdict

# Characters that XML 1.0 forbids even when escaped.
_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_junit(evidence: Sequence[Evidence], verdict: Verdict, title: str) -> str:
    """One test case per part and per gate.

    A gate that passed is a passing test, one that failed a failure, an undecided one an error;
    without gates one test is skipped. A part that did not run is an error or skipped.
    """
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
        kind = {"fail": "failure", "undecided": "error"}.get(check.status)
        if kind is not None:
            ElementTree.SubElement(case, kind, message=_clean(check.explanation))
        if check.accepted:
            said = "\n".join(f"accepted: {name} ({reason})" for name, reason in check.accepted)
            ElementTree.SubElement(case, "system-out").text = _clean(said)
    if not verdict.checks:
        case = _case(suite, "gates", "limits")
        ElementTree.SubElement(case, "skipped", message="no limits set")
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
