"""Times to failure, for ``benchmarks/coverage.py``."""

import numpy as np
import pandas as pd
from coverage_rows import Row, held

from fireassay.statistics import clopper_pearson
from fireassay.survival.cure_model import fit_cure_model
from fireassay.survival.times import read_times


def never_falls(horizon):
    """A third never falls, the others by a Weibull law; compared with knowing who never falls."""

    def world(rng):
        n = 200
        never = rng.random(n) < 1 / 3
        fall = np.where(never, np.inf, 20 * rng.weibull(1.5, n))
        frame = pd.DataFrame({"duration": np.minimum(fall, horizon), "event": fall <= horizon})
        found = fit_cure_model(read_times(frame)).never_falls
        low, high = clopper_pearson(int(never.sum()), n)
        return held(found.low, found.high, 1 / 3, float(high - low))

    return world


KNOWN = "if it were known who"
ROWS = [
    Row(
        "share that never falls",
        "Weibull, n = 200, watched to 60",
        never_falls(60.0),
        KNOWN,
        runs=80,
    ),
    Row(
        "share that never falls",
        "Weibull, n = 200, watched to 30",
        never_falls(30.0),
        KNOWN,
        runs=80,
    ),
]
