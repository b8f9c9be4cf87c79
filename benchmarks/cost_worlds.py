"""Calibration, costs, recalls and precisions, for ``benchmarks/coverage.py``."""

import numpy as np
from coverage_rows import HOLDS, Row, held, normal_width, seed_of
from scipy.special import logit, ndtr

from fireassay.assessment.parts.accuracy_checks import class_recalls
from fireassay.data.splits import random_half
from fireassay.statistics import (
    cheapest_threshold,
    clopper_pearson,
    expected_calibration_error,
    mean_cost,
    simultaneous_shares,
)
from fireassay.statistics.numbers.confusion_numbers import balanced_accuracy
from fireassay.statistics.numbers.judged_rows import JudgedRows

NORMAL = "normal at the true variance"


def calibration(n, share):
    """Confidence c uniform on (.5, 1), accuracy .5 + share (c - .5): ECE (1 - share) / 4."""

    def world(rng):
        stated = rng.uniform(0.5, 1.0, n)
        right = 0.5 + share * (stated - 0.5)
        wrong = rng.random(n) >= right
        table = np.column_stack([stated, 1.0 - stated])
        found = expected_calibration_error(table, wrong.astype(int), seed=seed_of(rng))
        spread = np.sqrt((right * (1 - right)).mean())
        return held(found.low, found.high, (1.0 - share) / 4.0, normal_width(spread, n))

    return world


def grouped_calibration(units, size, correlation, stated):
    """Sure of ``stated``, right on .7, patients alike; compared with the design effect."""

    def world(rng):
        scale = 1 / correlation - 1
        rates = rng.beta(0.7 * scale, 0.3 * scale, units)
        right = (rng.random((units, size)) < rates[:, None]).ravel()
        p = np.tile([stated, 1 - stated], (units * size, 1))
        who = np.repeat(np.arange(units), size)
        found = expected_calibration_error(p, (~right).astype(int), groups=who, seed=seed_of(rng))
        n = units * size / (1 + (size - 1) * correlation)
        return held(found.low, found.high, stated - 0.7, normal_width(np.sqrt(0.21), n))

    return world


def cost(rng):
    """Rare costly mistakes."""
    drawn = np.array([0.0, 1.0, 50.0])[rng.choice(3, 600, p=[0.89, 0.1, 0.01])]
    found = mean_cost(drawn, (0, 50), seed=seed_of(rng))
    return held(found.low, found.high, 0.6, normal_width(np.sqrt(0.1 + 25.0 - 0.36), 600))


def common_cost(rng):
    """Mistakes that are not rare."""
    drawn = np.array([0.0, 1.0, 5.0])[rng.choice(3, 600, p=[0.7, 0.2, 0.1])]
    found = mean_cost(drawn, (0, 5), seed=seed_of(rng))
    return held(found.low, found.high, 0.7, normal_width(np.sqrt(0.2 + 2.5 - 0.49), 600))


def grouped_cost(units, size, rate, correlation):
    """One kind of mistake that costs 50, patients alike; compared with the design effect."""

    def world(rng):
        scale = 1 / correlation - 1
        rates = rng.beta(rate * scale, (1 - rate) * scale, units)
        drawn = 50.0 * (rng.random((units, size)) < rates[:, None]).ravel()
        who = np.repeat(np.arange(units), size)
        found = mean_cost(drawn, (0, 50), groups=who, seed=seed_of(rng))
        n = units * size / (1 + (size - 1) * correlation)
        spread = 50 * np.sqrt(rate * (1 - rate))
        return held(found.low, found.high, 50 * rate, normal_width(spread, n))

    return world


def two_costs_of_groups(rng):
    """Mistakes that cost 1 and 5, 60 patients of 1 to 20 rows."""
    sizes = rng.integers(1, 21, 60)
    who = np.repeat(np.arange(60), sizes)
    rates = rng.beta(0.15 * 4, 0.85 * 4, 60)[who]
    wrong = rng.random(len(who)) < rates
    drawn = wrong * np.where(rng.random(len(who)) < 0.3, 5.0, 1.0)
    found = mean_cost(drawn, (0, 5), groups=who, seed=seed_of(rng))
    # Cost of a mistake 2.2; variance of a patient's sum over the expected number of rows.
    inside = 0.15 * 8.2 - (0.15**2 + 0.15 * 0.85 * 0.2) * 2.2**2
    between = 0.15 * 0.85 * 0.2 * 2.2**2
    variance = inside / (60 * 10.5) + between * (np.mean(np.arange(1, 21) ** 2)) / (60 * 10.5**2)
    return held(found.low, found.high, 0.33, 2 * 1.96 * float(np.sqrt(variance)))


def at_the_cheapest_threshold(n=800, sick_share=0.1, miss=20.0, shift=2.0):
    """The threshold is chosen on one half; what it costs is measured on the other."""

    def world(rng):
        sick = rng.random(n) < sick_share
        score = rng.normal(size=n) + shift * sick
        own = 1 / (1 + np.exp(-score))
        above, below = np.where(sick, 0.0, 1.0), np.where(sick, miss, 0.0)
        first = random_half(n, None, seed_of(rng), "cheapest threshold")
        least = cheapest_threshold(own[first], above[first], below[first])
        then = np.where(own >= least, above, below)[~first]
        found = mean_cost(then, (0, miss), seed=seed_of(rng))
        at = float(logit(np.clip(least, 1e-9, 1 - 1e-9)))
        missed, false = sick_share * ndtr(at - shift), (1 - sick_share) * (1 - ndtr(at))
        truth = float(miss * missed + false)
        spread = np.sqrt(miss**2 * missed + false - truth**2)
        return held(found.low, found.high, truth, normal_width(spread, len(then)))

    return world


def classes(grouped, what, units=25, size=8, rate=0.8, correlation=0.3):
    """Recall or precision of four classes at once; compared with exact at the true size.

    Without groups there are ``units × size`` rows of each class.
    """
    if not grouped:
        units, size = units * size, 1
    scale, total = round(1 / correlation - 1, 2), units * size

    def world(rng):
        law = rate * scale, (1 - rate) * scale, (4, units)
        rates = rng.beta(*law) if grouped else np.full((4, units), rate)
        right = (rng.random((4, units, size)) < rates[:, :, None]).ravel()
        members = np.repeat(np.eye(4, dtype=bool), total, axis=0)
        who = np.repeat(np.arange(4 * units), size) if grouped else None
        n = total / (1 + (size - 1) * correlation)
        if what == "all":
            found = simultaneous_shares(right, members, groups=who)
            low, high = clopper_pearson([e.value * n for e in found], n, 1 - 0.05 / 4)
            wide = float(np.mean([e.high - e.low for e in found]))
            missed = any(not e.low <= rate <= e.high for e in found)
            return missed, wide, float(np.mean(high - low))
        labels = np.repeat(np.arange(4), total)
        predicted = np.where(right, labels, (labels + 1) % 4)
        rows = JudgedRows.of(labels, predicted, 4, groups=who)
        balanced = what == "balanced"
        chosen = balanced_accuracy(rows) if balanced else class_recalls(rows, range(4)).worst
        width = normal_width(np.sqrt(rate * (1 - rate)), 4 * n)
        return held(chosen.low, chosen.high, rate, width)

    return world


def mixed_balanced(rng):
    """Patients with rows of both classes and a rate of their own, 30 of 20 rows, 10 % rare."""
    rates = rng.beta(0.8 * 4, 0.2 * 4, 30)
    who = np.repeat(np.arange(30), 20)
    labels = (rng.random(600) < 0.1).astype(int)
    predicted = np.where(rng.random(600) < rates[who], labels, 1 - labels)
    found = balanced_accuracy(JudgedRows.of(labels, predicted, 2, groups=who))
    # Var of the mean recall: rows of each class, and the patients' own rates in both.
    common = 0.16 * 0.2 * (0.5 * (1 + 1 / 20) + 0.5) / 30
    own = 0.16 * 0.8 * (0.25 / 540 + 0.25 / 60) + 0.16 * 0.2 * (0.25 / 60)
    return held(found.low, found.high, 0.8, 2 * 1.96 * float(np.sqrt(common + own)))


ROWS = [
    Row("calibration error", "calibrated (0), n = 500", calibration(500, 1.0), NORMAL),
    Row("calibration error", "over-confident (.1), n = 500", calibration(500, 0.6), NORMAL),
    Row(
        "calibration error, groups",
        "40 × 25, correlation .1, off by .1",
        grouped_calibration(40, 25, 0.1, 0.8),
        NORMAL,
    ),
    Row(
        "calibration error, groups",
        "100 × 10, correlation .3, off by .03",
        grouped_calibration(100, 10, 0.3, 0.73),
        NORMAL,
    ),
    Row("expected cost", "1 % cost 50, 10 % cost 1, n = 600", cost, NORMAL, HOLDS),
    Row("expected cost", "10 % cost 5, 20 % cost 1, n = 600", common_cost, NORMAL, HOLDS),
    Row(
        "expected cost, groups",
        "60 × 10, 1 % cost 50, correlation .25",
        grouped_cost(60, 10, 0.01, 0.25),
        NORMAL,
    ),
    Row(
        "expected cost, groups",
        "100 × 10, 8 % cost 50, correlation .1",
        grouped_cost(100, 10, 0.08, 0.1),
        NORMAL,
    ),
    Row("expected cost, groups", "60 of 1 to 20 rows, costs 1 and 5", two_costs_of_groups, NORMAL),
    Row(
        "cost at the cheapest threshold",
        "10 % sick, a miss costs 20, 800 rows",
        at_the_cheapest_threshold(),
        NORMAL,
        HOLDS,
    ),
    Row(
        "recall of classes, all at once", "4 × 200 rows, .8", classes(False, "all"), "exact", HOLDS
    ),
    Row(
        "recall of classes, groups",
        "4 × 25 × 8, correlation .3",
        classes(True, "all"),
        "exact at true n",
        runs=1000,
    ),
    Row("worst recall", "4 × 200 rows, .8", classes(False, "worst"), NORMAL, HOLDS),
    Row("balanced accuracy", "4 × 200 rows, .8", classes(False, "balanced"), NORMAL),
    Row(
        "balanced accuracy, groups",
        "4 × 25 × 8, correlation .3",
        classes(True, "balanced"),
        NORMAL,
        runs=500,
    ),
    Row(
        "balanced accuracy, groups",
        "30 × 20, both classes in a group",
        mixed_balanced,
        NORMAL,
        runs=500,
    ),
]
