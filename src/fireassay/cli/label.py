"""``fireassay label``: buy labels for a search, by file."""

from pathlib import Path
from typing import Annotated

import typer

from fireassay.cli.console import emit, emit_json, say, starting
from fireassay.cli.options import Json, Quiet
from fireassay.cli.probing import unprobed

app = typer.Typer(no_args_is_help=True, help="Buy labels for a search: write rows, read labels.")
Run = Annotated[Path, typer.Argument(help="The run folder, or its search.npz.")]


@app.command("next")
def next_(
    run: Run,
    csv: Annotated[Path, typer.Option("--csv", help="File to write.")] = Path("next.csv"),
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="Rows to label.")] = 10,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write the next rows to label to a CSV file.

    Example: fireassay label next my-run --csv next.csv
    """
    starting(f"asking the search of {run}", quiet=quiet or as_json)
    from fireassay.discovery import next_labels

    rows = next_labels(run, csv, count)
    if as_json:
        emit_json({"rows": rows, "csv": str(csv)})
        return
    say(f"{len(rows)} rows in {csv}: fill the column 'label', then", quiet=quiet)
    say(f"fireassay label add {run} {csv}", quiet=quiet)


@app.command()
def add(
    run: Run,
    csv: Annotated[Path, typer.Argument(help="The file with the labels.")],
    annotator: Annotated[str, typer.Option("--annotator", help="Who labelled.")] = "",
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Read labels from a CSV file and say what may be concluded now.

    Example: fireassay label add my-run next.csv
    """
    starting(f"reading {csv}", quiet=quiet or as_json)
    from fireassay.discovery import add_labels

    found = add_labels(run, csv, annotator).evidence()
    emit(unprobed(found, "labels are added without the model"), as_json=as_json, quiet=quiet)
