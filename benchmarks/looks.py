"""Forty retrainings judged on one test set: how often a bad model passes, with and without --spend.

``python benchmarks/looks.py`` (a minute) prints the figures of docs/runs.md.
"""

import numpy as np

from fireassay.assessment.run.judging import fraction
from fireassay.core import Evidence
from fireassay.report import Gate
from fireassay.report.looks_and_changes import judge_spent
from fireassay.statistics import share

LIMIT, ROWS, MODELS, WORLDS = 0.015, 2000, 40, 2000
NAME = "accuracy.error"


def passes(wrong, left):
    """Whether a model with so many errors passes the gate with what is left of alpha."""
    part = Evidence("accuracy", "h", estimates={"error": share(wrong, ROWS)})
    gate = Gate(NAME, "max", LIMIT)
    return bool(judge_spent([part], [gate], {}, strict=False, fractions={NAME: left}))


def main():
    rng = np.random.default_rng(0)
    ways = {
        "no ledger": lambda _: 1.0,
        "--spend": lambda j: fraction(j, None),
        "looks = 40": lambda j: fraction(j, MODELS),
    }
    most = {
        (name, j): max((k for k in range(60) if passes(k, way(j))), default=-1)
        for name, way in ways.items()
        for j in range(1, MODELS + 1)
    }
    for own in (0.0, 0.5):
        fooled = dict.fromkeys(ways, 0)
        for _ in range(WORLDS):
            # Models that are a little too bad; with `own` part of their errors on the same rows.
            shared = rng.random(ROWS) < own * LIMIT
            each = rng.random((MODELS, ROWS)) < (1 - own) * LIMIT / (1 - own * LIMIT)
            wrong = (each | shared).sum(axis=1)
            for name in ways:
                fooled[name] += any(wrong[j - 1] <= most[name, j] for j in range(1, MODELS + 1))
        told = ", ".join(f"{name} {count / WORLDS:.1%}" for name, count in fooled.items())
        print(f"{own:.0%} of the errors on the same rows: a model at the limit passes: {told}")


if __name__ == "__main__":
    main()
