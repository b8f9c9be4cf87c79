"""Gates and parts as JUnit XML, which every CI server shows."""

import re
from collections.abc import Sequence
from xml.etree import ElementTree

from fireassay.core import Evidence
from fireassay.report.verdict import Verdict

# Characters that XML 1.0 forbids even when escaped.
_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_junit(evidence: Sequence[Evidence], verdict: Verdict, title: str) -> str:
    """One test case per gate, and one per part that cannot be relied on.

    A gate that passed is a passing test, one that failed a failure, an undecided one an error;
    without gates one test is skipped. A part that failed, is stale or was cut short is an error,
    one that is not available is skipped. A part that ran is no test: it is not a pass.
    """
    suite = ElementTree.Element("testsuite", name=_clean(title))
    told = _property(suite, "verdict", verdict.headline)
    for item in verdict.advice:
        _property(suite, "what would settle it", str(item), told)
    for part in evidence:
        reason = part.reason or (part.stale and f"stale: made with {part.stale}") or part.partial
        if reason:
            kind = "skipped" if part.status == "not available" else "error"
            case = _case(suite, "parts", part.question)
            ElementTree.SubElement(case, kind, message=_clean(reason))
    for check in verdict.checks:
        gate = check.gate
        case = _case(suite, "gates", f"{gate.direction} {gate.number} {gate.limit:g}")
        mark = {"fail": "failure", "undecided": "error"}.get(check.status)
        if mark is not None:
            said = f"{check.label}, {check.limit}: {check.word} ({check.explanation})"
            ElementTree.SubElement(case, mark, message=_clean(said))
        if check.accepted:
            said = "\n".join(f"accepted: {name} ({reason})" for name, reason in check.accepted)
            ElementTree.SubElement(case, "system-out").text = _clean(said)
    if not verdict.checks:
        case = _case(suite, "gates", "limits")
        ElementTree.SubElement(case, "skipped", message="no limits set")
    for kind, attribute in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        suite.set(attribute, str(len(suite.findall(f"testcase/{kind}"))))
    suite.set("tests", str(len(suite.findall("testcase"))))
    ElementTree.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suite, "unicode")


def _case(suite: ElementTree.Element, kind: str, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(
        suite, "testcase", classname=f"fireassay.{kind}", name=_clean(name)
    )


def _property(
    suite: ElementTree.Element, name: str, value: str, within: ElementTree.Element | None = None
) -> ElementTree.Element:
    """One fact about the whole suite; returns what further ones stand in."""
    if within is None:
        within = ElementTree.SubElement(suite, "properties")
    ElementTree.SubElement(within, "property", name=name, value=_clean(value))
    return within


def _clean(text: str) -> str:
    return _ILLEGAL.sub("\ufffd", text)
