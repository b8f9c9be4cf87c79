"""How often the bounds on errors left hold, how wide they are, and what stopping early costs.

    python benchmarks/discovery_left.py [--worlds 1000]

A world has 300 to 3,000 candidates, 0.5 to 40 % of them wrong, a search of some skill, 50 to 200
labels, a fifth of them an audit, and 50 to 400 calibration rows. In every third world the pool is
unlike the calibration rows: there only the audit may speak. No model is fitted: what is tried is
the bound and the rule, on the states that `Search` would keep.
"""

import argparse
from dataclasses import replace

import numpy as np
from scipy import stats

from fireassay.core.seeds import generator
from fireassay.discovery import Search
from fireassay.discovery.estimators import AUDIT, errors_left, tired
from fireassay.discovery.known_rows import KnownRows

BLANK = Search("random", model=lambda X: np.tile([0.9, 0.1], (len(X), 1)), X=np.zeros((2, 1))).state


def world(seed, patience=30):
    rng = generator(seed, "errors left")
    n, known = int(rng.integers(300, 3000)), int(rng.integers(50, 400))
    rate, shift = float(np.exp(rng.uniform(np.log(0.005), np.log(0.4)))), seed % 3 == 0
    wrong = rng.random(n) < (min(0.6, 3 * rate) if shift else rate)
    order = np.argsort(-(wrong * rng.uniform(0, 3) + rng.normal(size=n)))
    budget = int(rng.integers(50, 201))
    confidence = np.full(n, 1 - rate / rng.uniform(1, 4))
    calibration = rng.random(known) < rate
    labels = calibration.astype(np.int64)
    kept = KnownRows(
        np.zeros((0, 0), np.float32), np.zeros((0, 0), np.float32), np.zeros(known, np.int64),
        np.full(known, 0.9), labels, np.ones(known, dtype=bool), split=True,
    )  # fmt: skip
    state = replace(
        BLANK, name="twin-trees", budget=budget, rows=np.arange(n), classes=(0, 1), ids=None,
        predicted=np.zeros(n, np.int64), confidence=confidence, features=np.zeros((n, 1)),
        audit_share=0.2, patience=patience, known=kept,
    )  # fmt: skip
    searched = budget - state.audit_size
    stop = searched
    for step in range(patience, searched) if patience else ():
        so_far = tuple(order[:step].tolist())
        told = tuple((c, int(wrong[c]), "") for c in so_far)
        if tired(replace(state, asked=so_far, arms=("search",) * step, labels=told)):
            stop = step
            break
    audit = rng.choice(order[stop:], state.audit_size, replace=False)
    asked = [*order[:stop].tolist(), *audit.tolist()]
    state = replace(
        state, asked=tuple(asked), arms=("search",) * stop + (AUDIT,) * len(audit),
        labels=tuple((c, int(wrong[c]), "") for c in asked),
    )  # fmt: skip
    unseen = int(wrong.sum() - wrong[asked].sum())
    found = {}
    for name, split in (("audit", False), ("audit and split", True)):
        left = errors_left(replace(state, known=replace(kept, split=split)), 0.95)
        found[name] = (
            left.low <= unseen <= left.high,
            left.high - left.low,
            "not like" in left.method,
        )
    spent, hits = stop, int(wrong[order[:stop]].sum())
    more = int(wrong[order[:searched]].sum())
    return shift, unseen, found, (spent, searched, hits, more)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=1000)
    count = parser.parse_args().worlds
    worlds = [world(seed) for seed in range(count)]
    for name in ("audit", "audit and split"):
        for kind, shift in (("alike", False), ("shift", True)):
            rows = [(found[name], unseen) for moved, unseen, found, _ in worlds if moved == shift]
            held = sum(row[0][0] for row in rows)
            low = stats.binomtest(held, len(rows)).proportion_ci().low
            print(
                f"{name}, {kind}: holds in {held / len(rows):.3f} of {len(rows)} worlds"
                f" (at least {low:.3f}),"
                f" median width {np.median([row[0][1] for row in rows]):.0f} with"
                f" {np.median([row[1] for row in rows]):.0f} left,"
                f" said to be unlike in {np.mean([row[0][2] for row in rows]):.2f}"
            )
    rule = np.array([told for *_, told in worlds])
    early = rule[:, 0] < rule[:, 1]
    print(
        f"stopping: early in {early.mean():.2f} of the worlds; labels saved there "
        f"{1 - rule[early, 0].sum() / rule[early, 1].sum():.2f}, errors not found there "
        f"{1 - rule[early, 2].sum() / max(1, rule[early, 3].sum()):.2f} "
        f"({rule[early, 3].sum() - rule[early, 2].sum()} in "
        f"{rule[early, 1].sum() - rule[early, 0].sum()} labels, "
        f"{rule[early, 2].sum()} in the {rule[early, 0].sum()} before)"
    )


if __name__ == "__main__":
    main()
