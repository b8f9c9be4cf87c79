"""Labels out to a spreadsheet and back in: the one form of such files."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fireassay.core.errors import DataError
from fireassay.discovery.shown_rows import ShownRows
from fireassay.engine.consensus import consensus
from fireassay.engine.label_records import GivenAnswer
from fireassay.engine.questions import CANNOT_TELL, OTHER, Questions

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
    """Lines of a CSV file of items to label: id, what there is to see, and an empty label.

    What the model said is not in it: whoever labels should not be led by it.
    """
    yield _line(("id", *shown.columns, "label"))
    for item in items:
        cells = shown.cells(int(asked.rows[item]), pictures)
        yield _line((str(asked.ids[item]), *cells, ""))


def to_csv(asked: Questions, answers: Sequence[GivenAnswer]) -> Iterator[str]:
    """Lines of a CSV file, one answer each, that no spreadsheet takes for formulas.

    The model's answer is only there for answered items.
    """
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
    """Labels of a CSV file with the columns ``label`` and ``row`` or ``id``.

    ``annotator`` and ``comment`` may be columns, too; rows without a label, skips and resolutions
    are left out. All rows are checked before anything is kept; where the file shows features, they
    must be those of its ids, so that a file of another run is not taken for this one's.

    Raises
    ------
    DataError
        With the line, for an unknown row, id or label.
    """
    text = text.removeprefix("\ufeff")
    separator = max(",;\t", key=text.split("\n", 1)[0].count)
    reader = csv.DictReader(io.StringIO(text), delimiter=separator)
    columns = set(reader.fieldnames or ())
    by_row = {str(row): item for item, row in enumerate(np.asarray(asked.rows).tolist())}
    if "row" in columns and len(by_row) == len(asked):
        column, items = "row", by_row
    else:
        column, items = "id", _by_name([str(identifier) for identifier in asked.ids])
    if not {column, "label"} <= columns:
        raise DataError(
            "The file must have the columns 'label' and 'row' or 'id'.",
            got=", ".join(map(str, reader.fieldnames or ())) or "nothing",
        )
    choices = _by_name(asked.choices) | {"(cannot tell)": CANNOT_TELL, "(other)": OTHER}
    labels = []
    try:
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
    except csv.Error as error:
        raise DataError("Expected a CSV file.", got=str(error)) from error
    return labels


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
