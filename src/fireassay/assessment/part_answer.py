"""What a part of an assessment found, and what other parts may take from it."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fireassay.assessment.parts import part_module
from fireassay.core import Evidence
from fireassay.core.chart import Chart
from fireassay.core.result import Answer

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class PartAnswer(Answer):
    """The answer of one part: its package's own, with what the assessment knows besides.

    Attributes
    ----------
    part
        Which part; its module may have ``evidence(answer)``, which adds to the result's evidence.
    result
        The package's own answer.
    kept
        What other parts take, by name: a generated set, the rows behind scores, a bound.
    """

    part: str
    result: Answer
    kept: dict[str, Any] = field(default_factory=dict)

    def frame(self) -> "pd.DataFrame":
        """The package's own table."""
        return self.result.frame()

    def charts(self) -> dict[str, Chart]:
        """The package's own charts."""
        return self.result.charts()

    def evidence(self) -> Evidence:
        """The package's own evidence, with what the part adds."""
        own = getattr(part_module(self.part), "evidence", None)
        return own(self) if own is not None else self.result.evidence()
