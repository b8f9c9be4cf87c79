"""``fireassay plan``: what each part will cost, before anything is spent."""

from pathlib import Path
from typing import Annotated

import typer

from fireassay.cli.console import emit_json, say
from fireassay.cli.options import Json


def plan(
    config: Annotated[Path, typer.Option(help="The configuration file.")] = Path("fireassay.toml"),
    json: Json = False,
) -> None:
    """Show queries, labels and minutes of each part, from the measured cost of a few batches.

    Example: fireassay plan
    """
    from fireassay.assessment import make_plan, read_config

    planned = make_plan(read_config(config))
    if json:
        emit_json(planned.to_dict())
        return
    say(f"{'part':<13}{'queries':>12}{'labels':>9}{'minutes':>9}  ")
    for row in planned.rows:
        if row.reason:
            say(f"{row.part:<13}not available: {row.reason}")
        else:
            say(f"{row.part:<13}{row.queries:>12,}{row.labels:>9,}{row.seconds / 60:>9.2f}")
    say(
        f"{'all':<13}{planned.queries:>12,}{planned.labels:>9,}{planned.seconds / 60:>9.2f}   "
        f"(one query: {1e6 * planned.seconds_per_query:.0f} µs, measured on {planned.probed} rows)"
    )
