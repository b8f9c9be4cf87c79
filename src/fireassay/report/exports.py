"""The report for others: GSN for gsn2x, JUnit for CI, Markdown for cards and job summaries, PDF."""

import json
import math
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

from fireassay.core import Assumption, Evidence, FireassayError
from fireassay.report.document import About
from fireassay.report.first_screen import SHAPES, FirstScreen, LimitLine, against, first_screen
from fireassay.report.verdict import Verdict
from fireassay.version import __version__


def to_gsn(
    evidence: Sequence[Evidence],
    title: str,
    verdict: Verdict,
    accepted: Mapping[str, str],
    about: About | None = None,
    requirements: Mapping[str, tuple[str, Sequence[str]]] | None = None,
) -> str:
    """Goals for the whole and for each part (or requirement), numbers, assumptions with status."""
    # Only a verdict that passes carries the first goal; otherwise it is undeveloped.
    goal = f"{title}: the classifier is fit for its use"
    passed = bool(verdict)
    lines = _node("G1", goal, ["S1"] if passed else (), ["C1"], undeveloped=not passed)
    said = [f"{c.label}, {c.limit}: {c.word}, {c.explanation}" for c in verdict.checks]
    settle = [f"What would settle it: {item}" for item in verdict.advice]
    subject = [] if about is None else [f"{about}."]
    subject += [f"Verdict: {verdict.headline}", *verdict.said]
    lines += _node("C1", " ".join([*subject, *said, *settle]))
    if requirements:
        legs = _requirement_legs(evidence, verdict, accepted, requirements)
        return "\n".join(lines + legs) + "\n"
    goals = [f"G{number}" for number in range(2, len(evidence) + 2)]
    lines += _node("S1", "Argument over the questions asked of the classifier", supported=goals)
    solutions = assumptions = 0
    for key, item in zip(goals, evidence, strict=True):
        supported, context = [], []
        children: list[str] = []
        # What is stale or cut short is no solution: its goal stays undeveloped.
        relied_on = not (item.stale or item.partial)
        for name, estimate in item.estimates.items() if relied_on else ():
            solutions += 1
            supported.append(f"Sn{solutions}")
            measure = item.measure(name)
            text = f"{measure.label} ({name}) = {measure.shown(estimate)} ({estimate.method})"
            doubts = item.contradicted(name)
            if any(a.id not in accepted for a in doubts):
                text += " [contradicted by the data: not to be relied on]"
            text += "".join(
                f" [accepted: {a.id}: {accepted[a.id]}]" for a in doubts if a.id in accepted
            )
            children += _node(f"Sn{solutions}", text)
        for assumption in item.assumptions:
            assumptions += 1
            context.append(f"A{assumptions}")
            children += _node(f"A{assumptions}", _assumed(assumption, accepted))
        state = "" if relied_on else f" [{'stale' if item.stale else 'partial'}]"
        text = f"{item.question}: {item.sentence or item.headline}{state}"
        lines += _node(key, text, supported, context, undeveloped=not supported) + children
    return "\n".join(lines) + "\n"


def _requirement_legs(
    evidence: Sequence[Evidence],
    verdict: Verdict,
    accepted: Mapping[str, str],
    requirements: Mapping[str, tuple[str, Sequence[str]]],
) -> list[str]:
    """One goal for each requirement: developed only if every limit that supports it is kept."""
    goals = [f"G{number}" for number in range(2, len(requirements) + 2)]
    lines = _node("S1", "Argument over the requirements of the classifier", supported=goals)
    parts = {part.question: part for part in evidence}
    assumptions: dict[str, str] = {}
    for goal, (name, (text, gates)) in zip(goals, requirements.items(), strict=True):
        checks = [check for check in verdict.checks if check.gate.number in gates]
        judged = {check.gate.number for check in checks}
        lacking = [f"{gate}: no such limit was judged" for gate in gates if gate not in judged]
        supported, context = [], []
        children: list[str] = []
        for number, check in enumerate(checks, start=1):
            supported.append(f"Sn{goal[1:]}_{number}")
            said = f"{check.label}, {check.limit}: {check.word}, {check.explanation}"
            children += _node(supported[-1], said)
            rests_on = () if check.estimate is None else check.estimate.rests_on
            children += _new_assumptions(parts.get(check.part), rests_on, accepted, assumptions)
            context += [assumptions[known] for known in rests_on if known in assumptions]
        holds = bool(checks) and not lacking and all(check.status == "pass" for check in checks)
        goal_text = ". ".join([f"{name}: {text}", *lacking])
        lines += _node(
            goal,
            goal_text,
            supported if holds else (),
            list(dict.fromkeys(context)),
            undeveloped=not holds,
        )
        lines += children
    return lines


def _new_assumptions(
    part: Evidence | None,
    rests_on: Sequence[str],
    accepted: Mapping[str, str],
    known: dict[str, str],
) -> list[str]:
    """Nodes of the assumptions that no earlier number rests on; their keys go into ``known``."""
    lines: list[str] = []
    for assumption in () if part is None else part.assumptions:
        if assumption.id in rests_on and (name := str(assumption.id)) not in known:
            known[name] = f"A{len(known) + 1}"
            lines += _node(known[name], _assumed(assumption, accepted))
    return lines


def _assumed(assumption: Assumption, accepted: Mapping[str, str]) -> str:
    told = f"{assumption.statement} [{assumption.status}: {assumption.check}]"
    return told + (f" [accepted: {accepted[assumption.id]}]" if assumption.id in accepted else "")


def _node(
    key: str,
    text: str,
    supported: Sequence[str] = (),
    context: Sequence[str] = (),
    *,
    undeveloped: bool = False,
) -> list[str]:
    # A JSON string is a YAML string whatever characters a user's names contain.
    lines = [f"{key}:", f"  text: {json.dumps(text)}"]
    if supported:
        lines.append(f"  supportedBy: [{', '.join(supported)}]")
    if context:
        lines.append(f"  inContextOf: [{', '.join(context)}]")
    if undeveloped:
        lines.append("  undeveloped: true")
    return lines


# Characters that XML 1.0 forbids even when escaped.
_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_junit(
    evidence: Sequence[Evidence],
    verdict: Verdict,
    title: str,
    accepted: Mapping[str, str] | None = None,
) -> str:
    """One test case per gate, and one per part that cannot be relied on."""
    # A failed gate is a failure, an undecided one an error; without gates one test is skipped. A
    # part that failed, is stale or was cut short is an error, one not available is skipped.
    suite = ElementTree.Element("testsuite", name=_clean(title))
    told = _property(suite, "verdict", verdict.headline)
    for name in ("lock", "model"):
        if getattr(verdict, name):
            _property(suite, name, getattr(verdict, name), told)
    screen = first_screen(evidence, verdict, accepted)
    for name, items in (("do next", screen.actions), ("not known", screen.unknown)):
        for item in items:
            _property(suite, name, str(item), told)
    for part in evidence:
        reason = part.reason or (part.stale and f"stale: made with {part.stale}") or part.partial
        if reason:
            kind = "skipped" if part.status == "not available" else "error"
            case = _case(suite, "parts", part.question)
            ElementTree.SubElement(case, kind, message=_clean(reason))
    for line in screen.limits:
        gate, status = line.check.gate, line.check.status
        case = _case(suite, "gates", f"{gate.direction} {gate.number} {gate.limit:g}")
        mark = {"fail": "failure", "undecided": "error"}.get(status)
        if mark is not None:
            why = f" ({line.check.explanation})"
            ElementTree.SubElement(case, mark, message=_clean(in_a_line(line) + why))
        said = "; ".join([in_a_line(line), *(f"assumes: {each}" for each in line.assumes)])
        _property(suite, gate.number, said, told)
        if line.check.accepted:
            reasons = [f"accepted: {name} ({why})" for name, why in line.check.accepted]
            ElementTree.SubElement(case, "system-out").text = _clean("\n".join(reasons))
    for answer in screen.answers:
        doubt = " [contradicted by the data]" if answer.struck else ""
        said = f"{answer.sentence} {answer.shown}".rstrip() + doubt
        _property(suite, answer.part.question, said, told)
    if not verdict.checks:
        case = _case(suite, "gates", "limits")
        ElementTree.SubElement(case, "skipped", message="no limits set")
    for kind, attribute in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        suite.set(attribute, str(len(suite.findall(f"testcase/{kind}"))))
    suite.set("tests", str(len(suite.findall("testcase"))))
    ElementTree.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suite, "unicode")


def in_a_line(line: LimitLine) -> str:
    """A limit with what was found and its state, as one line of text."""
    found = line.whole or "no number"
    doubt = " [contradicted by the data]" if line.struck else ""
    return f"{line.check.label}: {found}{doubt}, limit {line.check.limit}: {line.check.word}"


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


# Everything that Markdown or HTML could take as markup.
_MARKUP = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~&=$:@])")


def to_model_card(
    evidence: Sequence[Evidence],
    title: str,
    verdict: Verdict,
    accepted: Mapping[str, str],
    about: About | None = None,
) -> str:
    """Markdown with a ``model-index`` block; every text from a user is escaped."""
    lines = [*_metadata(evidence, title), "", f"# {markdown_text(title)}", ""]
    lines.append(f"Assessed with fireassay {__version__}. What did not run is not a pass.")
    lines += [] if about is None else ["", markdown_text(str(about))]
    lines += ["", f"**Verdict: {markdown_text(verdict.headline)}**"]
    lines += [line for said in verdict.said for line in ("", markdown_text(said))]
    screen = first_screen(evidence, verdict, accepted, about)
    lines += ["", *_limit_table(screen), *_lists(screen)]
    for item in evidence:
        lines += _section(item, accepted)
    return "\n".join(lines) + "\n"


def to_summary(
    name: str, screen: FirstScreen, reservations: Mapping[str, str] | None = None
) -> str:
    """The first screen as a short Markdown page, for the summary of a CI job."""
    verdict = screen.verdict
    lines = [f"## {SHAPES[verdict.status]} {markdown_text(verdict.headline)}", "", f"`{name}`", ""]
    lines += [line for said in verdict.said for line in (markdown_text(said), "")]
    if screen.about is not None and screen.about.change:
        lines += [markdown_text(screen.about.change), ""]
    reserved = [f"{part}: {why}" for part, why in (reservations or {}).items()]
    lines += [*_limit_table(screen), *_listed("Not now", reserved), *_lists(screen)]
    return "\n".join([*lines, "", f"Whole report: `{name}/report.html`"]) + "\n"


def _limit_table(screen: FirstScreen) -> list[str]:
    """Every limit with what was found, its state and what it assumes."""
    if not screen.limits:
        return []
    lines = ["| number | found | limit | state | assumes |", "|---|---|---|---|---|"]
    for line in screen.limits:
        found = markdown_text(line.whole or "–")
        if line.struck:
            found = f"~~{found}~~ contradicted by the data"
        n = f", n \\= {line.check.estimate.n:,}" if line.check.estimate is not None else ""
        rest = (line.check.limit, f"{line.state}: {line.check.explanation}")
        cells = [markdown_text(line.check.label), found + n, *map(markdown_text, rest)]
        lines.append(f"| {' | '.join([*cells, markdown_text('; '.join(line.assumes))])} |")
    return lines


def _lists(screen: FirstScreen) -> list[str]:
    """What to do next, what not to rely on, and what is not known."""
    return [
        *_listed("Do next", map(str, screen.actions)),
        *_listed("Do not rely on", map(str, screen.doubts)),
        *_listed("Not known", screen.unknown),
    ]


def _listed(title: str, items: Iterable[str]) -> list[str]:
    lines = [f"- {markdown_text(item)}" for item in items]
    return ["", f"**{title}**", "", *lines] if lines else []


def _section(item: Evidence, accepted: Mapping[str, str]) -> list[str]:
    """One question of a model card: answer, numbers, assumptions, and limits."""
    given = {item.status: True, "stale": item.stale, "partial": item.partial}
    state = ", ".join(word for word, holds in given.items() if holds)
    lines = ["", f"## {markdown_text(item.question)} ({state})", ""]
    struck = bool(against(item, accepted))
    sentence = markdown_text(item.sentence or item.headline)
    lines.append(f"~~{sentence}~~ contradicted by the data" if struck else sentence)
    lines += ["", markdown_text(item.headline)] if item.sentence and not struck else []
    if item.estimates:
        lines += ["", "| number | value [interval] | confidence | n | method | name for gates |"]
        lines.append("|---|---|---|---|---|---|")
        lines += [_row(item, name, accepted) for name in item.estimates]
    for assumption in item.assumptions:
        said = f"{markdown_text(assumption.statement)} {markdown_text(assumption.check)}"
        reason = accepted.get(assumption.id)
        told = "" if reason is None else f" Accepted: {markdown_text(reason)}"
        lines += ["", f"- *{assumption.status}*: {said}{told}"]
    if item.limits:
        lines += ["", *(f"- Limitation: {markdown_text(limit)}" for limit in item.limits)]
    return lines


def _metadata(evidence: Sequence[Evidence], title: str) -> list[str]:
    """YAML whose scalars are JSON, so that no name can break out of it."""
    lines = ["---", "model-index:", f"- name: {json.dumps(title)}", "  results:"]
    for item in evidence:
        finite = {k: e for k, e in item.estimates.items() if math.isfinite(e.value)}
        if not finite:
            continue
        lines += [
            "  - task:",
            "      type: classification",
            "    dataset:",
            f"      name: {json.dumps(_data_name(item))}",
            f"      type: {json.dumps(item.question)}",
            "    metrics:",
        ]
        for name, estimate in finite.items():
            lines += [f"    - type: {json.dumps(name)}", f"      value: {estimate.value!r}"]
            lines.append(f"      name: {json.dumps(f'{name} ({estimate.method})')}")
    if lines[-1] == "  results:":
        lines[-1] = "  results: []"
    return [*lines, "---"]


def _data_name(item: Evidence) -> str:
    digest = item.provenance.data_sha256 if item.provenance else None
    return f"sha256:{digest[:16]}" if digest else "unknown"


def _row(item: Evidence, name: str, accepted: Mapping[str, str]) -> str:
    estimate, measure = item.estimates[name], item.measure(name)
    sure = estimate.kind in ("interval", "bound")
    shown = markdown_text(measure.shown(estimate))
    struck = any(a.id not in accepted for a in item.contradicted(name))
    cells = [
        markdown_text(measure.label),
        f"~~{shown}~~ contradicted by the data" if struck else shown,
        f"{100 * estimate.confidence:g} %" if sure else estimate.kind,
        f"{estimate.n:,}",
        markdown_text(estimate.method),
        markdown_text(f"{item.question}.{name}"),
    ]
    return "| " + " | ".join(cells) + " |"


def markdown_text(text: str) -> str:
    """The text on one line with every character escaped that Markdown could take as markup."""
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))


_BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome", "chrome", "msedge")
_SECONDS: Final = 120


def print_pdf(page: Path, pdf: Path) -> Path:
    """Write an offline HTML file as PDF; without a browser there is an error."""
    browser = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if browser is None:
        raise FireassayError(
            "A PDF needs a Chromium on this machine.",
            got=f"none of {', '.join(_BROWSERS)}",
            do=f"Install one, or open {page} in a browser and print it.",
        )
    with tempfile.TemporaryDirectory() as profile:
        # Chromium refuses its sandbox to root; the page is ours, without scripts from elsewhere.
        told = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]
        told += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
        told += [f"--user-data-dir={profile}", "--no-pdf-header-footer"]
        told += [f"--print-to-pdf={pdf.resolve()}", page.resolve().as_uri()]
        done = subprocess.run(told, capture_output=True, timeout=_SECONDS, check=False)  # noqa: S603
    if done.returncode or not pdf.is_file():
        raise FireassayError(f"Expected {browser} to write {pdf}.", got=done.stderr.decode()[-200:])
    return pdf
