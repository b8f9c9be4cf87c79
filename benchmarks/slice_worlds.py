"""Many slices at once, their gaps, and the worst of them, for ``benchmarks/coverage.py``."""

import numpy as np
from coverage_rows import HOLDS, Row

from fireassay.statistics import clopper_pearson, simultaneous_shares, slice_members, slice_rates


def slices(count, rows=4000):
    """All intervals at once; compared with Clopper–Pearson one at a time."""
    place = np.arange(rows) % count
    members = np.eye(count, dtype=bool)[place]

    def world(rng):
        rates = rng.uniform(0.02, 0.3, count)
        hit = rng.random(rows) < rates[place]
        found = simultaneous_shares(hit, members)
        low, high = (np.array([getattr(e, end) for e in found]) for end in ("low", "high"))
        alone = clopper_pearson(np.bincount(place, hit), np.bincount(place), 0.95)
        missed = bool(((rates < low) | (rates > high)).any())
        return missed, float((high - low).mean()), float(np.mean(alone[1] - alone[0]))

    return world


def grouped_slices(rng):
    """Ten wards, 12 patients of 10 rows in each, correlation .2; compared with exact at true n."""
    rates = rng.uniform(0.05, 0.3, 10)
    own = rng.beta(np.repeat(4 * rates, 12), np.repeat(4 * (1 - rates), 12))
    hit = (rng.random((120, 10)) < own[:, None]).ravel()
    members = np.repeat(np.eye(10, dtype=bool), 120, axis=0)
    found = simultaneous_shares(hit, members, groups=np.repeat(np.arange(120), 10))
    n = 120 / (1 + 9 * 0.2)
    exact = clopper_pearson([e.value * n for e in found], n, 1 - 0.05 / 10)
    missed = any(not e.low <= p <= e.high for e, p in zip(found, rates, strict=True))
    wide = float(np.mean([e.high - e.low for e in found]))
    return missed, wide, float(np.mean(exact[1] - exact[0]))


def worst_slice(rng):
    """Upper bound of the worst of 20 slices that are all alike; compared with one alone."""
    place = np.arange(4000) % 20
    hit = rng.random(4000) < 0.05
    members = slice_members({"ward": [f"w{i:02d}" for i in place]})
    upper = slice_rates(hit, members).upper.value
    alone = clopper_pearson(10, 200, 0.975, "upper")[1]
    return bool(upper < 0.05), upper - 0.05, float(alone) - 0.05


def gaps(rng):
    """All gaps between five slices; compared with Wald's interval of one."""
    rates = rng.uniform(0.02, 0.3, 5)
    place = np.arange(2000) % 5
    members = slice_members({"slice": [f"s{i}" for i in place]})
    hit = rng.random(2000) < rates[place]
    table = slice_rates(hit, members).gaps
    true = (
        rates[[int(s[-1]) for s in table["first"]]] - rates[[int(s[-1]) for s in table["second"]]]
    )
    missed = bool(((true < table["low"]) | (true > table["high"])).any())
    wald = 2 * 1.96 * np.sqrt(2 * np.mean(rates * (1 - rates)) / 400)
    return missed, float((table["high"] - table["low"]).mean()), float(wald)


ALONE = "one alone"
ROWS = [
    Row("slices at once", "2 of 2,000 rows", slices(2), ALONE, HOLDS, runs=2000),
    Row("slices at once", "20 of 200 rows", slices(20), ALONE, HOLDS, runs=2000),
    Row("slices at once", "200 of 200 rows", slices(200, 40_000), ALONE, HOLDS, runs=300),
    Row(
        "slices at once, groups",
        "10 wards of 12 × 10, correlation .2",
        grouped_slices,
        "exact at true n",
        runs=500,
    ),
    Row("worst slice, upper", "20 alike of 200 rows", worst_slice, ALONE, HOLDS, nominal=0.975),
    Row("gaps at once", "5 slices of 400 rows", gaps, ALONE, runs=1000),
]
