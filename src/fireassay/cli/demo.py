"""``fireassay demo``: a whole assessment on built-in data, in under two minutes."""

from pathlib import Path
from typing import Annotated

import typer

from fireassay.cli.console import emit_json, say
from fireassay.cli.options import Json, Quiet, Seed


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="The run folder.")] = Path(
        "fireassay-demo"
    ),
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train a small digits model, assess it, and write an offline report.

    Example: fireassay demo --output my-demo
    """
    from fireassay.assessment import run_demo
    from fireassay.assessment.spending import in_words
    from fireassay.report.document import to_document

    outcome = run_demo(
        output,
        seed=seed,
        say=lambda line: say(line, quiet=quiet or json),
        progress=False if quiet or json else None,
    )
    if json:
        emit_json(to_document(outcome.report.parts, outcome.report.title))
    else:
        words = in_words(outcome.costs)
        if words is not None:
            say(words, quiet=quiet)
        say(f"report: {outcome.folder / 'report.html'}", quiet=quiet)
