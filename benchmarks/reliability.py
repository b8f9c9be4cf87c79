"""Reliability: does the bound hold, how wide is it, and how fast are its parts?

    python benchmarks/reliability.py [--only coverage] [--worlds 500] [--kinds '2-D easy']

Prints a table per part and writes benchmarks/results/reliability.json. Times are CPU seconds; the
slow way is measured in the same run, on a sample of the cells where all of them would take hours.
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bound_coverage import SHIFTED, coverage
from bound_worlds import CONFIGURATIONS
from cell_speed import cells
from splitting_speed import splitting

RESULTS = Path(__file__).parent / "results" / "reliability.json"


def show(title: str, rows: list[dict[str, Any]]) -> None:
    names = list(dict.fromkeys(name for row in rows for name in row))
    print(f"\n{title}\n\n| " + " | ".join(names) + " |")
    print("|" + "---|" * len(names))
    for row in rows:
        print("| " + " | ".join(str(row.get(name, "")) for name in names) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=["cells", "splitting", "coverage"])
    parser.add_argument("--worlds", type=int, default=500)
    every = [*CONFIGURATIONS, SHIFTED]
    parser.add_argument("--kinds", nargs="*", default=every, choices=every, metavar="WORLD")
    options = parser.parse_args()
    stored = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    parts: dict[str, Callable[[], list[dict[str, Any]]]] = {
        "cells": cells,
        "splitting": splitting,
        "coverage": lambda: coverage(options.worlds, options.kinds),
    }
    for name in options.only:
        started = time.process_time()
        rows = parts[name]()
        show(f"{name} ({time.process_time() - started:.0f} CPU s)", rows)
        if name == "coverage":
            before = [r for r in stored.get(name, []) if r["world"] not in options.kinds]
            rows = sorted([*before, *rows], key=lambda row: every.index(row["world"]))
        stored[name] = rows
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(stored, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
