"""Worlds whose rows come in groups, for ``benchmarks/coverage.py``."""

from functools import partial

import numpy as np

import fireassay.statistics as st
from fireassay.statistics.grouped_share import GroupCounts, upper_share

Rng = np.random.Generator
Interval = tuple[float, float, float]  # low, high, truth
RUNS = 5000
# Sizes of the groups (None: 40 of 1 to 60 rows), error rate, correlation of two rows of one group.
WORLDS = {
    "40 × 25, correlation 0": ([25] * 40, 0.08, 0.0),
    "40 × 25, correlation 0.1": ([25] * 40, 0.08, 0.1),
    "40 × 25, correlation 0.3": ([25] * 40, 0.08, 0.3),
    "40 × 25, correlation 0.9": ([25] * 40, 0.08, 0.9),
    "100 × 10, correlation 0.3": ([10] * 100, 0.08, 0.3),
    "20 × 50, correlation 0.1": ([50] * 20, 0.08, 0.1),
    "40 of 1 to 60 rows, correlation 0.2": (None, 0.08, 0.2),
    "3 × 300 and 40 × 5, correlation 0.2": ([300] * 3 + [5] * 40, 0.08, 0.2),
    "p = 0.01, 40 × 25, correlation 0.1": ([25] * 40, 0.01, 0.1),
}


def group_counts(rng: Rng, sizes, p: float, correlation: float) -> GroupCounts:
    """Each group has a rate of its own, Beta with mean p and the given correlation."""
    sizes = rng.integers(1, 61, 40) if sizes is None else np.asarray(sizes)
    if not correlation:
        return GroupCounts(rng.binomial(sizes, p), sizes)
    s = 1.0 / correlation - 1.0
    return GroupCounts(rng.binomial(sizes, rng.beta(p * s, (1.0 - p) * s, len(sizes))), sizes)


def groups_max(sizes, p: float, correlation: float):
    def experiment(rng: Rng) -> Interval:
        return 0.0, upper_share(group_counts(rng, sizes, p, correlation), 0.025), p

    return experiment


def rows_as_independent(sizes, p: float, correlation: float):
    def experiment(rng: Rng) -> Interval:
        found = group_counts(rng, sizes, p, correlation)
        hits, n = int(found.hits.sum()), int(found.sizes.sum())
        return 0.0, float(st.clopper_pearson(hits, n, 0.975, "upper")[1]), p

    return experiment


def sizes_related(bound):
    """Groups above 30 rows are wrong in 12 %, smaller ones in 3 %."""

    def experiment(rng: Rng) -> Interval:
        sizes = rng.integers(1, 61, 40)
        s = 1.0 / 0.2 - 1.0
        p = np.where(sizes > 30, 0.12, 0.03)
        hits = rng.binomial(sizes, rng.beta(p * s, (1.0 - p) * s))
        truth = (0.12 * 45.5 * 30 + 0.03 * 15.5 * 30) / (61 * 30)
        return 0.0, bound(GroupCounts(hits, sizes)), truth

    return experiment


def betting_of_groups(counts: GroupCounts) -> float:
    group = np.repeat(np.arange(len(counts.sizes)), counts.sizes)
    hit = np.concatenate([np.arange(m) < k for k, m in zip(counts.hits, counts.sizes, strict=True)])
    return st.groups_betting_upper(hit, group, 0.975, largest_group=60)


def by_the_test(counts: GroupCounts) -> float:
    """What `reliability.assess(groups=)` does: betting where sizes go with rates."""
    plain = upper_share(counts, 0.025)
    related = st.size_rate_test(counts)[1] < 0.05
    return max(plain, betting_of_groups(counts)) if related else plain


_RELATED = "40 of 1 to 60 rows, rate 3 % to 30 rows, 12 % above"
ROWS = [  # method, setting, experiment, promise; each an upper bound at 0.975
    *(
        ("groups-max, upper", name, groups_max(*world), "approximate")
        for name, world in WORLDS.items()
    ),
    *(
        ("Clopper–Pearson of rows, upper", name, rows_as_independent(*WORLDS[name]), "misused")
        for name in ("40 × 25, correlation 0.3", "20 × 50, correlation 0.1")
    ),
    *(
        (f"{name}, upper", _RELATED, sizes_related(bound), promise)
        for name, bound, promise in (
            ("groups-max alone", partial(upper_share, tail=0.025), "approximate"),
            ("groups-max or betting, by the test", by_the_test, "approximate"),
            ("groups-betting", betting_of_groups, "holds"),
        )
    ),
]
