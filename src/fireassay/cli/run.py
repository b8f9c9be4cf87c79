"""``fireassay run``: do the assessment; the same command goes on after a kill."""

from pathlib import Path
from typing import Annotated

import typer

from fireassay.cli.console import emit_json, goes_on, loading, say, say_wrapped, starting
from fireassay.cli.options import AcceptBelowBaseline, Cluster, Json, NoSamples, Quiet, Trust
from fireassay.cli.trusting import remember_configured


def run(
    config: Annotated[Path, typer.Option(help="The configuration file.")] = Path("fireassay.toml"),
    only: Annotated[list[str] | None, typer.Option(help="Run only this part (repeatable).")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Instead of the file's seed.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes on this machine.")] = None,
    cluster: Cluster = None,
    max_minutes: Annotated[
        float | None, typer.Option(min=0, help="Most minutes in all; what does not fit waits.")
    ] = None,
    max_queries: Annotated[
        int | None, typer.Option(min=1, help="Most rows sent to the model in all.")
    ] = None,
    accept_below_baseline: AcceptBelowBaseline = False,
    no_samples: NoSamples = False,
    trust: Trust = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run the parts that are not done yet, then write result.json and report.html.

    Exit code 0: everything asked for ran. 3: a part failed, or one asked for with --only was not
    available (the others are there). Whether the numbers are good enough is for fireassay check.

    Example: fireassay run --only accuracy --max-minutes 10
    """
    starting(f"reading {config}", quiet=quiet or json)
    with loading():
        from fireassay.assessment import read_config, run_assessment
        from fireassay.assessment.spending import in_words
        from fireassay.cli.answers import show_answers

        asked = read_config(config)
    if trust:
        remember_configured(asked)
    with goes_on():
        outcome = run_assessment(
            asked,
            only=only,
            seed=seed,
            workers=workers,
            cluster=cluster,
            max_minutes=max_minutes,
            max_queries=max_queries,
            samples=not no_samples,
            trust=trust,
            accept_below_baseline=accept_below_baseline,
            say=lambda line: say_wrapped(line, quiet=quiet or json),
            progress=False if quiet or json else None,
        )
    if json:
        emit_json(outcome.report.document())
    elif not quiet:
        words = in_words(outcome.costs)
        if words is not None:
            say(words)
        show_answers(outcome.report, outcome.verdict)
        say(f"report: {outcome.folder / 'report.html'}")
    raise typer.Exit(outcome.exit_code)
