"""A queue whose next item is chosen by a discovery search, from the labels so far."""

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import AnyArray
from fireassay.core.errors import DataError
from fireassay.core.hashing import sha256
from fireassay.core.validation import check_features
from fireassay.data.shown import lines_of
from fireassay.engine.labels.book import STATE_FILE
from fireassay.web.queue import QUEUES, save_queue, write_queue
from fireassay.web.queue_items import check_choices, usual_kind
from fireassay.web.sample_query import Query
from fireassay.web.sample_rows import SampleSet, features, text_of


def queue_from_search(
    folder: str | Path,
    X: ArrayLike | None = None,
    *,
    state_file: str = STATE_FILE,
    name: str = "search",
    kind: str | None = None,
    class_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
    annotators_per_item: int | None = None,
    instructions: str = "",
) -> Path:
    """Let people label what a saved search asks for.

    Args:
        folder: The run folder, with the search's file in it (made by ``Search(..., path=…)``).
        X: The data that the search was made with (checked by hash); None: the rows that a waiting
            run keeps beside its search, as the data set has them.
        class_names: Names for the buttons, in the order of the model's classes.
        state_file: Name of the search's file.
        annotators_per_item: People per item; None: as many as before, or 1.
        name, kind, feature_names, instructions: As in `write_queue`.

    Returns:
        Path: The queue's folder. Labels given in the browser are the search's own, and the reverse.

    >>> import tempfile
    >>> import numpy as np
    >>> from fireassay import discovery
    >>> model = lambda X: np.column_stack([1 - X[:, 0], X[:, 0]])
    >>> X = np.array([[0.9], [0.8], [0.1]])
    >>> with tempfile.TemporaryDirectory() as run:
    ...     _ = discovery.Search("random", model=model, X=X, budget=2, path=f"{run}/search.npz")
    ...     queue_from_search(run, X, class_names=["cat", "dog"]).name
    'search'
    """
    run = Path(folder)
    from fireassay.discovery import Search
    from fireassay.discovery.label_files import ShownRows, shown_path

    waiting = Search.load(run / state_file)
    state, people = waiting.state, annotators_per_item or waiting.book.people(waiting.questions)
    if X is None:
        kept = ShownRows(run / state_file)
        if kept.rows is None:
            raise DataError(
                f"{run} must have the rows of its search.",
                got=f"no {shown_path(run / state_file).name}",
                do="Pass the data: fireassay serve RUN --data field.npz.",
            )
        items, feature_names = kept.rows.values, feature_names or kept.names or None
        kind = kind or _KINDS[kept.rows.form]
        if kept.rows.is_text:
            items, feature_names = items[:, None], feature_names or ("text",)
    else:
        items = check_features(X)
        if sha256(items) != state.data_sha256:
            raise DataError(
                "X must be the data that the search was made with.",
                got="other values, types or rows",
                do="Pass the array that was given to Search(X=…).",
            )
        kind = kind or usual_kind(items)
    chosen = items[state.rows]
    if kind == "series":  # a queue has time first
        chosen = np.moveaxis(lines_of(chosen), 1, -1)
    names = tuple(str(known) for known in (class_names or state.classes))
    if len(names) != len(state.classes):
        raise DataError(
            "class_names must name every class of the model.",
            got=f"{len(names)} for {len(state.classes)}",
        )
    settings = {
        "kind": kind, "choices": check_choices(names), "search": state.name,
        "budget": min(state.budget, len(chosen)) or None, "annotators_per_item": people,
        "instructions": instructions, "feature_names": feature_names, "state_file": state_file,
        "search_sha256": state.identity,
    }  # fmt: skip
    return save_queue(
        run, name, chosen, settings, ids=state.ids, predicted=state.predicted,
        confidence=state.confidence, rows=state.rows,
    )  # fmt: skip


LARGEST = 5000
_KINDS = {"image": "image", "series": "series", "table": "row", "text": "row", "tokens": "row"}


def free_name(run: Path) -> str:
    """The first name of a queue that is not taken."""
    names = (f"samples-{number}" for number in itertools.count(1))
    return next(name for name in names if not (run / QUEUES / name).exists())


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
        feature_names=rows.facts["content"]["names"] if rows.kind == "table" else None,
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
    packed = any(name.startswith("rows-cell-") for name in rows.columns)
    if rows.kind == "table" and (packed or rows.facts["content"]["levels"]):
        return np.array([[cell.value for cell in features(rows, int(i))] for i in at])
    return content
