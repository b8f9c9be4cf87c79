"""``fireassay check``: judge a run's numbers against limits, for people and for CI."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fireassay.cli.console import emit_json, say
from fireassay.cli.options import Json, Quiet

if TYPE_CHECKING:
    from fireassay.report import Gate, GateCheck, Report


def check(
    run: Annotated[Path, typer.Argument(help="A run folder, or its result.json.")],
    max_: Annotated[
        list[str] | None, typer.Option("--max", help="NAME=VALUE: the number may not be above.")
    ] = None,
    min_: Annotated[
        list[str] | None, typer.Option("--min", help="NAME=VALUE: the number may not be below.")
    ] = None,
    spend: Annotated[
        bool,
        typer.Option("--spend", help="Share the error probability among all looks at the labels."),
    ] = False,
    not_worse_than: Annotated[
        Path | None, typer.Option(help="A run on the same rows: this one may not be worse.")
    ] = None,
    margin: Annotated[
        float, typer.Option(min=0.0, help="By how much a number may be worse than that run's.")
    ] = 0.0,
    number: Annotated[
        list[str] | None,
        typer.Option(help="Which numbers may not be worse (repeatable); accuracy.error."),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Undecided limits fail.")] = False,
    junit: Annotated[Path | None, typer.Option(help="Write JUnit XML here.")] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Judge numbers against limits: --max and --min, or those of the run's [gates].

    A limit is kept if the unfavourable end of the number's interval keeps it, broken if even the
    favourable end breaks it, undecided otherwise.

    The run is compared with its configuration, model and data as they are now: no limit is kept by
    a number that was made from others, or while a run in the folder has not come to its end.

    How often these labels were judged before is kept in the project's fireassay-looks.json, and
    said: of many models judged on the same labels a bad one passes by chance. --spend, or [gates]
    looks, shares the error probability among them.

    Exit code 0: pass. 1: a limit is broken. 2: usage. 3: not enough evidence, no limits set, or
    made from another model or other data.

    Example: fireassay check fireassay-run --max error=0.05 --min accuracy=0.9
    """
    from dataclasses import asdict, replace

    from fireassay.assessment.judging import judge_run
    from fireassay.assessment.run_folder import read_gates, read_report, reservations
    from fireassay.cli.answers import shape, show_verdict
    from fireassay.core.files import write_text
    from fireassay.report import Gate
    from fireassay.report.gates import parse_gates
    from fireassay.report.junit import to_junit
    from fireassay.report.not_worse import with_check

    report = read_report(run, charts=False)
    reserved = reservations(run, report)
    given = [Gate.parse(text, "max") for text in max_ or []]
    given += [Gate.parse(text, "min") for text in min_ or []]
    gates = [_meant(gate, report) for gate in given] or parse_gates(read_gates(run))
    judged = judge_run(run, report, gates, strict=strict, spend=spend)
    verdict = judged.verdict
    if not_worse_than is not None:
        for extra in _not_worse(run, report, not_worse_than, margin, number or ["accuracy.error"]):
            verdict = with_check(verdict, extra, strict=strict)
    if reserved and verdict.status == "pass":
        verdict = replace(verdict, status="not enough evidence")
    if junit is not None:
        write_text(junit, to_junit(report.parts, verdict, report.title))
    if json:
        checks = [
            {
                **asdict(c.gate),
                "label": c.label,
                "status": c.status,
                "word": c.word,
                "explanation": c.explanation,
                "accepted": dict(c.accepted),
                "looks": judged.looks.get(c.gate.number),
            }
            for c in verdict.checks
        ]
        advice = [
            {"number": a.gate.number, "text": a.text, "labels": a.labels} for a in verdict.advice
        ]
        emit_json(
            {
                "status": verdict.status,
                "headline": verdict.headline,
                "exit_code": verdict.exit_code,
                "failed_parts": verdict.failed_parts,
                "reservations": reserved,
                "checks": checks,
                "advice": advice,
            }
        )
    elif not quiet:
        for c in verdict.checks:
            said = f"{shape(c.status)} {c.word:<10}{c.label}, {c.limit} ({c.gate.number})"
            say(f"{said}: {c.explanation}")
            look = judged.looks.get(c.gate.number, 1)
            if look > 1:
                say(f"{'':<12}judged {look} times on these labels{_spent(spend, report)}")
        for name in verdict.failed_parts:
            say(f"failed    {name}: {report[name].reason}")
        for name, reason in reserved.items():
            say(f"not now   {name}: {reason}")
        if not verdict.checks:
            say("Set limits with --max, --min or a [gates] table.")
        show_verdict(verdict)
    raise typer.Exit(verdict.exit_code)


def _spent(spend: bool, report: "Report") -> str:
    if spend or report.fractions:
        return ", and at that level"
    return ": of many models a bad one may pass by chance, see --spend"


def _not_worse(
    run: Path, report: "Report", base: Path, margin: float, numbers: list[str]
) -> "list[GateCheck]":
    """The change of each number since another run on the same rows, as a gate."""
    from fireassay.assessment.measures import full_name
    from fireassay.assessment.paired_runs import pair_runs
    from fireassay.assessment.run_folder import read_report, reservations
    from fireassay.report.not_worse import not_worse_check

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

    from fireassay.assessment.measures import full_name

    part = gate.number.partition(".")[0]
    known = {name for item in report.parts for name in item.estimates}
    if gate.number in known or any(item.question == part for item in report.parts):
        return gate  # the report knows best
    return replace(gate, number=full_name(gate.number, [p.question for p in report.parts]))
