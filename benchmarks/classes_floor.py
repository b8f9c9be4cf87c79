"""What accuracy at 50,000 × 1,000 classes cannot do without: each step alone, in plain numpy.

Run by `python benchmarks/waiting.py thousand_classes` beside the part itself. Every step is what
the part's numbers need on these rows, done once, with nothing around it: no check of inputs, no
interval, no message. CPU seconds.
"""

import json
import time
from hashlib import blake2b

import numpy as np

ROWS, CLASSES, COLUMNS, BLOCK = 50_000, 1_000, 64, 256
rng = np.random.default_rng(0)
W = rng.standard_normal((COLUMNS, CLASSES)).astype(np.float32)
X = rng.standard_normal((ROWS, COLUMNS)).astype(np.float32)
WORDS = -(-15_625 // 64)  # of the rows that a slice is searched on, a bit each
CONDITIONS = rng.integers(2**63, size=(WORDS, 19 * COLUMNS), dtype=np.uint64)


def answer(rows):
    """The model of the benchmark."""
    z = rows @ W
    z -= z.max(1, keepdims=True)
    np.exp(z, out=z)
    z /= z.sum(1, keepdims=True)
    return z


def answers_in_one_table():
    """The model's time, and that of a table that is new to the process."""
    table = np.empty((ROWS, CLASSES), dtype=np.float32)
    for start in range(0, ROWS, BLOCK):
        table[start : start + BLOCK] = answer(X[start : start + BLOCK])
    return table


def sums_least_and_three_largest(table):
    """One check, and the first three classes of each row."""
    for start in range(0, ROWS, BLOCK):
        some = table[start : start + BLOCK].copy()
        some.sum(axis=1), some.min()
        for _ in range(3):
            some[np.arange(len(some)), some.argmax(axis=1)] = -1


def temperature(table):
    """Three steps on four million numbers, then a logarithm and a power for half of the rows."""
    for start in range(0, 4_194, 65):
        logs = np.log(table[start : start + 65].astype(np.float64))
        for _ in range(3):
            (np.exp(logs) * logs).sum(axis=1)
    for start in range(0, ROWS // 2, BLOCK):
        logs = np.log(table[start : start + BLOCK])
        np.exp(logs, out=logs).sum(axis=1)


def marks(_):
    """A number for each row that is the same in every run: two digests."""
    for row in X:
        blake2b(blake2b(row.tobytes(), digest_size=16).digest(), digest_size=8).digest()


def three_shuffles(_):
    """Columns shuffled by themselves, which rows are compared with."""
    columns = np.asfortranarray(X, dtype=np.float64)
    for _ in range(3):
        rng.permuted(columns, axis=0, out=columns)


def neighbours(_):
    """Products of 1,000 rows with all others, and the least of each."""
    for start in range(0, 1_000, 84):
        (X[start : start + 84] @ X.T).min(axis=1)


def slices(_):
    """Each column of two samples sorted; 82 rules against all conditions, rows and errors."""
    for half in (X[:15_625].T.astype(np.float64), X[15_625:31_250].T.astype(np.float64)):
        for column in half:
            np.sort(column)
        for _ in range(164):
            np.bitwise_count(CONDITIONS & CONDITIONS[:, :1]).sum(axis=0, dtype=np.uint32)


def main():
    """Print the seconds of each step."""
    begun = time.process_time()
    table = answers_in_one_table()
    found = {"answers": time.process_time() - begun}
    for step in (
        sums_least_and_three_largest,
        temperature,
        marks,
        three_shuffles,
        neighbours,
        slices,
    ):
        begun = time.process_time()
        step(table)
        found[step.__name__] = time.process_time() - begun
    print(json.dumps({"steps": found, "cpu_s": sum(found.values())}))


if __name__ == "__main__":
    main()
