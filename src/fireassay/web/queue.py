"""A labelling queue on disk: items to show, what the model said, and the rules of the work."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.core import json_files
from fireassay.core.arrays import AnyArray, FloatArray, IntArray
from fireassay.core.errors import DataError, ParameterError, StoreError
from fireassay.core.files import write_text
from fireassay.core.hashing import sha256
from fireassay.core.lazy import pd
from fireassay.core.validation import check_choice, check_integer, check_lengths
from fireassay.data.rows import Rows
from fireassay.engine.labels.book import BOOK, LabelBook
from fireassay.engine.labels.records import Questions, consensus, search_key
from fireassay.web.queue_items import (
    check_choices,
    check_confidences,
    check_content,
    check_feature_names,
    check_ids,
    positions_of,
    usual_kind,
)

QUEUES, SETTINGS, VERSION = "queues", "queue.json", 1
KINDS = ("image", "row", "series")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _.\-]{0,63}")
_DEFAULTS = {
    "purpose": "label", "budget": None, "reveal": True, "feature_names": None, "state_file": "",
    "search_sha256": "",
}  # fmt: skip
_ARRAYS = ("content", "ids", "predicted", "confidence", "rows", "pairs")


@dataclass(frozen=True, eq=False)
class Queue(Questions):
    """Items in the order they are to be labelled. Arrays stay on disk and are read row by row.

    Attributes:
        purpose: "label" (which class is it?) or "review" (is this sample between two classes?).
        kind: "image", "row" (a table of features) or "series" (a curve over time).
        pairs: For "review": the two class names of each sample.
        budget: How many labels are to be bought; None: all items.
        state_file: The saved search (in the run folder) that chooses the next item; "": the order
            of the file. Its labels are the search's own, whoever gives them.
        name, folder, search, instructions: What `write_queue` was given.
        content, feature_names, content_sha256: The items, names of their columns, and their hash.
        label_key, labels_sha256, choices, annotators_per_item, reveal, ids, rows, predicted,
            confidence: Where labels are kept, what can be answered, by how many people, and what is
            known of each item.
    """

    folder: Path
    name: str
    purpose: str
    kind: str
    search: str
    budget: int | None
    instructions: str
    feature_names: tuple[str, ...] | None
    state_file: str
    content_sha256: str
    content: AnyArray
    pairs: NDArray[np.str_] | None

    @cached_property
    def items(self) -> Rows:
        """The items as rows that can be shown."""
        if self.kind == "row" and self.content.dtype.kind == "U" and self.content.shape[1] == 1:
            return Rows(self.content[:, 0], form="text")
        return Rows(self.content, form="table" if self.kind == "row" else self.kind)

    @property
    def run_folder(self) -> Path:
        """The run that the queue belongs to."""
        return self.folder.parent.parent

    @property
    def limit(self) -> int:
        """Items to label at most: the budget, or all."""
        return len(self) if self.budget is None else min(self.budget, len(self))


def write_queue(
    folder: str | Path,
    X: ArrayLike,
    *,
    classes: Sequence[Any],
    name: str = "labels",
    kind: str | None = None,
    ids: ArrayLike | None = None,
    predicted: ArrayLike | None = None,
    confidence: ArrayLike | None = None,
    rows: ArrayLike | None = None,
    feature_names: Sequence[str] | None = None,
    search: str = "",
    budget: int | None = None,
    annotators_per_item: int = 1,
    instructions: str = "",
    reveal: bool = True,
) -> Path:
    """Ask people for labels: write a queue into a run folder, for ``fireassay serve``.

    Args:
        folder: The run folder; the queue becomes ``queues/<name>/`` in it, whole or not at all.
        X: Items in the order to be labelled: images (n, H, W[, C]), rows (n, d) or series (n,
            time[, channels]). A memory-mapped array is copied block by block.
        classes: What a label can be, in the order of the buttons.
        kind: "image", "row" or "series"; None: images for three or four axes, else rows.
        ids: Text shown with each item; row numbers if not given.
        predicted, confidence: The model's class of each item (one of ``classes``) and its
            calibrated confidence. They are hidden until the item is labelled; without them there is
            no discovery ratio.
        rows: Row of the data set that each item is; 0, 1, … if not given.
        search: What chose the items; shown to the reader of the result.
        budget: Labels to buy; None: all items.
        annotators_per_item: 2 or more let agreement be measured.
        reveal: Show the model's answer after each label.
        name, instructions: Of the queue; the text is shown to those who label.
        feature_names: One per column of rows, or per channel of series.

    Returns:
        Path: The queue's folder. Writing the same queue again changes nothing.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as run:
    ...     path = write_queue(run, np.zeros((3, 2)), classes=["cat", "dog"], name="audit")
    ...     len(read_queue(path))
    3
    """
    items = X if isinstance(X, np.ndarray) else np.asarray(X)
    names = tuple(str(known) for known in classes)
    settings = {
        "kind": check_choice(kind or usual_kind(items), "kind", KINDS),
        "choices": check_choices(names), "search": str(search), "budget": budget,
        "annotators_per_item": annotators_per_item, "reveal": bool(reveal),
        "instructions": instructions, "feature_names": feature_names,
    }  # fmt: skip
    positions = positions_of(predicted, names, len(items))
    sure = check_confidences(confidence, len(items))
    return save_queue(
        Path(folder), name, items, settings, ids=ids, predicted=positions, confidence=sure,
        rows=rows,
    )  # fmt: skip


def read_queue(folder: str | Path) -> Queue:
    """Open a queue; only its settings are read, items stay on disk.

    Args:
        folder: The queue's folder, as `write_queue` returns it.

    Raises:
        DataError: If a file is missing, damaged, or of a newer fireassay.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as run:
    ...     queue = read_queue(write_queue(run, np.zeros((3, 2)), classes=["cat", "dog"], budget=2))
    >>> len(queue), queue.limit, queue.choices
    (3, 2, ('cat', 'dog'))
    """
    folder = Path(folder)
    try:
        settings = read_settings(folder)
        version = settings.pop("version")
        if version != VERSION:
            raise DataError(
                f"Expected a queue of version {VERSION}.", got=f"{version!r}", do="Write it again."
            )
        arrays = {
            array: np.load(folder / f"{array}.npy", mmap_mode="r", allow_pickle=False)
            for array in _ARRAYS
            if array != "pairs" or (folder / "pairs.npy").exists()
        }
        check_lengths(**{array: len(values) for array, values in arrays.items()})
        settings["choices"] = tuple(settings["choices"])
        if settings["feature_names"] is not None:
            settings["feature_names"] = tuple(settings["feature_names"])
        key, digest = settings["name"], settings["content_sha256"]
        search_sha256 = settings.pop("search_sha256")
        if settings["state_file"]:
            key, digest = search_key(settings["state_file"]), search_sha256
        settings |= {"label_key": key, "labels_sha256": digest, "pairs": None, **arrays}
        return Queue(folder=folder, **settings)
    except DataError:
        raise
    except (OSError, ValueError, KeyError, TypeError, EOFError, AttributeError) as error:
        raise DataError(
            f"Expected a labelling queue in {folder}.", got=f"{error}", do="Write it again."
        ) from error


def read_settings(folder: Path) -> dict[str, Any]:
    """What ``queue.json`` says; nothing is opened beside it."""
    try:
        settings = json_files.loads((folder / SETTINGS).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"Expected a labelling queue in {folder}.", got=f"{error}") from error
    if not isinstance(settings, dict):
        raise DataError(f"Expected a labelling queue in {folder}.", got=type(settings).__name__)
    return settings


def find_queues(run: Path) -> list[Path]:
    """Folders of the queues of a run, by name."""
    return sorted(path.parent for path in (run / QUEUES).glob(f"*/{SETTINGS}"))


def save_queue(
    run: Path,
    name: str,
    items: AnyArray,
    given: dict[str, Any],
    *,
    ids: ArrayLike | None,
    predicted: IntArray,
    confidence: FloatArray,
    rows: ArrayLike | None,
    pairs: NDArray[np.str_] | None = None,
) -> Path:
    """Check items and settings, and write them into a run folder: whole, or not at all."""
    if not _NAME.fullmatch(name):
        raise ParameterError(
            "A queue's name must be letters, digits, spaces, dots, - and _, at most 64.",
            got=repr(name[:80]),
        )
    settings = _DEFAULTS | given
    budget, people = settings["budget"], settings["annotators_per_item"]
    settings |= {
        "budget": None if budget is None else check_integer(budget, "budget", low=1),
        "annotators_per_item": check_integer(people, "annotators_per_item", low=1, high=20),
        "instructions": str(settings["instructions"])[:4000],
        "feature_names": check_feature_names(settings["feature_names"], items, settings["kind"]),
    }
    content = check_content(items, settings["kind"])
    n = len(content)
    numbers = np.arange(n) if rows is None else np.asarray(rows, dtype=np.int64).ravel()
    arrays = {
        "content": content, "ids": check_ids(ids, numbers), "predicted": predicted,
        "confidence": confidence, "rows": numbers.astype(np.int64),
    }  # fmt: skip
    if pairs is not None:
        arrays["pairs"] = pairs
    check_lengths(**{key: len(value) for key, value in arrays.items()})
    # What is asked, not how much of it: a larger budget may be set for the same queue.
    asked = ("purpose", "kind", "choices", "state_file", "search_sha256")
    digest = sha256(json_files.dumps({k: settings[k] for k in asked}), *arrays.values())
    folder = run / QUEUES / name
    if folder.exists() and read_queue(folder).content_sha256 != digest:
        raise StoreError(
            f"The queue {name!r} of {run} must stay as it is: labels refer to it.",
            got="other items or classes",
            do="Give the new queue another name=.",
        )
    text = json_files.dumps({**settings, "name": name, "content_sha256": digest, "version": 1})
    if folder.exists():
        write_text(folder / SETTINGS, text)
        return _counted(folder, run)
    (run / QUEUES).mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=".", dir=run / QUEUES))
    try:
        for key, values in arrays.items():
            np.save(temporary / f"{key}.npy", values, allow_pickle=False)
        (temporary / SETTINGS).write_text(text, encoding="utf-8")
        temporary.replace(folder)
    except BaseException:
        shutil.rmtree(temporary)
        raise
    return _counted(folder, run)


def _counted(folder: Path, run: Path) -> Path:
    """The folder, once labels that are there already know how many people label an item."""
    if (run / BOOK).exists():
        queue = read_queue(folder)
        with LabelBook(run) as book:
            if book.holds(queue):
                book.set_people(queue, queue.annotators_per_item or 1)
    return folder


_COLUMNS = ["row", "id", "state", "label", "predicted", "confidence", "wrong", "answers"]


def labels(folder: str | Path, name: str) -> pd.DataFrame:
    """What people said about each answered item of a queue.

    Args:
        folder: The run folder.
        name: The queue.

    Returns:
        One row per item, in the order of the first answers, with ``row`` of the data set, ``id``,
            ``state`` ("settled", "conflict", "cannot tell"), ``label`` (None unless settled;
            "(other)" for a class that is not among the choices), the model's ``predicted`` class
            and ``confidence``, whether it is ``wrong``, and how many ``answers`` there are.

    >>> import tempfile
    >>> from fireassay import web
    >>> with tempfile.TemporaryDirectory() as run:
    ...     _ = web.write_queue(run, [[0.0], [1.0]], classes=["cat", "dog"], name="audit")
    ...     len(labels(run, "audit"))  # nobody has answered yet
    0
    """
    run = Path(folder)
    queue = read_queue(run / QUEUES / name)
    with LabelBook(run) as book:
        book.register(queue)
        found = consensus(book.answers(queue))
    rows = []
    for item, agreed in found.items():
        label, predicted = agreed.label, queue.predicted_name(item)
        said = None if label is None else queue.choice_name(label)
        confidence = None if predicted is None else float(queue.confidence[item])
        answers = sum(answer.kind == "answer" for answer in agreed.answers)
        where, wrong = (int(queue.rows[item]), str(queue.ids[item])), queue.is_wrong(item, label)
        rows.append((*where, agreed.state, said, predicted, confidence, wrong, answers))
    return pd.DataFrame(rows, columns=_COLUMNS)
