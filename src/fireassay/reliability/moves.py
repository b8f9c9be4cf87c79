"""Random moves that scatter copies of particles without letting them fall below a level.

A point of the box is a Gaussian g, put there by Φ(g); ``√(1-β²) g + β ξ`` is Gaussian again
(Crank-Nicolson), so a move that is refused below the level keeps the distribution above it. β is
adapted box by box.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.lazy_modules import special

Score = Callable[[FloatArray, IntArray], FloatArray]
# Half of the moves accepted: a quarter, as usual for random walks, took 1.8 times the queries
# for the same precision (balls, planes, strips and two corners in 2 to 50 dimensions).
_WANTED_ACCEPTANCE = 0.5
_ENOUGH_MOVED = 0.9
_ENOUGH_ACCEPTED = 2.0
_MANY = 50
_SMALLEST_STEP = 0.005
_REACH = 8.5  # beyond it the distribution function is 0 or 1 to double precision
_STEPS = 8192
_NUMBERS_AT_ONCE = 16_384


@dataclass
class Herd:
    """Copies of all boxes, sorted by box.

    Attributes
    ----------
    g, score
        Where each copy is, and its score.
    owner
        The position of its box in what follows.
    boxes, bar, step
        Index, level and step size β of each box.
    """

    g: FloatArray
    score: FloatArray
    owner: IntArray
    boxes: IntArray
    bar: FloatArray
    step: FloatArray


def scatter(
    herd: Herd, score_of: Score, moves: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Move all copies in place; the mean acceptance and the share ever moved, of each box.

    A box stops before ``moves`` when its copies have left their places: more moves would cost
    queries without making them less alike. With few copies the moment of stopping would depend
    on where they are, and bias them, so these make every move.
    """
    boxes = len(herd.boxes)
    count = np.bincount(herd.owner, minlength=boxes)
    accepted, tried, share = np.zeros(boxes), np.zeros(boxes), np.zeros(boxes)
    going = np.arange(boxes)
    rows = np.arange(len(herd.owner))
    g, score, owner = herd.g, herd.score, herd.owner
    ever = np.zeros(len(owner), dtype=bool)
    for left in reversed(range(moves)):
        start = np.concatenate([[0], np.cumsum(count[going])[:-1]])
        beta = herd.step.take(owner)[:, None]
        trial = rng.standard_normal(g.shape)
        trial *= beta
        trial += np.sqrt(1 - beta**2) * g
        value = score_of(trial, herd.boxes.take(owner))
        accept = value > herd.bar.take(owner)
        np.copyto(g, trial, where=accept[:, None])
        np.copyto(score, value, where=accept)
        ever |= accept
        rate = np.add.reduceat(accept, start, dtype=np.float64) / count[going]
        accepted[going] += rate
        tried[going] += 1
        share[going] = np.add.reduceat(ever, start, dtype=np.float64) / count[going]
        step = herd.step[going] * np.exp(rate - _WANTED_ACCEPTANCE)
        herd.step[going] = np.clip(step, _SMALLEST_STEP, 1.0)
        rested = (share[going] >= _ENOUGH_MOVED) & (accepted[going] >= _ENOUGH_ACCEPTED)
        rested &= count[going] >= _MANY
        if left == 0 or rested.any():
            stay = np.repeat(~rested, count[going])
            herd.g[rows], herd.score[rows] = g, score
            rows, going = rows[stay], going[~rested]
            if not len(going):
                break
            g, score, owner, ever = g[stay], score[stay], owner[stay], ever[stay]
    return accepted / tried, share


def normal_cdf(g: FloatArray) -> FloatArray:
    """Φ(g) from a table: increasing, relative error below 1e-4 in both tails, a third of the time.

    >>> g = np.array([-4.0, 0.3, 9.0])
    >>> np.abs(normal_cdf(g) / special.ndtr(g) - 1).max() < 1e-4
    np.True_
    """
    value, slope = _table()
    found = np.empty(g.size)
    flat = g.reshape(-1)
    for start in range(0, g.size, _NUMBERS_AT_ONCE):  # what is at work stays in the cache
        part = slice(start, start + _NUMBERS_AT_ONCE)
        place = flat[part] * (_STEPS / (2 * _REACH))
        place += _STEPS / 2
        np.clip(place, 0, _STEPS, out=place)
        step = place.astype(np.int32)
        place -= step
        place *= slope.take(step)
        np.add(place, value.take(step), out=found[part])
    return found.reshape(g.shape)


@cache
def _table() -> tuple[FloatArray, FloatArray]:
    value = special.ndtr(np.linspace(-_REACH, _REACH, _STEPS + 1))
    return value, np.diff(value, append=value[-1])
