"""Labels by file: a CSV with the rows to look at goes out, the same CSV with labels comes back."""

from pathlib import Path

import numpy as np

from fireassay.core.errors import DataError
from fireassay.core.files import write_text
from fireassay.discovery.kept_labels import UNNAMED
from fireassay.discovery.labels_csv import from_csv, to_label
from fireassay.discovery.result import SearchResult
from fireassay.discovery.search import Search

STATE_FILE = "search.npz"


def state_path(run: str | Path) -> Path:
    """The search's file: given itself, or in a run folder."""
    path = Path(run)
    return path / STATE_FILE if path.is_dir() else path


def next_labels(run: str | Path, output: str | Path, count: int = 10) -> list[int]:
    """Write the next rows to label to a CSV file with an empty column ``label``.

    The model's answer is not in the file: whoever labels should not be led by it.

    Parameters
    ----------
    run
        A run folder with a search in it, or the search's file.
    output
        The CSV file to write.
    count
        How many rows; fewer where the budget ends.

    Returns
    -------
    list of int
        The rows of X that are in the file.

    >>> import tempfile
    >>> model = lambda X: np.column_stack([1 - X[:, 0], X[:, 0]])
    >>> X = np.array([[0.9], [0.8], [0.7]])
    >>> with tempfile.TemporaryDirectory() as run:
    ...     _ = Search("low-confidence", model=model, X=X, budget=2, path=f"{run}/search.npz")
    ...     rows = next_labels(run, f"{run}/next.csv", count=2)
    >>> rows
    [2, 1]
    """
    search = Search.load(state_path(run))
    rows = search.ask_many(count)
    items = np.searchsorted(search.state.rows, rows).tolist()
    write_text(Path(output), "".join(to_label(search.questions, items)))
    return rows


def add_labels(run: str | Path, labelled: str | Path, annotator: str = "") -> SearchResult:
    """Read labels from a CSV with the columns ``row`` and ``label``; rows without one stay open.

    All rows are checked before the first label is kept; all are kept, or none.

    Parameters
    ----------
    run
        A run folder with a search in it, or the search's file.
    labelled
        The CSV file; a column ``annotator`` says who labelled a row.
    annotator
        Who labelled the rows of which the file does not say it.

    Raises
    ------
    DataError
        With the line, for a row that was not asked about or has its label, or an unknown label.

    >>> import tempfile
    >>> model = lambda X: np.column_stack([1 - X[:, 0], X[:, 0]])
    >>> X = np.array([[0.9], [0.8], [0.7]])
    >>> with tempfile.TemporaryDirectory() as run:
    ...     _ = Search("low-confidence", model=model, X=X, budget=2, path=f"{run}/search.npz")
    ...     _ = next_labels(run, f"{run}/next.csv", count=1)
    ...     _ = Path(f"{run}/done.csv").write_text("row,label\\n2,0\\n")
    ...     found = add_labels(run, f"{run}/done.csv", annotator="ada")
    >>> found.errors
    1
    """
    search = Search.load(state_path(run))
    try:
        text = Path(labelled).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"Expected a CSV file (UTF-8) at {labelled}.", got=str(error)) from error
    given = from_csv(search.questions, text, annotator or UNNAMED)
    waiting = search.book.open_items(search.questions)
    for label in given:
        if label.item not in waiting:
            raise DataError(
                f"Line {label.line}: only rows that were asked about and have no label yet.",
                got=f"row {search.state.rows[label.item]}",
                do="Run 'fireassay label next' first, and send back the rows it wrote.",
            )
    search.book.add_all(search.questions, [label.entry for label in given], more=None)
    return search.result
