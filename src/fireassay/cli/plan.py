"""``fireassay plan``: what each part will cost, before anything is spent."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from fireassay.cli.console import at_work, emit_json, loading, say, starting
from fireassay.cli.options import Config, FileSeed, Json, Quiet, Trust
from fireassay.cli.trusting import remember_configured


def plan(
    config: Config = Path("fireassay.toml"),
    seed: FileSeed = None,
    trust: Trust = False,
    like: Annotated[
        Path | None,
        typer.Option(help="A run folder of the same model on fewer rows: what it took corrects."),
    ] = None,
    power: Annotated[
        str | None,
        typer.Option(
            help="Instead of costs, how many it takes for: bound, models, auroc, monitor, slices, "
            "groups, audit, campaign."
        ),
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option(help="With --power, what is assumed: NAME=NUMBER, e.g. limit=0.05."),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show queries, labels, minutes, memory and disk of each part, from a few measured batches.

    After a run, also what each part took: the error of the plan. Run a hundredth of the rows in
    a project of its own, and --like its run folder plans the whole.

    Example: fireassay plan --power bound --given limit=0.05 --given rate=0.02
    """
    if power is not None or given:
        _how_many(power, given or [], config, json=json)
        return
    starting("measuring a few batches", quiet=quiet or json)
    with at_work("measuring the model", quiet=quiet or json):
        with loading():
            from fireassay.assessment import make_plan, read_config
            from fireassay.assessment.run_folder import read_costs
            from fireassay.assessment.spending import in_words

            read = read_config(config)
        if trust:
            remember_configured(read)
        planned = make_plan(read, seed=seed, trust=trust)
    if like is not None:
        from fireassay.assessment.plan_like import plan_like

        planned = plan_like(planned, like)
    costs = read_costs(read.folder / read.run.folder)
    if json:
        emit_json({**planned.to_dict(), "costs": costs})
        return
    if quiet:
        return
    say(str(planned))
    if costs:
        say()
        _print_costs(costs)
        words = in_words(costs)
        if words is not None:
            say(words)


def _how_many(power: str | None, given: list[str], config: Path, *, json: bool) -> None:
    """Answer one question about sizes; only the audit needs a project."""
    from fireassay.assessment import how_many, read_config
    from fireassay.core import ParameterError
    from fireassay.data.npz_file import read_npy

    if power is None:
        raise ParameterError("--given belongs to --power.", got=" ".join(given))
    numbers = {}
    for text in given:
        name, _, number = text.partition("=")
        try:
            numbers[name.strip()] = float(number)
        except ValueError as error:
            raise ParameterError(
                "What is given must look like NAME=NUMBER.", got=repr(text)
            ) from error
    votes = None
    if power == "audit":
        read = read_config(config)
        votes = None if read.data.votes is None else read_npy(read.folder / read.data.votes)
    found = how_many(power, numbers, votes=votes)
    if json:
        emit_json(asdict(found))
    else:
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
