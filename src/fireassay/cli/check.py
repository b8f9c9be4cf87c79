"""``fireassay check`` and ``lock``: judge a run against limits, fix them before."""

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fireassay.cli.console import asked, emit_json, say, shape
from fireassay.cli.options import answering, arg, opt

if TYPE_CHECKING:
    from fireassay.report import Gate, GateCheck, Report, Verdict
    from fireassay.report.first_screen import FirstScreen
    from fireassay.report.gates import Direction

_UNLOCKED = "they were not locked before the first look"


@dataclass(frozen=True)
class CheckedRun:
    """A run folder with its verdict, how often its labels were judged, and its reservations."""

    run: Path
    report: "Report"
    verdict: "Verdict"
    looks: dict[str, int]
    reserved: dict[str, str]

    @property
    def screen(self) -> "FirstScreen":
        """Its first screen."""
        from fireassay.report.first_screen import first_screen

        report = self.report
        return first_screen(report.parts, self.verdict, report.accepted, report.about)


@answering
def check(
    runs: list[Path] = arg("Run folders, or their result.json.", ..., metavar="RUN…"),
    max_: list[str] | None = opt("NAME=VALUE: the number may not be above.", None, "--max"),
    min_: list[str] | None = opt("NAME=VALUE: the number may not be below.", None, "--min"),
    spend: bool = opt("Share the error probability among all looks at the labels.", False),
    not_worse_than: Path | None = opt("A run on the same rows: this one may not be worse."),
    margin: float = opt("By how much a number may be worse than that run's.", 0.0, min=0.0),
    number: list[str] | None = opt("Which numbers may not be worse (repeatable); accuracy.error."),
    strict: bool = opt("Undecided limits fail.", False),
    require_lock: bool = opt("Only limits locked before a look may pass.", False),
    require_model: bool = opt("Only a compared model may pass.", False),
    offline: bool = opt("Ask no model: it is then not compared.", False),
    model_sha256: str | None = opt("SHA-256 that the judged model must have."),
    data_sha256: str | None = opt("SHA-256 that the judged test rows must have."),
    junit: Path | None = opt("Write JUnit XML here."),
    summary: Path | None = opt("Write the verdict as Markdown here."),
) -> None:
    """Judge numbers against limits: --max and --min, or those of the run's [gates].

    A limit is met if the unfavourable end of the number's interval meets it. It is not met if even
    the favourable end does not. Else it is undecided.

    The run is compared with its configuration, model and data as they are now. A number that was
    made from others meets no limit, nor does an unfinished run. Of code and addresses 16 answers
    are asked again.

    The project's fireassay-looks.json counts how often these labels were judged. Of many models
    judged on the same labels a bad one passes by chance. --spend, or [gates] looks, shares the
    error probability among the looks.

    Exit code 0: pass. 1: a limit is not met. 2: usage. 3: not enough evidence, no limits set, or
    made from another model or other data.

    Example: fireassay check fireassay-run --max error=0.05 --min accuracy=0.9
    """
    from fireassay.report.looks_and_changes import with_check

    limits: list[tuple[str, Direction]] = [(text, "max") for text in max_ or []]
    limits += [(text, "min") for text in min_ or []]
    digests = {"model": model_sha256, "data": data_sha256}
    found = []
    for run in runs:
        one = _judged(run, limits, digests, strict=strict, spend=spend, offline=offline)
        verdict, base = one.verdict, not_worse_than
        numbers = number or ["accuracy.error"]
        for extra in () if base is None else _not_worse(run, one.report, base, margin, numbers):
            verdict = with_check(verdict, extra, strict=strict)
        why = "the run is not of now" if one.reserved else ""
        if require_lock and verdict.lock_state != "locked":
            why = why or _UNLOCKED
        if require_model and verdict.model_state not in ("same", "recorded"):
            why = why or "the model was not compared"
        if why and verdict.status == "pass":
            verdict = replace(verdict, status="not enough evidence", reserved=why)
        found.append(replace(one, verdict=verdict))
    _write_files(found, junit, summary)
    if asked.json:
        documents = {str(one.run): _document(one) for one in found}
        emit_json(documents if len(found) > 1 else next(iter(documents.values())))
    elif not asked.quiet:
        _show_table(found) if len(found) > 1 else _show(found[0])
    codes = {one.verdict.exit_code for one in found}
    raise typer.Exit(next(code for code in (1, 3, 0) if code in codes))


def _document(one: CheckedRun) -> Any:
    """The verdict as strict JSON: every check, what to do, and what is not of now."""
    verdict, screen = one.verdict, one.screen
    checks = [
        {
            **asdict(c.gate),
            **{name: getattr(c, name) for name in ("label", "status", "word", "explanation")},
            **_found(c),
            "struck": line.struck,
            "assumes": line.assumes,
            "accepted": dict(c.accepted),
            "looks": one.looks.get(c.gate.number),
        }
        for line in screen.limits
        for c in [line.check]
    ]
    told = (
        "status", "headline", "exit_code", "lock", "lock_state", "model", "model_state",
        "failed_parts",
    )  # fmt: skip
    return {
        **{name: getattr(verdict, name) for name in told},
        "reservations": one.reserved,
        "checks": checks,
        "advice": [
            {"number": a.gate.number, "text": a.text, "labels": a.labels, "command": a.command}
            for a in verdict.advice
        ],
        **screen.document(),
    }


def _found(check: "GateCheck") -> dict[str, Any]:
    """Value, interval, n and method of the number behind a limit; nothing where there is none."""
    if check.estimate is None or check.measure is None:
        return {}
    names = ("value", "low", "high", "confidence", "n", "method")
    found = {name: getattr(check.estimate, name) for name in names}
    return {**found, "found": check.measure.shown(check.estimate)}


def _show(one: CheckedRun) -> None:
    """The limits with their reasons, what is not of now, and what to do."""
    from fireassay.cli.console import show_limits, show_verdict

    often = ": of many models a bad one may pass by chance, see --spend"
    level = ", and at that level" if one.report.fractions else often
    show_verdict(one.verdict)
    show_limits(one.screen)
    for c in one.verdict.checks:
        say(f"{c.label} ({c.gate.number}): {c.explanation}")
        look = one.looks.get(c.gate.number, 1)
        if look > 1:
            say(f"  judged {look} times on these labels{level}")
    for name in one.verdict.failed_parts:
        say(f"failed    {name}: {one.report[name].reason}")
    for name, reason in one.reserved.items():
        say(f"not now   {name}: {reason}")
    for action in one.screen.actions:
        say(f"Do next: {action}")
    if not one.verdict.checks:
        say("Set limits with --max, --min or a [gates] table.")


def _judged(
    run: Path, limits: "list[tuple[str, Direction]]", digests: dict[str, str | None], *,
    strict: bool, spend: bool, offline: bool,
) -> CheckedRun:  # fmt: skip
    """A run judged against the limits, or against its own."""
    from fireassay.assessment.run.challenge import ModelCheck, check_model, other_digests
    from fireassay.assessment.run.folder import configuration, read_report, reservations
    from fireassay.assessment.run.judging import judge_of
    from fireassay.report import Gate

    config = configuration(run)
    report = read_report(run, charts=False, config=config)
    reserved = reservations(run, report) | other_digests(run, report, digests)
    model = ModelCheck() if reserved else check_model(run, config, "--offline" if offline else "")
    if model.state in ("other", "no answer"):
        reserved["model"] = model.text
    given = [_meant(Gate.parse(text, direction), report) for text, direction in limits]
    judge = judge_of(run, config, given)
    judged = judge.judge(report, strict=strict, spend=spend)
    judge.note(judged)
    verdict = replace(judged.verdict, model=model.text, model_state=model.state)
    return CheckedRun(run, judged.report, verdict, judged.looks, reserved)


def _write_files(found: Sequence[CheckedRun], junit: Path | None, summary: Path | None) -> None:
    """JUnit with one suite for each run, and the summary; a GitHub job gets the summary as well."""
    from fireassay.core.files import write_text
    from fireassay.report.exports import to_junit, to_summary

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


def _show_table(found: Sequence[CheckedRun]) -> None:
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
    from fireassay.assessment.parts.table import full_name
    from fireassay.assessment.run.compare import pair_runs
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
    from fireassay.assessment.parts.table import full_name

    part = gate.number.partition(".")[0]
    known = {name for item in report.parts for name in item.estimates}
    if gate.number in known or any(item.question == part for item in report.parts):
        return gate  # the report knows best
    return replace(gate, number=full_name(gate.number, [p.question for p in report.parts]))


@answering
def lock(
    config: Path = opt("The configuration file.", Path("fireassay.toml")),
    amend: bool = opt("Replace the protocol; the old one is kept inside.", False),
    reason: str = opt("Why the protocol is amended.", ""),
) -> None:
    """Write fireassay-protocol.json: limits, threshold, unit, parts, settings and seed.

    Hashes of the data join at the first reading. Afterwards every verdict says whether its limits
    were locked before the first look.

    Example: fireassay lock --config fireassay.toml
    """
    from fireassay.assessment import read_config
    from fireassay.assessment.run.protocol import FILE, write_protocol

    read = read_config(config)
    made = write_protocol(read, amend=amend, reason=reason)
    path = read.folder / FILE
    emit_json({"protocol": str(path), "sha256": made.sha256, "amended": len(made.earlier)})
    say(f"locked: {path}")
    say(f"SHA-256: {made.sha256}")
