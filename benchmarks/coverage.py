"""Measure what every interval and test claims: one table, made in pieces that are kept.

    python benchmarks/coverage.py            # whatever is not measured yet; results/coverage.json
    python benchmarks/coverage.py --docs     # the same, then the tables of docs/intervals.md
    python benchmarks/coverage.py --docs --seconds 0          # only the tables, as far as it is
    python benchmarks/coverage.py --only groups --runs 300    # a quick look, not kept
    python benchmarks/coverage.py --again "groups-max"        # forget these rows and measure again

Each row repeats one experiment with a known truth, each world with a seed of its own: a run that
is killed goes on where it was, and gives the same table.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import auc_worlds
import cost_worlds
import detection_worlds
import field_worlds
import group_worlds
import label_noise_worlds
import latent_worlds
import null_worlds
import numpy as np
import paired_worlds
import share_worlds
import slice_worlds
import survival_worlds
from conclusions import conclusions
from coverage_rows import NullRow, Row
from marked_tables import refresh
from scipy.stats import binom

from fireassay.core.files import write_text
from fireassay.core.seeds import generator

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "adversary"))

from worst_table import Worst  # noqa: E402

WORST = Worst()
RESULT = HERE / "results" / "coverage.json"
PAGE = HERE.parent / "docs" / "intervals.md"
PIECE = 0.6  # CPU seconds
ROWS: list[Row] = [
    *share_worlds.ROWS,
    *group_worlds.ROWS,
    *auc_worlds.ROWS,
    *detection_worlds.ROWS,
    *cost_worlds.ROWS,
    *slice_worlds.ROWS,
    *paired_worlds.ROWS,
    *field_worlds.ROWS,
    *latent_worlds.ROWS,
    *label_noise_worlds.ROWS,
    *survival_worlds.ROWS,
]
NULLS: list[NullRow] = null_worlds.ROWS
_LEVEL = 0.05


def sums_of(row: Row | NullRow, start: int, runs: int) -> list[float]:
    """Misses (or rejections) and summed widths of some worlds of a row."""
    name = "coverage" if isinstance(row, Row) else "type I"
    worlds = (generator(0, name, row.method, row.setting, i) for i in range(start, start + runs))
    if isinstance(row, NullRow):
        return [float(sum(row.world(rng) <= _LEVEL for rng in worlds)), 0.0, 0.0]
    return np.sum([row.world(rng) for rng in worlds], axis=0, dtype=float).tolist()


class Kept:
    """What was measured so far, by row; every piece is written at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows = json.loads(path.read_text()) if path.exists() else {}

    def of(self, row: Row | NullRow) -> dict:
        key = f"{row.method} | {row.setting}"
        return self.rows.setdefault(key, {"runs": 0, "sums": [0.0, 0.0, 0.0], "cpu_s": 0.0})

    def measure(self, rows: list[Row | NullRow], seconds: float) -> None:
        """A piece of each row in turn, so that all are measured when the time is over."""
        while left := [row for row in rows if self.of(row)["runs"] < row.runs]:
            for row in left:
                if time.process_time() > seconds:
                    return
                self.piece(row)

    def piece(self, row: Row | NullRow) -> None:
        found, started = self.of(row), time.process_time()
        while found["runs"] < row.runs and time.process_time() - started < PIECE:
            some = min(20, row.runs - found["runs"])
            new = sums_of(row, found["runs"], some)
            found["sums"] = [a + b for a, b in zip(found["sums"], new, strict=True)]
            found["runs"] += some
        found["cpu_s"] = round(found["cpu_s"] + time.process_time() - started, 2)
        write_text(self.path, json.dumps(self.rows, indent=1) + "\n")

    def line(self, row: Row | NullRow, *, first: bool) -> str:
        found = self.of(row)
        worst = self.worst_found(row, words=first)
        return row_line(row, found["runs"], found["sums"], worst) if found["runs"] else ""

    def worst_found(self, row: Row | NullRow, *, words: bool) -> str:
        """By the search; of methods that were not searched the worst world of this table."""
        test = isinstance(row, NullRow)
        name = f"{row.method}, p-value" if test and WORST.of(f"{row.method}, p-value") else ""
        searched = WORST.cell(name or row.method, words=words)
        if searched:
            return searched
        alike = [other for other in (NULLS if test else ROWS) if other.method == row.method]
        alike = [
            other for other in alike if other.promise == row.promise and self.of(other)["runs"]
        ]
        rates = {o.setting: self.of(o)["sums"][0] / self.of(o)["runs"] for o in alike}
        worst = max(rates, key=lambda setting: rates[setting], default=None)
        nominal = _LEVEL if test else round(1 - row.nominal, 3)
        return "" if worst is None else f"{rates[worst]:.4f} of {nominal:g}: {worst}, here"


def row_line(row: Row | NullRow, runs: int, sums: list[float], worst: str = "") -> str:
    """One line of a table: the share with its Monte-Carlo error, the width, the worst found."""
    count, wide, best = sums
    nominal = row.nominal if isinstance(row, Row) else 1 - _LEVEL
    share = count / runs
    error = np.sqrt(max(share * (1 - share), 1 / runs) / runs)
    off = count > binom.ppf(0.999, runs, 1 - nominal)
    if isinstance(row, NullRow):
        told = f"{share:.4f} ± {error:.4f}{' (too high)' if off else ''}"
        return (
            f"| {row.method} | {row.setting} | {row.promise} | {_LEVEL:g} | {told} | {runs:,} "
            f"| {worst} |"
        )
    told = f"{1 - share:.4f} ± {error:.4f}{' (too low)' if off else ''}"
    ratio = f"{wide / best:.2f} × {row.compared}"
    return (
        f"| {row.method} | {row.setting} | {row.promise} | {nominal:g} | {told} | {ratio} "
        f"| {runs:,} | {worst} |"
    )


def no_correlation(kept: dict) -> str:
    """What counting groups costs where it was not needed: the bounds themselves."""
    found = kept["groups-max, upper | 40 × 25, correlation 0"]
    ours, exact = (0.08 + total / found["runs"] for total in found["sums"][1:])
    return (
        f"Where rows of a group are not alike (40 × 25, correlation 0, p = .08), groups-max says "
        f"{ours:.4f} on average and Clopper–Pearson {exact:.4f}: {ours / exact:.2f} times as much."
    )


HEADS = {
    "coverage": (
        "| interval | world | promise | nominal | covered | width or excess | worlds "
        "| worst found (misses) |\n|---|---|---|---|---|---|---|---|"
    ),
    "type-I": (
        "| test | world | promise | nominal | rejected | worlds | worst found |\n"
        "|---|---|---|---|---|---|---|"
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--docs", action="store_true", help="refresh docs/intervals.md")
    parser.add_argument("--only", default="", help="rows whose method has this text")
    parser.add_argument("--runs", type=int, help="worlds per row; not kept")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="CPU time; then stop")
    parser.add_argument("--again", help="forget rows whose name has this text")
    asked = parser.parse_args()
    kept = Kept(RESULT)
    if asked.again is not None:
        kept.rows = {k: v for k, v in kept.rows.items() if asked.again not in k}
    if not asked.runs:
        kept.measure([r for r in [*ROWS, *NULLS] if asked.only in r.method], asked.seconds)
    for mark, rows in (("coverage", ROWS), ("type-I", NULLS)):
        lines = [HEADS[mark]]
        print(HEADS[mark], flush=True)
        for row in rows:
            if asked.only not in row.method:
                continue
            if asked.runs:
                line = row_line(row, asked.runs, sums_of(row, 0, asked.runs))
            else:
                first = not any(f"| {row.method} |" in made for made in lines)
                line = kept.line(row, first=first)
            print(line, flush=True)
            lines += [line] if line else []
        if asked.docs and not asked.only and not asked.runs:
            refresh(PAGE, mark, "\n".join(lines))
    if asked.docs and not asked.only and not asked.runs:
        refresh(PAGE, "conclusions", conclusions(kept.rows))
        refresh(PAGE, "correlation 0", no_correlation(kept.rows))
    print(f"\n{time.process_time():.0f} CPU seconds here; ", end="")
    print(f"{sum(v['cpu_s'] for v in kept.rows.values()):.0f} in all")


if __name__ == "__main__":
    main()
