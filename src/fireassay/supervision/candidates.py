"""Supervisors on their way through a comparison: made, fitted and scored side by side."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fireassay.core.arrays import AnyArray, FloatArray, IntArray
from fireassay.core.errors import FireassayError, ParameterError
from fireassay.engine import Executor, Failure
from fireassay.supervision.reading import FIELDS, ModelReader, Reading
from fireassay.supervision.registry import SUPERVISORS, make, names
from fireassay.supervision.row_blocks import BLOCK_ROWS
from fireassay.supervision.supervisor import Supervisor

NOMINAL, CALIBRATION = "nominal", "calibration"
_MODEL_PASS = ("probabilities", "logits", "features", "head", "layers")
Scores = dict[str, dict[str, FloatArray]]


@dataclass
class Candidate:
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
    def of_rows(self) -> bool:
        """Whether it looks at rows alone, so that it is the same for every model."""
        kind = type(self.supervisor)  # made again by its name, so never another class of that name
        ours = kind.__module__.startswith("fireassay.") and kind in SUPERVISORS.values()
        return ours and set(self.needs) == {"inputs"} and not self.supervisor.needs_labels

    @property
    def described(self) -> dict[str, Any]:
        """Its name and parameters."""
        return {"name": self.name, **self.supervisor.get_params()}

    @property
    def needs(self) -> tuple[str, ...]:
        """What it needs of the model, to score and to be fitted."""
        return (*self.supervisor.needs, *self.supervisor.fit_needs)


def candidates_of(
    wanted: str | Sequence[str | Supervisor], reader: ModelReader, seed: int
) -> list[Candidate]:
    """Supervisors with readers; those that read the model alike share a reader and its passes."""
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
    candidates = []
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
        candidates.append(Candidate(supervisor, own))
    return candidates


def fit_candidates(
    candidates: list[Candidate],
    X: AnyArray,
    y: IntArray | None,
    executor: Executor,
    keeping: Executor,
) -> None:
    """Fit all that the model has enough for; of the others, note why not."""
    # ``keeping`` is for supervisors of the rows alone, which serve every model.
    for group in _by_reader(candidates):
        _mark_missing(group, X)
        active = [e for e in group if e.status == "done"]
        _fit([e for e in active if not e.of_rows], X, y, executor)
        alone = [e for e in active if e.of_rows]
        rows, shared = [e.described for e in alone], {"inputs": X}
        states = keeping.map(_fit_rows, rows, shared, "fit supervisors", "return") if rows else []
        for candidate, state in zip(alone, states, strict=True):
            if isinstance(state, Failure):
                candidate.status, candidate.reason = "failed", state.message
            candidate.supervisor.state_, candidate.supervisor.rule_ = state, None
            candidate.supervisor.reader_ = candidate.reader


def score_sets(
    candidates: list[Candidate], rows: Mapping[str, AnyArray], executor: Executor, keeping: Executor
) -> tuple[Scores, int]:
    """Scores by set and supervisor, and how many rows the models were sent for them."""
    groups = _by_reader(candidates)
    active = [[e for e in group if e.status == "done" and not e.of_rows] for group in groups]
    blocks_of = [(name, start) for name in rows for start in range(0, len(rows[name]), BLOCK_ROWS)]
    used = [i for i, group in enumerate(active) if group]
    tasks = [{"group": i, "set": name, "start": start} for i in used for name, start in blocks_of]
    shared = {"readers": [group[0].reader for group in groups], "rows": dict(rows)}
    shared["supervisors"] = [[e.supervisor for e in group] for group in active]
    blocks: list[_Block] = executor.map(_score_block, tasks, shared, name="score sets")
    parts: dict[str, dict[str, list[FloatArray]]] = {name: {} for name in rows}
    by_name = {e.name: e for e in candidates}
    for task, block in zip(tasks, blocks, strict=True):
        _note(by_name, str(task["set"]), block)
        for name, values in block.scores.items():
            parts[str(task["set"])].setdefault(name, []).append(values)
    for e in (e for e in candidates if e.of_rows and e.status == "done"):
        shared = {"described": e.described, "state": e.supervisor.state_}
        started = time.perf_counter()
        for name, X in rows.items():
            starts = range(0, len(X), BLOCK_ROWS)
            found = keeping.map(_score_rows, starts, {**shared, "X": X}, "score sets", "return")
            failed = next((f for f in found if isinstance(f, Failure)), None)
            if failed is not None:
                e.status, e.reason = "failed", f"on {name}: {failed.message}"
            parts[name][e.name] = found
            if name == NOMINAL:
                e.own_seconds = time.perf_counter() - started
    done = [e.name for e in candidates if e.status == "done"]
    scores = {
        set_name: {name: np.concatenate(found[name]) for name in done if name in found}
        for set_name, found in parts.items()
    }
    return scores, sum(block.queries for block in blocks)


def _note(by_name: dict[str, Candidate], set_name: str, block: "_Block") -> None:
    """Write failures of a block, and of nominal rows the seconds, to the candidates."""
    for name, failure in block.failures.items():
        by_name[name].status, by_name[name].reason = "failed", f"on {set_name}: {failure}"
    for name in block.scores if set_name == NOMINAL else ():
        by_name[name].read_seconds += block.read_seconds[name]
        by_name[name].own_seconds += block.own_seconds[name]


def _by_reader(candidates: list[Candidate]) -> list[list[Candidate]]:
    groups: dict[int, list[Candidate]] = {}
    for candidate in candidates:
        groups.setdefault(id(candidate.reader), []).append(candidate)
    return list(groups.values())


def _mark_missing(group: list[Candidate], X: AnyArray) -> None:
    """Find out, with two rows, what of the model can be read."""
    reader = group[0].reader
    reasons: dict[str, str | None] = {}
    wanted = {need for candidate in group for need in candidate.needs}
    for need in FIELDS:
        reasons[need] = reader.missing(need)
        if reasons[need] is None and need in _MODEL_PASS and need in wanted:
            try:
                reader.read(X[:2], (need,))
            except FireassayError as failure:
                reasons[need] = str(failure)
    for candidate in group:
        for need in candidate.needs:
            if reasons[need] is not None:
                candidate.status = "not available"
                candidate.reason = f"needs {FIELDS[need]}: {reasons[need]}"
                break


def _fit(active: list[Candidate], X: AnyArray, y: IntArray | None, executor: Executor) -> None:
    if not active:
        return
    reading = active[0].reader.read(X, {n for e in active for n in e.supervisor.fit_needs})
    shared = {"supervisors": [e.supervisor for e in active], "reading": reading, "labels": y}
    found = executor.map(_fit_one, range(len(active)), shared, name="fit supervisors")
    for candidate, (fitted, failure) in zip(active, found, strict=True):
        if failure:
            missing = candidate.supervisor.needs_labels and y is None
            candidate.status = "not available" if missing else "failed"
            candidate.reason = failure
        else:
            vars(candidate.supervisor).update(vars(fitted))  # in a worker, a copy was fitted
            candidate.supervisor.reader_ = candidate.reader


def _fit_one(
    row: int, supervisors: list[Supervisor], reading: Reading, labels: IntArray | None
) -> tuple[Supervisor | None, str]:
    supervisor = supervisors[row]
    vars(supervisor).pop("reader_", None)  # models do not travel back
    try:
        return supervisor.fit_reading(reading, labels), ""
    except FireassayError as failure:
        return None, str(failure)


def _fit_rows(described: dict[str, Any], inputs: AnyArray) -> dict[str, Any]:
    return make(**described).fit_reading(Reading(inputs=inputs)).state_


def _score_rows(
    start: int, described: dict[str, Any], state: dict[str, Any], X: AnyArray
) -> FloatArray:
    supervisor = make(**described)
    supervisor.state_ = state
    return supervisor.score_reading(Reading(inputs=X[start : start + BLOCK_ROWS]))


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
    rows: dict[str, AnyArray],
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
