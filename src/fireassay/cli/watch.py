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
    source: str = arg("A .csv or .jsonl that grows, a folder of these, or - (stdin).", ...),
    model: str | None = opt("The model; left out: the configuration's."),
    reference: Path | None = opt("Rows as they should be, in the order of time, labelled."),
    predictions: bool = opt("The file has predictions: no model, no configuration.", False),
    config: Config = Path("fireassay.toml"),
    limit: float | None = opt("Error rate that is accepted; left out: the reference's."),
    output: Path = opt(
        "Folder of the state and the page.", Path("fireassay-watch"), "--output", "-o"
    ),
    false_alarm: float = opt("Chance of ever a false alarm, of errors and inputs.", 0.01),
    confidence: float = opt("Of the bound on the newest labels, one-sided.", 0.975),
    window: int = opt("How many newest labels the bound is about.", 500, min=1),
    remember: int = opt("Rows whose answers wait for a label.", 100_000, min=1),
    label: str = opt("Name of the label.", "label"),
    id_: str = opt("Name of the id.", "id", "--id"),
    group: str | None = opt("Name of the patient, device or batch of a row."),
    largest_group: int | None = opt("The most rows that a group can have.", min=1),
    answer: str = opt("Name of the answer, where the stream has it.", "answer"),
    follow: bool = opt("Go on until an alarm, or Ctrl-C.", False, "--follow", "-f"),
    every: float = opt("Seconds between looks with --follow.", 2.0, min=0.05),
    replayed: bool = opt("Stdin starts again at its first line: skip what is known.", False),
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
