"""Labels by file: a CSV with the rows to look at goes out, the same CSV with labels comes back."""

import csv
from pathlib import Path

import numpy as np

from fireassay.core.errors import DataError
from fireassay.discovery.result import SearchResult
from fireassay.discovery.search import Search

STATE_FILE = "search.npz"
_COLUMNS = ("row", "id", "label")


def state_path(run: str | Path) -> Path:
    """The search's file: given itself, or in a run folder."""
    path = Path(run)
    return path / STATE_FILE if path.is_dir() else path


def next_labels(run: str | Path, output: str | Path, count: int = 10) -> list[int]:
    """Write the next rows to label to a CSV file with an empty column ``label``.

    The model's answer is not in the file: whoever labels should not be led by it.
    """
    from fireassay.data import safe_cell

    search = Search.load(state_path(run))
    rows = search.ask_many(count)
    path = Path(output)
    temporary = path.with_name(f".{path.name}.part")
    with open(temporary, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(_COLUMNS)
        for row in rows:
            writer.writerow([row, safe_cell(_identifier(search, row)), ""])
    temporary.replace(path)
    return rows


def add_labels(run: str | Path, labelled: str | Path, annotator: str = "") -> SearchResult:
    """Read labels from a CSV with the columns ``row`` and ``label``; rows without one stay open.

    All rows are checked before the first label is kept.
    """
    search = Search.load(state_path(run))
    given = _read(Path(labelled))
    pending = set(search.pending)
    for line, (row, label) in enumerate(given, start=2):
        if row not in pending:
            raise DataError(
                f"{labelled}, line {line}: only rows that were asked about and have no label yet.",
                got=f"row {row}",
                do="Run 'fireassay label next' first, and send back the rows it wrote.",
            )
        pending.discard(row)
        search.check_label(label)
    for row, label in given:
        search.tell(row, label, annotator)
    return search.result


def _read(path: Path) -> list[tuple[int, str]]:
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            sample = file.readline()
            file.seek(0)
            separator = max(",;\t", key=sample.count)
            reader = csv.DictReader(file, delimiter=separator)
            if not {"row", "label"} <= set(reader.fieldnames or ()):
                raise DataError(
                    f"{path} must have the columns 'row' and 'label'.",
                    got=f"{reader.fieldnames}",
                )
            lines = list(reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"Expected a CSV file (UTF-8) at {path}.", got=str(error)) from error
    labels = []
    for number, line in enumerate(lines, start=2):
        label = (line["label"] or "").strip()
        if not label:
            continue
        text = (line["row"] or "").strip()
        if not text.isdecimal():
            raise DataError(f"{path}, line {number}: row must be a number.", got=repr(text))
        labels.append((int(text), label))
    return labels


def _identifier(search: Search, row: int) -> str:
    ids = search.state.ids
    if ids is None:
        return ""
    return str(ids[int(np.searchsorted(search.state.rows, row))])
