"""The datasets of curation as a test set for other parts."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fireassay import curation
from fireassay.assessment.context import Context
from fireassay.assessment.part_answer import PartAnswer
from fireassay.core.arrays import IntArray
from fireassay.data import DataSet

_LEAST_ROWS = 30


@dataclass(frozen=True)
class CuratedRows:
    """The voted rows, and from safe to adversarial what each dataset adds to the one before.

    Attributes
    ----------
    source
        ``"operational"`` or ``"test"``: the set that the positions in ``rings`` refer to.
    shown
        Whether the order is shown to be adversarial.
    """

    data: DataSet
    source: str
    rings: tuple[IntArray, ...]
    shown: bool

    def hardest(self, most: int) -> tuple[IntArray, IntArray]:
        """Rows of the last third of the datasets, and the number of the dataset of each."""
        first = len(self.rings) - max(1, len(self.rings) // 3)
        numbers = [np.full(len(r), i + 1) for i, r in enumerate(self.rings)][first:]
        rows, number = np.concatenate(self.rings[first:]), np.concatenate(numbers)
        kept = np.sort(np.arange(len(rows))[::-1][:most])
        return rows[kept], number[kept]

    @property
    def in_words(self) -> str:
        """Which datasets these are."""
        order = "shown" if self.shown else "not shown"
        return f"the {len(self.rings)} datasets of curation (order {order} to be adversarial)"


def voted_rows(context: Context) -> tuple[DataSet, str] | None:
    """The rows that were voted on: the field rows, or else the test rows."""
    n = len(context.votes)
    for name in ("operational", "test"):
        rows: Any = getattr(context, name)
        if rows is not None and len(rows) == n:
            return rows, name
    return None


def curated_rows(context: Context) -> CuratedRows | None:
    """What curation made of the voted rows; None if it did not run or there are too few rows."""
    known = context.results.get("curation")
    voted = None if context.votes is None else voted_rows(context)
    if not isinstance(known, PartAnswer) or voted is None:
        return None
    found = known.result
    assert isinstance(found, curation.CurationFindings)
    rings = tuple(np.asarray(ring) for ring in found.curation.rings if len(ring))
    if sum(map(len, rings)) < _LEAST_ROWS:
        return None
    return CuratedRows(*voted, rings, found.verdict == "decreasing")
