"""``fireassay watch``: follow a model in operation and raise an alarm."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fireassay.cli.console import emit_json, say, starting
from fireassay.cli.options import Config, ModelOutput, Seed, Trust, answering, arg, opt

if TYPE_CHECKING:
    from fireassay.assessment.watch.watch import Watch

_SAVING = 5.0


@answering
def watch(
    source: str = arg(..., "A .csv or .jsonl that grows, a folder of these, or - (stdin)."),
    model: str | None = opt(None, "The model; left out: the configuration's."),
    reference: Path | None = opt(None, "Rows as they should be, in the order of time, labelled."),
    predictions: bool = opt(
        False, "The file has predictions: no model, no configuration.", "--predictions"
    ),
    config: Config = Path("fireassay.toml"),
    limit: float | None = opt(None, "Error rate that is accepted; left out: the reference's."),
    output: Path = opt(
        Path("fireassay-watch"), "Folder of the state and the page.", "--output", "-o"
    ),
    false_alarm: float = opt(0.01, "Chance of ever a false alarm, of errors and inputs."),
    confidence: float = opt(0.975, "Of the bound on the newest labels, one-sided."),
    window: int = opt(500, "How many newest labels the bound is about.", min=1),
    remember: int = opt(100_000, "Rows whose answers wait for a label.", min=1),
    label: str = opt("label", "Name of the label."),
    id_: str = opt("id", "Name of the id.", "--id"),
    group: str | None = opt(None, "Name of the patient, device or batch of a row."),
    largest_group: int | None = opt(None, "The most rows that a group can have.", min=1),
    answer: str = opt("answer", "Name of the answer, where the stream has it."),
    follow: bool = opt(False, "Go on until an alarm, or Ctrl-C.", "--follow", "-f"),
    every: float = opt(2.0, "Seconds between looks with --follow.", min=0.05),
    replayed: bool = opt(
        False, "Stdin starts again at its first line: skip what is known.", "--replayed"
    ),
    output_kind: ModelOutput = "probabilities",
    trust: Trust = False,
    seed: Seed = 0,
) -> None:
    """Follow rows and labels as they come: how often it is wrong now, and alarms.

    A line is a row, an answer, a label, or several of these; a label that comes later names its
    row by id: {"id": 7, "row": [1, 2]} and then {"id": 7, "label": "cat"}. Started again, also
    after a kill, it goes on where the state in --output stands.

    Exit code 0: quiet. 1: an alarm. 2: usage. 3: nothing was judged, so quiet means nothing.

    Example: fireassay watch served.jsonl --model m.onnx --reference test.csv --limit 0.05 --follow
    """
    import sys

    starting(f"following {source}")
    from fireassay.assessment.watch.lines import Columns, lines_of, new_lines
    from fireassay.assessment.watch.page import write_page
    from fireassay.assessment.watch.predictions import watch_predictions
    from fireassay.engine.run_lock import RunLock

    output.mkdir(parents=True, exist_ok=True)
    lock = RunLock(output / "lock")
    settings: dict[str, Any] = {
        "limit": limit, "alpha": false_alarm, "confidence": confidence, "window": window,
        "seed": seed,
    }  # fmt: skip
    refresh = max(1, round(every))
    try:
        if predictions:
            watching = watch_predictions(
                Path(source), output, remember, settings, largest_group, group
            )
        else:
            columns = Columns(id_, answer, label, group)
            loaded = _loaded(config, model, reference, columns, output_kind, trust)
            watching = _watch(*loaded, output, remember, settings, largest_group)
        cursor = watching.cursor
        if source == "-":
            lines = lines_of(sys.stdin.buffer, cursor.lines if replayed else 0, cursor)
        else:
            lines = new_lines(Path(source), cursor)
        write_page(watching, source, refresh)
        try:
            _go(watching, lines, source, follow=follow, every=every)
        except KeyboardInterrupt:
            say("stopped; the same command goes on.")
        watching.save()
        write_page(watching, source, refresh)
    finally:
        lock.release()
    _tell(watching)
    raise typer.Exit(watching.exit_code)


def _go(watching: "Watch", lines: Any, source: str, *, follow: bool, every: float) -> None:
    """Take in what there is; with --follow wait for more until there is an alarm."""
    import time

    from fireassay.assessment.watch.lines import new_lines
    from fireassay.assessment.watch.page import write_page

    saved = spent = 0.0
    refresh = max(1, round(every))
    while True:
        unsaved = False
        for some in lines:
            watching.take(some)
            unsaved = True
            started = time.monotonic()
            # A state with many answers that wait takes long to write: a sixth of the time at most.
            if started - saved >= _SAVING * spent:
                watching.save()
                write_page(watching, source, refresh)
                unsaved = False
                saved = time.monotonic()
                spent = saved - started
            if follow and watching.alarm:
                return
        if not follow or source == "-":
            return
        if unsaved:  # who looks at the page while nothing comes must see the newest lines
            watching.save()
            write_page(watching, source, refresh)
        time.sleep(every)
        lines = new_lines(Path(source), watching.cursor)


def _loaded(
    config: Path, model: str | None, reference: Path | None, columns: Any, output: str, trust: bool
) -> tuple[Any, Any, Any]:
    """Model, reference rows and columns, as given or as configured."""
    from dataclasses import replace

    from fireassay import as_classifier
    from fireassay.assessment.config import read_config
    from fireassay.assessment.context import load_context
    from fireassay.data import column_names, load

    configured = None
    if model is None or reference is None:
        configured = load_context(read_config(config), trust=trust)
        if columns.group is None and configured.test.groups is not None and reference is None:
            columns = replace(columns, group=read_config(config).data.group_columns[0])
    if model is not None:
        classifier = as_classifier(model, output=output, trust=trust)
    elif configured is not None:
        classifier = configured.model
    if reference is not None:
        label = columns.label if columns.label in column_names(reference) else None
        grouped = {} if columns.group is None else {"group": columns.group}
        rows = load(reference, label=label, **grouped)
    elif configured is not None:
        rows = configured.test
    return classifier, rows, columns


def _watch(
    model: Any, reference: Any, columns: Any, output: Path, remember: int,
    settings: dict[str, Any], largest_group: int | None,
) -> "Watch":  # fmt: skip
    """The watch of a model by reference rows."""
    from dataclasses import asdict

    from fireassay.assessment.watch.lines import LineReader, watched_rows
    from fireassay.assessment.watch.watch import Watch
    from fireassay.core import DataError, json_files
    from fireassay.core.groups import Groups
    from fireassay.reliability import Monitor

    classifier, rows = watched_rows(model, reference)
    given = rows.X if rows.y is None else (rows.X, rows.y)
    groups = rows.groups
    if columns.group is not None and groups is None:
        raise DataError("The reference must have the group of each row.", got="none")
    if groups is not None and largest_group is not None:
        groups = Groups(groups, largest_group)
    monitor = Monitor(classifier, given, groups=groups, delayed=True, **settings)
    said = json_files.dumps({**settings, "columns": asdict(columns), "largest": largest_group})
    about = f"{classifier.sha256} {rows.sha256} {said}"
    return Watch(monitor, LineReader(rows, columns), output, about, remember)


def _tell(watching: "Watch") -> None:
    from dataclasses import asdict

    state, counts = watching.state, watching.counts
    head = {"headline": watching.headline, "exit_code": watching.exit_code}
    tail = {"lines": watching.cursor.lines, "waiting": len(watching.answers)}
    limit = {"limit": watching.monitor.limit}
    emit_json(head | asdict(state) | asdict(counts) | tail | limit)
    say(watching.headline)
    say(f"  {state.n_rows:,} rows, {state.n_labels:,} labels, {state.n_errors:,} wrong")
    if counts.unmatched:
        say(f"  {counts.unmatched:,} labels of rows that are not known")
    if counts.refused:
        say(f"  {counts.refused:,} lines refused; the last: {counts.last_refusal}")
    say(f"  {watching.folder / 'watch.html'}")
