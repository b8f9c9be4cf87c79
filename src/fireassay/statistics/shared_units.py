"""What columns say about rows that share a patient or a device: names, and exact copies."""

import math
import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import AnyArray
from fireassay.core.row_index import row_marks
from fireassay.core.seeds import generator

_NUMBER = frozenset(("id", "ids", "no", "nr", "num", "number", "name", "code"))
_IDS = frozenset(("id", "ids", "idno", "idnr", "uuid", "pid", "identifier"))
_UNITS = frozenset(
    "subj subject patient person participant respondent individual indiv user client customer "  # noqa: SIM905
    "member household hh dyad couple pair twin animal rat mouse dog cow pig litter plant tree "
    "device machine sensor camera video document session firm cusip gvkey player student pupil "
    "worker rater judge".split()
)
# These are as often a property (years of school, children): only with a number are they a unit.
_WITH_NUMBER = frozenset(
    "family fam mother child teacher school class doctor physician clinic hospital site center "  # noqa: SIM905
    "centre company case record unit store plot prof".split()
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_FEWEST_UNITS = 3
_MOST_ROWS, _MOST_COLUMNS = 50_000, 256
_MOST_COPIES = 0.5  # of the rows: fewer are said, and no objection
_FEW_NEIGHBOURS = 0.1  # of what columns that repeat by themselves would make


def shared_units(columns: Mapping[Hashable, ArrayLike]) -> list[str]:
    """Columns whose name says whose row it is, and whose values repeat; the finest first.

    Args:
        columns: Values by the name of their column.

    >>> shared_units({"patient_id": [1, 1, 2, 2, 3], "age": [40, 40, 52, 52, 61]})
    ['patient_id']
    >>> shared_units({"id": [1, 2, 3, 4, 5], "width": [1, 1, 2, 2, 3]})
    []
    """
    found = []
    for name in columns:
        if not names_a_unit(str(name)):
            continue
        values = [value for value in np.asarray(columns[name]).tolist() if value == value]
        units = len(set(values))
        if _FEWEST_UNITS <= units < len(values):
            found.append((-units, str(name)))
    return [name for _, name in sorted(found)]


def names_a_unit(name: str) -> bool:
    """Whether a column is called id, patient, patient_id, famid, IDnr and the like."""
    words = [word.lower() for word in _WORD.findall(name)]
    joined = "".join(words)
    numbered = len(words) > 1 and words[-1] in _NUMBER
    stem = words[-2] if numbered else joined.removesuffix("id").removesuffix("no")
    if joined in _IDS or (len(words) == 2 and words[0] == "id" and words[1] in _NUMBER):
        return True
    if stem in _UNITS:  # "students" is how many
        return len(words) == 1 or numbered
    return stem in _WITH_NUMBER and stem != joined


@dataclass(frozen=True, slots=True)
class ExactCopies:
    """Rows that repeat another one in every column, and whether chance does that.

    >>> ExactCopies(4, 2, 0, 90.0).many, ExactCopies(4, 2, 60, 90.0).many
    (True, False)
    """

    rows: int
    pairs: int
    neighbours: int
    expected: float

    def __str__(self) -> str:
        many = ", more than such columns make by chance" if self.many else ""
        return f"{self.rows:,} rows are the same as another in every column{many}."

    @property
    def many(self) -> bool:
        """Whether rows are the same in all columns, where by chance more differ in one of them."""
        return self.neighbours < min(self.pairs, _FEW_NEIGHBOURS * self.expected)

    def object_to(self, n: int) -> bool:
        """Whether most of n rows are copies, and more than chance makes."""
        return self.many and self.rows > _MOST_COPIES * n


def exact_copies(X: ArrayLike) -> ExactCopies:
    """Copies of whole rows, beside rows that differ from each other in one column.

    Coarse columns make equal rows by chance, and then many more that differ in one column. A file
    with rows that were copied has equal rows without such neighbours.

    Args:
        X: One row per observation.

    >>> rows = np.random.default_rng(0).normal(size=(60, 5))
    >>> exact_copies(rows).many, exact_copies(np.vstack([rows, rows[:3]])).many
    (False, True)
    >>> exact_copies(np.random.default_rng(0).integers(0, 3, size=(200, 4))).many
    False
    """
    rows = np.asarray(X)
    rows = rows.reshape(len(rows), -1)
    if rows.dtype.kind in "fiub":  # most files have no two equal rows
        copies = _pairs(row_marks(rows))[1]
        if not copies:
            return ExactCopies(0, 0, 0, 0.0)
        if rows.shape[1] > _MOST_COLUMNS:  # so many values are not equal by chance
            return ExactCopies(copies, copies, 0, 10.0 * copies)
    rng = generator(0, "copies")
    if len(rows) > _MOST_ROWS:
        rows = rows[np.sort(rng.permutation(len(rows))[:_MOST_ROWS])]
    marks = np.zeros(rows.shape, dtype=np.uint64)
    ratio = 0.0
    for at in range(rows.shape[1]):
        column = rows[:, at].astype(str) if rows.dtype == object else rows[:, at]
        code, times = np.unique(column, return_inverse=True, return_counts=True)[1:]
        # Numbers of 64 bits for values: sums that are equal belong to equal rows.
        marks[:, at] = rng.integers(0, 2**64, len(times), dtype=np.uint64)[code.ravel()]
        alike = float((times / len(rows)) @ (times / len(rows)))
        ratio += (1.0 - alike) / alike
    whole = marks.sum(axis=1, dtype=np.uint64)
    pairs, copies = _pairs(whole)
    if len(rows) > 2 and 2 * pairs == len(rows) * (len(rows) - 1):
        return ExactCopies(copies, pairs, 0, math.inf)  # one row over and over
    if not pairs or rows.shape[1] < 2:
        return ExactCopies(copies, pairs, 0, 0.0)
    without = sum(_pairs(whole - marks[:, at])[0] - pairs for at in range(rows.shape[1]))
    return ExactCopies(copies, pairs, without, pairs * ratio)


def _pairs(marks: AnyArray) -> tuple[int, int]:
    """Pairs of equal values, and the values that are in one."""
    times: Any = np.unique(marks, return_counts=True)[1]
    return int((times * (times - 1) // 2).sum()), int(times[times > 1].sum())
