"""Rows for a question that is asked alone: as the model takes them, or numbers alone."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fireassay.data import DataSet


def load_rows(path: Path | str, model: Any, **options: Any) -> "DataSet":
    """Load rows as the model takes them; of a table the columns that it knows, in its order."""
    from fireassay.data import load

    columns = getattr(model, "feature_names", None) if is_table(path) else None
    return load(path, columns=columns, **options)


def is_table(path: Path | str) -> bool:
    """Whether a file has columns with names."""
    return Path(path).suffix.lower() in (".csv", ".tsv", ".txt", ".parquet", ".pq")


def load_numbers(path: Path | str, question: str, **options: Any) -> "DataSet":
    """Load a file whose rows are numbers.

    Where a question needs distances, only a whole run gives names, dates, texts and holes to the
    model as they are, and numbers of our own to what measures.
    """
    from fireassay.core.errors import DataError
    from fireassay.data import load

    data = load(path, **options)
    if data.rows.is_frame or data.rows.is_text:
        kinds = {kind for kind in data.kinds or () if kind != "real"}
        raise DataError(
            f"fireassay {question} takes rows of numbers without holes.",
            got=f"{Path(path).name} with {', '.join(sorted(kinds)) or 'holes'}",
            do=f"Use fireassay init, then fireassay run --only {question}: there the model gets "
            "such rows as they are.",
        )
    return data
