"""``fireassay demo``: a whole assessment on built-in data, in under two minutes."""

from pathlib import Path
from typing import Annotated

import typer

from fireassay.cli.console import emit_json, goes_on, say, say_wrapped, starting
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

    Its limits are set so that one is kept, one broken and one undecided; it exits with 0 anyway.

    Example: fireassay demo --output my-demo
    """
    starting("training a small model on built-in digits", quiet=quiet or json)
    from fireassay.assessment import run_demo
    from fireassay.assessment.spending import in_words
    from fireassay.cli.answers import show_answers

    with goes_on():
        outcome = run_demo(
            output,
            seed=seed,
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
