"""``fireassay plan``: what each part will cost, before anything is spent."""

from pathlib import Path
from typing import Any

from fireassay.cli.console import emit_json, say, starting
from fireassay.cli.options import Config, FileSeed, Json, Quiet, Trust
from fireassay.cli.trusting import remember


def plan(
    config: Config = Path("fireassay.toml"),
    seed: FileSeed = None,
    trust: Trust = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show queries, labels, minutes, memory and disk of each part, from a few measured batches.

    After a run, also what each part took: the error of the plan.

    Example: fireassay plan
    """
    starting("measuring a few batches", quiet=quiet or json)
    from fireassay.assessment import make_plan, read_config
    from fireassay.assessment.run_folder import read_costs
    from fireassay.assessment.spending import in_words

    read = read_config(config)
    if trust:
        remember(read.resolve(read.model.path), read.folder)
    planned = make_plan(read, seed=seed, trust=trust)
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
