"""Columns that are the label itself, or a recoding of it, left among what the model takes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import AnyArray, BoolArray, IntArray
from fireassay.core.seeds import generator
from fireassay.statistics.clopper_pearson import clopper_pearson

_LEAST_ROWS, _LEAST_OF_A_CLASS = 20, 2
_TOLD, _SURELY_TOLD = 0.99, 0.9


@dataclass(frozen=True, slots=True)
class LabelColumns:
    """Columns that tell the label, and of which share of the rows.

    Attributes
    ----------
    columns
        Their positions: one column, or one for each class (indicators); empty if there are none.
    share
        Of how many rows they give the label.

    >>> LabelColumns((), 0.0).found
    False
    """

    columns: tuple[int, ...]
    share: float

    @property
    def found(self) -> bool:
        """Whether there are any."""
        return bool(self.columns)


def label_columns(columns: Sequence[ArrayLike], labels: ArrayLike, seed: int = 0) -> LabelColumns:
    """Look for columns that are the label, or a recoding of it.

    Parameters
    ----------
    columns
        The values of each column: numbers or names.
    labels
        The label of each row.
    seed
        Of the halves.

    Notes
    -----
    What a value of a column means is learnt on one half of the rows and tried on the other, both
    ways round, so that numbers which hardly repeat, as measurements and ids, tell nothing. A class
    is told if 99 % of its rows are found and 99 % of those found are right, each at least 90 % with
    97.5 % confidence: 36 rows of it or more. Objected to is one column that tells all classes with
    so many rows, and columns that do so together, one class each. Or, whatever the number of rows,
    a column whose values are those of the labels, row by row.

    >>> y = np.arange(200) % 3
    >>> ward = np.array(["north", "east", "south"])[y]
    >>> label_columns([np.random.default_rng(0).normal(size=200), ward], y)
    LabelColumns(columns=(1,), share=1.0)
    """
    y = np.asarray(labels)
    classes, truth = np.unique(y, return_inverse=True)
    sizes = np.bincount(truth)
    if len(y) < _LEAST_ROWS or (sizes >= _LEAST_OF_A_CLASS).sum() < 2:
        return LabelColumns((), 0.0)
    half = generator(seed, "columns that tell the label").permutation(len(y)) % 2 == 0
    best = LabelColumns((), 0.0)
    told_by: dict[int, tuple[int, int]] = {}  # class: a column, and of how many rows
    judged = [int(kind) for kind in np.flatnonzero(_sure(sizes, sizes))]
    for place, values in enumerate(columns):
        column = np.asarray(values)
        if _same_values(column, y):
            return LabelColumns((place,), 1.0)
        codes = _codes(column)
        if codes is None:
            continue
        said = _told(codes, truth, half, len(classes))
        told = _well_told(said, truth, len(classes))
        share = float((said == truth).mean())
        if len(judged) > 1 and told[judged].all() and share >= max(_TOLD, best.share):
            best = LabelColumns((place,), share)
        for kind in np.flatnonzero(told):
            told_by.setdefault(int(kind), (place, int(((said == truth) & (truth == kind)).sum())))
    if not best.found and len(judged) > 1 and all(kind in told_by for kind in judged):
        places, rows = zip(*(told_by[kind] for kind in judged), strict=True)
        return LabelColumns(tuple(sorted(set(places))), sum(rows) / len(y))
    return best


def _same_values(column: AnyArray, labels: AnyArray) -> bool:
    """Whether a column has the labels' own values, as numbers or in writing."""
    if column.dtype.kind in "biuf" and labels.dtype.kind in "biuf":
        return bool((column == labels).all())
    if "O" in column.dtype.kind + labels.dtype.kind or column.dtype.kind == labels.dtype.kind:
        return bool((column.astype(str) == labels.astype(str)).all())
    return False


def _codes(column: AnyArray) -> IntArray | None:
    """Which value each row has; None where values hardly repeat."""
    written = column.astype(str) if column.dtype.kind == "O" else column
    values, codes = np.unique(written, return_inverse=True)
    return codes if 2 <= len(values) <= len(column) // 4 else None


def _told(codes: IntArray, truth: IntArray, half: BoolArray, classes: int) -> IntArray:
    """The commonest class of each row's value among the rows of the other half; -1: not seen."""
    said = np.full(len(codes), -1)
    n = int(codes.max()) + 1
    for learnt in (half, ~half):
        counts = np.zeros((n, classes), dtype=np.int64)
        np.add.at(counts, (codes[learnt], truth[learnt]), 1)
        meaning = np.where(counts.any(axis=1), counts.argmax(axis=1), -1)
        said[~learnt] = meaning[codes[~learnt]]
    return said


def _well_told(said: IntArray, truth: IntArray, classes: int) -> BoolArray:
    right = np.bincount(truth[said == truth], minlength=classes)
    named = np.bincount(said[said >= 0], minlength=classes)
    return _sure(right, np.bincount(truth, minlength=classes)) & _sure(right, named)


def _sure(right: IntArray, of: IntArray) -> BoolArray:
    """Whether nearly all are right, and surely most."""
    found: BoolArray = (of > 0) & (right >= _TOLD * of)
    for kind in np.flatnonzero(found):
        k, n = int(right[kind]), int(of[kind])
        # Of n in n the lower limit is a power, and needs no library.
        low = 0.025 ** (1 / n) if k == n else clopper_pearson(k, n, 0.95)[0]
        found[kind] = low >= _SURELY_TOLD
    return found
