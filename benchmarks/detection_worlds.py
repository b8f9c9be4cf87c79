"""AUPR, FPR95 and AURC of a supervisor, rows and groups, for ``benchmarks/coverage.py``."""

import numpy as np
from coverage_rows import Row, held
from scipy.special import ndtr, ndtri

from fireassay.supervision import detection_metrics

SHIFT = 2.0
GRID = np.linspace(-8, 8 + SHIFT, 20_001)
ABOVE, CAUGHT = 1 - ndtr(GRID), 1 - ndtr(GRID - SHIFT)
WRONG = (0.05, 0.5)  # of nominal and of suspicious rows
FPR95 = float(1 - ndtr(SHIFT - ndtri(0.95)))


def area_of_precision(positives, negatives):
    precision = positives * CAUGHT / (positives * CAUGHT + negatives * ABOVE + 1e-300)
    return float(-np.trapezoid(precision, CAUGHT))


def area_of_risk(positives, negatives):
    """Mean error among the rows kept, over all coverages."""
    kept = np.array([negatives, positives]) @ [1 - ABOVE, 1 - CAUGHT] / (positives + negatives)
    share = negatives * WRONG[0], positives * WRONG[1]
    errors = np.array(share) @ [1 - ABOVE, 1 - CAUGHT] / (positives + negatives)
    risk = errors / np.maximum(kept, 1e-12)
    return float(np.trapezoid(risk, kept))


def rows(rng, sick, healthy, size, correlation):
    """Scores of nominal and suspicious rows, who they belong to, and which answers are wrong."""
    who = np.repeat(np.arange(sick + healthy), size)
    own = rng.normal(size=sick + healthy)[who] * np.sqrt(correlation)
    noise = rng.normal(size=len(who)) * np.sqrt(1 - correlation)
    positive = who >= healthy
    rate = np.where(np.arange(sick + healthy) >= healthy, WRONG[1], WRONG[0])
    if correlation:
        scale = 1 / correlation - 1
        rate = rng.beta(rate * scale, (1 - rate) * scale)
    wrong = rng.random(len(who)) < rate[who]
    return own + noise + SHIFT * positive, positive, who, wrong


def metric(name, sick, healthy, size=1, correlation=0.0):
    """Compared with the normal interval of independent rows, stretched by the design effect."""
    positives, negatives = sick * size, healthy * size
    effect = float(np.sqrt(1 + (size - 1) * correlation))
    truth = {
        "aupr": area_of_precision(positives, negatives),
        "fpr95": FPR95,
        "aurc": area_of_risk(positives, negatives),
    }[name]

    def normal():
        if name == "aupr":
            return truth * (1 - truth) / positives
        if name == "aurc":
            return truth * (1 - truth) / (positives + negatives)
        slope = np.exp((ndtri(0.05) ** 2 - ndtri(1 - truth) ** 2) / 2)
        return truth * (1 - truth) / negatives + slope**2 * 0.05 * 0.95 / positives

    best = 2 * 1.96 * float(np.sqrt(normal())) * effect

    def world(rng):
        scores, positive, who, wrong = rows(rng, sick, healthy, size, correlation)
        found = detection_metrics(
            scores[~positive],
            scores[positive],
            wrong if name == "aurc" else None,
            groups=who if size > 1 else None,
        )
        estimate = getattr(found, name)
        return held(estimate.low, estimate.high, truth, best)

    return world


_AUPR, _FPR, _AURC = "AUPR", "false alarms at 95 % caught", "error kept, over all coverages (AURC)"
_EFFECT = "normal at the design effect"
_FEW, _MANY = "8 + 40 of 10 rows, correlation .5", "40 + 40 of 10 rows, correlation .3"
ROWS = [
    Row(_FPR, "50 + 200", metric("fpr95", 50, 200), "normal"),
    Row(_FPR, "200 + 200", metric("fpr95", 200, 200), "normal"),
    Row(_AUPR, "30 + 300", metric("aupr", 30, 300), "normal"),
    Row(_AURC, "100 + 300", metric("aurc", 100, 300), "normal"),
    *(
        Row(f"{name}, groups", setting, metric(number, *world), _EFFECT, runs=300)
        for name, number in ((_FPR, "fpr95"), (_AUPR, "aupr"), (_AURC, "aurc"))
        for setting, world in ((_FEW, (8, 40, 10, 0.5)), (_MANY, (40, 40, 10, 0.3)))
    ),
]
