"""Judge a run's limits once, at what earlier looks at the same labels have left."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from fireassay.assessment.config import Config
from fireassay.assessment.run import folder as run_folder
from fireassay.assessment.run.challenge import ModelCheck, check_model
from fireassay.assessment.run.protocol import (
    Protocol,
    changes_since,
    first_limits,
    lock_of,
    note_first,
    read_protocol,
)
from fireassay.assessment.run.stale import data_hashes, read_made
from fireassay.core import DataError, Evidence, json_files, sha256
from fireassay.core.arrays import IntArray
from fireassay.core.files import write_text
from fireassay.core.json_files import read_kept
from fireassay.engine import RunStore
from fireassay.report import Gate, Report, Verdict
from fireassay.report.gates import find_number
from fireassay.report.looks_and_changes import judge_spent

FILE = "fireassay-looks.json"
_SCHEMA = 1
_KEPT_MARKS = 4000
_SAME = 0.5  # of the smaller set's rows, in common


@dataclass(frozen=True)
class RowSketch:
    """Some of the rows of a set, chosen by their own marks: overlaps of sets can be seen in it."""

    share: float
    marks: tuple[int, ...]
    dropped: str = ""  # rows that have left the file since the last look, in words

    @classmethod
    def of(cls, marks: IntArray) -> "RowSketch":
        """Of all rows' marks (see `row_marks`)."""
        share = min(1.0, _KEPT_MARKS / max(1, len(marks)))
        return cls(share, tuple(np.unique(marks[_within(marks, share)]).tolist()))

    def overlap(self, other: "RowSketch") -> float:
        """Rows in common, as a share of the smaller set."""
        share = min(self.share, other.share)
        mine, theirs = (set(_least(sketch, share)) for sketch in (self, other))
        return len(mine & theirs) / max(1, min(len(mine), len(theirs)))

    def joined(self, other: "RowSketch") -> "RowSketch":
        """Both sets as one: a test set that has grown."""
        share = min(self.share, other.share)
        marks = set(_least(self, share)) | set(_least(other, share))
        while len(marks) > 2 * _KEPT_MARKS:
            share /= 2
            marks = set(_least(RowSketch(share, tuple(marks)), share))
        return RowSketch(share, tuple(sorted(marks)))


def _within(marks: Any, share: float) -> Any:
    last = min(2**63 - 1, int(share * 2.0**64) - 2**63)
    return np.asarray(marks, dtype=np.int64) <= last


def _least(sketch: RowSketch, share: float) -> list[int]:
    marks = np.array(sketch.marks, dtype=np.int64)
    kept: list[int] = marks[_within(marks, share)].tolist()
    return kept


@dataclass
class LookedAt:
    """One test set and the looks at it: for each number the results judged, in order."""

    sketch: RowSketch
    looks: dict[str, list[str]] = field(default_factory=dict)
    limits: dict[str, list[float]] = field(default_factory=dict)


class LookLedger:
    """Which results were judged against limits on which rows."""

    # A look is one model on one set of labels, judged on one number in one direction: whether its
    # bound holds does not depend on the limit. Judging the same result again is no new look.

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        self.sets: list[LookedAt] = []
        if self.path.is_file():
            self.sets = read_kept(self.path, self._sets_of)

    def _sets_of(self, kept: Any) -> list[LookedAt]:
        if not isinstance(kept, dict) or kept.get("schema") != _SCHEMA:
            raise DataError(f"{self.path} must be a ledger of looks.", got="another file")
        return [
            LookedAt(
                _checked_sketch(each),
                {str(k): [str(result) for result in v] for k, v in each["looks"].items()},
                {str(k): [float(v) for v in tried] for k, tried in each.get("limits", {}).items()},
            )
            for each in kept["sets"]
        ]

    def looks(self, sketch: RowSketch, gate: Gate) -> list[str]:
        """The results judged so far on these rows, oldest first."""
        found: list[str] = []
        for each in self._same(sketch):
            found += each.looks.get(_key(gate), [])
        return list(dict.fromkeys(found))

    def tried(self, sketch: RowSketch) -> dict[str, list[float]]:
        """By direction and number every limit that was judged on these rows."""
        found: dict[str, list[float]] = {}
        for each in self._same(sketch):
            for key, limits in each.limits.items():
                found.setdefault(key, []).extend(limits)
        return found

    def index(self, sketch: RowSketch, gate: Gate, part: Evidence) -> int:
        """The number of the look that judging this part is: 1 for the first."""
        before = self.looks(sketch, gate)
        result = result_of(part)
        return before.index(result) + 1 if result in before else len(before) + 1

    def note(self, sketch: RowSketch, judged: Iterable[tuple[Gate, Evidence]]) -> None:
        """Write down what was judged; what was judged before stays where it stands."""
        same = self._same(sketch)
        joined = LookedAt(sketch)
        for each in same:
            joined.sketch = joined.sketch.joined(each.sketch)
            for key, results in each.looks.items():
                _add(joined.looks, key, results)
            for key, limits in each.limits.items():
                _add(joined.limits, key, limits)
        for gate, part in judged:
            _add(joined.limits, _key(gate), [gate.limit])
            _add(joined.looks, _key(gate), [result_of(part)])
        self.sets = [each for each in self.sets if each not in same] + [joined]
        sets = [{**vars(each.sketch), **vars(each)} for each in self.sets]
        kept = ("share", "marks", "looks", "limits")
        content = {"schema": _SCHEMA, "sets": [{key: one[key] for key in kept} for one in sets]}
        text = json_files.dumps(content) + "\n"
        if not self.path.is_file() or self.path.read_text(encoding="utf-8") != text:
            write_text(self.path, text)

    def _same(self, sketch: RowSketch) -> list[LookedAt]:
        return [each for each in self.sets if each.sketch.overlap(sketch) >= _SAME]


def _add(known: dict[str, list[Any]], key: str, values: Iterable[Any]) -> None:
    """Add values to a list by its key, each once."""
    known[key] = list(dict.fromkeys([*known.get(key, ()), *values]))


def fraction(index: int, planned: int | None) -> float:
    """What the look with this number gets of the error probability; 0: nothing is left."""
    # Without a planned number of looks the j-th gets 1 / (j (j + 1)), which sums to 1.
    if planned is None:
        return 1 / (index * (index + 1))
    return 1 / planned if index <= planned else 0.0


def result_of(part: Evidence) -> str:
    """What was judged: this model on these labels."""
    made = part.provenance
    return sha256(None if made is None else (made.model_sha256, made.data_sha256))


def _key(gate: Gate) -> str:
    return f"{gate.direction} {gate.number}"


def _checked_sketch(kept: Mapping[str, Any]) -> RowSketch:
    marks = np.asarray(kept["marks"], dtype=np.int64)  # whole numbers that fit, or an error
    return RowSketch(float(kept["share"]), tuple(marks.tolist()), str(kept.get("dropped", "")))


def since_last_look(store: RunStore, now: RowSketch) -> RowSketch:
    """The sketch with the rows that an earlier run in this folder judged and that are gone."""
    kept, made = run_folder.noted(store).get(run_folder.TEST_ROWS), read_made(store).get("accuracy")
    before = sketch_of(kept)
    if before is None or made is None or before.overlap(now) < _SAME:
        return now
    share = min(before.share, now.share)
    gone = set(_least(before, share)) - set(_least(now, share))
    if not gone:
        return replace(now, dropped=before.dropped)
    found = store.finished([made["key"]], only="result").get(made["key"])
    n = round(len(gone) / share)
    told = f"{n:,} rows fewer than at the last look"
    if found is not None:
        rows = found.rows
        wrong = len(gone & set(rows.marks[rows.labels != rows.predicted].tolist()))
        told += (
            f", {'all' if wrong == len(gone) else f'{round(wrong / share):,}'} of them wrong then"
        )
    return replace(now, dropped=f"{told}.")


@dataclass(frozen=True)
class Judged:
    """A report with the verdict on its limits, and how often each number's labels were judged."""

    report: Report
    gates: tuple[Gate, ...]
    verdict: Verdict
    looks: dict[str, int]


@dataclass(frozen=True)
class Judge:
    """The limits of a run, the project with the ledger of looks, and how many are planned."""

    gates: tuple[Gate, ...] = ()
    project: Path | None = None
    sketch: RowSketch | None = None
    planned: int | None = None
    protocol: Protocol | None = None
    changed: tuple[str, ...] = ()
    firsts: dict[str, Any] = field(default_factory=dict)
    model: ModelCheck = field(default_factory=ModelCheck)

    @classmethod
    def of(
        cls, config: Config, sketch: RowSketch | None, firsts: Mapping[str, Any] | None = None
    ) -> "Judge":
        """The judge of a configuration's limits; ``firsts`` is what its journal noted of them."""
        given = (config.limits, config.folder, sketch, config.gates.looks)
        return cls(*given, *_protocol(config), dict(firsts or {}))

    def note_first(self, store: RunStore, report: Report) -> None:
        """Note the limits that there are when a part is finished for the first time."""
        done = {part.question: result_of(part) for part in report.parts if part.status == "done"}
        fixed = None if self.protocol is None or self.changed else self.protocol.sha256
        usual = Report(report.parts, asked=report.asked).meant(self.gates)  # as a folder keeps them
        known = note_first(self.firsts, done, (*self.gates, *usual), fixed)
        if known != self.firsts:
            self.firsts.update(known)
            run_folder.note(store, {run_folder.FIRST_LIMITS: known})

    def judge(self, report: Report, *, strict: bool = False, spend: bool = False) -> Judged:
        """The verdict on a report; nothing is noted."""
        given = (report.title, report.accepted, report.about)
        named = Report(report.parts, *given, asked=report.asked)
        gates = named.meant(self.gates)  # what a limit asks for is among its numbers from now on
        found = self._looks(gates, named.parts)[1]
        looks = {gate.number: look for gate, _, look in found}
        share = spend or self.planned is not None
        left = {n: fraction(look, self.planned) for n, look in looks.items()} if share else {}
        verdict = judge_spent(named.parts, gates, named.accepted, strict=strict, fractions=left)
        whole = Report(named.parts, *given, left, report.asked)
        verdict = replace(verdict, model=self.model.text, model_state=self.model.state)
        return Judged(whole, gates, self._locked(verdict, named.parts, gates), looks)

    def _locked(
        self, verdict: Verdict, parts: Iterable[Evidence], usual: Sequence[Gate]
    ) -> Verdict:
        """The verdict with a sentence on whether its limits were there before the first look."""
        if self.sketch is None or self.project is None or not verdict.checks:
            return verdict
        known = {part.question: part for part in parts}
        judged = {c.part: result_of(known[c.part]) for c in verdict.checks if c.part in known}
        lock = lock_of(
            self.protocol,
            self.changed,
            at_first=first_limits(self.firsts, judged),
            gates=self.gates,
            usual={
                given.number: gate.number for given, gate in zip(self.gates, usual, strict=True)
            },
            tried=LookLedger(self.project).tried(self.sketch),
        )
        dropped = self.sketch.dropped
        state = "exploratory" if dropped and lock.state == "first look" else lock.state
        return replace(verdict, lock=f"{lock.text} {dropped}".strip(), lock_state=state)

    def note(self, judged: Judged) -> None:
        """Write down that these results were judged on these labels."""
        # Read anew: others may have noted something since.
        ledger, found = self._looks(judged.gates, judged.report.parts)
        if found and ledger is not None and self.sketch is not None:
            ledger.note(self.sketch, [(gate, part) for gate, part, _ in found])

    def _looks(
        self, gates: Iterable[Gate], parts: Iterable[Evidence]
    ) -> tuple[LookLedger | None, list[tuple[Gate, Evidence, int]]]:
        """The ledger, and for each gate whose number there is its part and the number of look."""
        if self.project is None or self.sketch is None:
            return None, []
        ledger = LookLedger(self.project)
        known = {part.question: part for part in parts}
        found = []
        for gate in gates:
            number = find_number(gate.number, known)
            if not isinstance(number, str) and not number[0].stale and not number[0].partial:
                look = ledger.index(self.sketch, gate, number[0])
                found.append((gate, number[0], look))
        return ledger, found


def judge_of(run: Path, config: Config | None, gates: Sequence[Gate] = ()) -> Judge:
    """The judge of a run folder's limits, as configured now or for the run, or of others."""
    return Judge(
        tuple(gates) or run_folder.read_gates(run, config),
        run_folder.project_folder(run),
        sketch_of(run_folder.labelled_rows(run)),
        None if config is None else config.gates.looks,
        *((None, ()) if config is None else _protocol(config)),
        firsts=dict(run_folder.first_noted(run)),
        model=check_model(run, config, "only fireassay check asks it"),
    )


def _protocol(config: Config) -> tuple[Protocol | None, tuple[str, ...]]:
    """The protocol of a project, and what differs from its terms now."""
    found = read_protocol(config.folder)
    if found is None:
        return None, ()
    return found, tuple(changes_since(found, config, data_hashes(config)))


def read_judged(run: Path, *, charts: bool = True) -> Judged:
    """The report of a run folder, judged; nothing is noted."""
    config = run_folder.configuration(run)
    return judge_of(run, config).judge(run_folder.read_report(run, charts=charts, config=config))


def sketch_of(kept: Mapping[str, Any] | None) -> RowSketch | None:
    """From the run's journal; None for runs without labelled rows."""
    return None if kept is None else _checked_sketch(kept)
