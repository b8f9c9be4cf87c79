"""A label left among the columns: how often the guard objects on published tables.

    python benchmarks/label_columns.py FOLDER   # a folder of CSV tables

Each column of 2 to 10 values is taken as the label, the others as what a model takes. Objections
are printed with the columns they name, so that a person can say whether the label follows from
them. The tables of docs/data.md are R's, as the Python package pydataset 0.2.0 has them, halved by
a checksum of their name: the rule was looked at on half 1, figures are reported for half 0.
"""

import sys
import zlib
from pathlib import Path

import numpy as np
import pandas as pd

from fireassay.statistics.label_checks import label_columns

LEAST_ROWS, MOST_ROWS, MOST_LABELS = 100, 20_000, 8


def tables(folder: Path, half: int):
    """Names and frames of one half."""
    for path in sorted(folder.rglob("*.csv")):
        name = "/".join(path.parts[-3:])
        if path.name.startswith(".") or zlib.crc32(name.encode()) % 2 != half:
            continue
        frame = pd.read_csv(path, low_memory=False, encoding_errors="replace")
        frame = frame.iloc[:, 1:] if str(frame.columns[0]).startswith("Unnamed") else frame
        if len(frame) >= LEAST_ROWS and frame.shape[1] >= 3:
            yield name, frame[:MOST_ROWS]


def planted(rng: np.random.Generator) -> str:
    """How often a recoded label is found among five columns, by rows of the smaller class."""
    told = []
    for rare in (20, 40, 100):
        hits = 0
        for _ in range(100):
            y = np.repeat([0, 1], [300, rare])
            columns = [rng.normal(size=len(y)), rng.integers(0, 5, len(y)), np.arange(len(y))]
            hits += label_columns([*columns, np.where(y, "ill", "well")], y).found
        told.append(f"{hits} of 100 with {rare} rows of a class")
    return ", ".join(told)


def main(folder: Path) -> None:
    for half in (1, 0):
        looked = labels = objections = 0
        for name, frame in tables(folder, half):
            chosen = [c for c in frame if 2 <= frame[c].nunique() <= 10][:MOST_LABELS]
            looked += bool(chosen)
            for label in chosen:
                others = [c for c in frame if c != label]
                rows = frame[frame[label].notna()]
                y = rows[label].to_numpy()
                y = y.astype(str) if y.dtype == object else y
                found = label_columns([rows[c].to_numpy() for c in others], y)
                labels, objections = labels + 1, objections + found.found
                if found.found:
                    print(f"  {name}: {label} by {', '.join(others[i] for i in found.columns)}")
        print(f"half {half}: {looked} tables, {labels} labels, {objections} objections")
    print(f"planted: {planted(np.random.default_rng(0))}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
