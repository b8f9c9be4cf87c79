"""``fireassay check`` and ``lock``: judge a run against limits, fix them before."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fireassay.cli.console import asked, emit_json, say
from fireassay.cli.options import answering, arg, opt

if TYPE_CHECKING:
    from fireassay.cli.check_runs import CheckedRun
    from fireassay.report import GateCheck


@answering
def check(
    runs: list[Path] = arg(..., "Run folders, or their result.json.", metavar="RUN…"),
    max_: list[str] | None = opt(None, "NAME=VALUE: the number may not be above.", "--max"),
    min_: list[str] | None = opt(None, "NAME=VALUE: the number may not be below.", "--min"),
    spend: bool = opt(
        False, "Share the error probability among all looks at the labels.", "--spend"
    ),
    not_worse_than: Path | None = opt(None, "A run on the same rows: this one may not be worse."),
    margin: float = opt(0.0, "By how much a number may be worse than that run's.", min=0.0),
    number: list[str] | None = opt(
        None, "Which numbers may not be worse (repeatable); accuracy.error."
    ),
    strict: bool = opt(False, "Undecided limits fail.", "--strict"),
    require_lock: bool = opt(False, "Only limits locked before a look may pass.", "--require-lock"),
    require_model: bool = opt(False, "Only a compared model may pass.", "--require-model"),
    offline: bool = opt(False, "Ask no model: it is then not compared.", "--offline"),
    model_sha256: str | None = opt(None, "SHA-256 that the judged model must have."),
    data_sha256: str | None = opt(None, "SHA-256 that the judged test rows must have."),
    junit: Path | None = opt(None, "Write JUnit XML here."),
    summary: Path | None = opt(None, "Write the verdict as Markdown here."),
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
    from fireassay.cli.check_runs import judged_runs, show_table, write_files

    found = judged_runs(
        runs,
        [*((text, "max") for text in max_ or []), *((text, "min") for text in min_ or [])],
        strict=strict,
        spend=spend,
        base=not_worse_than,
        changes=(margin, number or ["accuracy.error"]),
        require_lock=require_lock,
        require_model=require_model,
        offline=offline,
        digests={"model": model_sha256, "data": data_sha256},
    )
    write_files(found, junit, summary)
    if asked.json:
        documents = {str(one.run): _document(one) for one in found}
        emit_json(documents if len(found) > 1 else next(iter(documents.values())))
    elif not asked.quiet:
        show_table(found) if len(found) > 1 else _show(found[0])
    codes = {one.verdict.exit_code for one in found}
    raise typer.Exit(next(code for code in (1, 3, 0) if code in codes))


def _document(one: "CheckedRun") -> Any:
    """The verdict as strict JSON: every check, what to do, and what is not of now."""
    from dataclasses import asdict

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


def _show(one: "CheckedRun") -> None:
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


@answering
def lock(
    config: Path = opt(Path("fireassay.toml"), "The configuration file."),
    amend: bool = opt(False, "Replace the protocol; the old one is kept inside.", "--amend"),
    reason: str = opt("", "Why the protocol is amended."),
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
