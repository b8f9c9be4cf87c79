"""Rows for a question that is asked alone: numbers; other rows are refused, with what to do."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fireassay.data import DataSet


def load_numbers(path: Path | str, question: str, **options: Any) -> "DataSet":
    """Load a file whose rows are numbers.

    Only a whole run gives names, dates, texts and holes to the model as they are, and numbers of
    our own to the parts that need distances.
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
