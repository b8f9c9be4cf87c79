"""A slice where the model is wrong five times as often: how often the search finds it.

    python benchmarks/planted_slice.py [--worlds 300] [--docs]

Goes on where it was stopped (results/planted_slice.json); each world has a seed of its own, none of
which was looked at while the search was made.
"""

import argparse
import json

import numpy as np
from coverage import HERE, PAGE, refresh

from fireassay.assessment.parts.slices import found_slice
from fireassay.core.files import write_text
from fireassay.core.seeds import derived_seed, generator

RESULT = HERE / "results" / "planted_slice.json"
FEATURES, ROWS, BASE, SHARE = 10, 2000, 0.04, 0.05
# Columns that describe the slice, and how often it is wrong there, relative to elsewhere.
WORLDS = {
    "one of ten columns describes it": (1, 5.0),
    "two of ten columns describe it": (2, 5.0),
    "nothing planted": (1, 1.0),
}
HEAD = (
    "| slice | found and confirmed | rows of the rule that are in it | worlds |\n|---|---|---|---|"
)


def world(rng: np.random.Generator, n: int, columns: int, share: float, base: float, times: float):
    """Features, errors, and the planted slice: high values of one or two features together."""
    X = rng.random((n, FEATURES))
    inside = (X[:, :columns] > 1 - share ** (1 / columns)).all(axis=1)
    wrong = rng.random(n) < np.where(inside, times * base, base)
    return X, wrong, inside


def look(name: str, number: int) -> tuple[bool, float]:
    """Whether a slice is found in one world, and how many of its rows are planted ones."""
    columns, times = WORLDS[name]
    rng = generator(18, "planted slice", name, number)
    X, wrong, inside = world(rng, ROWS, columns, SHARE, BASE, times)
    seed = derived_seed(18, "slice search", name, number)
    rule = found_slice(X, wrong, [f"x{i}" for i in range(FEATURES)], seed=seed)
    if rule is None or not rule.confirmed:
        return False, 0.0
    return True, float(inside[rule.rule.of(X)].mean())


def line(name: str, kept: dict) -> str:
    rate = kept["found"] / kept["worlds"]
    error = np.sqrt(max(rate * (1 - rate), 1 / kept["worlds"]) / kept["worlds"])
    planted = WORLDS[name][1] > 1 and kept["found"]
    own = f"{kept['inside'] / kept['found']:.2f}" if planted else "–"
    return f"| {name} | {rate:.3f} ± {error:.3f} | {own} | {kept['worlds']} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=int, default=300)
    parser.add_argument("--docs", action="store_true", help="refresh docs/intervals.md")
    asked = parser.parse_args()
    kept = json.loads(RESULT.read_text()) if RESULT.exists() else {}
    for number in range(asked.worlds):
        for name in WORLDS:
            of = kept.setdefault(name, {"worlds": 0, "found": 0, "inside": 0.0})
            if of["worlds"] == number:
                found, inside = look(name, number)
                of["worlds"], of["found"] = number + 1, of["found"] + found
                of["inside"] += inside
        if number % 10 == 9:
            write_text(RESULT, json.dumps(kept, indent=1) + "\n")
    table = "\n".join([HEAD, *(line(name, kept[name]) for name in WORLDS if name in kept)])
    print(table)
    if asked.docs:
        refresh(PAGE, "planted", table)


if __name__ == "__main__":
    main()
