"""Operational rows on disk with the model's answers, asked block by block."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.classifiers.protocol import Classifier
from fireassay.core.arrays import FloatArray
from fireassay.core.hashing import sha256
from fireassay.reliability.disk_rows import DiskRows
from fireassay.reliability.surrogate import Block, Inputs


@dataclass(frozen=True)
class Streamed:
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

    def among(self, rows: FloatArray) -> NDArray[np.bool_]:
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
