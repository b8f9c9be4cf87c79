"""How many labels show that a rate keeps its limit, and what each of several looks may spend."""

import math

from fireassay.core.errors import ParameterError
from fireassay.statistics.counts import at_most


def alpha_at_look(alpha: float, look: int) -> float:
    """What the ``look``-th look at growing data may spend; all looks together spend ``alpha``."""
    return 0.8 * alpha if look == 1 else 0.2 * alpha / ((look - 1) * look)


def labels_to_show(limit: float, rate: float, alpha: float = 0.025, power: float = 0.8) -> int:
    """The fewest labels that show with this chance that a rate is at most ``limit``."""
    if not 0 <= rate < limit < 1:
        raise ParameterError(
            "labels_to_show takes 0 <= rate < limit < 1.", got=f"rate={rate}, limit={limit}"
        )
    return fewest_labels(limit, rate, alpha, power)[0]


def fewest_labels(limit: float, rate: float, alpha: float, power: float) -> tuple[int, int, float]:
    """The fewest labels that show a limit with this chance, the errors they allow, the chance."""
    allowed = 0
    while True:
        n = labels_allowing(allowed, limit, alpha)
        chance = at_most(allowed, n, rate)
        if chance >= power:
            return n, allowed, chance
        allowed += 1


def labels_allowing(allowed: int, limit: float, alpha: float) -> int:
    """The fewest labels at which this many errors still show the limit."""
    low = allowed
    high = math.ceil((allowed + 10 * math.sqrt(allowed + 1) - 20 * math.log(alpha)) / limit)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if at_most(allowed, middle, limit) <= alpha else (middle, high)
    return high
