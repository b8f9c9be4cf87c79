"""Groups of three kinds: how common, how large, how often wrong, how alike; some wholly wrong."""

import numpy as np
from space import Range, Space, World

KINDS = (0, 1, 2)


def space(most_groups: float = 400) -> Space:
    """Sizes and rates of a kind belong together, so sizes may be related to rates."""
    found: Space = {"groups": Range(8, most_groups, "whole"), "fractional": Range(0, 1, "choice")}
    for kind in KINDS:
        found |= {
            f"weight{kind}": Range(0.003, 1, "log"),
            f"size{kind}": Range(1, 60, "whole"),
            f"spread{kind}": Range(0, 1, "choice"),  # sizes 1 … size, or all alike
            f"rate{kind}": Range(0.0005, 0.9995, "logit"),
            f"alike{kind}": Range(0.001, 0.999, "logit"),  # correlation within a group
        }
    return found


def _of_kinds(world: World, name: str) -> np.ndarray:
    return np.array([world[f"{name}{kind}"] for kind in KINDS])


def law(world: World) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Chances of the kinds, their mean sizes, the share of rows that hit, the largest group."""
    weight, size, rate = (_of_kinds(world, name) for name in ("weight", "size", "rate"))
    weight = weight / weight.sum()
    mean = np.where(_of_kinds(world, "spread") > 0, (1 + size) / 2, size)
    truth = float((weight * mean * rate).sum() / (weight * mean).sum())
    return weight, mean, truth, float(size.max())


def groups_of(world: World, draws: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Hits and sizes, each of shape (draws, groups)."""
    weight = law(world)[0]
    shape = (draws, int(world["groups"]))
    kind = np.searchsorted(np.cumsum(weight)[:-1], rng.random(shape), side="right")
    size, rate, alike = (_of_kinds(world, name)[kind] for name in ("size", "rate", "alike"))
    spread = _of_kinds(world, "spread")[kind] > 0
    sizes = np.where(spread, np.ceil(rng.random(shape) * size), size).astype(np.int64)
    total = 1 / alike - 1
    own = rng.beta(np.maximum(rate * total, 1e-3), np.maximum((1 - rate) * total, 1e-3))
    # The floor of Beta's arguments moves its mean: only a rate given by them is the kind's.
    moved = np.minimum(rate, 1 - rate) * total < 1e-3
    own = np.where(moved, rng.random(shape) < rate, own)
    hits = sizes * own if world["fractional"] else rng.binomial(sizes, np.clip(own, 0, 1))
    return hits, sizes


def in_words(world: World) -> str:
    """A world as a sentence."""
    weight = law(world)[0]
    parts = []
    for kind in np.argsort(-weight):
        size = f"{world[f'size{kind}']:.0f}"
        size = f"1 to {size}" if world[f"spread{kind}"] and size != "1" else size
        parts.append(
            f"{100 * weight[kind]:.1f} % of {size} rows with rate {world[f'rate{kind}']:.4g} "
            f"(correlation {world[f'alike{kind}']:.2g})"
        )
    values = "fractional values" if world["fractional"] else "errors"
    return f"{world['groups']:.0f} groups, {values}: " + "; ".join(parts)
