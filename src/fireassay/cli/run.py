"""``fireassay run``: do the assessment; the same command goes on after a kill."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fireassay.cli import options
from fireassay.cli.console import (
    asked,
    at_work,
    emit_json,
    goes_on,
    loading,
    say,
    say_wrapped,
    starting,
)
from fireassay.cli.loading import remember_configured
from fireassay.cli.options import answering, opt, read_pairs
from fireassay.core.lazy import require

if TYPE_CHECKING:
    from fireassay.assessment import RunOutcome


@answering
def run(
    config: Path = opt("The configuration file.", Path("fireassay.toml")),
    only: list[str] | None = opt("Run only this part (repeatable)."),
    seed: int | None = opt("Instead of the file's seed.", min=0),
    workers: int | None = opt("Processes on this machine [all cores for a model file].", min=1),
    cluster: options.Cluster = None,
    max_minutes: float | None = opt(
        "Most minutes in all; rows are then asked in random order.", min=0
    ),
    max_queries: int | None = opt("Most rows delivered to the model in all.", min=1),
    stochastic: bool = opt("The deployed model answers at random, as meant.", False),
    price: float | None = opt("What a row costs: then none is asked twice.", min=0),
    output: Path | None = opt(
        "Run folder, instead of the file's; may lie anywhere.", None, "--output", "-o"
    ),
    accept_below_baseline: options.AcceptBelowBaseline = False,
    no_samples: options.NoSamples = False,
    mlflow: bool = opt("Log numbers, page and verdict to MLflow.", False),
    trust: options.Trust = False,
) -> None:
    """Run the parts that are not done yet, then write result.json and report.html.

    Exit code 0: everything asked for ran. 3: a part failed, or one asked for with --only was not
    available (the others are there). Whether the numbers are good enough is for fireassay check.

    Example: fireassay run --only accuracy --max-minutes 10
    """
    starting(f"reading {config}")
    with loading():
        from fireassay.assessment import read_config, run_assessment

        read = read_config(config)
    if mlflow:
        require("mlflow", "mlflow", "run --mlflow")
    if trust:
        remember_configured(read)
    with goes_on():
        outcome = run_assessment(
            read,
            only=only,
            seed=seed,
            workers=workers,
            cluster=cluster,
            max_minutes=max_minutes,
            max_queries=max_queries,
            stochastic=stochastic or None,
            price=price,
            samples=not no_samples,
            trust=trust,
            folder=output,
            accept_below_baseline=accept_below_baseline,
            say=say_wrapped,
            progress=False if asked.silent else None,
        )
    _show(outcome)
    if mlflow:
        from fireassay.assessment.mlflow import log_run

        say(f"MLflow run: {log_run(outcome.folder)}")
    raise typer.Exit(outcome.exit_code)


@answering
def demo(
    output: Path = opt("The run folder.", Path("fireassay-demo"), "--output", "-o"),
    seed: options.Seed = 0,
) -> None:
    """Assess a small digits model and a clinical table, and write two offline reports.

    The table is synthetic: sepsis of patients, judged from synthetic-admissions.csv. The digits'
    limits are set so that one is kept, one broken and one undecided; it exits with 0 anyway.

    Example: fireassay demo --output my-demo
    """
    starting("training a small model on built-in digits")
    from fireassay.assessment import run_demo

    with goes_on():
        progress = False if asked.silent else None
        outcome = run_demo(output, seed=seed, say=say_wrapped, progress=progress)
    _show(outcome)
    say(f"report on a clinical table: {output / 'clinical' / 'report.html'}")


def _show(outcome: "RunOutcome") -> None:
    """Print what a run found: the whole document as JSON, or costs, answers and verdict."""
    from fireassay.assessment.plan.costs import in_words
    from fireassay.cli.console import show_answers

    if asked.json:
        emit_json(outcome.report.document())
    elif not asked.quiet:
        words = in_words(outcome.costs)
        if words is not None:
            say(words)
        show_answers(outcome.report, outcome.verdict)
        say(f"report: {outcome.folder / 'report.html'}")


@answering
def plan(
    config: options.Config = Path("fireassay.toml"),
    seed: options.FileSeed = None,
    trust: options.Trust = False,
    like: Path | None = opt("A run folder of the same model on fewer rows: what it took corrects."),
    power: str | None = opt(
        "Instead of costs, how many it takes for: bound, models, auroc, monitor, slices, "
        "groups, audit, campaign."
    ),
    given: list[str] | None = opt("With --power, what is assumed: NAME=NUMBER, e.g. limit=0.05."),
    price: float | None = opt("What a row costs: the plan in money, too.", min=0),
) -> None:
    """Show queries, labels, minutes, memory and disk of each part, from a few measured batches.

    After a run, also what each part took: the error of the plan. Run a hundredth of the rows in
    a project of its own, and --like its run folder plans the whole.

    Example: fireassay plan --power bound --given limit=0.05 --given rate=0.02
    """
    if power is not None or given:
        _how_many(power, given or [], config)
        return
    starting("measuring a few batches")
    with at_work("measuring the model"):
        with loading():
            from fireassay.assessment import make_plan, read_config
            from fireassay.assessment.plan.costs import in_words
            from fireassay.assessment.run.folder import read_costs

            read = read_config(config)
        if trust:
            remember_configured(read)
        planned = make_plan(read, seed=seed, trust=trust, price=price)
    if like is not None:
        from fireassay.assessment.plan.costs import plan_like

        planned = plan_like(planned, like)
    costs = read_costs(read.folder / read.run.folder)
    emit_json({**planned.to_dict(), "costs": costs})
    say(str(planned))
    if costs:
        say()
        _print_costs(costs)
        words = in_words(costs)
        if words is not None:
            say(words)


def _how_many(power: str | None, given: list[str], config: Path) -> None:
    """Answer one question about sizes; only the audit needs a project."""
    from fireassay.assessment import how_many, read_config
    from fireassay.core import ParameterError
    from fireassay.data.npz_file import read_npy

    if power is None:
        raise ParameterError("--given belongs to --power.", got=" ".join(given))
    numbers = read_pairs(given, "What is given must look like NAME=NUMBER.")
    votes = None
    if power == "audit":
        read = read_config(config)
        votes = None if read.data.votes is None else read_npy(read.folder / read.data.votes)
    found = how_many(power, numbers, votes=votes)
    emit_json(asdict(found))
    say(str(found))


def _print_costs(costs: dict[str, dict[str, Any]]) -> None:
    say("The run so far, planned → taken")
    say(f"{'part':<13}{'queries':>22}{'labels':>16}{'minutes':>16}{'memory MB':>16}")
    for part, cost in costs.items():
        before, after = cost["planned"] or {}, cost["actual"]
        cells = []
        for key, scale, form, width in (
            ("queries", 1, ",.0f", 22),
            ("labels", 1, ",.0f", 16),
            ("seconds", 60, ".2f", 16),
            ("memory_mb", 1, ",.0f", 16),
        ):
            was = format(before[key] / scale, form) if key in before else "?"
            cells.append(f"{f'{was} → {format(after[key] / scale, form)}':>{width}}")
        say(f"{part:<13}{''.join(cells)}")
