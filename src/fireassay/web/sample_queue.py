"""A labelling queue made of rows that somebody chose in the sample browser."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fireassay.core.arrays import AnyArray
from fireassay.core.errors import DataError
from fireassay.web.queue import QUEUES, write_queue
from fireassay.web.sample_item import features, text_of
from fireassay.web.sample_query import Query
from fireassay.web.sample_set import SampleSet

LARGEST = 5000
_KINDS = {"image": "image", "series": "series", "table": "row", "text": "row"}


def free_name(run: Path) -> str:
    """The first name of a queue that is not taken."""
    number = 1
    while (run / QUEUES / f"samples-{number}").exists():
        number += 1
    return f"samples-{number}"


def queue_of_rows(
    run: Path, rows: SampleSet, chosen: Sequence[int], query: Query, form: Mapping[str, str]
) -> str:
    """Write the queue; ``form`` has its name, guidelines and people per item. Returns its name."""
    if rows.kind not in _KINDS:
        raise DataError(
            "Rows can be labelled only where the run kept them.",
            got=str(rows.facts["content"].get("reason", "no content")),
        )
    if not chosen:
        raise DataError("A queue needs at least one row.", got="none")
    at = np.asarray(chosen)
    said = np.asarray(rows.columns["said"])[at]
    sure = np.asarray(rows.columns["confidence"])[at].astype(np.float64)
    names = np.array(rows.classes)
    people = form.get("people", "1")
    name = form.get("name", "").strip() or free_name(run)
    filters = ", ".join(f"{facet} = {value}" for facet, value in query.chosen.items())
    write_queue(
        run,
        _content(rows, at),
        classes=rows.classes,
        name=name,
        kind=_KINDS[rows.kind],
        ids=rows.columns["ids"][at],
        rows=at,
        predicted=names[said] if (said >= 0).all() else None,
        confidence=np.clip(sure, 0.0, 1.0) if np.isfinite(sure).all() else None,
        feature_names=_names(rows),
        search=f"chosen by hand{f' ({filters})' if filters else ''}"[:400],
        annotators_per_item=int(people) if people.isdecimal() and len(people) < 3 else 1,
        instructions=form.get("guidelines", ""),
    )
    return name


def _content(rows: SampleSet, at: AnyArray) -> Any:
    if rows.kind == "text":
        return np.array([text_of(rows, int(i)) for i in at])
    content = np.asarray(rows.columns["rows-content"][at])
    if rows.kind == "series":
        return np.moveaxis(content, 1, -1)
    if rows.kind == "table" and _has_names(rows):
        return np.array([[cell.value for cell in features(rows, int(i))] for i in at])
    return content


def _has_names(rows: SampleSet) -> bool:
    packed = any(name.startswith("rows-cell-") for name in rows.columns)
    return packed or bool(rows.facts["content"]["levels"])


def _names(rows: SampleSet) -> list[str] | None:
    return list(rows.facts["content"]["names"]) if rows.kind == "table" else None
