"""Rows with the model's answers, asked once: in memory, or on disk a block at a time."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from fireassay.classifiers.protocol import Classifier
from fireassay.classifiers.views import numeric_view
from fireassay.core.arrays import AnyArray, BoolArray, FloatArray, IntArray, Probabilities
from fireassay.core.hashing import sha256
from fireassay.core.probabilities import largest
from fireassay.reliability.disk_rows import DiskRows

_ROWS_AT_ONCE = 65_536


@dataclass(frozen=True)
class Inputs:
    """Rows in memory: features (flat) and probabilities."""

    X: FloatArray
    probabilities: Probabilities

    @classmethod
    def ask(cls, model: Classifier, rows: AnyArray) -> "Inputs":
        """Rows of any shape with the model's answers."""
        return cls(numeric_view(model, rows), model.predict_proba(rows))

    @property
    def predicted(self) -> IntArray:
        """The class index the model gives."""
        return np.asarray(self.probabilities.argmax(axis=1), dtype=np.int64)

    @property
    def doubt(self) -> FloatArray:
        """Log odds of the model's own uncertainty, kept finite."""
        uncertain = np.clip(1 - largest(self.probabilities), 1e-6, 1 - 1e-6)
        logit: FloatArray = np.log(uncertain) - np.log1p(-uncertain)
        return logit

    def __len__(self) -> int:
        return len(self.X)

    def take(self, rows: Any) -> "Inputs":
        """Some of the rows."""
        return Inputs(self.X[rows], self.probabilities[rows])

    @property
    def n_rows(self) -> int:
        """Rows of all blocks."""
        return len(self.X)

    def blocks(self) -> Iterator["Block"]:
        """All rows, some at a time, as rows on disk come."""
        for start in range(0, len(self), _ROWS_AT_ONCE):
            inputs = self.take(slice(start, start + _ROWS_AT_ONCE))
            yield Block(len(inputs), np.arange(len(inputs)), inputs)


@dataclass(frozen=True)
class Block:
    """Consecutive rows; ``inputs`` are those at the positions ``rows``, the rest is left out."""

    size: int
    rows: IntArray
    inputs: Inputs

    def part(self, start: int, stop: int) -> "Block":
        """Rows from ``start`` to ``stop`` of this block."""
        if start == 0 and stop == self.size:
            return self
        first, last = np.searchsorted(self.rows, [start, stop])
        return Block(
            stop - start, self.rows[first:last] - start, self.inputs.take(slice(first, last))
        )


@dataclass(frozen=True)
class DiskInputs:
    """What `Inputs` is for rows in memory: rows and answers, but only a block at a time.

    ``fresh`` is how many rows are none of the labelled ones; the others are left out.
    """

    rows: DiskRows
    model: Classifier
    labelled: "Known"
    fresh: int

    def __len__(self) -> int:
        return self.fresh

    @property
    def n_rows(self) -> int:
        """Rows of all blocks, those that are left out included."""
        return len(self.rows)

    def blocks(self) -> Iterator[Block]:
        """Blocks of all rows; the inputs are the fresh ones among them."""
        for block in self.rows.blocks():
            flat = block.reshape(len(block), -1).astype(np.float64)
            fresh = np.flatnonzero(~self.labelled.among(flat))
            inputs = Inputs(flat[fresh], self.model.predict_proba(block[fresh]))
            yield Block(len(block), fresh, inputs)


class Known:
    """The labelled rows, to tell whether operational rows are fresh.

    Rows of features that hardly ever repeat can only be equal by being the same; where labelled
    rows repeat among themselves, equal rows are nothing special.
    """

    def __init__(self, labelled: FloatArray) -> None:
        rows = {row.tobytes() for row in labelled}
        self._rows = rows if len(rows) >= 0.99 * len(labelled) else set()
        self._first = np.unique(labelled[:, 0])

    def among(self, rows: FloatArray) -> BoolArray:
        """Which rows are labelled ones."""
        found = np.zeros(len(rows), dtype=bool)
        if self._rows:
            maybe = np.flatnonzero(np.isin(rows[:, 0], self._first))
            found[maybe] = [row.tobytes() in self._rows for row in rows[maybe]]
        return found


def scan(rows: DiskRows, known: Known) -> tuple[int, str]:
    """How many rows are fresh, and a hash of the content."""
    fresh = 0
    hashes: list[Any] = []
    for block in rows.blocks():
        flat = block.reshape(len(block), -1).astype(np.float64)
        fresh += int((~known.among(flat)).sum())
        hashes.append(sha256(flat))
    return fresh, sha256(hashes)
