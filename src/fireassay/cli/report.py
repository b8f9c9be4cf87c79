"""``fireassay report``: write a run's page again, and open it."""

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from fireassay.cli.console import emit_json, say, starting
from fireassay.cli.options import Json, NoSamples, Quiet


def report(
    run: Annotated[Path, typer.Argument(help="A run folder.")] = Path("fireassay-run"),
    open_: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    gsn: Annotated[Path | None, typer.Option(help="Also write the argument as GSN YAML.")] = None,
    junit: Annotated[Path | None, typer.Option(help="Also write JUnit XML.")] = None,
    card: Annotated[Path | None, typer.Option(help="Also write a Markdown model card.")] = None,
    no_samples: NoSamples = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write the report of a finished or unfinished run.

    Exit code 3: it is written, but the configuration, model or data have changed since the run, or
    the run has not come to its end.

    Example: fireassay report fireassay-run --open
    """
    starting(f"reading {run}", quiet=quiet or json)
    from fireassay.assessment.run_folder import read_costs, read_gates, read_report, reservations

    loaded = read_report(run)
    if no_samples:
        loaded = loaded.without_samples()
    gates = read_gates(run)
    page = loaded.to_html(run / "report.html", gates, costs=read_costs(run))
    if gsn is not None:
        loaded.to_gsn(gsn, gates)
    if junit is not None:
        loaded.to_junit(junit, gates)
    if card is not None:
        loaded.to_model_card(card, gates)
    reserved = reservations(run, loaded)
    if json:
        emit_json({"report": str(page), "reservations": reserved})
    else:
        for name, reason in reserved.items():
            say(f"not now   {name}: {reason}", quiet=quiet)
        say(f"report: {page}", quiet=quiet)
    if open_:
        webbrowser.open(page.resolve().as_uri())
    if reserved:
        raise typer.Exit(3)
