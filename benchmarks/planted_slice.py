"""A slice where the model is wrong five times as often: how often the search finds it.

Run: python benchmarks/planted_slice.py [--worlds 300]
"""

import argparse

import numpy as np

from fireassay.assessment.slice_report import found_slice

FEATURES = 10


def world(rng: np.random.Generator, n: int, columns: int, share: float, base: float, times: float):
    """Features, errors, and the planted slice: high values of one or two features together."""
    X = rng.random((n, FEATURES))
    inside = (X[:, :columns] > 1 - share ** (1 / columns)).all(axis=1)
    wrong = rng.random(n) < np.where(inside, times * base, base)
    return X, wrong, inside


def main() -> None:
    """Print one line per world."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=300)
    worlds = parser.parse_args().worlds
    print("| slice | columns | times the error | n | found | rows found that are in it | ± |")
    print("|---|---|---|---|---|---|---|")
    n = 2000
    for share, columns, times in (
        (0.05, 1, 5),
        (0.05, 2, 5),
        (0.02, 1, 5),
        (0.05, 1, 1),
    ):
        rng = np.random.default_rng(0)
        found, overlap = 0, []
        for seed in range(worlds):
            X, wrong, inside = world(rng, n, columns, share, 0.04, times)
            rule = found_slice(X, wrong, [f"x{i}" for i in range(FEATURES)], seed=seed)
            if rule is not None and rule.confirmed:
                found += 1
                overlap.append(inside[rule.rule.of(X)].mean())
        rate = found / worlds
        error = np.sqrt(max(rate * (1 - rate), 1 / worlds) / worlds)
        own = f"{np.mean(overlap):.2f}" if overlap else "–"
        print(
            f"| {share:.0%} of rows | {columns} | {times} | {n:,} | {rate:.3f} | {own} "
            f"| {error:.3f} |"
        )


if __name__ == "__main__":
    main()
