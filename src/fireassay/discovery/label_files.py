"""Labels by CSV: rows to label go out, labels come back."""

import csv
import io
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fireassay.core.errors import AssumptionWarning, DataError
from fireassay.core.files import expected, write_bytes, write_text
from fireassay.data.rows import FORMS, Rows
from fireassay.data.shown import Curve, Picture, Table, Words, is_picture, pixel_ends, shown
from fireassay.discovery.result import SearchResult
from fireassay.discovery.search import Search
from fireassay.discovery.state import UNNAMED
from fireassay.engine.labels.book import STATE_FILE
from fireassay.engine.labels.records import CANNOT_TELL, OTHER, GivenAnswer, Questions, consensus
from fireassay.statistics import poisson_binomial_tail

PICTURE = "picture"
_OURS = ("id", "row", "label", "annotator", "comment", "kind", PICTURE)
_MOST_COLUMNS = 200


def shown_path(state_file: Path) -> Path:
    """Where the rows of a search are kept for people to look at."""
    return state_file.with_name(f"{state_file.stem}-rows.npz")


def keep_shown(
    state_file: Path, X: Any, feature_names: tuple[str, ...] | None = None, form: str = ""
) -> None:
    """Keep rows beside a search that waits for labels, as the data set has them."""
    if hasattr(X, "columns"):
        names_of_columns = tuple(str(name) for name in X.columns)
        feature_names, X = names_of_columns, X.astype(str).where(X.notna(), "").to_numpy()
    values = np.asarray(X)
    if values.dtype.kind == "O":
        values = values.astype(str)
    names = np.array(feature_names if feature_names is not None else (), dtype=np.str_)
    content = io.BytesIO()
    np.savez_compressed(content, X=values, names=names, kind=np.array(Rows(values, form=form).form))
    write_bytes(shown_path(state_file), content.getvalue())


class ShownRows:
    """The rows of a search as people see them; nothing where they were not kept."""

    def __init__(self, state_file: Path) -> None:
        path = shown_path(state_file)
        self.rows: Rows | None = None
        self.columns: tuple[str, ...] = ()
        self.names: tuple[str, ...] = ()
        if not path.is_file():
            return
        with np.load(path, allow_pickle=False) as kept:
            values, self.names = kept["X"], tuple(kept["names"].tolist())
            form = str(kept["kind"]) if "kind" in kept else ""
        self.rows = Rows(values, form=form if form in FORMS else "")
        if self.rows.is_text:
            self.columns = ("text",)
        elif self.rows.form in ("image", "series"):
            self.columns = (PICTURE,)
        elif values.shape[1] <= _MOST_COLUMNS:
            seen = shown(self.rows, 0, names=self.names or None)
            assert isinstance(seen, Table)
            self.columns = tuple(f"feature {n}" if n in _OURS else n for n in seen.names)

    @property
    def as_pictures(self) -> bool:
        """Whether rows are pictures, in files of their own."""
        return self.columns == (PICTURE,)

    def cells(self, row: int, folder: Path) -> list[str]:
        """What the file shows of a row: its features, or the path of its picture."""
        if self.rows is None or not self.columns:
            return []
        if self.as_pictures:
            return [f"{folder.name}/{row}.png"]
        seen = shown(self.rows, row)
        if isinstance(seen, Words):
            return [seen.text]
        assert isinstance(seen, Table)
        return [f"{v:.6g}" if isinstance(v, float) else str(v) for v in seen.values]

    def is_other(self, row: int, fields: Mapping[str, Any]) -> bool:
        """Whether a line of a file shows another row than this one; numbers may be rounded."""
        if self.as_pictures or not self.columns or not set(self.columns) <= set(fields):
            return False
        kept = self.cells(row, Path())
        return any(
            not _same(str(fields[column] or ""), cell)
            for column, cell in zip(self.columns, kept, strict=True)
        )

    def write_pictures(self, rows: list[int], folder: Path) -> None:
        """Write a PNG file for each row, if rows are pictures or series."""
        if not self.as_pictures or self.rows is None:
            return
        folder.mkdir(parents=True, exist_ok=True)
        ends = pixel_ends(self.rows.values) if is_picture(self.rows) else None
        for row in rows:
            seen = shown(self.rows, row, ends=ends)
            seen = seen.drawn() if isinstance(seen, Curve) else seen
            assert isinstance(seen, Picture)
            write_bytes(folder / f"{row}.png", seen.png())


def _same(given: str, kept: str) -> bool:
    from fireassay.data.csv_file import safe_cell

    if given.strip() in (kept.strip(), str(safe_cell(kept)).strip()):
        return True
    try:
        return math.isclose(float(given.replace(",", ".")), float(kept), rel_tol=1e-2, abs_tol=1e-9)
    except ValueError:
        return False


COLUMNS = (
    "id", "row", "annotator", "kind", "label", "outcome", "comment", "seconds", "created",
    "after_reveal", "predicted", "confidence", "wrong",
)  # fmt: skip
MOST_ROWS = 200_000
_LONGEST = 2000


@dataclass(frozen=True)
class CsvLabel:
    """A label that came in a file, and in which line."""

    line: int
    item: int
    annotator: str
    choice: int
    comment: str

    @property
    def entry(self) -> tuple[int, str, int, str]:
        """As a label book takes it."""
        return self.item, self.annotator, self.choice, self.comment


def to_label(
    asked: Questions, items: Sequence[int], shown: ShownRows, pictures: Path
) -> Iterator[str]:
    """Lines of a CSV file of items to label, which does not lead people by the model's answers."""
    yield _line(("id", *shown.columns, "label"))
    for item in items:
        cells = shown.cells(int(asked.rows[item]), pictures)
        yield _line((str(asked.ids[item]), *cells, ""))


def to_csv(asked: Questions, answers: Sequence[GivenAnswer]) -> Iterator[str]:
    """Lines of a CSV file, one answer each, that no spreadsheet takes for formulas."""
    found = consensus(answers)
    yield _line(COLUMNS)
    for answer in answers:
        agreed = found.get(answer.item)
        label = agreed.label if agreed else None
        known = asked.has_prediction(answer.item) and label is not None
        yield _line(
            (
                str(asked.ids[answer.item]),
                int(asked.rows[answer.item]),
                answer.annotator,
                answer.kind,
                "" if answer.choice is None else asked.choice_name(answer.choice),
                agreed.state if agreed else "open",
                answer.comment,
                "" if answer.seconds is None else answer.seconds,
                answer.created,
                "yes" if answer.after_reveal else "no",
                asked.choices[int(asked.predicted[answer.item])] if known else "",
                float(asked.confidence[answer.item]) if known else "",
                ("yes" if label != int(asked.predicted[answer.item]) else "no") if known else "",
            )
        )


def from_csv(
    asked: Questions, text: str, annotator: str, shown: ShownRows | None = None
) -> list[CsvLabel]:
    """Labels of a CSV file with the columns ``label`` and ``row`` or ``id``."""
    # ``annotator`` and ``comment`` may be columns, too; rows without a label, skips and resolutions
    # are left out. All rows are checked before anything is kept. Features that the file shows must
    # be those of its ids, so that a file of another run is not taken for this one's.
    text = text.removeprefix("\ufeff")
    separator = max(",;\t", key=text.split("\n", 1)[0].count)
    reader = csv.DictReader(io.StringIO(text), delimiter=separator)
    column, items = _key(asked, reader.fieldnames or ())
    choices = _by_name(asked.choices) | {"(cannot tell)": CANNOT_TELL, "(other)": OTHER}
    labels = []
    with expected("Expected a CSV file.", (csv.Error,)):
        for line, fields in enumerate(reader, start=2):
            label = (fields["label"] or "").strip()
            if not label or (fields.get("kind") or "answer") != "answer":
                continue
            if label not in choices:
                listed = ", ".join([*asked.choices[:12], "(cannot tell)", "(other)"])
                raise DataError(f"Line {line}: a label must be one of {listed}.", got=repr(label))
            name = (fields[column] or "").strip()
            if name not in items:
                raise DataError(f"Line {line}: there is no such {column}.", got=repr(name))
            if shown is not None and shown.is_other(int(asked.rows[items[name]]), fields):
                raise DataError(
                    f"Line {line}: the features must be those of {column} {name}.",
                    got="other values: the file belongs to other rows",
                    do="Send back the file that 'fireassay label next' wrote for this run.",
                )
            who = (fields.get("annotator") or "").strip()[:100] or annotator
            comment = (fields.get("comment") or "")[:_LONGEST]
            labels.append(CsvLabel(line, items[name], who, choices[label], comment))
            if len(labels) > MOST_ROWS:
                raise DataError(f"At most {MOST_ROWS} labels can be read at once.", got="more")
    return labels


def _key(asked: Questions, columns: Sequence[str]) -> tuple[str, dict[str, int]]:
    """The column that names items, "row" or else "id", and the items by their text in it."""
    by_row = {str(row): item for item, row in enumerate(np.asarray(asked.rows).tolist())}
    if "row" in columns and len(by_row) == len(asked):
        column, items = "row", by_row
    else:
        column, items = "id", _by_name([str(identifier) for identifier in asked.ids])
    if not {column, "label"} <= {*columns}:
        raise DataError(
            "The file must have the columns 'label' and 'row' or 'id'.",
            got=", ".join(map(str, columns)) or "nothing",
        )
    return column, items


def _by_name(names: Sequence[str]) -> dict[str, int]:
    """Positions by name, also by the name as a spreadsheet-safe file writes it."""
    from fireassay.data.csv_file import safe_cell

    found: dict[str, int] = {}
    for position, name in enumerate(names):
        found[name.strip()] = position
        found.setdefault(str(safe_cell(name)).strip(), position)
    return found


def _line(cells: Sequence[Any]) -> str:
    # Loads the readers of all kinds of files; the first page must not wait for that.
    from fireassay.data.csv_file import safe_cell

    out = io.StringIO()
    csv.writer(out).writerow([safe_cell(cell) for cell in cells])
    return out.getvalue()


# A search looks for errors, so that it finds more than the confidences announce; not most, though.
_ENOUGH, _MOSTLY, _MANY_TIMES, _NEARLY_ALL, _LEVEL = 10, 0.6, 3.0, 0.95, 0.001


def state_path(run: str | Path) -> Path:
    """The search's file: given itself, or in a run folder."""
    path = Path(run)
    return path / STATE_FILE if path.is_dir() else path


def next_labels(
    run: str | Path, output: str | Path, count: int = 10, people: int | None = None
) -> list[int]:
    """Write the next rows to label to a CSV file: id, what there is to see, an empty ``label``.

    The features of a table stand in the file; pictures lie in a folder beside it.

    The model's answer is not in the file: whoever labels should not be led by it.

    Args:
        run: A run folder with a search in it, or the search's file.
        output: The CSV file to write.
        count: How many rows; fewer where the budget ends.
        people: How many people label each row, from now on; None: as before, or 1.

    Returns:
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
    search = _opened(run, people)
    rows = search.ask_many(count)
    items = np.searchsorted(search.state.rows, rows).tolist()
    shown = ShownRows(state_path(run))
    pictures = Path(output).with_name(f"{Path(output).stem}-pictures")
    shown.write_pictures(rows, pictures)
    write_text(Path(output), "".join(to_label(search.questions, items, shown, pictures)))
    return rows


def _opened(run: str | Path, people: int | None) -> Search:
    """The search, with the number of people that its maker names."""
    search = Search.load(state_path(run))
    if people is not None:
        search.book.set_people(search.questions, people)
    return search


def add_labels(
    run: str | Path, labelled: str | Path, annotator: str = "", people: int | None = None
) -> SearchResult:
    """Read labels from a CSV with the columns ``id`` and ``label``; rows without one stay open.

    All rows are checked before the first label is kept; all are kept, or none. Where
    several people label a row the majority counts, as on the page; a tie waits to be resolved.

    Args:
        run: A run folder with a search in it, or the search's file.
        labelled: The CSV file; a column ``annotator`` says who labelled a row.
        annotator: Who labelled the rows of which the file does not say it.
        people: How many people label each row, from now on; None: as before, or 1.

    Raises:
        DataError: With the line, for a row that was not asked or is labelled, or a wrong label.

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
    search = _opened(run, people)
    with expected(f"Expected a CSV file (UTF-8) at {labelled}.", (OSError, UnicodeDecodeError)):
        text = Path(labelled).read_text(encoding="utf-8-sig")
    given = from_csv(search.questions, text, annotator or UNNAMED, ShownRows(state_path(run)))
    waiting = search.book.open_items(search.questions)
    for label in given:
        if label.item not in waiting:
            raise DataError(
                f"Line {label.line}: only rows that were asked about and have no label yet.",
                got=f"row {search.state.rows[label.item]}",
                do="Run 'fireassay label next' first, and send back the rows it wrote; if several "
                "people label each row, say how many: --people 2.",
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
