"""``fireassay watch``: follow a model in operation and raise an alarm."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fireassay.cli.console import emit_json, say, starting
from fireassay.cli.options import Config, Json, ModelOutput, Quiet, Seed, Trust

if TYPE_CHECKING:
    from fireassay.assessment.watching import Watch

_SAVING = 5.0


def watch(
    source: Annotated[
        str, typer.Argument(help="A .csv or .jsonl that grows, a folder of these, or - (stdin).")
    ],
    model: Annotated[
        str | None, typer.Option("--model", help="The model; left out: the configuration's.")
    ] = None,
    reference: Annotated[
        Path | None,
        typer.Option("--reference", help="Rows as they should be, in the order of time, labelled."),
    ] = None,
    config: Config = Path("fireassay.toml"),
    limit: Annotated[
        float | None,
        typer.Option("--limit", help="Error rate that is accepted; left out: the reference's."),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder of the state and the page.")
    ] = Path("fireassay-watch"),
    false_alarm: Annotated[
        float,
        typer.Option("--false-alarm", help="Chance of ever a false alarm, of errors and inputs."),
    ] = 0.01,
    confidence: Annotated[
        float, typer.Option("--confidence", help="Of the bound on the newest labels, one-sided.")
    ] = 0.975,
    window: Annotated[
        int, typer.Option("--window", min=1, help="How many newest labels the bound is about.")
    ] = 500,
    remember: Annotated[
        int, typer.Option("--remember", min=1, help="Rows whose answers wait for a label.")
    ] = 100_000,
    label: Annotated[str, typer.Option("--label", help="Name of the label.")] = "label",
    id_: Annotated[str, typer.Option("--id", help="Name of the id.")] = "id",
    answer: Annotated[
        str, typer.Option("--answer", help="Name of the answer, where the stream has it.")
    ] = "answer",
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on until an alarm, or Ctrl-C.")
    ] = False,
    every: Annotated[
        float, typer.Option("--every", min=0.05, help="Seconds between looks with --follow.")
    ] = 2.0,
    replayed: Annotated[
        bool,
        typer.Option(
            "--replayed", help="Stdin starts again at its first line: skip what is known."
        ),
    ] = False,
    output_kind: ModelOutput = "probabilities",
    trust: Trust = False,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Follow rows and labels as they come: how often it is wrong now, and alarms.

    A line is a row, an answer, a label, or several of these; a label that comes later names its
    row by id: {"id": 7, "row": [1, 2]} and then {"id": 7, "label": "cat"}. Started again, also
    after a kill, it goes on where the state in --output stands.

    Exit code 0: quiet. 1: an alarm. 2: usage. 3: nothing was judged, so quiet means nothing.

    Example: fireassay watch served.jsonl --model m.onnx --reference test.csv --limit 0.05 --follow
    """
    import sys

    starting(f"following {source}", quiet=quiet or json)
    from fireassay.assessment.watch_lines import Columns
    from fireassay.assessment.watch_page import write_page
    from fireassay.assessment.watch_source import lines_of, new_lines
    from fireassay.engine.run_lock import RunLock

    output.mkdir(parents=True, exist_ok=True)
    lock = RunLock(output / "lock")
    try:
        watching = _watch(
            config,
            model,
            reference,
            Columns(id_, answer, label),
            output,
            remember,
            output_kind=output_kind,
            trust=trust,
            settings={
                "limit": limit,
                "alpha": false_alarm,
                "confidence": confidence,
                "window": window,
                "seed": seed,
            },
        )
        if source == "-":
            lines = lines_of(
                sys.stdin.buffer, watching.cursor.lines if replayed else 0, watching.cursor
            )
        else:
            lines = new_lines(Path(source), watching.cursor)
        refresh = max(1, round(every))
        write_page(watching, source, refresh)
        try:
            _go(watching, lines, source, follow=follow, every=every)
        except KeyboardInterrupt:
            say("stopped; the same command goes on.", quiet=quiet or json)
        watching.save()
        write_page(watching, source, refresh)
    finally:
        lock.release()
    _tell(watching, json=json, quiet=quiet)
    raise typer.Exit(watching.exit_code)


def _go(watching: "Watch", lines: Any, source: str, *, follow: bool, every: float) -> None:
    """Take in what there is; with --follow wait for more until there is an alarm."""
    import time

    from fireassay.assessment.watch_page import write_page
    from fireassay.assessment.watch_source import new_lines

    saved = spent = 0.0
    while True:
        for some in lines:
            watching.take(some)
            started = time.monotonic()
            # A state with many answers that wait takes long to write: a sixth of the time at most.
            if started - saved >= _SAVING * spent:
                watching.save()
                write_page(watching, source, max(1, round(every)))
                saved = time.monotonic()
                spent = saved - started
            if follow and watching.alarm:
                return
        if not follow or source == "-":
            return
        time.sleep(every)
        lines = new_lines(Path(source), watching.cursor)


def _watch(
    config: Path,
    model: str | None,
    reference: Path | None,
    columns: Any,
    output: Path,
    remember: int,
    *,
    output_kind: str,
    trust: bool,
    settings: dict[str, Any],
) -> "Watch":
    """The watch of a model and a reference, as given or as configured."""
    from dataclasses import asdict

    from fireassay import as_classifier
    from fireassay.assessment.config import read_config
    from fireassay.assessment.inputs import load_context
    from fireassay.assessment.watch_lines import LineReader
    from fireassay.assessment.watched_table import watched_rows
    from fireassay.assessment.watching import Watch
    from fireassay.core import strict_json
    from fireassay.data import load
    from fireassay.reliability import Monitor

    configured = None
    if model is None or reference is None:
        configured = load_context(read_config(config), trust=trust)
    if model is not None:
        classifier = as_classifier(model, output=output_kind, trust=trust)
    elif configured is not None:
        classifier = configured.model
    if reference is not None:
        rows = load(reference, label=_label_of(reference, columns.label))
    elif configured is not None:
        rows = configured.test
    classifier, rows = watched_rows(classifier, rows)
    given = rows.X if rows.y is None else (rows.X, rows.y)
    monitor = Monitor(classifier, given, **settings)
    said = strict_json.dumps({**settings, "columns": asdict(columns)})
    about = f"{classifier.sha256} {rows.sha256} {said}"
    return Watch(monitor, LineReader(rows, columns), output, about, remember)


def _label_of(reference: Path, name: str) -> str | None:
    """The label column of a reference table, if it has one by that name."""
    from fireassay.data import column_names

    return name if name in column_names(reference) else None


def _tell(watching: "Watch", *, json: bool, quiet: bool) -> None:
    from dataclasses import asdict

    if json:
        emit_json(
            {
                "headline": watching.headline,
                "exit_code": watching.exit_code,
                **asdict(watching.state),
                **asdict(watching.counts),
                "lines": watching.cursor.lines,
                "waiting": len(watching.answers),
                "limit": watching.monitor.limit,
            }
        )
    elif not quiet:
        say(watching.headline)
        state, counts = watching.state, watching.counts
        say(f"  {state.n_rows:,} rows, {state.n_labels:,} labels, {state.n_errors:,} wrong")
        if counts.unmatched:
            say(f"  {counts.unmatched:,} labels of rows that are not known")
        if counts.refused:
            say(f"  {counts.refused:,} lines refused; the last: {counts.last_refusal}")
        say(f"  {watching.folder / 'watch.html'}")
