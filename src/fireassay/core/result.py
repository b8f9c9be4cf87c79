"""What every result can do: a table, charts, a file; and an answer: evidence."""

import re
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, runtime_checkable

from fireassay.core import codec
from fireassay.core.chart import Chart
from fireassay.core.errors import DataError
from fireassay.core.evidence import Evidence
from fireassay.core.notebook import evidence_html

if TYPE_CHECKING:
    import pandas as pd

_SHOWN_ROWS = 12


@runtime_checkable
class SupportsEvidence(Protocol):
    """Anything a report can be made of."""

    def evidence(self) -> Evidence:
        """The answer in the form the report understands."""
        ...


class Result(ABC):
    """Base of the frozen result dataclasses: a table, charts and a file.

    A subclass is a frozen dataclass whose fields are arrays, frames, plain types and other
    dataclasses of fireassay; then saving and loading come for free.

    >>> from dataclasses import dataclass
    >>> import pandas as pd
    >>> @dataclass(frozen=True)
    ... class Rows(Result):
    ...     n: int
    ...     def frame(self):
    ...         return pd.DataFrame({"n": [self.n]})
    >>> print(Rows(3))
    Rows
       n
    0  3
    """

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @abstractmethod
    def frame(self) -> "pd.DataFrame":
        """The main table."""

    def charts(self) -> dict[str, Chart]:
        """Charts by name, the most telling first; empty where there is nothing to look at."""
        return {}

    def summary(self) -> str:
        """The result in a line or two, for people."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(self).__name__).lower().capitalize()

    def save(self, path: str | Path) -> Path:
        """Write the result to one file (an npz archive without pickles)."""
        return codec.save(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a result of this class."""
        loaded = codec.load(path)
        if not isinstance(loaded, cls):
            raise DataError(f"Expected a saved {cls.__name__}.", got=type(loaded).__name__)
        return loaded

    def __str__(self) -> str:
        table = self.frame()
        shown = table.head(_SHOWN_ROWS).to_string(float_format=lambda value: f"{value:.4g}")
        rest = len(table) - _SHOWN_ROWS
        more = [f"… {rest} more rows: .frame()"] if rest > 0 else []
        return "\n".join([self.summary(), shown, *more])

    def _repr_html_(self) -> str:
        """Shown in notebooks."""
        return str(self.frame().to_html(max_rows=20))


class Answer(Result):
    """A result that answers one of the questions: it can stand in a report.

    >>> from dataclasses import dataclass
    >>> import pandas as pd
    >>> @dataclass(frozen=True)
    ... class Nothing(Answer):
    ...     def frame(self):
    ...         return pd.DataFrame()
    ...     def evidence(self):
    ...         return Evidence("my question", "Nothing was asked.")
    >>> print(Nothing())
    Nothing was asked.
    """

    @abstractmethod
    def evidence(self) -> Evidence:
        """Claims, estimates, assumptions and provenance for the report."""

    def summary(self) -> str:
        """The headline, the numbers by what they mean, and what the data contradicts."""
        found = self.evidence()
        numbers = []
        for name, estimate in found.estimates.items():
            measure = found.measure(name)
            numbers.append(f"  {measure.label}: {measure.shown(estimate)} (n = {estimate.n:,})")
        contradicted = [
            f"  contradicted: {assumption.statement} ({assumption.check})"
            for assumption in found.assumptions
            if assumption.status == "contradicted"
        ]
        return "\n".join([found.headline, *numbers, *contradicted])

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        """Shown in notebooks: the answer, its numbers and its first chart."""
        return evidence_html(self.evidence())
