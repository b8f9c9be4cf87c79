"""Worlds whose rows come in groups, for ``benchmarks/coverage.py``."""

from functools import partial

import numpy as np
from coverage_rows import ABOUT, HOLDS, MISUSED, Row, above

import fireassay.statistics as st
from fireassay.statistics.groups.group_bound import group_upper
from fireassay.statistics.groups.group_counts import GroupCounts
from fireassay.statistics.groups.groups_max import groups_max_upper

# Sizes of the groups (None: 40 of 1 to 60 rows), error rate, correlation of two rows of one group.
PROMISED = {
    "40 × 25, correlation 0": ([25] * 40, 0.08, 0.0),
    "40 × 25, correlation .1": ([25] * 40, 0.08, 0.1),
    "40 × 25, correlation .3": ([25] * 40, 0.08, 0.3),
    "40 × 25, correlation .9": ([25] * 40, 0.08, 0.9),
    "100 × 10, correlation .3": ([10] * 100, 0.08, 0.3),
    "20 × 50, correlation .1": ([50] * 20, 0.08, 0.1),
    "40 of 1 to 60 rows, correlation .2": (None, 0.08, 0.2),
    "3 × 300 and 40 × 5, correlation .2": ([300] * 3 + [5] * 40, 0.08, 0.2),
    "p = .01, 40 × 25, correlation .1": ([25] * 40, 0.01, 0.1),
}
OTHERS = {
    "p = .01, 300 × 10, correlation .1": ([10] * 300, 0.01, 0.1),
    "500 × 2, correlation .3": ([2] * 500, 0.08, 0.3),
    "p = .5, 40 × 25, correlation .5": ([25] * 40, 0.5, 0.5),
    "p = .92, 40 × 25, correlation .3 (lower end)": ([25] * 40, 0.92, 0.3),
    "8 × 50, correlation .1": ([50] * 8, 0.08, 0.1),
}


def group_counts(rng, sizes, p, correlation):
    """Each group has a rate of its own, Beta with mean p and the given correlation."""
    sizes = rng.integers(1, 61, 40) if sizes is None else np.asarray(sizes)
    if not correlation:
        return GroupCounts(rng.binomial(sizes, p), sizes)
    s = 1.0 / correlation - 1.0
    return GroupCounts(rng.binomial(sizes, rng.beta(p * s, (1.0 - p) * s, len(sizes))), sizes)


def at_true_size(counts, correlation):
    """The exact bound, if one knew how many independent rows the groups are worth."""
    sizes = counts.sizes
    n = float(sizes.sum()) ** 2 / float((sizes * (1 + (sizes - 1) * correlation)).sum())
    return float(st.clopper_pearson(counts.share * n, n, 0.975, "upper")[1])


def share_of(sizes, p, correlation, bound):
    def world(rng):
        counts = group_counts(rng, sizes, p, correlation)
        return above(bound(counts), p, at_true_size(counts, correlation))

    return world


def rows_as_independent(counts):
    hits, n = int(counts.hits.sum()), int(counts.sizes.sum())
    return float(st.clopper_pearson(hits, n, 0.975, "upper")[1])


def sizes_related(bound):
    """Groups above 30 rows are wrong in 12 %, smaller ones in 3 %."""

    def world(rng):
        sizes = rng.integers(1, 61, 40)
        s = 1.0 / 0.2 - 1.0
        p = np.where(sizes > 30, 0.12, 0.03)
        counts = GroupCounts(rng.binomial(sizes, rng.beta(p * s, (1.0 - p) * s)), sizes)
        truth = (0.12 * 45.5 * 30 + 0.03 * 15.5 * 30) / (61 * 30)
        return above(bound(counts), truth, at_true_size(counts, 0.2))

    return world


def any_groups(counts, largest=None):
    return group_upper(counts.hits, counts.sizes, 0.025, largest)


_RELATED = "40 of 1 to 60 rows, rate 3 % to 30 rows, 12 % above"
_EXACT = "exact at true n"
MAX = partial(groups_max_upper, tail=0.025)
ANY = partial(any_groups, largest=60)
ROWS = [
    *(
        Row(name, world, share_of(*case, bound), _EXACT, promise, 0.975, runs)
        for name, bound, promise in (
            ("share of groups, upper", any_groups, HOLDS),
            ("groups-max, upper", MAX, ABOUT),
        )
        for worlds, runs in ((PROMISED, 5000), (OTHERS, 1000))
        for world, case in worlds.items()
    ),
    *(
        Row(
            "Clopper–Pearson of rows, upper", name, share_of(*PROMISED[name], rows_as_independent),
            _EXACT, MISUSED, 0.975, 5000,
        )
        for name in ("40 × 25, correlation .3", "20 × 50, correlation .1")
    ),
    Row("groups-max, upper", _RELATED, sizes_related(MAX), _EXACT, MISUSED, 0.975, 1500),
    Row("share of groups, upper", _RELATED, sizes_related(ANY), _EXACT, HOLDS, 0.975, 1500),
]  # fmt: skip
