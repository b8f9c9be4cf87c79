"""Labels by file: a CSV with the rows to look at goes out, the same CSV with labels comes back."""

import warnings
from pathlib import Path

import numpy as np

from fireassay.core.errors import AssumptionWarning, DataError
from fireassay.core.files import write_text
from fireassay.discovery.kept_labels import UNNAMED
from fireassay.discovery.labels_csv import from_csv, to_label
from fireassay.discovery.result import SearchResult
from fireassay.discovery.search import Search
from fireassay.discovery.shown_rows import ShownRows
from fireassay.discovery.state_file import STATE_FILE
from fireassay.statistics import poisson_binomial_tail

# A search looks for errors, so that it finds more than the confidences announce; not most, though.
_ENOUGH, _MOSTLY, _MANY_TIMES, _NEARLY_ALL, _LEVEL = 10, 0.6, 3.0, 0.95, 0.001


def state_path(run: str | Path) -> Path:
    """The search's file: given itself, or in a run folder."""
    path = Path(run)
    return path / STATE_FILE if path.is_dir() else path


def next_labels(run: str | Path, output: str | Path, count: int = 10) -> list[int]:
    """Write the next rows to label to a CSV file: id, what there is to see, an empty ``label``.

    The features of a table stand in the file; pictures lie in a folder beside it.

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
    shown = ShownRows(state_path(run))
    pictures = Path(output).with_name(f"{Path(output).stem}-pictures")
    shown.write_pictures(rows, pictures)
    write_text(Path(output), "".join(to_label(search.questions, items, shown, pictures)))
    return rows


def add_labels(run: str | Path, labelled: str | Path, annotator: str = "") -> SearchResult:
    """Read labels from a CSV with the columns ``id`` and ``label``; rows without one stay open.

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
    given = from_csv(search.questions, text, annotator or UNNAMED, ShownRows(state_path(run)))
    waiting = search.book.open_items(search.questions)
    for label in given:
        if label.item not in waiting:
            raise DataError(
                f"Line {label.line}: only rows that were asked about and have no label yet.",
                got=f"row {search.state.rows[label.item]}",
                do="Run 'fireassay label next' first, and send back the rows it wrote.",
            )
    search.book.add_all(search.questions, [label.entry for label in given], more=None)
    result = search.result
    _warn_of_strange_labels(result)
    return result


def _warn_of_strange_labels(result: SearchResult) -> None:
    """Say it where labels disagree with the model far more than a search for errors expects."""
    wrong, announced = result.wrong, 1.0 - np.asarray(result.confidence)
    n, k = len(wrong), int(wrong.sum())
    many = min(_MANY_TIMES * announced.sum(), _NEARLY_ALL * n)
    if n < _ENOUGH or k < max(_MOSTLY * n, many):
        return
    if poisson_binomial_tail(announced, k) < _LEVEL:
        warnings.warn(
            f"{k} of {n} labels are not the model's answer, where its confidences announce about "
            f"{announced.sum():.1f}. Are these the labels of these rows, and the classes in the "
            "model's order?",
            AssumptionWarning,
            stacklevel=3,
        )
