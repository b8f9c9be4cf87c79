"""``fireassay supervision``: which monitor catches which trouble; fit one; score inputs with it."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from fireassay.cli import options
from fireassay.cli.console import asked, emit, emit_json, flush, say
from fireassay.cli.loading import is_table, load_rows, probe_words, probed
from fireassay.cli.options import answering, arg, opt

if TYPE_CHECKING:
    from fireassay.data import DataSet

app = typer.Typer(
    no_args_is_help=True,
    help="Runtime monitors: compare them, fit one with an alarm threshold, score inputs.",
)

_TRAIN = "Labelled rows the model was trained on."
Layer = Annotated[
    str | None, Option("--layer", help="Layer to read, or 'inputs' for the rows themselves.")
]
Members = Annotated[
    list[str] | None,
    Option("--member", help="A further model of an ensemble; say it for each of them."),
]
Workers = Annotated[int, Option("--workers", help="Processes; the numbers stay the same.")]
FalseAlarm = Annotated[float, Option("--false-alarm", help="Promised false-alarm rate.")]
Confidence = Annotated[float, Option("--confidence", help="Of promise and intervals.")]


@app.command()
@answering
def names() -> None:
    """List the supervisors: what each is, and what it needs of a model.

    Example: fireassay supervision names
    """
    from fireassay.supervision import SUPERVISORS

    found: dict[str, dict[str, Any]] = {
        name: {
            "summary": row.summary, "needs": list(row.needs), "fit_needs": list(row.fit_needs),
            "onnx": row.has_graph() or row.no_graph,
        }
        for name, row in SUPERVISORS.items()
    }  # fmt: skip
    emit_json(found)
    for name, about in found.items():
        say(f"{name:<32} {about['summary']}; needs {', '.join(about['needs'])}")


@app.command()
@answering
def compare(
    model: str = opt(options.A_MODEL, ...),
    train: Path = opt(_TRAIN, ...),
    nominal: Path = opt("Nominal rows, not from training.", ...),
    sets: list[str] = opt("NAME=PATH: rows of one kind of trouble.", ..., "--set"),
    supervisors: list[str] | None = opt(
        "See the command names; default: all.", None, "--supervisor"
    ),
    members: Members = None,
    model_output: options.ModelOutput = "probabilities",
    layer: Layer = None,
    false_alarm: FalseAlarm = 0.05,
    confidence: Confidence = 0.95,
    workers: Workers = 1,
    output: options.Output = None,
    trust: options.Trust = False,
    hang_minutes: options.HangMinutes = 30.0,
    seed: options.Seed = 0,
) -> None:
    """Compare supervisors on each kind of trouble.

    Example: fireassay supervision compare --model m.onnx --train train.npz --nominal test.npz
    --set invalid=other.npz --set corrupted=noisy.npz
    """
    from fireassay.assessment.coded_rows import coded_sets, with_own_hash
    from fireassay.core.errors import ParameterError
    from fireassay.supervision import compare as run
    from fireassay.supervision.registry import without_inputs

    named = dict(part.partition("=")[::2] for part in sets)
    if not all(named) or not all(named.values()):
        raise ParameterError("Each --set must be NAME=PATH.", got=", ".join(sets))
    load_model = _loader(model_output, trust, hang_minutes)
    given = load_model(model)
    rows = load_rows(train, given)
    names = rows.feature_names if is_table(train) else None
    # A slash is in no name that was given: "NAME=PATH" would be a path.
    paths = {"nominal": nominal, **{f"set/{name}": Path(path) for name, path in named.items()}}
    loaded = {name: _like(path, names, given) for name, path in paths.items()}
    classifier, coded = coded_sets(given, {"train": rows, **loaded})
    usual: Any = "all" if classifier is given else without_inputs()
    result = run(
        classifier,
        coded["train"].X,
        coded["train"].y,
        nominal=coded["nominal"].X,
        sets={name: coded[f"set/{name}"].X for name in named},
        supervisors=supervisors or usual,
        members=[load_model(path) for path in members or ()] or None,
        layer=layer,
        workers=workers,
        false_alarm=false_alarm,
        confidence=confidence,
        seed=seed,
    )
    if output is not None:
        result.save(output)
    if not asked.silent:
        shown = result.matrix().round(3).to_string(na_rep="n.a.")
        say(f"AUROC of each supervisor on each set:\n{shown}\n")
        table = result.frame().drop_duplicates("supervisor")
        for row in table[table["status"] != "done"].itertuples():
            say(f"{row.supervisor}: {row.status}: {row.reason}")
    evidence = with_own_hash(result.evidence(), classifier)
    emit(probed(evidence, classifier, coded["train"].X))


@app.command()
@answering
def fit(
    name: str = arg("A supervisor; see: fireassay supervision names.", ...),
    model: str = opt(options.A_MODEL, ...),
    train: Path = opt(_TRAIN, ...),
    nominal: Path = opt("Nominal rows for the threshold, used nowhere else.", ...),
    output: Path = opt("File to write.", ..., "--output", "-o"),
    onnx: Path | None = opt("Also write an ONNX graph, where there is one."),
    members: Members = None,
    model_output: options.ModelOutput = "probabilities",
    layer: Layer = None,
    false_alarm: FalseAlarm = 0.05,
    confidence: Confidence = 0.95,
    trust: options.Trust = False,
    hang_minutes: options.HangMinutes = 30.0,
    seed: options.Seed = 0,
) -> None:
    """Fit one supervisor, set its alarm threshold, and write both to a file.

    Example: fireassay supervision fit mdsa --model m.onnx --train train.npz --nominal fresh.npz
    -o monitor.npz
    """
    from fireassay.assessment.coded_rows import coded_sets
    from fireassay.core.words import percent
    from fireassay.supervision import make, to_onnx
    from fireassay.supervision.registry import described

    # The model first: a module of the user's may register a supervisor beside it.
    load_model = _loader(model_output, trust, hang_minutes)
    given = load_model(model)
    rows = load_rows(train, given)
    others = _like(nominal, rows.feature_names if is_table(train) else None, given)
    classifier, coded = coded_sets(given, {"train": rows, "nominal": others})
    ensemble = [load_model(path) for path in members or ()] or None
    supervisor = make(name, layer=layer, seed=seed, **({"members": ensemble} if ensemble else {}))
    if classifier is not given:
        _check_codes_do(name, layer)
    supervisor.fit(classifier, coded["train"].X, rows.y)
    fresh = coded["nominal"].X
    limit = supervisor.threshold(fresh, false_alarm, confidence)
    if rows.feature_names is not None:
        supervisor.feature_names_ = tuple(rows.feature_names)
    supervisor.save(output)
    if onnx is not None:
        to_onnx(supervisor, onnx)
    emit_json(described(supervisor))
    say(
        f"{name}: alarm above {limit:.6g}; with {percent(confidence)} confidence at most "
        f"{percent(false_alarm, 1)} false alarms ({len(fresh)} nominal rows). Written to {output}."
    )


@app.command()
@answering
def score(
    monitor: Path = arg("File written by: fireassay supervision fit.", ...),
    data: str = arg("Rows (npz, csv, …), or '-' to read JSON lines as they come.", ...),
    model: str = opt(options.A_MODEL, ...),
    members: Members = None,
    model_output: options.ModelOutput = "probabilities",
    trust: options.Trust = False,
    hang_minutes: options.HangMinutes = 30.0,
) -> None:
    """Score inputs with a fitted supervisor: one score and one alarm each.

    With '-', every line of standard input is one row (a JSON list, nested for images, or an object
    with the names of the training columns) and every line of output one JSON object. Columns of a
    table are found by their names. Whether the model answers the same twice is said for a file; on
    a stream it is not probed. Exit code 1 if any input raised an alarm.

    Example: fireassay supervision score monitor.npz today.npz --model m.onnx
    """
    from fireassay.assessment.coded_rows import coded_sets
    from fireassay.supervision import load

    load_model = _loader(model_output, trust, hang_minutes)
    classifier = load_model(model)
    supervisor = load(monitor)
    ensemble = [load_model(path) for path in members or ()] or None
    if ensemble is not None:
        supervisor.set_params(members=ensemble)
    supervisor.attach(classifier)
    rule = getattr(supervisor, "rule_", None)
    limit = None if rule is None else rule.threshold
    if data == "-":
        alarms = _stream(supervisor, classifier, limit)
    else:
        given = _like(Path(data), supervisor.feature_names_, classifier, label=False)
        classifier, coded = coded_sets(classifier, {"rows": given})
        supervisor.attach(classifier)
        X = coded["rows"].X
        same = probe_words(classifier, X)
        scores = supervisor.score(X)
        rows = [_row(i, float(value), limit) for i, value in enumerate(scores)]
        alarms = sum(bool(row["alarm"]) for row in rows)
        about = {"supervisor": supervisor.name, "threshold": limit, "reproducible": same}
        emit_json({**about, "rows": rows})
        for row in rows:
            mark = "  ALARM" if row["alarm"] else ""
            say(f"{row['row']}  {row['score']:.6g}{mark}")
        say(f"{alarms} of {len(rows)} inputs raised an alarm.")
        say(f"Same answer twice: {same['status']}. {same['check']}")
    raise typer.Exit(1 if alarms else 0)


def _loader(output: str, trust: bool, hang_minutes: float) -> Callable[[str], Any]:
    from fireassay.classifiers import as_classifier

    return partial(as_classifier, output=output, trust=trust, hang_minutes=hang_minutes)


def _like(
    path: Path, names: Sequence[str] | None, model: Any, label: str | bool | None = None
) -> "DataSet":
    """Other rows with the columns of training, by name where both are tables."""
    if names is None or not is_table(path):
        return load_rows(path, model, label=label)
    from fireassay.data import load

    return load(path, columns=list(names), label=label)


def _check_codes_do(name: str, layer: str | None) -> None:
    """Names, dates and holes have no distance: only what the model answers can be watched."""
    from fireassay.core.errors import ParameterError
    from fireassay.supervision.registry import without_inputs

    able = without_inputs()
    if name not in able or layer == "inputs":
        raise ParameterError(
            f"{name} measures rows, and these have names, dates, texts or holes.",
            got="rows that are not all numbers",
            do=f"Take one that looks at the answers alone: {', '.join(able[:6])}, …",
        )


def _row(number: int, value: float, limit: float | None) -> dict[str, Any]:
    return {"row": number, "score": value, "alarm": None if limit is None else value > limit}


def _stream(supervisor: Any, classifier: Any, limit: float | None) -> int:
    """Score lines one by one; a line that is no row is answered with its error."""
    import json
    import sys

    from fireassay.core.errors import FireassayError
    from fireassay.core.json_files import dumps

    alarms = 0
    for number, line in enumerate(sys.stdin):
        if not line.strip():
            continue
        try:
            given = _values(json.loads(line), supervisor.feature_names_)
            value = float(supervisor.score(_codes(supervisor, classifier, given))[0])
        except (FireassayError, ValueError, TypeError) as failure:
            answer: dict[str, Any] = {"row": number, "error": str(failure)}
        else:
            answer = _row(number, value, limit)
            alarms += bool(answer["alarm"])
        say(dumps(answer), quiet=asked.quiet)
        flush()
    return alarms


def _codes(supervisor: Any, classifier: Any, given: list[Any]) -> Any:
    """One row as the supervisor takes it: numbers, or codes where there are names or holes."""
    import numpy as np

    names = supervisor.feature_names_
    if names is None or not any(value is None or isinstance(value, str) for value in given):
        supervisor.attach(classifier)  # the row before may have had codes
        return np.asarray([given], dtype=np.float64)
    import pandas as pd

    from fireassay.assessment.coded_rows import coded_sets
    from fireassay.data import DataSet

    row = pd.DataFrame([given], columns=list(names))
    model, coded = coded_sets(classifier, {"row": DataSet(row)})
    supervisor.attach(model)
    return coded["row"].X


def _values(row: Any, names: tuple[str, ...] | None) -> Any:
    """A JSON object as a list in the order of the training columns."""
    if not isinstance(row, dict):
        return row
    if names is None:
        raise ValueError("the monitor knows no column names: send a list")
    missing = [name for name in names if name not in row]
    if missing:
        raise ValueError(f"the row has no {', '.join(missing[:5])}")
    return [row[name] for name in names]
