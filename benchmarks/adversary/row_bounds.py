"""Bounds on independent rows: means of values in [0, 1], labels by lot, what is left to find."""

import numpy as np
from space import Range, Space, World

from fireassay.discovery.estimators import errors_among
from fireassay.statistics import (
    betting_interval,
    betting_sequence,
    clopper_pearson,
    hoeffding_bentkus_upper,
    mean_cost,
    poisson_interval,
    wilson,
)
from fireassay.statistics.bounds_from_draws import thinned_upper, thinning
from fireassay.statistics.error_detector import all_looks_upper

VALUES: Space = {
    "n": Range(5, 400, "whole"),
    "zeros": Range(0.001, 0.999, "logit"),
    "ones": Range(0.001, 0.999, "logit"),
    "between": Range(0.001, 0.999, "logit"),
}
SHARES: Space = {"n": Range(2, 2_000, "whole"), "rate": Range(0.0005, 0.9995, "logit")}
POOLS: Space = {
    "pool": Range(200, 4_000, "whole"),
    "labels": Range(0.02, 0.5, "log"),
    "suspect": Range(0.002, 0.9, "logit"),
    "risk0": Range(0.0005, 0.9, "logit"),
    "risk1": Range(0.0005, 0.9, "logit"),
    "rate0": Range(0.0005, 0.9, "logit"),
    "rate1": Range(0.0005, 0.9, "logit"),
}
AUDITS: Space = {
    "rows": Range(20, 3_000, "whole"),
    "errors": Range(0.001, 0.9, "logit"),
    "audit": Range(0.01, 0.5, "log"),
}
COUNTS: Space = {"mean": Range(0.02, 300, "log")}
ALPHA = 0.025


def _values(world: World, draws: int, rng: np.random.Generator) -> tuple[np.ndarray, float]:
    """Values 0, 1 or one between, of shape (draws, n), and their mean."""
    ones = (1 - world["zeros"]) * world["ones"]
    place = rng.random((draws, int(world["n"])))
    drawn = np.where(place < ones, 1.0, np.where(place < 1 - world["zeros"], world["between"], 0.0))
    return drawn, ones + (1 - world["zeros"] - ones) * world["between"]


def betting_upper(world: World, draws: int, rng: np.random.Generator) -> np.ndarray:
    """`betting_interval`, one-sided."""
    drawn, mean = _values(world, draws, rng)
    return np.array([betting_interval(v, 1 - ALPHA, (0, 1), "upper")[1] < mean for v in drawn])


def betting_ever(world: World, draws: int, rng: np.random.Generator) -> np.ndarray:
    """`betting_sequence`: the mean is outside at any time."""
    drawn, mean = _values(world, draws, rng)
    ends = (betting_sequence(v, 1 - ALPHA) for v in drawn)
    return np.array([bool(((low > mean) | (high < mean)).any()) for low, high in ends])


def hoeffding_bentkus(world: World, draws: int, rng: np.random.Generator) -> np.ndarray:
    """`hoeffding_bentkus_upper`."""
    drawn, mean = _values(world, draws, rng)
    n = np.full(draws, drawn.shape[1])
    return np.asarray(hoeffding_bentkus_upper(drawn.mean(axis=1), n, 1 - ALPHA)) < mean


def costs(world: World, draws: int, rng: np.random.Generator) -> np.ndarray:
    """`mean_cost` of rows: the upper end of the two-sided interval."""
    drawn, mean = _values(world, draws, rng)
    return np.array([mean_cost(v, (0, 1)).high < mean for v in drawn])


def exact_upper(world: World, draws: int, rng: np.random.Generator) -> np.ndarray:
    """`clopper_pearson`, one-sided."""
    n = np.full(draws, int(world["n"]))
    return clopper_pearson(rng.binomial(n, world["rate"]), n, 1 - ALPHA, "upper")[1] < world["rate"]


def wilson_ends(world: World, draws: int, rng: np.random.Generator) -> np.ndarray:
    """`wilson`, either end."""
    n = np.full(draws, int(world["n"]))
    low, high = wilson(rng.binomial(n, world["rate"]), n, 0.95)
    return (low > world["rate"]) | (high < world["rate"])


def poisson(world: World, draws: int, rng: np.random.Generator) -> np.ndarray:
    """`poisson_interval`, either end."""
    low, high = poisson_interval(rng.poisson(world["mean"], draws), 0.95)
    return (low > world["mean"]) | (high < world["mean"])


def all_looks(world: World, draws: int, rng: np.random.Generator) -> np.ndarray:
    """`all_looks_upper`: a bound at any look below the rate, which does not change."""
    found = []
    for wrong in rng.random((draws, int(world["n"]))) < world["rate"]:
        looks = range(32, len(wrong) + 1, 32)
        found.append(any(all_looks_upper(wrong[:n], 1 - ALPHA) < world["rate"] for n in looks))
    return np.array(found)


def by_suspicion(world: World, draws: int, rng: np.random.Generator) -> np.ndarray:
    """`thinned_upper`: a suspicion that may be right, empty or wrong."""
    n, found = int(world["pool"]), []
    labels = max(1, int(world["labels"] * n))
    truth = world["suspect"] * world["rate1"] + (1 - world["suspect"]) * world["rate0"]
    for _ in range(draws):
        kind = rng.random(2 * n) < world["suspect"]
        risk = np.where(kind, world["risk1"], world["risk0"])
        plan = thinning(risk[:n], risk[n:], labels)
        drawn = rng.random(n) < plan.chances
        wrong = rng.random(n) < np.where(kind[:n], world["rate1"], world["rate0"])
        found.append(thinned_upper(plan, drawn, wrong, 1 - ALPHA) < truth)
    return np.array(found)


def left(world: World, draws: int, rng: np.random.Generator) -> np.ndarray:
    """`errors_among`: both ends after an audit by lot."""
    rows = int(world["rows"])
    errors, audit = round(world["errors"] * rows), max(1, int(world["audit"] * rows))
    wrong, which = np.unique(
        rng.hypergeometric(errors, rows - errors, audit, draws), return_inverse=True
    )
    ends = [errors_among(rows, audit, int(count), 0.05) for count in wrong]
    return np.array([not low <= errors <= high for low, high in ends])[which]
