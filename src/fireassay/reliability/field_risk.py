"""The surrogate's mean over fresh operational rows, a group of rows for each label.

Rows are dealt out at random, a large chunk of them at a time, so that a sample of any size takes
the memory of one chunk's numbers (one per row) and of one block of rows.
"""

import math
from collections.abc import Callable, Iterator

import numpy as np

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.reliability.inputs import DiskInputs, Inputs

Value = Callable[[Inputs, IntArray], FloatArray]
UNUSED, TRIAL = -1, -2
_CHUNK = 1 << 19


def risk_chunks(
    operational: Inputs | DiskInputs, n: int, value: Value, rng: np.random.Generator, *, trial: bool
) -> Iterator[tuple[IntArray, FloatArray]]:
    """Deal rows out to n labels; yield each row's label and value, chunk by chunk.

    ``value(inputs, labels)`` is asked for rows that are dealt out. With ``trial`` a tenth of the
    first chunk is put aside for decisions (`TRIAL`); what does not divide evenly is `UNUSED`.
    """
    chunk = max(_CHUNK, 4 * n)
    left, at, size = operational.n_rows, 0, 0
    labels, values = np.zeros(0, dtype=np.int64), np.zeros(0)
    for block in operational.blocks():
        begin = 0
        while begin < block.size:
            if at == size:
                size, at = (left if left < 2 * chunk else chunk), 0
                labels, values = dealt(size, n, rng, trial=trial), np.zeros(size)
                left, trial = left - size, False
            take = min(block.size - begin, size - at)
            part = block.part(begin, begin + take)
            here = np.full(take, UNUSED)
            here[part.rows] = labels[at : at + take][part.rows]
            labels[at : at + take] = here
            used = np.flatnonzero(here != UNUSED)
            asked = part.inputs.take(np.searchsorted(part.rows, used))
            values[at + used] = value(asked, here[used])
            at, begin = at + take, begin + take
            if at == size:
                yield labels, values


def dealt(size: int, n: int, rng: np.random.Generator, *, trial: bool) -> IntArray:
    """For each of ``size`` rows, the label whose group it is in."""
    first = max(1, size // 10) if trial else 0
    if (size - first) // n == 0:
        first = 0
    each = (size - first) // n
    labels = np.full(size, UNUSED)
    order = rng.permutation(size)
    labels[order[:first]] = TRIAL
    labels[order[first : first + n * each]] = np.repeat(np.arange(n), each)
    return labels


class GroupMeans:
    """The mean of each label's group, chunk after chunk."""

    def __init__(self, n: int) -> None:
        self.sums, self.counts = np.zeros(n), np.zeros(n)

    def add(self, labels: IntArray, values: FloatArray) -> None:
        """Take in the rows of a chunk that are in a group."""
        used = labels >= 0
        n = len(self.sums)
        self.sums += np.bincount(labels[used], weights=values[used], minlength=n)
        self.counts += np.bincount(labels[used], minlength=n)

    def means(self) -> FloatArray:
        """Means; nan for a group without a row."""
        with np.errstate(invalid="ignore"):
            found: FloatArray = self.sums / np.where(self.counts > 0, self.counts, math.nan)
        return found
