"""Patients that nobody named: how often the rows give them away, and how often falsely.

    python benchmarks/unnamed_groups.py                 # 40 patients × 10 rows: found in how many
    python benchmarks/unnamed_groups.py --sets FOLDER   # published tables (CSV), no named groups

The published tables of docs/intervals.md are R's, as the Python package pydataset 0.2.0 has them.
Those whose columns name a person, a place or a time are left out; the others are halved by a
checksum of their name: limits were chosen on half 1, figures are reported for half 0.
"""

import argparse
import re
import zlib
from pathlib import Path

import numpy as np
import pandas as pd

from fireassay.statistics import clumped_rows, neighbouring_rows

GROUPED = re.compile(
    "id|subj|patient|person|year|yr|time|state|country|firm|date|week|month|day|quarter|school|"
    "county|family|block|batch|rat|dog|animal|case|group|trial|visit|session|wave|round|hour|"
    "litter|plot|site|station|region|city|village|district|household|hh|panel|obs|pair|cluster|"
    "lab|student|teacher|class|team|player|season|game|race",
    re.IGNORECASE,
)
FILES = 24


def power() -> None:
    """Files in the order they came, and shuffled."""
    rng = np.random.default_rng(5)
    for columns in (4, 12, 30):
        for noise in (0.1, 0.3, 0.5, 0.8):
            order = clumps = 0
            for _ in range(FILES):
                own = np.repeat(rng.normal(size=(40, columns)), 10, axis=0)
                X = own + noise * rng.normal(size=own.shape)
                order += neighbouring_rows(X).many
                clumps += clumped_rows(rng.permutation(X)).many
            print(f"{columns} columns, noise {noise:.0%}: {order} in order, {clumps} shuffled")


def table(path: Path) -> tuple[np.ndarray, np.ndarray | None] | None:
    """Numbers and a class column of a table that names no groups and has 100 rows or more."""
    frame = pd.read_csv(path, low_memory=False, encoding_errors="replace")
    frame = frame.iloc[:, 1:] if str(frame.columns[0]).startswith("Unnamed") else frame
    if len(frame) < 100 or any(GROUPED.search(str(name)) for name in frame.columns):
        return None
    numbers = frame.select_dtypes("number")
    numbers = numbers.dropna(axis=1, thresh=int(0.9 * len(numbers))).dropna()
    numbers = numbers.loc[:, numbers.nunique() > 1]
    counted = [c for c in numbers if (np.abs(np.diff(numbers[c])) == 1).mean() > 0.9]
    numbers = numbers.drop(columns=counted)
    if numbers.shape[1] < 2 or len(numbers) < 100:
        return None
    words = [c for c in frame if c not in numbers and frame[c].dtype == object]
    kinds = next((c for c in words if 2 <= frame[c].nunique() <= 10), None)
    labels = None if kinds is None else pd.factorize(frame.loc[numbers.index, kinds])[0][:3000]
    return numbers.to_numpy(float)[:3000], labels


def false_alarms(folder: Path) -> None:
    """Which published tables are objected to, by half."""
    for half in (1, 0):
        looked = judged = 0
        for path in sorted(folder.rglob("*.csv")):
            name = "/".join(path.parts[-3:])
            if path.name.startswith("."):
                continue
            if zlib.crc32(name.encode()) % 2 != half or (found := table(path)) is None:
                continue
            X, labels = found
            clumps, order = clumped_rows(X), neighbouring_rows(X, labels)
            looked, judged = looked + 1, judged + (clumps.looked_at > 0)
            if clumps.many or order.many:
                said = [w for w, bad in (("clumps", clumps.many), ("order", order.many)) if bad]
                print(f"  {name}: {', '.join(said)}")
        print(f"half {half}: {looked} tables, clumps judged in {judged}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=Path, help="a folder of CSV tables")
    asked = parser.parse_args()
    if asked.sets is None:
        power()
    else:
        false_alarms(asked.sets)


if __name__ == "__main__":
    main()
