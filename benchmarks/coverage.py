"""Measure what every interval and test in fireassay.statistics claims.

    python benchmarks/coverage.py            # prints both tables, writes results/coverage.json
    python benchmarks/coverage.py --docs     # also refreshes the tables in docs/intervals.md
    python benchmarks/coverage.py --only groups --runs 300    # a quick look at some rows

Each row repeats one experiment with a known truth. An interval should contain it at least as often
as its nominal coverage says; a test should reject a true null at most 5 % of the time.
"""

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import group_worlds
import label_noise_worlds
import numpy as np
import paired_worlds
from scipy.special import ndtr
from scipy.stats import binom

import fireassay.statistics as st
from fireassay.core.seeds import generator

HERE = Path(__file__).parent
RESULT = HERE / "results" / "coverage.json"
PAGE = HERE.parent / "docs" / "intervals.md"

Rng = np.random.Generator
Interval = tuple[float, float, float]  # low, high, truth


@dataclass(frozen=True)
class IntervalRow:
    method: str
    setting: str
    experiment: Callable[[Rng], Interval]
    runs: int
    promise: str = "holds"  # "holds": guaranteed; "approximate"; "misused": shown as a warning
    nominal: float = 0.95


@dataclass(frozen=True)
class NullRow:
    method: str
    setting: str
    experiment: Callable[[Rng], float]
    runs: int


def proportion(function, n: int, p: float | None, alternative: str | None = None):
    extra = {} if alternative is None else {"alternative": alternative}

    def experiment(rng: Rng) -> Interval:
        truth = rng.random() if p is None else p
        return *function(int(rng.binomial(n, truth)), n, **extra), truth

    return experiment


def weighted(rng: Rng) -> Interval:
    """Fractional successes: each of 100 rows counts with a Beta(0.3, 2.7) weight, mean 0.1."""
    return *st.clopper_pearson(float(rng.beta(0.3, 2.7, 100).sum()), 100), 0.1


def poisson(mean: float):
    return lambda rng: (*st.poisson_interval(int(rng.poisson(mean))), mean)


def bernoulli(p: float, n: int):
    return lambda rng: ((rng.random(n) < p).astype(float), p)


def beta(a: float, b: float, n: int):
    return lambda rng: (rng.beta(a, b, n), a / (a + b))


def bounded_mean(draw, alternative: str):
    def experiment(rng: Rng) -> Interval:
        values, truth = draw(rng)
        return *st.betting_interval(values, alternative=alternative), truth

    return experiment


def hoeffding_bentkus(draw):
    def experiment(rng: Rng) -> Interval:
        values, truth = draw(rng)
        return 0.0, st.hoeffding_bentkus_upper(values.mean(), len(values), 0.95), truth

    return experiment


def at_all_times(draw):
    """The running intervals count as one: a miss at any time is a miss."""

    def experiment(rng: Rng) -> Interval:
        values, truth = draw(rng)
        low, high = st.betting_sequence(values)
        covers = bool(((low <= truth) & (truth <= high)).all())
        return float(low[-1]), float(high[-1]), truth if covers else np.nan

    return experiment


def bootstrap_mean(rng: Rng) -> Interval:
    found = st.bootstrap(np.mean, rng.exponential(1.0, 50), n_resamples=500, seed=_seed(rng))
    return found.low, found.high, 1.0


def bootstrap_median(rng: Rng) -> Interval:
    found = st.bootstrap(np.median, rng.normal(0.0, 1.0, 60), n_resamples=500, seed=_seed(rng))
    return found.low, found.high, 0.0


def bootstrap_clusters(aware: bool):
    def experiment(rng: Rng) -> Interval:
        clusters = np.repeat(np.arange(40), 5)
        values = rng.normal(size=40)[clusters] + rng.normal(size=200)
        found = st.bootstrap(
            np.mean,
            values,
            groups=clusters if aware else None,
            n_resamples=500,
            seed=_seed(rng),
        )
        return found.low, found.high, 0.0

    return experiment


def binormal(rng: Rng, shift: float, n_positive: int, n_negative: int):
    positive = np.arange(n_positive + n_negative) < n_positive
    return rng.normal(size=len(positive)) + shift * positive, positive


def ordinal(rng: Rng, n_each: int):
    """Five-level ratings, as of a reader; the truth counts ties half."""
    good, bad = np.array([0.05, 0.1, 0.2, 0.3, 0.35]), np.array([0.35, 0.3, 0.2, 0.1, 0.05])
    truth = float(good @ (np.cumsum(bad) - bad / 2))
    scores = np.r_[rng.choice(5, n_each, p=good), rng.choice(5, n_each, p=bad)].astype(float)
    return scores, np.arange(2 * n_each) < n_each, truth


def auc(function, shift: float, n_positive: int, n_negative: int):
    truth = float(ndtr(shift / np.sqrt(2.0)))

    def experiment(rng: Rng) -> Interval:
        found = function(*binormal(rng, shift, n_positive, n_negative))
        return found.low, found.high, truth

    return experiment


def auc_of_ratings(function, n_each: int):
    def experiment(rng: Rng) -> Interval:
        scores, positive, truth = ordinal(rng, n_each)
        found = function(scores, positive)
        return found.low, found.high, truth

    return experiment


def calibration(n: int, share: float):
    """Confidence c uniform on (0.5, 1), accuracy 0.5 + share (c - 0.5): ECE (1 - share) / 4."""

    def experiment(rng: Rng) -> Interval:
        stated = rng.uniform(0.5, 1.0, n)
        wrong = rng.random(n) >= 0.5 + share * (stated - 0.5)
        table = np.column_stack([stated, 1.0 - stated])
        found = st.expected_calibration_error(table, wrong.astype(int), seed=_seed(rng))
        return found.low, found.high, (1.0 - share) / 4.0

    return experiment


def _seed(rng: Rng) -> int:
    return int(rng.integers(2**31))


MW, DL = st.mann_whitney_auc, st.delong_interval
INTERVALS = [
    IntervalRow(
        "Clopper–Pearson", "p = 0.02, n = 200", proportion(st.clopper_pearson, 200, 0.02), 20000
    ),
    IntervalRow(
        "Clopper–Pearson", "p = 0.3, n = 50", proportion(st.clopper_pearson, 50, 0.3), 20000
    ),
    IntervalRow(
        "Clopper–Pearson, upper",
        "p = 0.01, n = 300",
        proportion(st.clopper_pearson, 300, 0.01, "upper"),
        20000,
    ),
    IntervalRow(
        "Clopper–Pearson, fractional",
        "weights Beta(0.3, 2.7), n = 100",
        weighted,
        20000,
        "approximate",
    ),
    IntervalRow(
        "Wilson", "p uniform, n = 50", proportion(st.wilson, 50, None), 20000, "approximate"
    ),
    IntervalRow(
        "Wilson", "p = 0.02, n = 200", proportion(st.wilson, 200, 0.02), 20000, "approximate"
    ),
    IntervalRow("Poisson (Garwood)", "mean 3", poisson(3.0), 20000),
    IntervalRow("Poisson (Garwood)", "mean 30", poisson(30.0), 20000),
    IntervalRow(
        "Hoeffding–Bentkus, upper",
        "Bernoulli 0.05, n = 200",
        hoeffding_bentkus(bernoulli(0.05, 200)),
        10000,
    ),
    IntervalRow(
        "Hoeffding–Bentkus, upper", "Beta(1, 9), n = 200", hoeffding_bentkus(beta(1, 9, 200)), 10000
    ),
    IntervalRow(
        "betting", "Bernoulli 0.05, n = 200", bounded_mean(bernoulli(0.05, 200), "two-sided"), 4000
    ),
    IntervalRow(
        "betting", "Beta(10, 30), n = 200", bounded_mean(beta(10, 30, 200), "two-sided"), 4000
    ),
    IntervalRow(
        "betting", "Bernoulli 0.5, n = 30", bounded_mean(bernoulli(0.5, 30), "two-sided"), 4000
    ),
    IntervalRow(
        "betting, upper",
        "Bernoulli 0.05, n = 200",
        bounded_mean(bernoulli(0.05, 200), "upper"),
        4000,
    ),
    IntervalRow(
        "betting, upper", "Beta(1, 9), n = 200", bounded_mean(beta(1, 9, 200), "upper"), 4000
    ),
    IntervalRow(
        "betting sequence, all times",
        "Bernoulli 0.1, n = 1 … 500",
        at_all_times(bernoulli(0.1, 500)),
        1000,
    ),
    IntervalRow(
        "betting sequence, all times",
        "Beta(2, 2), n = 1 … 500",
        at_all_times(beta(2, 2, 500)),
        1000,
    ),
    IntervalRow("bootstrap, mean", "exponential, n = 50", bootstrap_mean, 1000, "approximate"),
    IntervalRow("bootstrap, median", "normal, n = 60", bootstrap_median, 1000, "approximate"),
    IntervalRow(
        "bootstrap of clusters, mean",
        "40 clusters of 5, correlation 0.5",
        bootstrap_clusters(True),
        1000,
        "approximate",
    ),
    IntervalRow(
        "bootstrap of rows, mean",
        "40 clusters of 5, correlation 0.5",
        bootstrap_clusters(False),
        1000,
        "misused",
    ),
    IntervalRow(
        "Mann–Whitney AUC (Newcombe)",
        "normal, AUC 0.76, 30 + 30",
        auc(MW, 1.0, 30, 30),
        2000,
        "approximate",
    ),
    IntervalRow(
        "Mann–Whitney AUC (Newcombe)",
        "normal, AUC 0.983, 20 + 100",
        auc(MW, 3.0, 20, 100),
        2000,
        "approximate",
    ),
    IntervalRow(
        "Mann–Whitney AUC (Newcombe)",
        "five ratings, 50 + 50",
        auc_of_ratings(MW, 50),
        2000,
        "approximate",
    ),
    IntervalRow(
        "DeLong, logit, t", "normal, AUC 0.76, 30 + 30", auc(DL, 1.0, 30, 30), 4000, "approximate"
    ),
    IntervalRow(
        "DeLong, logit, t",
        "normal, AUC 0.983, 20 + 100",
        auc(DL, 3.0, 20, 100),
        4000,
        "approximate",
    ),
    IntervalRow(
        "DeLong, logit, t",
        "normal, AUC 0.983, 100 + 100",
        auc(DL, 3.0, 100, 100),
        4000,
        "approximate",
    ),
    IntervalRow(
        "DeLong, logit, t", "five ratings, 50 + 50", auc_of_ratings(DL, 50), 4000, "approximate"
    ),
    IntervalRow(
        "ECE, bias-aware", "calibrated (ECE 0), n = 500", calibration(500, 1.0), 4000, "approximate"
    ),
    IntervalRow(
        "ECE, bias-aware",
        "over-confident (ECE 0.1), n = 500",
        calibration(500, 0.6),
        4000,
        "approximate",
    ),
]


def null_auc(rng: Rng) -> float:
    return st.mann_whitney_auc(rng.integers(0, 6, 60).astype(float), np.arange(60) < 20).p_value


def null_delong(rng: Rng) -> float:
    positive = np.arange(80) < 40
    signal = rng.normal(size=80) + positive
    return st.delong_test(signal + rng.normal(size=80), signal + rng.normal(size=80), positive)


def null_spearman(rng: Rng) -> float:
    return st.spearman(rng.normal(size=20), rng.integers(0, 5, 20))[1]


def _product(x, y) -> float:
    return float(x @ y)


def null_permutation(rng: Rng) -> float:
    x, y = rng.exponential(size=20), rng.integers(0, 2, 20)
    return st.permutation_test(_product, x, y, n_permutations=199, seed=_seed(rng))


def null_groups(rng: Rng) -> float:
    """Both x and the class depend on the cluster, not on each other."""
    clusters = np.repeat(np.arange(16), 6)
    x = rng.normal(size=16)[clusters] + rng.normal(size=96)
    y = rng.integers(0, 2, 16)[clusters]
    return st.permutation_test(_product, x, y, n_permutations=199, groups=clusters, seed=_seed(rng))


INTERVALS += [
    IntervalRow(name, setting, experiment, group_worlds.RUNS, promise, nominal=0.975)
    for name, setting, experiment, promise in group_worlds.ROWS
]
INTERVALS += [
    IntervalRow(name, setting, experiment, paired_worlds.RUNS, "approximate")
    for name, setting, experiment in paired_worlds.ROWS
]
INTERVALS += [
    IntervalRow(name, setting, experiment, label_noise_worlds.RUNS)
    for name, setting, experiment in label_noise_worlds.ROWS
]


NULLS = [
    NullRow("Mann–Whitney", "six ratings, 20 + 40", null_auc, 4000),
    NullRow("DeLong, paired", "two equal scores, 40 + 40", null_delong, 4000),
    NullRow("Spearman", "n = 20, ties in y", null_spearman, 8000),
    NullRow("permutation", "n = 20, 199 permutations", null_permutation, 2000),
    NullRow("permutation of groups", "16 clusters of 6", null_groups, 2000),
]


def measure_interval(row: IntervalRow) -> dict[str, object]:
    rng = generator(0, "coverage", row.method, row.setting)
    ends = np.array([row.experiment(rng) for _ in range(row.runs)])
    low, high, truth = ends.T
    misses = int((~((low <= truth) & (truth <= high))).sum())
    return {
        "method": row.method,
        "setting": row.setting,
        "promise": row.promise,
        "nominal": row.nominal,
        "measured": 1.0 - misses / row.runs,
        "width": float((high - low).mean()),
        "runs": row.runs,
        "within_chance": misses <= int(binom.ppf(0.999, row.runs, 1.0 - row.nominal)),
    }


def measure_null(row: NullRow) -> dict[str, object]:
    rng = generator(0, "type I", row.method, row.setting)
    rejected = sum(row.experiment(rng) <= 0.05 for _ in range(row.runs))
    return {
        "method": row.method,
        "setting": row.setting,
        "nominal": 0.05,
        "measured": rejected / row.runs,
        "runs": row.runs,
        "within_chance": rejected <= int(binom.ppf(0.999, row.runs, 0.05)),
    }


def interval_table(rows: list[dict[str, object]]) -> str:
    lines = [
        "| interval | setting | promise | nominal | measured | mean width | runs |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {r['method']} | {r['setting']} | {r['promise']} | {r['nominal']:g} | "
        f"{r['measured']:.4f}{'' if r['within_chance'] else ' (too low)'} | {r['width']:.4f} | "
        f"{r['runs']:,} |"
        for r in rows
    ]
    return "\n".join(lines)


def null_table(rows: list[dict[str, object]]) -> str:
    lines = ["| test | setting | nominal | rejected | runs |", "|---|---|---|---|---|"]
    lines += [
        f"| {r['method']} | {r['setting']} | {r['nominal']:.2f} | {r['measured']:.4f} | "
        f"{r['runs']:,} |"
        for r in rows
    ]
    return "\n".join(lines)


def refresh(page: Path, mark: str, table: str) -> None:
    start, end = f"<!-- {mark}: start -->", f"<!-- {mark}: end -->"
    before, rest = page.read_text().split(start)
    _, after = rest.split(end)
    page.write_text(f"{before}{start}\n{table}\n{end}{after}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--docs", action="store_true", help="refresh docs/intervals.md")
    parser.add_argument("--only", default="", help="rows whose method has this text; not kept")
    parser.add_argument("--runs", type=int, help="worlds per row; not kept")
    arguments = parser.parse_args()
    started = time.process_time()
    quick = bool(arguments.only or arguments.runs)

    def asked(rows):
        chosen = [row for row in rows if arguments.only in row.method]
        return [replace(r, runs=arguments.runs) for r in chosen] if arguments.runs else chosen

    intervals = [measure_interval(row) for row in asked(INTERVALS)]
    nulls = [measure_null(row) for row in asked(NULLS)]
    print(interval_table(intervals), null_table(nulls), sep="\n\n")
    print(f"\n{time.process_time() - started:.0f} CPU seconds")
    if quick:
        return
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps({"intervals": intervals, "tests": nulls}, indent=1) + "\n")
    if arguments.docs:
        refresh(PAGE, "coverage", interval_table(intervals))
        refresh(PAGE, "type-I", null_table(nulls))


if __name__ == "__main__":
    main()
