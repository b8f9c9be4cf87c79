"""Supervisors on their way through a comparison: made, fitted and scored side by side."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.errors import FireassayError, ParameterError
from fireassay.engine import Executor
from fireassay.supervision.model_reader import ModelReader
from fireassay.supervision.reading import FIELDS, Reading
from fireassay.supervision.registry import make, names
from fireassay.supervision.row_blocks import BLOCK_ROWS
from fireassay.supervision.supervisor import Supervisor

NOMINAL, CALIBRATION = "nominal", "calibration"
_MODEL_PASS = ("probabilities", "logits", "features", "head", "layers")
Scores = dict[str, dict[str, FloatArray]]


@dataclass
class Entrant:
    """One supervisor, its reader of the model, and what has become of it so far."""

    supervisor: Supervisor
    reader: ModelReader
    reason: str = ""
    status: str = "done"
    read_seconds: float = 0.0
    own_seconds: float = 0.0

    @property
    def name(self) -> str:
        """The supervisor's name."""
        return self.supervisor.name

    @property
    def needs(self) -> tuple[str, ...]:
        """What it needs of the model, to score and to be fitted."""
        return (*self.supervisor.needs, *self.supervisor.fit_needs)


def enter(
    wanted: str | Sequence[str | Supervisor], reader: ModelReader, seed: int
) -> list[Entrant]:
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
        entrants.append(Entrant(supervisor, own))
    return entrants


def fit_entrants(
    entrants: list[Entrant], X: NDArray[Any], y: IntArray | None, executor: Executor
) -> None:
    """Fit all that the model has enough for; of the others, note why not."""
    for group in _by_reader(entrants):
        _mark_missing(group, X)
        _fit(group, X, y, executor)


def score_sets(
    entrants: list[Entrant], rows: Mapping[str, NDArray[Any]], executor: Executor
) -> tuple[Scores, int]:
    """Scores by set and supervisor, and how many rows the models were sent for them."""
    groups = _by_reader(entrants)
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
    by_name = {e.name: e for e in entrants}
    for task, block in zip(tasks, blocks, strict=True):
        for name, failure in block.failures.items():
            by_name[name].status, by_name[name].reason = "failed", f"on {task['set']}: {failure}"
        for name, values in block.scores.items():
            parts[str(task["set"])].setdefault(name, []).append(values)
            if task["set"] == NOMINAL:
                by_name[name].read_seconds += block.read_seconds[name]
                by_name[name].own_seconds += block.own_seconds[name]
    scores = {
        set_name: {
            name: np.concatenate(values)
            for name, values in found.items()
            if by_name[name].status == "done"
        }
        for set_name, found in parts.items()
    }
    return scores, sum(block.queries for block in blocks)


def _by_reader(entrants: list[Entrant]) -> list[list[Entrant]]:
    groups: dict[int, list[Entrant]] = {}
    for entrant in entrants:
        groups.setdefault(id(entrant.reader), []).append(entrant)
    return list(groups.values())


def _mark_missing(group: list[Entrant], X: NDArray[Any]) -> None:
    """Find out, with two rows, what of the model can be read."""
    reader = group[0].reader
    reasons: dict[str, str | None] = {}
    wanted = {need for entrant in group for need in entrant.needs}
    for need in FIELDS:
        reasons[need] = reader.missing(need)
        if reasons[need] is None and need in _MODEL_PASS and need in wanted:
            try:
                reader.read(X[:2], (need,))
            except FireassayError as failure:
                reasons[need] = str(failure)
    for entrant in group:
        for need in entrant.needs:
            if reasons[need] is not None:
                entrant.status = "not available"
                entrant.reason = f"needs {FIELDS[need]}: {reasons[need]}"
                break


def _fit(group: list[Entrant], X: NDArray[Any], y: IntArray | None, executor: Executor) -> None:
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
