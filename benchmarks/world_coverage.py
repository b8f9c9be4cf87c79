"""Do the intervals hold in the worlds that break the usual ones: groups, winners, slices, costs?

Run: python benchmarks/world_coverage.py [--docs] [--only TEXT] [--runs N]
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import binom, norm

from fireassay.core.seeds import generator
from fireassay.reliability.cell_total import CellTotal
from fireassay.statistics import (
    clopper_pearson,
    delong_interval,
    expected_calibration_error,
    grouped_share,
    mean_cost,
    simultaneous_aucs,
    simultaneous_shares,
    slice_members,
    slice_rates,
    thinned_upper,
    thinning,
)
from fireassay.survival.cure_model import fit_cure_model
from fireassay.survival.times import read_times

PAGE = Path(__file__).parents[1] / "docs" / "intervals.md"
Rng = np.random.Generator
# Missed or not, the width (or the excess of a bound), and that of the best known method.
_GAMMA = generator(0, "field of risks").gamma(0.3, 1 / 0.3, 2_000_000)
World = Callable[[Rng], tuple[bool, float, float]]


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    method: str
    setting: str
    promise: str
    nominal: float
    compared: str
    world: World
    runs: int


def groups(units: int, size: int, correlation: float) -> World:
    """Upper bound of a share; compared with the exact bound at the true effective size."""

    def world(rng: Rng) -> tuple[bool, float, float]:
        scale, p = 1 / correlation - 1, 0.08
        rates = rng.beta(p * scale, (1 - p) * scale, units)
        hit = rng.random((units, size)) < rates[:, None]
        upper = grouped_share(hit.ravel(), np.repeat(np.arange(units), size), 0.975, "upper")[0]
        n = units * size / (1 + (size - 1) * correlation)
        best = clopper_pearson(hit.mean() * n, n, 0.975, "upper")[1]
        return upper.high < p, upper.high - p, best - p

    return world


def winner(rng: Rng) -> tuple[bool, float, float]:
    """The best of 28 equal supervisors; compared with its own interval, which does not hold."""
    positive = np.arange(200) < 80
    common = rng.normal(size=200)
    scores = 0.6 * common + 0.8 * rng.normal(size=(28, 200)) + 1.19 * positive
    truth = norm.cdf(1.19 / np.sqrt(2))
    found = simultaneous_aucs(scores, positive)
    best = max(found, key=lambda e: e.value)
    alone = delong_interval(scores[found.index(best)], positive)
    return not best.low <= truth <= best.high, best.high - best.low, alone.high - alone.low


def slices(count: int) -> World:
    """All intervals at once; compared with Clopper–Pearson one at a time."""
    members = slice_members({"slice": [f"s{i % count}" for i in range(4000)]})
    place = np.arange(4000) % count
    order = [int(name.rpartition("s")[2]) for name in members]

    def world(rng: Rng) -> tuple[bool, float, float]:
        rates = rng.uniform(0.02, 0.3, count)
        hit = rng.random(4000) < rates[place]
        found = simultaneous_shares(hit, members.to_numpy())
        missed = any(not e.low <= rates[i] <= e.high for e, i in zip(found, order, strict=True))
        low, high = clopper_pearson(
            [round(e.value * e.n) for e in found], [e.n for e in found], 0.95
        )
        wide = float(np.mean([e.high - e.low for e in found]))
        return missed, wide, float(np.mean(high - low))

    return world


def gaps(rng: Rng) -> tuple[bool, float, float]:
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


def costs(grouped: bool) -> World:
    """Rare costly mistakes; compared with the normal interval at the true variance."""

    def world(rng: Rng) -> tuple[bool, float, float]:
        value, n = np.array([0.0, 1.0, 50.0]), 600
        if grouped:
            rates = rng.beta(0.03, 2.97, 60)
            drawn = 50.0 * (rng.random((60, 10)) < rates[:, None]).ravel()
            truth, spread = 0.5, 2500 * 0.01 * 0.99 * (1 + 9 * 0.25)
            found = mean_cost(drawn, (0, 50), groups=np.repeat(np.arange(60), 10))
        else:
            drawn = value[rng.choice(3, n, p=[0.89, 0.1, 0.01])]
            truth, spread = 0.6, 0.1 + 25.0 - 0.36
            found = mean_cost(drawn, (0, 50))
        normal = 2 * 1.96 * np.sqrt(spread / n)
        return not found.low <= truth <= found.high, found.high - found.low, float(normal)

    return world


def draws(rate: float, risk_is: str) -> World:
    """Labels drawn by suspicion; compared with Clopper–Pearson on as many uniform labels."""

    truth = float(np.minimum(1.0, rate * _GAMMA).mean())

    def world(rng: Rng) -> tuple[bool, float, float]:
        def field(n: int) -> np.ndarray:
            return np.minimum(1.0, rate * rng.gamma(0.3, 1 / 0.3, n))

        risk, outside, labels = field(20_000), field(2000), 3000
        wrong = rng.random(20_000) < risk
        given = {"good": (risk, outside), "flat": (np.full(20_000, rate), np.full(2000, rate))}
        plan = thinning(*given[risk_is], labels)
        upper = thinned_upper(plan, plan.draw(rng), wrong)
        exact = clopper_pearson(int(rng.binomial(labels, truth)), labels, 0.975, "upper")[1]
        return upper < truth, upper - truth, exact - truth

    return world


def cells(rng: Rng) -> tuple[bool, float, float]:
    """Total of the cells of a black box: a share of fresh points; nothing is better known."""
    total = CellTotal(int(rng.binomial(600, 0.005)), 600)
    return total.upper(0.025) < 0.005, total.upper(0.025) - 0.005, total.upper(0.025) - 0.005


def grouped_calibration(rng: Rng) -> tuple[bool, float, float]:
    """40 patients × 25 rows, sure of 0.8, right on 0.7; compared with rows taken as independent."""
    rates = rng.beta(0.7 * 9, 0.3 * 9, 40)
    right = (rng.random((40, 25)) < rates[:, None]).ravel()
    p = np.tile([0.8, 0.2], (1000, 1))
    labels, who = (~right).astype(int), np.repeat(np.arange(40), 25)
    found = expected_calibration_error(p, labels, groups=who, seed=int(rng.integers(2**31)))
    rows = expected_calibration_error(p, labels, seed=0)
    return not found.low <= 0.1 <= found.high, found.high - found.low, rows.high - rows.low


def grouped_recall(rng: Rng) -> tuple[bool, float, float]:
    """Recall of four classes at once, 25 patients × 8 rows each, correlation .3."""
    rates = rng.beta(0.8 * 2.33, 0.2 * 2.33, (4, 25))
    right = (rng.random((4, 25, 8)) < rates[:, :, None]).ravel()
    members = np.repeat(np.eye(4, dtype=bool), 200, axis=0)
    found = simultaneous_shares(right, members, groups=np.repeat(np.arange(100), 8))
    n = 200 / (1 + 7 * 0.3)
    low, high = clopper_pearson([e.value * n for e in found], n, 1 - 0.05 / 4)
    wide = float(np.mean([e.high - e.low for e in found]))
    return any(not e.low <= 0.8 <= e.high for e in found), wide, float(np.mean(high - low))


def cure(rng: Rng) -> tuple[bool, float, float]:
    """A third never falls, the others by a Weibull law; compared with knowing who never falls."""
    n = 200
    never = rng.random(n) < 1 / 3
    fall = np.where(never, np.inf, 20 * rng.weibull(1.5, n))
    frame = pd.DataFrame({"duration": np.minimum(fall, 60.0), "event": fall <= 60.0})
    times = read_times(frame)
    found = fit_cure_model(times).never_falls
    low, high = clopper_pearson(int(never.sum()), n)
    return not found.low <= 1 / 3 <= found.high, found.high - found.low, high - low


HOLDS, ABOUT = "holds", "approximate"
ROWS = [
    Row(
        "groups-max, upper",
        "40 × 25, correlation .1",
        ABOUT,
        0.975,
        "exact at true n",
        groups(40, 25, 0.1),
        400,
    ),
    Row(
        "groups-max, upper",
        "40 × 25, correlation .3",
        ABOUT,
        0.975,
        "exact at true n",
        groups(40, 25, 0.3),
        400,
    ),
    Row("best of 28 AUROCs", "40 % positive, n = 200", ABOUT, 0.95, "one alone", winner, 200),
    Row("slices at once", "2 of 2,000 rows", HOLDS, 0.95, "one alone", slices(2), 1500),
    Row("slices at once", "20 of 200 rows", HOLDS, 0.95, "one alone", slices(20), 800),
    Row("slices at once", "200 of 20 rows", HOLDS, 0.95, "one alone", slices(200), 100),
    Row("gaps at once", "5 slices of 400 rows", ABOUT, 0.95, "one alone", gaps, 300),
    Row(
        "expected cost",
        "1 % cost 50, 10 % cost 1, n = 600",
        HOLDS,
        0.95,
        "normal",
        costs(False),
        800,
    ),
    Row(
        "expected cost, groups", "60 × 10, correlation .25", ABOUT, 0.95, "normal", costs(True), 400
    ),
    Row(
        "draws by suspicion, upper",
        "p = .02, good risk",
        HOLDS,
        0.975,
        "exact, uniform",
        draws(0.02, "good"),
        150,
    ),
    Row(
        "draws by suspicion, upper",
        "p = .05, good risk",
        HOLDS,
        0.975,
        "exact, uniform",
        draws(0.05, "good"),
        150,
    ),
    Row(
        "draws by suspicion, upper",
        "p = .10, good risk",
        HOLDS,
        0.975,
        "exact, uniform",
        draws(0.10, "good"),
        150,
    ),
    Row(
        "draws by suspicion, upper",
        "p = .05, flat risk",
        HOLDS,
        0.975,
        "exact, uniform",
        draws(0.05, "flat"),
        150,
    ),
    Row(
        "cells of a black box, upper", "share .005, 600 points", HOLDS, 0.975, "itself", cells, 5000
    ),
    Row(
        "calibration error, groups",
        "40 × 25, correlation .1",
        ABOUT,
        0.95,
        "rows",
        grouped_calibration,
        200,
    ),
    Row(
        "recall of classes, groups",
        "4 × 25 × 8, correlation .3",
        ABOUT,
        0.95,
        "exact at true n",
        grouped_recall,
        150,
    ),
    Row("share that never falls", "Weibull, n = 200", ABOUT, 0.95, "who is known", cure, 60),
]


def measured(row: Row, runs: int) -> str:
    """One line: coverage with its Monte-Carlo error, and the width relative to the other."""
    rng = generator(0, "world coverage", row.method, row.setting)
    found = np.array([row.world(rng) for _ in range(runs)], dtype=float)
    misses, (wide, other) = int(found[:, 0].sum()), found[:, 1:].mean(axis=0)
    covered = 1 - misses / runs
    error = np.sqrt(max(covered * (1 - covered), 1 / runs) / runs)
    low = "" if misses <= binom.ppf(0.999, runs, 1 - row.nominal) else " (too low)"
    return (
        f"| {row.method} | {row.setting} | {row.promise} | {row.nominal:g} | {covered:.3f} ± "
        f"{error:.3f}{low} | {wide / other:.2f} × {row.compared} | {runs:,} |"
    )


def main() -> None:
    """Measure, print, and put the table on the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--docs", action="store_true", help="refresh docs/intervals.md")
    parser.add_argument("--only", default="", help="rows whose method has this text")
    parser.add_argument("--runs", type=int, help="worlds per row")
    asked = parser.parse_args()
    started = time.process_time()
    lines = [
        "| interval | world | promise | nominal | measured | mean width or excess | runs |",
        "|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines), flush=True)
    for row in ROWS:
        if asked.only in row.method:
            lines.append(measured(row, asked.runs or row.runs))
            print(lines[-1], flush=True)
    print(f"\n{time.process_time() - started:.0f} CPU seconds")
    if asked.docs and not (asked.only or asked.runs):
        start, end = "<!-- worlds: start -->", "<!-- worlds: end -->"
        before, rest = PAGE.read_text().split(start)
        page = f"{before}{start}\n" + "\n".join(lines) + f"\n{end}{rest.split(end)[1]}"
        PAGE.write_text(page)


if __name__ == "__main__":
    main()
