"""The standard numbers of two classes: rare classes, ties, rounding, wrong slopes, bad groups."""

from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np
from scipy.special import expit
from space import Range, Space, World

from fireassay import score

NUMBERS = (
    "balanced_accuracy", "kappa", "mcc", "f1", "auroc", "average_precision", "brier", "log_loss",
    "calibration_slope", "calibration_intercept", "oe_ratio", "net_benefit@0.2",
)  # fmt: skip
ROWS: Space = {
    "n": Range(50, 800, "whole"),
    "positive": Range(0.05, 0.95, "logit"),
    "sharpness": Range(0.3, 3, "log"),
    "slope": Range(0.5, 2, "log"),
    "digits": Range(1, 4, "choice"),
}
GROUPS: Space = {
    "groups": Range(20, 150, "whole"),
    "size": Range(2, 12, "whole"),
    "alike": Range(0.05, 2, "log"),
    "reversed": Range(0, 0.03),
} | {name: one for name, one in ROWS.items() if name != "n"}
_MANY = 40_000


def _drawn(world: World, n: int, member: np.ndarray | None, rng: np.random.Generator) -> tuple:
    """Truths and probabilities; groups share a shift, and some have the wrong sign."""
    shift = 0.0
    turned = np.zeros(n, dtype=bool)
    if member is not None:
        count = int(member[-1]) + 1
        shift = (world["alike"] * rng.normal(size=count))[member]
        turned = (rng.random(count) < world["reversed"])[member]
    score_of = world["sharpness"] * rng.normal(size=n) + np.log(
        world["positive"] / (1 - world["positive"])
    )
    truth = rng.random(n) < expit(np.where(turned, -score_of, score_of) + shift)
    said = expit(world["slope"] * score_of).round(int(world["digits"]))
    # Exact zeros and ones make log loss infinite and the slope undefined: half a unit inside.
    half = 0.5 * 10.0 ** -world["digits"]
    return truth.astype(int), said.clip(half, 1 - half)


def _member(world: World, n: int | None = None) -> np.ndarray | None:
    if "groups" not in world:
        return None
    count = int(world["groups"]) if n is None else n // int(world["size"])
    return np.repeat(np.arange(count), int(world["size"]))


@lru_cache(maxsize=4096)
def _truth(number: str, world: tuple[tuple[str, float], ...]) -> float:
    asked = dict(world)
    member = _member(asked, _MANY)
    rows = _MANY if member is None else len(member)
    y, p = _drawn(asked, rows, member, np.random.default_rng(12345))
    return score(y, p, number).value


def missed(number: str, world: World, draws: int, rng: np.random.Generator) -> np.ndarray:
    """The number in endless data is outside the interval; not estimable is no miss."""
    truth = _truth(number, tuple(sorted(world.items())))
    member = _member(world)
    n = int(world["n"]) if member is None else len(member)
    found = []
    for _ in range(draws):
        y, p = _drawn(world, n, member, rng)
        if y.min() == y.max():
            found.append(False)
            continue
        made = score(y, p, number, groups=member)
        found.append(not (made.low <= truth <= made.high) and np.isfinite(made.value))
    return np.array(found)


def missing(number: str) -> Callable[[World, int, np.random.Generator], np.ndarray]:
    """The miss function of one number."""
    return partial(missed, number)
