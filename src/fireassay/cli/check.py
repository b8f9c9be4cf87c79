"""``fireassay check``: judge a run's numbers against limits, for people and for CI."""

from pathlib import Path
from typing import Annotated

import typer

from fireassay.cli.console import emit_json, say
from fireassay.cli.options import Json, Quiet


def check(
    run: Annotated[Path, typer.Argument(help="A run folder, or its result.json.")],
    max_: Annotated[
        list[str] | None, typer.Option("--max", help="NAME=VALUE: the number may not be above.")
    ] = None,
    min_: Annotated[
        list[str] | None, typer.Option("--min", help="NAME=VALUE: the number may not be below.")
    ] = None,
    junit: Annotated[Path | None, typer.Option(help="Write JUnit XML here.")] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Judge numbers at the unfavourable end of their interval.

    Exit code 0: pass. 1: a gate failed. 2: usage. 3: not enough evidence.

    Example: fireassay check fireassay-run --max error=0.05 --min accuracy=0.9
    """
    from fireassay.assessment.run_folder import read_gates, result_path
    from fireassay.report import Gate, Report

    report = Report.from_json(result_path(run))
    gates = [Gate.parse(text, "max") for text in max_ or []]
    gates += [Gate.parse(text, "min") for text in min_ or []]
    gates = gates or list(read_gates(run))
    verdict = report.verdict(gates)
    if junit is not None:
        report.to_junit(junit, gates)
    if json:
        emit_json(
            {
                "status": verdict.status,
                "exit_code": verdict.exit_code,
                "failed_parts": verdict.failed_parts,
                "checks": [
                    {
                        "number": c.gate.number,
                        "direction": c.gate.direction,
                        "limit": c.gate.limit,
                        "status": c.status,
                        "explanation": c.explanation,
                    }
                    for c in verdict.checks
                ],
            }
        )
    elif not quiet:
        for c in verdict.checks:
            gate = f"{c.gate.direction} {c.gate.number} {c.gate.limit:g}"
            say(f"{c.status:<19} {gate}: {c.explanation}")
        for name in verdict.failed_parts:
            say(f"not enough evidence {name}: {report[name].reason}")
        if not verdict.checks:
            say("No gates were given: use --max, --min or a [gates] table.")
        say(f"verdict: {verdict.status}")
    raise typer.Exit(verdict.exit_code)
