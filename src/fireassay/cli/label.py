"""``fireassay label``: buy labels for a search, by file."""

import webbrowser
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from fireassay.cli.console import emit, emit_json, say, starting
from fireassay.cli.loading import unprobed
from fireassay.cli.options import answering, arg, opt

app = typer.Typer(no_args_is_help=True, help="Buy labels for a search: write rows, read labels.")
Run = Annotated[Path, Argument(help="The run folder, or its search.npz.")]
People = Annotated[int | None, Option("--people", min=1, max=20, help="People who label each row.")]


@app.command("next")
@answering
def next_(
    run: Run,
    csv: Path = opt("File to write.", Path("next.csv"), "--csv"),
    count: int = opt("Rows to label.", 10, "--count", "-n", min=1),
    people: People = None,
) -> None:
    """Write the next rows to label to a CSV file.

    Example: fireassay label next my-run --csv next.csv
    """
    starting(f"asking the search of {run}")
    from fireassay.discovery import next_labels

    rows = next_labels(run, csv, count, people)
    emit_json({"rows": rows, "csv": str(csv)})
    say(f"{len(rows)} rows in {csv}: fill the column 'label', then")
    say(f"fireassay label add {run} {csv}")


@app.command()
@answering
def add(
    run: Run,
    csv: Path = arg("The file with the labels.", ...),
    annotator: str = opt("Who labelled.", "", "--annotator"),
    people: People = None,
) -> None:
    """Read labels from a CSV file and say what may be concluded now.

    Example: fireassay label add my-run next.csv
    """
    starting(f"reading {csv}")
    from fireassay.discovery import add_labels

    found = add_labels(run, csv, annotator, people).evidence()
    emit(unprobed(found, "labels are added without the model"))


@answering
def serve(
    run: list[Path] | None = arg("Run folders, or folders with runs and projects in them."),
    host: str = opt("Address to listen at. Any but 127.0.0.1 needs a token.", "127.0.0.1"),
    port: int | None = opt("Default: the first free one from 8765.", min=0, max=65535),
    allow_host: list[str] | None = opt("A name under which browsers reach it (repeatable)."),
    data: Path | None = opt("The data of the search in the run folder: people label what it asks."),
    label: str | None = opt("Column of labels in --data (as given to the search)."),
    ambiguous: Path | None = opt("An exported ambiguous set: people review its samples."),
    annotators: int | None = opt("People per item (default: as before, or 1).", min=1, max=20),
    open_: bool = opt("Open the browser.", False, "--open"),
) -> None:
    """Start and watch runs, browse their rows, compare them, label, in the browser.

    Labels are on the disk before the page says so. On other addresses than 127.0.0.1 a token is
    needed: the environment variable FIREASSAY_TOKEN, or a new one, which is printed.

    Example: fireassay serve fireassay-run --open

    Label for a search: fireassay discovery model.onnx rows.npz --output run, then
    fireassay serve run --data rows.npz
    """
    starting("starting the app")
    from fireassay.web.server import serve as start

    here = Path("fireassay.toml").is_file()
    folders = run or [Path() if here else Path("fireassay-run")]
    _queues_of_searches(folders, annotators)
    if data is not None and not _keeps_rows(folders[0]):
        _queue_of_search(folders[0], data, label, annotators)
    if ambiguous is not None:
        from fireassay.web.review import read_exported, write_review_queue

        write_review_queue(
            folders[0], read_exported(ambiguous), annotators_per_item=annotators or 1
        )

    def ready(address: str) -> None:
        emit_json({"address": address})
        say(f"fireassay is at {address}  (Ctrl+C ends it)")
        if open_:
            webbrowser.open(address)

    start(folders, host=host, port=port, allowed_hosts=allow_host or (), ready=ready)


def _keeps_rows(run: Path) -> bool:
    return (run / "search-rows.npz").is_file() and (run / "search.npz").is_file()


def _queues_of_searches(folders: list[Path], annotators: int | None) -> None:
    """A run that waits for labels keeps its rows: nobody has to name them again."""
    for folder in folders:
        inside = [*sorted(folder.glob("*/search.npz")), *sorted(folder.glob("*/*/search.npz"))]
        for run in (folder, *(path.parent for path in inside)):
            if _keeps_rows(run):
                from fireassay.web.queue_sources import queue_from_search

                queue_from_search(run, annotators_per_item=annotators)


def _queue_of_search(run: Path, data: Path, label: str | None, annotators: int | None) -> None:
    from fireassay.data import load
    from fireassay.web.queue_sources import queue_from_search

    # Rows are as the search was given them: where the channels are is no question here.
    layout: Any = {"layout": "HWC"} if data.suffix.lower() in (".npz", ".npy") else {}
    loaded = load(data, label=label, **layout)
    queue_from_search(
        run,
        loaded.X,
        kind="series" if loaded.rows.form == "series" else None,
        class_names=loaded.class_names,
        feature_names=loaded.feature_names,
        annotators_per_item=annotators,
    )
