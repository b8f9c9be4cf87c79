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


def grouped_slices(patients=12, size=10, correlation=0.2, worst=0.3):
    """Ten wards of so many patients; compared with exact at true n."""
    scale, units = round(1 / correlation - 1, 9), 10 * patients

    def world(rng):
        rates = rng.uniform(0.05, worst, 10)
        own = rng.beta(np.repeat(scale * rates, patients), np.repeat(scale * (1 - rates), patients))
        hit = (rng.random((units, size)) < own[:, None]).ravel()
        members = np.repeat(np.eye(10, dtype=bool), patients * size, axis=0)
        found = simultaneous_shares(hit, members, groups=np.repeat(np.arange(units), size))
        n = patients * size / (1 + (size - 1) * correlation)
        exact = clopper_pearson([e.value * n for e in found], n, 1 - 0.05 / 10)
        missed = any(not e.low <= p <= e.high for e, p in zip(found, rates, strict=True))
        wide = float(np.mean([e.high - e.low for e in found]))
        return missed, wide, float(np.mean(exact[1] - exact[0]))

    return world


def worst_slice(count=20, rows=200, rate=0.05):
    """Upper bound of the worst of slices that are all alike; compared with one alone."""
    place = np.arange(count * rows) % count
    members = slice_members({"ward": [f"w{i:02d}" for i in place]})
    alone = float(clopper_pearson(rows * rate, rows, 0.975, "upper")[1])

    def world(rng):
        upper = slice_rates(rng.random(len(place)) < rate, members).upper.value
        return bool(upper < rate), upper - rate, alone - rate

    return world


def gaps(rows=400, least=0.02, most=0.3):
    """All gaps between five slices of so many rows; compared with Wald's interval of one."""
    place = np.arange(5 * rows) % 5
    members = slice_members({"slice": [f"s{i}" for i in place]})

    def world(rng):
        rates = rng.uniform(least, most, 5)
        table = slice_rates(rng.random(len(place)) < rates[place], members).gaps
        of = {side: rates[[int(s[-1]) for s in table[side]]] for side in ("first", "second")}
        true = of["first"] - of["second"]
        missed = bool(((true < table["low"]) | (true > table["high"])).any())
        wald = 2 * 1.96 * np.sqrt(2 * np.mean(rates * (1 - rates)) / rows)
        return missed, float((table["high"] - table["low"]).mean()), float(wald)

    return world


ALONE = "one alone"
ROWS = [
    Row("slices at once", "2 of 2,000 rows", slices(2), ALONE, HOLDS, runs=2000),
    Row("slices at once", "20 of 200 rows", slices(20), ALONE, HOLDS, runs=2000),
    Row("slices at once", "200 of 200 rows", slices(200, 40_000), ALONE, HOLDS, runs=300),
    Row(
        "slices at once, groups",
        "10 wards of 12 × 10, correlation .2",
        grouped_slices(),
        "exact at true n",
        runs=500,
    ),
    Row("worst slice, upper", "20 alike of 200 rows", worst_slice(), ALONE, HOLDS, nominal=0.975),
    Row("gaps at once", "5 slices of 400 rows", gaps(), ALONE, runs=1000),
]
