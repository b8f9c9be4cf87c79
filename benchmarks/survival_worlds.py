"""Times to failure, for ``benchmarks/coverage.py``."""

import numpy as np
import pandas as pd
from coverage_rows import Row, held

from fireassay.statistics import clopper_pearson
from fireassay.survival.cure import fit_cure_model
from fireassay.survival.times import read_times


def never_falls(horizon, units=200, size=1, correlation=0.0):
    """A third never falls, the others by a Weibull law; compared with knowing who never falls.

    In groups the share that never falls differs from group to group.
    """
    n = units * size
    worth = n / (1 + (size - 1) * correlation)

    def world(rng):
        share = np.full(units, 1 / 3)
        if correlation:
            scale = 1 / correlation - 1
            share = rng.beta(scale / 3, 2 * scale / 3, units)
        never = rng.random(n) < np.repeat(share, size)
        fall = np.where(never, np.inf, 20 * rng.weibull(1.5, n))
        frame = pd.DataFrame({"duration": np.minimum(fall, horizon), "event": fall <= horizon})
        groups = np.repeat(np.arange(units), size) if size > 1 else None
        found = fit_cure_model(read_times(frame), groups=groups).never_falls
        low, high = clopper_pearson(float(never.mean()) * worth, worth)
        return held(found.low, found.high, 1 / 3, float(high - low))

    return world


KNOWN = "if it were known who"
_ROWS, _GROUPS = "share that never falls", "share that never falls, groups"
ROWS = [
    Row(_ROWS, "Weibull, n = 200, watched to 60", never_falls(60.0), KNOWN, runs=200),
    Row(_ROWS, "Weibull, n = 200, watched to 30", never_falls(30.0), KNOWN, runs=200),
    Row(
        _GROUPS,
        "20 × 15, correlation .2, watched to 60",
        never_falls(60, 20, 15, 0.2),
        KNOWN,
        runs=200,
    ),
    Row(
        _GROUPS,
        "8 × 40, correlation .1, watched to 60",
        never_falls(60, 8, 40, 0.1),
        KNOWN,
        runs=200,
    ),
    Row(
        _GROUPS,
        "40 × 10, correlation .3, watched to 30",
        never_falls(30, 40, 10, 0.3),
        KNOWN,
        runs=200,
    ),
]
