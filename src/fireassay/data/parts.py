"""Parts of one file: rows to test on, rows of the training, rows of the field."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from fireassay.core.arrays import BoolArray
from fireassay.core.errors import DataError
from fireassay.core.lazy import pd

if TYPE_CHECKING:
    from fireassay.data.csv_file import Reading

PARTS: Final = {
    "test": ("test", "testing"),
    "train": ("train", "training"),
    "operational": ("field", "validation", "val", "valid", "dev", "operational"),
}
_WORDS: Final = {word for words in PARTS.values() for word in words}


def rows_of_part(frame: pd.DataFrame, column: str, part: str) -> BoolArray:
    """Which rows of a table belong to a part, by the words in a column."""
    if column not in frame:
        raise DataError(
            f"The table must have the split column {column!r}.", got=", ".join(frame.columns[:12])
        )
    words = frame[column].astype(str).str.strip().str.lower()
    other = words[~words.isin(_WORDS)]
    if len(other):
        raise DataError(
            f"The split column {column!r} must say {', '.join(sorted(_WORDS))}.",
            got=f"{other.iloc[0]!r} in row {int(other.index[0])}",
        )
    found: BoolArray = words.isin(PARTS[part]).to_numpy()
    if not found.any():
        raise DataError(
            f"The split column {column!r} must say {' or '.join(PARTS[part])} in some rows.",
            got=", ".join(sorted(set(words))),
        )
    return found


def has_part(path: Path, column: str, part: str, reading: Reading) -> bool:
    """Whether a table has rows of a part."""
    from fireassay.data.table_file import read_table

    words = read_table(path, column=column, reading=reading)[column]
    return bool(words.astype(str).str.strip().str.lower().isin(PARTS[part]).any())


def refuse_parts(frame: pd.DataFrame) -> None:
    """Refuse a column that deals rows to test and training, where nobody said what it is."""
    for name in frame.columns:
        words = frame[name].dropna()
        if not len(words) or not isinstance(words.iloc[0], str) or words.nunique() > len(_WORDS):
            continue
        found = {str(word).strip().lower() for word in words.unique()}
        if found <= _WORDS and found & {*PARTS["train"]} and len(found) > 1:
            raise DataError(
                "Training rows must not count as test rows.",
                got=f"column {name!r}, which says {', '.join(sorted(found))}",
                do=f"Pass --split {name}; or --ignore {name} if it says something else.",
            )
