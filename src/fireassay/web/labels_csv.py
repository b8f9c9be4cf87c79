"""Labels out to a spreadsheet and back in."""

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Any

from fireassay.core.errors import DataError
from fireassay.web.label_records import Answer
from fireassay.web.outcomes import outcomes
from fireassay.web.queue import CANNOT_TELL, OTHER, Queue

COLUMNS = (
    "id", "row", "annotator", "kind", "label", "outcome", "comment", "seconds", "created",
    "after_reveal", "predicted", "confidence", "wrong",
)  # fmt: skip
MOST_ROWS = 200_000
_LONGEST = 2000


def to_csv(queue: Queue, answers: Sequence[Answer]) -> Iterator[str]:
    """Lines of a CSV file, one answer each, that no spreadsheet takes for formulas.

    The model's answer is only there for answered items.
    """
    found = outcomes(answers)
    yield _line(COLUMNS)
    for answer in answers:
        outcome = found.get(answer.item)
        label = outcome.label if outcome else None
        known = queue.has_prediction(answer.item) and label is not None
        yield _line(
            (
                str(queue.ids[answer.item]),
                int(queue.rows[answer.item]),
                answer.annotator,
                answer.kind,
                "" if answer.choice is None else queue.choice_name(answer.choice),
                outcome.state if outcome else "open",
                answer.comment,
                "" if answer.seconds is None else answer.seconds,
                answer.created,
                "yes" if answer.after_reveal else "no",
                queue.choices[int(queue.predicted[answer.item])] if known else "",
                float(queue.confidence[answer.item]) if known else "",
                ("yes" if label != int(queue.predicted[answer.item]) else "no") if known else "",
            )
        )


def from_csv(queue: Queue, text: str, annotator: str) -> list[tuple[int, str, int, str]]:
    """Rows (item, annotator, choice, comment) of a CSV with the columns ``id`` and ``label``.

    ``annotator`` and ``comment`` may be columns, too; rows without a label, skips and resolutions
    are left out. All rows are checked before anything is kept.

    Raises
    ------
    DataError
        With the line, for an unknown id or label.
    """
    header = text.split("\n", 1)[0]
    separator = max(",;\t", key=header.count)
    reader = csv.DictReader(io.StringIO(text.removeprefix("\ufeff")), delimiter=separator)
    if not {"id", "label"} <= set(reader.fieldnames or ()):
        raise DataError(
            "The file must have the columns 'id' and 'label'.",
            got=", ".join(map(str, reader.fieldnames or ())) or "nothing",
        )
    items = _by_name([str(identifier) for identifier in queue.ids])
    choices = _by_name(queue.choices) | {"(cannot tell)": CANNOT_TELL, "(other)": OTHER}
    rows = []
    try:
        for line, fields in enumerate(reader, start=2):
            label = (fields["label"] or "").strip()
            if not label or (fields.get("kind") or "answer") != "answer":
                continue
            if label not in choices:
                listed = ", ".join([*queue.choices[:12], "(cannot tell)", "(other)"])
                raise DataError(f"Line {line}: a label must be one of {listed}.", got=repr(label))
            identifier = (fields["id"] or "").strip()
            if identifier not in items:
                raise DataError(f"Line {line}: the queue has no such id.", got=repr(identifier))
            who = (fields.get("annotator") or "").strip()[:100] or annotator
            comment = (fields.get("comment") or "")[:_LONGEST]
            rows.append((items[identifier], who, choices[label], comment))
            if len(rows) > MOST_ROWS:
                raise DataError(f"At most {MOST_ROWS} labels can be read at once.", got="more")
    except csv.Error as error:
        raise DataError("Expected a CSV file.", got=str(error)) from error
    return rows


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
