"""Where a rising function reaches a level: the end of a bound that is made by betting."""

from collections.abc import Callable

_NEAR, _MOST_STEPS = 1e-13, 200


def crossing(
    rising: Callable[[float], float], level: float, low: float = 0.0, high: float = 1.0
) -> float:
    """The smallest place, within 1e-13 from above, at which a rising function reaches the level.

    Regula falsi with halving (Illinois), which needs a quarter of the steps of bisection.

    Parameters
    ----------
    rising
        A continuous function that does not fall.
    level
        What it is to reach.
    low, high
        Where to look; ``high`` is returned if the level is not reached before it.

    >>> round(crossing(lambda x: x**3, 0.125), 12)
    0.5
    """
    below, above = rising(low) - level, rising(high) - level
    if below >= 0.0:
        return low
    if above < 0.0:
        return high
    side = 0
    for _ in range(_MOST_STEPS):
        if high - low <= _NEAR:
            break
        middle = high - above * (high - low) / (above - below)
        if not low < middle < high:
            middle = (low + high) / 2.0
        found = rising(middle) - level
        if found >= 0.0:
            below = below / 2.0 if side == 1 else below
            high, above, side = middle, found, 1
        else:
            above = above / 2.0 if side == -1 else above
            low, below, side = middle, found, -1
    return high
