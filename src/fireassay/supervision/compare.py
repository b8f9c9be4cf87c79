"""`compare`: every supervisor on every set, fairly."""

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.errors import (
    AssumptionWarning,
    DataError,
    FireassayError,
    NotEnoughEvidenceError,
    ParameterError,
)
from fireassay.core.hashing import sha256
from fireassay.core.seeds import check_seed, generator
from fireassay.core.validation import check_class_indices, check_features, check_real
from fireassay.data import find_overlap
from fireassay.engine import Executor
from fireassay.supervision.alarm_threshold import AlarmRule, alarm_rule
from fireassay.supervision.comparison import Comparison, build_comparison
from fireassay.supervision.model_reader import ModelReader
from fireassay.supervision.reading import FIELDS, Reading
from fireassay.supervision.registry import make, names
from fireassay.supervision.row_blocks import BLOCK_ROWS
from fireassay.supervision.sampled_scores import Recipe, train_members
from fireassay.supervision.supervisor import Supervisor

_MODEL_PASS = ("probabilities", "logits", "features", "head", "layers")
NOMINAL, CALIBRATION = "nominal", "calibration"
Scores = dict[str, dict[str, FloatArray]]


@dataclass
class _Entrant:
    """One supervisor on its way through a comparison."""

    supervisor: Supervisor
    reader: ModelReader
    reason: str = ""
    status: str = "done"
    read_seconds: float = 0.0
    own_seconds: float = 0.0


def compare(
    model: Any,
    X_train: ArrayLike,
    y_train: ArrayLike | None,
    nominal: ArrayLike,
    sets: Mapping[str, ArrayLike],
    supervisors: str | Sequence[str | Supervisor] = "all",
    seed: int = 0,
    *,
    calibration: ArrayLike | None = None,
    labels: Mapping[str, ArrayLike] | None = None,
    groups: Mapping[str, ArrayLike] | None = None,
    members: Sequence[Any] | None = None,
    train: Recipe | None = None,
    n_members: int = 20,
    n_samples: int = 100,
    layer: str | None = None,
    false_alarm: float = 0.05,
    confidence: float = 0.95,
    n_resamples: int = 200,
    workers: int = 1,
    cluster: Any = None,
) -> Comparison:
    """How well each supervisor tells each kind of trouble from nominal inputs.

    Parameters
    ----------
    model
        A `Classifier`, or anything `as_classifier` takes.
    X_train, y_train
        The rows the model was trained on; supervisors are fitted to them.
    nominal
        Rows like those the model will mostly meet, not among the training rows.
    sets
        Rows of each kind of trouble by name, e.g. ``{"ambiguous": A, "invalid": B}``. A set whose
        name starts with "control" is shown but takes no part in recommendations: it holds harmless
        rows of the same making (e.g. the control rows of an ambiguity generator), and a supervisor
        that flags it reacts to the making.
    supervisors
        ``"all"``, or names and `Supervisor` objects.
    calibration
        Nominal rows for the thresholds. Default: half of ``nominal``, which then is used for
        nothing else.
    labels
        True labels by set name (and ``"nominal"``), where known: adds AURC.
    groups
        Per set one name per row (a pair of classes, a corruption): adds AUROCs per group.
    members, train, n_members
        An ensemble, or the recipe ``(X, y, seed) -> model`` to train one.
    n_samples
        Dropout samples.
    layer
        As in `Supervisor`.
    false_alarm, confidence
        The promise of each supervisor's threshold; ``confidence`` is also that of all intervals.
    n_resamples
        Of the bootstrap for AUPR, FPR95 and AURC.
    workers, cluster
        As in `Executor`: members are trained, supervisors fitted, blocks of rows scored and numbers
        computed side by side. The numbers do not depend on it.

    Returns
    -------
    Comparison
        ``frame()`` has a row per supervisor and set. What a model cannot supply, or what breaks,
        is in there too, with its reason.
    """
    check_seed(seed)
    check_real(confidence, "confidence", low=0, high=1)
    executor = Executor(workers=workers, cluster=cluster)
    X = check_features(X_train, name="X_train")
    rows, evaluated = _checked_sets(nominal, sets, calibration, X.shape[1:], seed)
    if members is None and train is not None:
        members = train_members(train, X, y_train, n_members, seed, executor)
    reader = ModelReader(model, layer=layer, members=members, n_samples=n_samples, seed=seed)
    classes = reader.classes(X)
    targets = None if y_train is None else check_class_indices(y_train, classes, n=len(X))
    queries_before = reader.queries
    entrants = _entrants(supervisors, reader, seed)
    predictions = {
        name: reader.read(part, ("probabilities",)).predictions
        for name, part in rows.items()
        if name in (labels or {})
    }
    groups_of = _by_reader(entrants)
    for group in groups_of:
        _mark_missing(group, X)
        _fit(group, X, targets, executor)
    here = reader.queries - queries_before
    scores, sent = _score(groups_of, rows, executor)
    rules, rule_reason = _rules(scores, false_alarm, confidence)
    comparison = build_comparison(
        entrants=[(e.supervisor, e.status, e.reason) for e in entrants],
        scores=scores,
        wrong=_wrong(labels, predictions, classes, evaluated),
        groups={} if groups is None else {k: np.asarray(v).astype(str) for k, v in groups.items()},
        rules=rules,
        rule_reason=rule_reason,
        costs=_costs(entrants, len(rows[NOMINAL])),
        overlap=len(find_overlap(X, rows[NOMINAL])),
        confidence=confidence,
        n_resamples=n_resamples,
        seed=seed,
        queries=here + sent,
        executor=executor,
        model_sha256=reader.model.sha256,
        data_sha256=sha256(X, *rows.values()),
    )
    for assumption in comparison.assumptions:
        if assumption.status == "contradicted":
            text = f"{assumption.statement} {assumption.check}"
            warnings.warn(text, AssumptionWarning, stacklevel=2)
    return comparison


def _checked_sets(
    nominal: ArrayLike,
    sets: Mapping[str, ArrayLike],
    calibration: ArrayLike | None,
    shape: tuple[int, ...],
    seed: int,
) -> tuple[dict[str, NDArray[Any]], IntArray | None]:
    """Rows by set; and, where nominal rows were split, which of them are left as nominal."""
    if not sets:
        raise ParameterError("The 'sets' must name at least one kind of trouble.", got="none")
    reserved = {NOMINAL, CALIBRATION} & set(sets)
    if reserved:
        raise ParameterError("These names are taken.", got=", ".join(sorted(reserved)))
    rows = {NOMINAL: check_features(nominal, name="nominal")}
    evaluated = None
    if calibration is None:
        order = generator(seed, "supervision", "calibration").permutation(len(rows[NOMINAL]))
        half = len(order) // 2
        if half:
            rows[CALIBRATION] = rows[NOMINAL][np.sort(order[:half])]
            evaluated = np.sort(order[half:])
            rows[NOMINAL] = rows[NOMINAL][evaluated]
    else:
        rows[CALIBRATION] = check_features(calibration, name="calibration")
    rows |= {name: check_features(X, name=f"sets[{name!r}]") for name, X in sets.items()}
    for name, X in rows.items():
        if X.shape[1:] != shape:
            raise DataError(
                f"Rows of {name!r} must have the shape {shape} of the training rows.",
                got=f"{X.shape[1:]}",
            )
    return rows, evaluated


def _entrants(
    wanted: str | Sequence[str | Supervisor], reader: ModelReader, seed: int
) -> list[_Entrant]:
    """Names become supervisors on the common reader; objects keep a layer or members of their own.

    Supervisors that read the model alike share a reader, and so its passes through the model.
    """
    if isinstance(wanted, str):
        wanted = names() if wanted == "all" else [wanted]
    made = [make(s, layer=reader.layer, seed=seed) if isinstance(s, str) else s for s in wanted]
    if not made or len({s.name for s in made}) < len(made):
        raise ParameterError(
            "The 'supervisors' must be at least one, each of them once.",
            got=", ".join(s.name for s in made) or "none",
        )
    default = (reader.layer, reader.n_samples, id(reader.members), reader.seed)
    readers = {default: reader}
    entrants = []
    for supervisor, given in zip(made, wanted, strict=True):
        own = reader
        if isinstance(given, Supervisor):
            parameters = supervisor.get_params()
            members = parameters.get("members") or reader.members
            count = parameters.get("n_samples", reader.n_samples)
            key = (supervisor.layer, count, id(members), supervisor.seed)
            if key not in readers:
                readers[key] = ModelReader(
                    reader.model, layer=supervisor.layer, members=members, n_samples=count,
                    seed=supervisor.seed,
                )  # fmt: skip
            own = readers[key]
        entrants.append(_Entrant(supervisor, own))
    return entrants


def _by_reader(entrants: list[_Entrant]) -> list[list[_Entrant]]:
    groups: dict[int, list[_Entrant]] = {}
    for entrant in entrants:
        groups.setdefault(id(entrant.reader), []).append(entrant)
    return list(groups.values())


def _mark_missing(group: list[_Entrant], X: NDArray[Any]) -> None:
    """Find out, with two rows, what of the model can be read."""
    reader = group[0].reader
    reasons: dict[str, str | None] = {}
    wanted = {need for e in group for need in (*e.supervisor.needs, *e.supervisor.fit_needs)}
    for need in FIELDS:
        reasons[need] = reader.missing(need)
        if reasons[need] is None and need in _MODEL_PASS and need in wanted:
            try:
                reader.read(X[:2], (need,))
            except FireassayError as failure:
                reasons[need] = str(failure)
    for entrant in group:
        for need in (*entrant.supervisor.needs, *entrant.supervisor.fit_needs):
            if reasons[need] is not None:
                entrant.status = "not available"
                entrant.reason = f"needs {FIELDS[need]}: {reasons[need]}"
                break


def _fit(group: list[_Entrant], X: NDArray[Any], y: IntArray | None, executor: Executor) -> None:
    active = [e for e in group if e.status == "done"]
    needs = {n for e in active for n in e.supervisor.fit_needs}
    shared = {
        "supervisors": [e.supervisor for e in active],
        "reading": group[0].reader.read(X, needs),
        "labels": y,
    }
    found = executor.map(_fit_one, range(len(active)), shared, name="fit supervisors")
    for entrant, (fitted, failure) in zip(active, found, strict=True):
        if failure:
            missing = entrant.supervisor.needs_labels and y is None
            entrant.status = "not available" if missing else "failed"
            entrant.reason = failure
        else:
            vars(entrant.supervisor).update(vars(fitted))  # in a worker, a copy was fitted
            entrant.supervisor.reader_ = entrant.reader


def _fit_one(
    row: int, supervisors: list[Supervisor], reading: Reading, labels: IntArray | None
) -> tuple[Supervisor | None, str]:
    supervisor = supervisors[row]
    vars(supervisor).pop("reader_", None)  # models do not travel back
    try:
        return supervisor.fit_reading(reading, labels), ""
    except FireassayError as failure:
        return None, str(failure)


@dataclass(frozen=True)
class _Block:
    """What supervisors of one reader say about one block of rows."""

    scores: dict[str, FloatArray]
    failures: dict[str, str]
    read_seconds: dict[str, float]
    own_seconds: dict[str, float]
    queries: int


def _score(
    groups: list[list[_Entrant]], rows: Mapping[str, NDArray[Any]], executor: Executor
) -> tuple[Scores, int]:
    """Scores by set and supervisor, and how many rows the models were sent for them."""
    active = [[e for e in group if e.status == "done"] for group in groups]
    tasks = [
        {"group": i, "set": name, "start": start}
        for i, group in enumerate(active)
        if group
        for name, X in rows.items()
        for start in range(0, len(X), BLOCK_ROWS)
    ]
    shared = {
        "readers": [group[0].reader for group in groups],
        "supervisors": [[e.supervisor for e in group] for group in active],
        "rows": dict(rows),
    }
    blocks: list[_Block] = executor.map(_score_block, tasks, shared, name="score sets")
    parts: dict[str, dict[str, list[FloatArray]]] = {name: {} for name in rows}
    entrants = {e.supervisor.name: e for group in active for e in group}
    for task, block in zip(tasks, blocks, strict=True):
        for name, failure in block.failures.items():
            entrants[name].status, entrants[name].reason = "failed", f"on {task['set']}: {failure}"
        for name, values in block.scores.items():
            parts[str(task["set"])].setdefault(name, []).append(values)
            if task["set"] == NOMINAL:
                entrants[name].read_seconds += block.read_seconds[name]
                entrants[name].own_seconds += block.own_seconds[name]
    scores = {
        set_name: {
            name: np.concatenate(values)
            for name, values in by_name.items()
            if entrants[name].status == "done"
        }
        for set_name, by_name in parts.items()
    }
    return scores, sum(block.queries for block in blocks)


def _score_block(
    row: dict[str, Any],
    readers: list[ModelReader],
    supervisors: list[list[Supervisor]],
    rows: dict[str, NDArray[Any]],
) -> _Block:
    reader, several = readers[row["group"]], supervisors[row["group"]]
    X = rows[row["set"]][row["start"] : row["start"] + BLOCK_ROWS]
    before = reader.queries
    needs = {need for s in several for need in s.needs}
    fields: dict[str, Any] = {}
    seconds: dict[str, float] = {}
    for part in (set(_MODEL_PASS) & needs, {"dropout"} & needs, {"ensemble"} & needs):
        started = time.perf_counter()
        reading = reader.read(X, part) if part else Reading()
        seconds |= dict.fromkeys(part, time.perf_counter() - started)
        fields |= {f: getattr(reading, f) for f in (*part, "probabilities") if reading.has(f)}
    reading = Reading(**{**fields, "inputs": X})
    found = _Block({}, {}, {}, {}, reader.queries - before)
    for supervisor in several:
        name, own = supervisor.name, supervisor.needs
        started = time.perf_counter()
        try:
            found.scores[name] = supervisor.score_reading(reading)
        except FireassayError as failure:
            found.failures[name] = str(failure)
        found.own_seconds[name] = time.perf_counter() - started
        passes = [seconds[f] for f in ("dropout", "ensemble") if f in own]
        inside = [seconds[f] for f in _MODEL_PASS if f in own]
        found.read_seconds[name] = sum(passes) + max(inside, default=0.0)
    return found


def _rules(
    scores: Mapping[str, Mapping[str, FloatArray]], false_alarm: float, confidence: float
) -> tuple[dict[str, AlarmRule], str]:
    try:
        found = {
            name: alarm_rule(values, false_alarm, confidence)
            for name, values in scores.get(CALIBRATION, {}).items()
        }
    except NotEnoughEvidenceError as failure:
        return {}, str(failure)
    return found, "" if found else "one nominal row cannot be split"


def _wrong(
    labels: Mapping[str, ArrayLike] | None,
    predictions: Mapping[str, IntArray],
    classes: Sequence[Any],
    evaluated: IntArray | None,
) -> dict[str, NDArray[np.bool_]]:
    """Whether the model is wrong, for the sets whose labels are known."""
    known = {}
    for name, y in (labels or {}).items():
        if name not in predictions:
            raise ParameterError("The 'labels' must name sets.", got=repr(name))
        indices = check_class_indices(y, classes, name=f"labels[{name!r}]")
        if name == NOMINAL and evaluated is not None and len(indices) > evaluated.max():
            indices = indices[evaluated]
        if len(indices) != len(predictions[name]):
            raise DataError(
                f"labels[{name!r}] must have {len(predictions[name])} entries.",
                got=f"{len(indices)}",
            )
        known[name] = predictions[name] != indices
    return known


def _costs(entrants: list[_Entrant], n: int) -> dict[str, float]:
    """Microseconds per input: the passes through the model that a supervisor needs, and its own."""
    return {
        e.supervisor.name: 1e6 * (e.read_seconds + e.own_seconds) / n
        for e in entrants
        if e.status == "done"
    }
