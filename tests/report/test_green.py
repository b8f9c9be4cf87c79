"""Green is earned: no state but a pass is green, on the page, a terminal, in the app, in CI."""

import io
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from fireassay.cli import console as answers
from fireassay.core import Assumption, Claim, Estimate, Evidence
from fireassay.report import Report

SHARE = Estimate(0.1, 0.05, 0.2, 0.95, 100, "m", rests_on=("rows",))
DONE = Evidence(
    "accuracy",
    "Right on 90 %.",
    estimates={"error": SHARE},
    answer="error",
    sentence="Wrong on 10 %.",
    claims=(Claim("So it is.", True), Claim("Not so.", False)),
    assumptions=(Assumption("Independent.", "supported", "c", "rows"),),
)
AGAINST = (Assumption("Independent.", "contradicted", "9 repeat", "rows"),)
KEPT, BROKEN, OPEN = {"max": {"error": 0.3}}, {"max": {"error": 0.01}}, {"max": {"error": 0.15}}
# What happened, the limits, and how many greens there may be: one per limit that is kept.
STATES = {
    "pass": ([DONE], KEPT, 1),
    "fail": ([DONE], BROKEN, 0),
    "undecided": ([DONE], OPEN, 0),
    "no limits": ([DONE], {}, 0),
    "contradicted": ([replace(DONE, assumptions=AGAINST)], KEPT, 0),
    "stale": ([replace(DONE, stale="another model")], KEPT, 0),
    "partial": ([replace(DONE, partial="stopped")], KEPT, 0),
    "failed": ([Evidence.failed("accuracy", "boom")], {"max": {"accuracy.error": 0.3}}, 0),
    "not available": (
        [Evidence.not_available("accuracy", "no labels")], {"max": {"accuracy.error": 0.3}}, 0,
    ),
    "kept beside broken": ([DONE], {"max": {"error": 0.3}, "min": {"error": 0.5}}, 1),
}  # fmt: skip


@pytest.mark.parametrize("state", STATES)
def test_on_the_page(tmp_path, state):
    parts, gates, kept = STATES[state]
    report = Report(parts)
    page = report.to_html(tmp_path / "r.html", gates).read_text()
    body = page[page.index("<body>") :]
    marked = [tag for tag in body.split("<")[1:] if "good" in _classes(tag)]
    whole = [tag for tag in marked if tag.startswith("section")]
    assert bool(whole) == (report.verdict(gates).status == "pass")
    assert bool(marked) == bool(kept)
    for tag in marked:
        if not tag.startswith("section"):
            assert "✓ met" in tag


def _classes(tag):
    return tag.partition('class="')[2].partition('"')[0].split() if "class=" in tag else []


@pytest.mark.parametrize("state", STATES)
def test_on_the_terminal(monkeypatch, state):
    from rich.console import Console

    parts, gates, kept = STATES[state]
    report, shown = Report(parts), io.StringIO()
    console = Console(file=shown, force_terminal=True, color_system="standard", width=120)
    monkeypatch.setattr(answers, "stdout_console", lambda: console)
    verdict = report.verdict(gates)
    answers.show_answers(report, verdict)
    green = shown.getvalue().count("\x1b[32m") + shown.getvalue().count("\x1b[1;32m")
    assert green == kept + (verdict.status == "pass")
    assert verdict.headline in shown.getvalue().replace("\x1b[0m", "")


@pytest.mark.parametrize("state", STATES)
def test_in_ci(tmp_path, state):
    parts, gates, kept = STATES[state]
    suite = ElementTree.fromstring(Report(parts).to_junit(tmp_path / "r.xml", gates).read_text())
    bad = ("failure", "error", "skipped")
    passing = [c for c in suite.findall("testcase") if not any(c.find(k) is not None for k in bad)]
    assert len(passing) == kept
    assert int(suite.get("tests")) == len(suite.findall("testcase"))


def test_in_the_app():
    pytest.importorskip("fastapi")
    from fireassay.web.pages import environment

    tags = environment().from_string(
        '{% from "parts.html" import status_tag, part_tags %}{{ status_tag(s) }}'
    )
    states = [
        "done", "failed", "not available", "stale", "partial", "fail", "not met", "undecided",
        "not enough evidence", "no limits set", "supported", "contradicted", "untestable",
        "settled", "open", "conflict",
    ]  # fmt: skip
    assert not [state for state in states if "good" in tags.render(s=state)]
    assert all("good" in tags.render(s=state) for state in ("pass", "met"))
    loader = environment().loader
    for name in loader.list_templates():
        source = loader.get_source(environment(), name)[0]
        if name != "parts.html":
            assert '"good"' not in source, name
