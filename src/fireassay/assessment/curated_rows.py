"""The datasets of curation as a test set for other parts."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fireassay.assessment.context import Context
from fireassay.core import Evidence
from fireassay.core.result import Answer
from fireassay.curation.answer import CurationAnswer as CurationFindings
from fireassay.data import DataSet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LEAST_ROWS = 30


@dataclass(frozen=True, eq=False)
class CurationAnswer(Answer):
    """All that curation says, and which model was asked about how many rows."""

    answer: CurationFindings
    model_sha256: str
    queries: int

    def frame(self) -> pd.DataFrame:
        """One row per voted sample."""
        return self.answer.frame()

    def figures(self) -> "dict[str, Figure]":
        """Figures of the order and of the classifier along it."""
        return self.answer.figures()

    def evidence(self) -> Evidence:
        """The answer's evidence; its provenance names the model."""
        found = self.answer.evidence()
        if found.provenance is None:
            return found
        known = replace(found.provenance, model_sha256=self.model_sha256, queries=self.queries)
        return replace(found, provenance=known)


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
    rings: tuple[NDArray[np.int64], ...]
    shown: bool

    def hardest(self, most: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
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
    if not isinstance(known, CurationAnswer) or voted is None:
        return None
    rings = tuple(np.asarray(ring) for ring in known.answer.curation.rings if len(ring))
    if sum(map(len, rings)) < _LEAST_ROWS:
        return None
    return CuratedRows(*voted, rings, known.answer.verdict == "decreasing")
