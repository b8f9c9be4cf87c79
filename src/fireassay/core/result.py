"""What every answer can do: a table, figures, evidence, a file."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, runtime_checkable

from fireassay.core import codec
from fireassay.core.errors import DataError
from fireassay.core.evidence import Evidence

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


@runtime_checkable
class SupportsEvidence(Protocol):
    """Anything a report can be made of."""

    def evidence(self) -> Evidence:
        """The answer in the form the report understands."""
        ...


class Result:
    """Base of the frozen result dataclasses: a table, figures, evidence, and a file.

    A subclass is a frozen dataclass whose fields are arrays, frames, plain types and other
    dataclasses of fireassay; then saving and loading come for free.
    """

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def frame(self) -> "pd.DataFrame":
        """The main table."""
        raise NotImplementedError(f"{type(self).__name__} has no table.")

    def figures(self) -> "dict[str, Figure]":
        """Named matplotlib figures; empty where there is nothing to look at."""
        return {}

    def evidence(self) -> Evidence:
        """Claims, estimates, assumptions and provenance for the report."""
        raise NotImplementedError(f"{type(self).__name__} gives no evidence.")

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

    def _repr_html_(self) -> str:
        """Shown in notebooks."""
        return str(self.frame().to_html(max_rows=20))
