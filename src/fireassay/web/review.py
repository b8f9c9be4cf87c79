"""Review of generated ambiguous samples: does a person see both classes?"""

import dataclasses
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np

from fireassay.core.arrays import AnyArray, BoolArray, IntArray
from fireassay.core.errors import DataError
from fireassay.core.estimate import Estimate
from fireassay.core.seeds import generator
from fireassay.engine.labels.book import LabelBook
from fireassay.engine.labels.records import Consensus, Slot, consensus
from fireassay.web.queue import QUEUES, Queue, read_queue, save_queue
from fireassay.web.queue_items import usual_kind

KEEP, REJECT, FIRST, SECOND = range(4)
VERDICTS = ("keep", "reject", "more like the first class", "more like the second class")
_CONFIDENCE = 0.95
_ROW_FIELDS = ("X", "soft_labels", "labels", "pairs", "autoencoders", "codes")


class Ambiguous(Protocol):
    """What a review needs of an ambiguous set (`fireassay.ambiguity.AmbiguousSet` has it)."""

    @property
    def X(self) -> AnyArray:  # noqa: N802
        """The samples."""

    @property
    def pairs(self) -> AnyArray:
        """The two classes of each."""


SetType = TypeVar("SetType", bound=Ambiguous)


@dataclass(frozen=True)
class Precision:
    """The share of generated samples that people keep, over all and by pair of classes."""

    overall: Estimate
    by_pair: Mapping[tuple[str, str], Estimate]
    verdicts: Mapping[str, int]


def write_review_queue(
    folder: str | Path,
    amb: Ambiguous,
    *,
    name: str = "review",
    kind: str | None = None,
    budget: int | None = None,
    annotators_per_item: int = 1,
    instructions: str = "",
    seed: int = 0,
) -> Path:
    """Ask people whether generated samples are ambiguous: a queue for ``fireassay serve``.

    The samples come in random order, so that the share kept speaks for the whole set also when
    not all are looked at. Their soft labels are not shown.

    Args:
        folder: The run folder.
        amb: An `AmbiguousSet`, or anything with ``X`` and ``pairs``.
        name, kind, budget, annotators_per_item, instructions: As in `write_queue`.
        seed: Of the order.

    >>> import tempfile
    >>> made = ExportedSamples(np.zeros((3, 8, 8)), np.array([["3", "8"]] * 3))
    >>> with tempfile.TemporaryDirectory() as run:
    ...     queue = read_queue(write_review_queue(run, made))
    >>> queue.purpose, queue.kind, queue.choices[:2]
    ('review', 'image', ('keep', 'reject'))
    """
    items = np.asarray(amb.X)
    order = generator(seed, "review").permutation(len(items))
    pairs = np.asarray(amb.pairs).astype(np.str_)
    if pairs.shape != (len(items), 2):
        raise DataError("A set needs two classes per sample.", got=f"pairs of {pairs.shape}")
    settings = {
        "purpose": "review", "kind": kind or usual_kind(items), "choices": list(VERDICTS),
        "search": "random order", "budget": budget, "annotators_per_item": annotators_per_item,
        "reveal": False, "instructions": instructions,
    }  # fmt: skip
    nothing, unsure = np.full(len(items), -1, dtype=np.int64), np.full(len(items), np.nan)
    return save_queue(
        Path(folder), name, items[order], settings, ids=None, predicted=nothing, confidence=unsure,
        rows=order, pairs=pairs[order],
    )  # fmt: skip


def precision(
    queue: Queue, slots: Sequence[Slot], found: Mapping[int, Consensus]
) -> Precision | None:
    """The share kept by human verdict, in the order the samples were shown."""
    # While the review goes on the interval holds at every look (betting); with the preset budget
    # spent it is Clopper and Pearson's. "Cannot tell" is not a "keep".
    said = [slot.item for slot in slots if slot.item in found]
    items = [item for item in said if found[item].state in ("settled", "cannot tell")]
    if not items or queue.pairs is None:
        return None
    kept = np.array([found[i].label == KEEP for i in items])
    done = len(items) >= queue.limit
    pairs = [(str(queue.pairs[i][0]), str(queue.pairs[i][1])) for i in items]
    by_pair = {
        pair: _share(kept[[other == pair for other in pairs]], done=done)
        for pair in sorted(set(pairs))
    }
    names = [VERDICTS[found[i].label or 0] if found[i].label is not None else "" for i in items]
    counts = {verdict: names.count(verdict) for verdict in VERDICTS}
    counts["cannot tell"] = names.count("")
    return Precision(_share(kept, done=done), by_pair, counts)


def _share(kept: BoolArray, *, done: bool) -> Estimate:
    # Loads scipy; the first page must not wait for that.
    from fireassay.statistics import share
    from fireassay.statistics.betting import betting_sequence

    if done:
        found = share(int(kept.sum()), len(kept), _CONFIDENCE)
        return dataclasses.replace(found, method=f"{found.method}, preset number of samples")
    lows, highs = betting_sequence(kept.astype(np.float64), _CONFIDENCE)
    return Estimate.around(
        float(kept.mean()), float(lows[-1]), float(highs[-1]), confidence=_CONFIDENCE,
        n=len(kept), method="betting, holds at every look",
    )  # fmt: skip


def kept_rows(folder: str | Path, name: str = "review") -> IntArray:
    """Rows of the reviewed set that people kept, ascending.

    Args:
        folder, name: The run folder and the name of the queue, as in `write_review_queue`.

    >>> import tempfile
    >>> from fireassay.web.queue_state import in_order
    >>> made = ExportedSamples(np.zeros((3, 8, 8)), np.array([["3", "8"]] * 3))
    >>> with tempfile.TemporaryDirectory() as run:
    ...     queue = read_queue(write_review_queue(run, made))
    ...     with LabelBook(run) as book:  # as the app does when somebody answers
    ...         book.register(queue)
    ...         given = [(0, "ada", KEEP, ""), (1, "ada", REJECT, "")]
    ...         _ = book.add_all(queue, given, in_order(queue))
    ...     rows, kept = kept_rows(run), keep_reviewed(made, run)
    >>> rows.tolist() == [queue.rows[0]], len(kept.X)
    (True, 1)
    """
    run = Path(folder)
    queue = read_queue(run / QUEUES / name)
    with LabelBook(run) as book:
        book.register(queue)
        found = consensus(book.answers(queue))
    items = [item for item, agreed in found.items() if agreed.label == KEEP]
    return np.sort(np.asarray(queue.rows[items], dtype=np.int64))


def keep_reviewed(amb: SetType, folder: str | Path, name: str = "review") -> SetType:
    """The set with those samples only that people kept.

    Args:
        amb: The set that was reviewed.
        folder, name: The run folder and the name of the queue, as in `write_review_queue`.

    Raises:
        DataError: If it is another set, or nothing was kept.

    >>> import tempfile
    >>> from fireassay.web.queue_state import in_order
    >>> made = ExportedSamples(np.zeros((3, 8, 8)), np.array([["3", "8"]] * 3))
    >>> with tempfile.TemporaryDirectory() as run:
    ...     queue = read_queue(write_review_queue(run, made))
    ...     with LabelBook(run) as book:  # as the app does when somebody answers
    ...         book.register(queue)
    ...         _ = book.add_all(queue, [(0, "ada", KEEP, "")], in_order(queue))
    ...     kept = keep_reviewed(made, run)
    >>> len(made.X), len(kept.X)
    (3, 1)
    """
    run = Path(folder)
    queue = read_queue(run / QUEUES / name)
    if len(queue) != len(amb.X):
        raise DataError(
            "The set must be the one that was reviewed.",
            got=f"{len(amb.X)} samples, {len(queue)} in the queue",
        )
    rows = kept_rows(run, name)
    if not len(rows):
        raise DataError("At least one sample must have been kept.", got="none")
    fields = {field: getattr(amb, field)[rows] for field in _ROW_FIELDS if hasattr(amb, field)}
    return dataclasses.replace(amb, **fields)  # type: ignore[type-var]


@dataclass(frozen=True, eq=False)
class ExportedSamples:
    """Samples and pairs of an exported set, read without the libraries that generated it."""

    X: AnyArray
    pairs: AnyArray


def read_exported(folder: str | Path) -> ExportedSamples:
    """The samples of a folder that ``AmbiguousSet.export`` wrote."""
    path = Path(folder) / "ambiguous.npz"
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            return ExportedSamples(archive["X"], archive["pairs"])
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise DataError(
            f"Expected an exported ambiguous set in {folder}.",
            got=f"{error}",
            do="Write one with: AmbiguousSet.export(folder)",
        ) from error
