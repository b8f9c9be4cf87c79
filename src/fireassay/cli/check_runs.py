"""Judges one or several run folders for ``fireassay check``, and writes what CI reads."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from fireassay.assessment.run.challenge import ModelCheck, check_model, other_digests
from fireassay.assessment.run.folder import configuration, read_report, reservations
from fireassay.assessment.run.judging import judge_of
from fireassay.cli.console import say, shape
from fireassay.core.files import write_text
from fireassay.report import Gate, Report, Verdict
from fireassay.report.exports import to_junit, to_summary
from fireassay.report.first_screen import FirstScreen, first_screen
from fireassay.report.looks_and_changes import with_check

if TYPE_CHECKING:
    from fireassay.report import GateCheck
    from fireassay.report.gates import Direction


_UNLOCKED = "they were not locked before the first look"


@dataclass(frozen=True)
class CheckedRun:
    """A run folder with its verdict, how often its labels were judged, and its reservations."""

    run: Path
    report: Report
    verdict: Verdict
    looks: dict[str, int]
    reserved: dict[str, str]

    @property
    def screen(self) -> FirstScreen:
        """Its first screen."""
        report = self.report
        return first_screen(report.parts, self.verdict, report.accepted, report.about)


def judged_runs(
    runs: Sequence[Path],
    limits: "Sequence[tuple[str, Direction]]",
    *,
    strict: bool,
    spend: bool,
    base: Path | None,
    changes: tuple[float, list[str]],
    require_lock: bool,
    require_model: bool,
    offline: bool,
    digests: dict[str, str | None],
) -> list[CheckedRun]:
    """Every run judged against the same limits, or against its own."""
    found = []
    for run in runs:
        config = configuration(run)
        report = read_report(run, charts=False, config=config)
        reserved = reservations(run, report) | other_digests(run, report, digests)
        model = (
            ModelCheck() if reserved else check_model(run, config, "--offline" if offline else "")
        )
        if model.state in ("other", "no answer"):
            reserved["model"] = model.text
        given = [_meant(Gate.parse(text, direction), report) for text, direction in limits]
        judge = judge_of(run, config, given)
        judged = judge.judge(report, strict=strict, spend=spend)
        judge.note(judged)
        report, verdict = judged.report, judged.verdict
        for extra in () if base is None else _not_worse(run, report, base, *changes):
            verdict = with_check(verdict, extra, strict=strict)
        verdict = replace(verdict, model=model.text, model_state=model.state)
        why = "the run is not of now" if reserved else ""
        if require_lock and verdict.lock_state != "locked":
            why = why or _UNLOCKED
        if require_model and model.state not in ("same", "recorded"):
            why = why or "the model was not compared"
        if why and verdict.status == "pass":
            verdict = replace(verdict, status="not enough evidence", reserved=why)
        found.append(CheckedRun(run, report, verdict, judged.looks, reserved))
    return found


def write_files(found: Sequence[CheckedRun], junit: Path | None, summary: Path | None) -> None:
    """JUnit with one suite for each run, and the summary; a GitHub job gets the summary as well."""
    if junit is not None:
        suites = [
            to_junit(one.report.parts, one.verdict, one.report.title, one.report.accepted)
            for one in found
        ]
        head, first = suites[0].split("\n", 1)
        if len(suites) > 1:
            inner = "\n".join(suite.split("\n", 1)[1] for suite in suites)
            first = f"<testsuites>\n{inner}\n</testsuites>"
        write_text(junit, f"{head}\n{first}")
    of_job = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary is not None or of_job:
        pages = [to_summary(str(one.run), one.screen, one.reserved) for one in found]
        if summary is not None:
            write_text(summary, "\n".join(pages))
        if of_job:
            with Path(of_job).open("a", encoding="utf-8") as file:
                file.write("\n".join(pages))


def show_table(found: Sequence[CheckedRun]) -> None:
    """One line for each run: state, folder and verdict."""
    width = max(len(str(one.run)) for one in found)
    for one in found:
        state = f"{shape(one.verdict.status)} {one.run!s:<{width}}"
        say(f"{state}  {one.verdict.headline}")
        for name, reason in one.reserved.items():
            say(f"  not now  {name}: {reason}")
    passed = sum(one.verdict.status == "pass" for one in found)
    say(f"{passed} of {len(found)} runs pass.")


def _not_worse(
    run: Path, report: "Report", base: Path, margin: float, numbers: list[str]
) -> "list[GateCheck]":
    """The change of each number since another run on the same rows, as a gate."""
    from fireassay.assessment.compare import pair_runs
    from fireassay.assessment.parts.table import full_name
    from fireassay.assessment.run.folder import read_report, reservations
    from fireassay.report.looks_and_changes import not_worse_check

    before = read_report(base)
    changes = dict(pair_runs(base, run, (before, report)).changes)
    if reservations(base, before) or reservations(run, report):
        changes = {}
    found = []
    for given in numbers:
        name = full_name(given, [part.question for part in report.parts])
        part, _, short = name.partition(".")
        measure = report[part].measure(short)
        found.append(not_worse_check(name, changes.get(name), measure, margin, str(base)))
    return found


def _meant(gate: "Gate", report: "Report") -> "Gate":
    """The gate by its full name; a name that no part can have is refused at once."""
    from dataclasses import replace

    from fireassay.assessment.parts.table import full_name

    part = gate.number.partition(".")[0]
    known = {name for item in report.parts for name in item.estimates}
    if gate.number in known or any(item.question == part for item in report.parts):
        return gate  # the report knows best
    return replace(gate, number=full_name(gate.number, [p.question for p in report.parts]))
