"""How often a test set was judged: a ledger in the project's folder, across runs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fireassay.core import DataError, Evidence, sha256, strict_json
from fireassay.core.arrays import IntArray
from fireassay.core.files import write_text
from fireassay.core.kept_json import read_kept
from fireassay.report import Gate
from fireassay.report.gates import find_number

FILE = "fireassay-looks.json"
_SCHEMA = 1
_KEPT_MARKS = 4000
_SAME = 0.5  # of the smaller set's rows, in common


@dataclass(frozen=True)
class RowSketch:
    """Some of the rows of a set, chosen by their own marks: overlaps of sets can be seen in it.

    Attributes
    ----------
    share
        Which share of all rows is kept: those with the smallest marks.
    marks
        The marks of the rows that are kept, sorted.

    >>> few = RowSketch.of(np.arange(-100, 100))
    >>> few.overlap(RowSketch.of(np.arange(-100, 300))), few.overlap(RowSketch.of(np.arange(500)))
    (1.0, 0.5)
    """

    share: float
    marks: tuple[int, ...]

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


class LookLedger:
    """Which results were judged against limits on which rows.

    A look is one model on one set of labels, judged on one number in one direction: whether its
    bound holds does not depend on the limit. Judging the same result again is no new look.

    Parameters
    ----------
    folder
        The project's; the ledger is its file ``fireassay-looks.json``.
    """

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
            )
            for each in kept["sets"]
        ]

    def looks(self, sketch: RowSketch, gate: Gate) -> list[str]:
        """The results judged so far on these rows, oldest first."""
        found: list[str] = []
        for each in self._same(sketch):
            found += each.looks.get(_key(gate), [])
        return list(dict.fromkeys(found))

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
                known = joined.looks.setdefault(key, [])
                known += [result for result in results if result not in known]
        for gate, part in judged:
            known = joined.looks.setdefault(_key(gate), [])
            if result_of(part) not in known:
                known.append(result_of(part))
        self.sets = [each for each in self.sets if each not in same] + [joined]
        content = {
            "schema": _SCHEMA,
            "sets": [
                {"share": s.sketch.share, "marks": s.sketch.marks, "looks": s.looks}
                for s in self.sets
            ],
        }
        text = strict_json.dumps(content) + "\n"
        if not self.path.is_file() or self.path.read_text(encoding="utf-8") != text:
            write_text(self.path, text)

    def _same(self, sketch: RowSketch) -> list[LookedAt]:
        return [each for each in self.sets if each.sketch.overlap(sketch) >= _SAME]


def fraction(index: int, planned: int | None) -> float:
    """What the look with this number gets of the error probability; 0: nothing is left.

    With a planned number of looks each gets an equal part; without one the j-th gets
    ``1 / (j (j + 1))``, which sums to 1 over any number of looks.

    >>> fraction(1, None), fraction(3, 20), fraction(21, 20)
    (0.5, 0.05, 0.0)
    """
    if planned is None:
        return 1 / (index * (index + 1))
    return 1 / planned if index <= planned else 0.0


def looks_at(
    ledger: LookLedger, sketch: RowSketch, gates: Iterable[Gate], parts: Iterable[Evidence]
) -> list[tuple[Gate, Evidence, int]]:
    """For each gate whose number there is: its part, and the number of this look."""
    known = {part.question: part for part in parts}
    found = []
    for gate in gates:
        number = find_number(gate.number, known)
        if not isinstance(number, str) and not number[0].stale and not number[0].partial:
            part = number[0]
            found.append((gate, part, ledger.index(sketch, gate, part)))
    return found


def result_of(part: Evidence) -> str:
    """What was judged: this model on these labels."""
    made = part.provenance
    return sha256(None if made is None else (made.model_sha256, made.data_sha256))


def _key(gate: Gate) -> str:
    return f"{gate.direction} {gate.number}"


def sketch_to_json(sketch: RowSketch) -> dict[str, Any]:
    """For the run's journal."""
    return {"share": sketch.share, "marks": list(sketch.marks)}


def sketch_from_json(kept: Mapping[str, Any] | None) -> RowSketch | None:
    """From the run's journal; None for runs without labelled rows."""
    return None if kept is None else _checked_sketch(kept)


def _checked_sketch(kept: Mapping[str, Any]) -> RowSketch:
    marks = np.asarray(kept["marks"], dtype=np.int64)  # whole numbers that fit, or an error
    return RowSketch(float(kept["share"]), tuple(marks.tolist()))
