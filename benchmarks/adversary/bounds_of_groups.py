"""Bounds that count groups: how often each lies below the truth of a world of groups."""

import groups
import numpy as np
from space import World

from fireassay.statistics.groups.group_bound import log_capital
from fireassay.statistics.groups.group_counts import GroupCounts
from fireassay.statistics.groups.groups_max import groups_max_upper

ALPHA = 0.025


def declared(world: World, draws: int, rng: np.random.Generator) -> np.ndarray:
    """`group_upper` with the largest group that can occur."""
    hits, sizes = groups.groups_of(world, draws, rng)
    _, _, truth, cap = groups.law(world)
    return below(hits / cap, (sizes - hits) / cap, truth)


def seen(world: World, draws: int, rng: np.random.Generator) -> np.ndarray:
    """`group_upper` with the largest group that was seen."""
    hits, sizes = groups.groups_of(world, draws, rng)
    cap = sizes.max(axis=1, keepdims=True)
    return below(hits / cap, (sizes - hits) / cap, groups.law(world)[2])


def lower(world: World, draws: int, rng: np.random.Generator) -> np.ndarray:
    """`group_lower` with the largest group that can occur."""
    hits, sizes = groups.groups_of(world, draws, rng)
    _, _, truth, cap = groups.law(world)
    return below((sizes - hits) / cap, hits / cap, 1 - truth)


def paired(world: World, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Change in errors: groups' hits are newly broken rows, of the others some are mended."""
    broken, sizes = groups.groups_of({**world, "fractional": 0.0}, draws, rng)
    _, _, truth, cap = groups.law(world)
    change = broken - rng.binomial(sizes - broken, world["mended"])
    mean = truth - world["mended"] * (1 - truth)
    return below((change + sizes) / 2 / cap, (sizes - change) / 2 / cap, (mean + 1) / 2)


def groups_max(world: World, draws: int, rng: np.random.Generator) -> np.ndarray:
    """The approximate default of version 0.2."""
    hits, sizes = groups.groups_of({**world, "fractional": 0.0}, draws, rng)
    truth = groups.law(world)[2]
    found = [groups_max_upper(GroupCounts(k, m), ALPHA) for k, m in zip(hits, sizes, strict=True)]
    return np.array(found) < truth


def below(hits: np.ndarray, misses: np.ndarray, truth: float) -> np.ndarray:
    """Whether the bound is below the truth: the capital rises with the mean, so one look tells."""
    reached = log_capital(truth, hits, misses, ALPHA, hits.shape[1]) >= -np.log(ALPHA)
    return reached & (hits.sum(axis=1) < truth * (hits + misses).sum(axis=1))
