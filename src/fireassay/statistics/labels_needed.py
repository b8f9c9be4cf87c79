"""How many more labels would show that a rate keeps its limit, given what was seen so far."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from fireassay.core.errors import ParameterError
from fireassay.core.lazy_modules import special, stats
from fireassay.statistics.binomial_tail import at_most

_MOST = 10_000_000


@dataclass(frozen=True)
class LabelsNeeded:
    """What would settle whether a rate keeps its limit.

    Attributes
    ----------
    more
        Labels still needed so that the limit is shown with the wanted chance; None if no number
        (or none below ten million) does.
    chance
        That the rate is below the limit at all: what even endless labels can show (Jeffreys).
    at_the_seen_rate
        Whether ``more`` takes the seen rate for the true one, because ``chance`` is not enough.
    fresh, rate
        Where the seen rate breaks the limit: with so many fresh labels the rate must be at most
        this.
    """

    more: int | None
    chance: float
    at_the_seen_rate: bool = False
    fresh: int | None = None
    rate: float | None = None


def alpha_at_look(alpha: float, look: int) -> float:
    """The error probability that the ``look``-th look at growing data may spend.

    All looks together spend ``alpha``, however many there are.

    >>> round(alpha_at_look(0.05, 1), 4), round(alpha_at_look(0.05, 2), 4)
    (0.04, 0.005)
    """
    return 0.8 * alpha if look == 1 else 0.2 * alpha / ((look - 1) * look)


def labels_needed(
    errors: int, n: int, limit: float, alpha: float = 0.025, *, look: int = 2, power: float = 0.8
) -> LabelsNeeded:
    """Labels still needed to show that a rate is at most ``limit``, after ``errors`` in ``n``.

    Parameters
    ----------
    errors, n
        Seen so far.
    limit
        Of the rate, in (0, 1).
    alpha
        One-sided error probability of the exact bound, over all looks.
    look
        At which look the labels will be judged: 2 after one look.
    power
        The chance with which that many labels show it.

    Notes
    -----
    With c(m) = max{c: P(Bin(m, limit) <= c) <= alpha_look}, the smallest N such that
    P(BetaBin(N, errors + ½, n - errors + ½) <= c(n + N) - errors) >= power. It exists only if the
    Jeffreys posterior puts more than ``power`` below the limit; otherwise N is that for the rate
    ``errors / n`` taken as true.

    >>> labels_needed(0, 50, limit=0.05, alpha=0.025).more
    184
    """
    if not (0 < limit < 1 and 0 <= errors <= n and n > 0):
        raise ParameterError(
            "labels_needed takes 0 < limit < 1 and 0 <= errors <= n.",
            got=f"limit={limit}, errors={errors}, n={n}",
        )
    spent = alpha_at_look(alpha, look)
    a, b = errors + 0.5, n - errors + 0.5
    chance = float(special.betainc(a, b, limit))
    if errors / n >= limit:
        fresh = max(n, _labels_for(0, limit, spent))
        return LabelsNeeded(
            None, chance, fresh=fresh, rate=_largest_rate(fresh, limit, spent, power)
        )

    def shown_if_uncertain(more: int, allowed: int) -> float:
        return float(stats.betabinom.cdf(allowed, more, a, b))

    def shown_at_the_seen_rate(more: int, allowed: int) -> float:
        return float(special.bdtr(allowed, more, errors / n))

    uncertain = chance > power
    shown = shown_if_uncertain if uncertain else shown_at_the_seen_rate
    more = _fewest(errors, n, limit, spent, lambda m, c: shown(m, c) >= power)
    return LabelsNeeded(more, chance, at_the_seen_rate=not uncertain)


def labels_to_show(limit: float, rate: float, alpha: float = 0.025, power: float = 0.8) -> int:
    """The fewest labels that show with this chance that a rate is at most ``limit``.

    Parameters
    ----------
    limit
        Of the rate, in (0, 1).
    rate
        The true one, below the limit.
    alpha
        One-sided error probability of the exact bound.
    power
        The chance.

    >>> labels_to_show(0.05, 0.0), labels_to_show(0.05, 0.025)
    (72, 465)
    """
    if not 0 <= rate < limit < 1:
        raise ParameterError(
            "labels_to_show takes 0 <= rate < limit < 1.", got=f"rate={rate}, limit={limit}"
        )
    allowed = 0
    while True:
        n = _labels_for(allowed, limit, alpha)
        if at_most(allowed, n, rate) >= power:
            return n
        allowed += 1


def _fewest(
    errors: int, n: int, limit: float, alpha: float, enough: Callable[[int, int], bool]
) -> int | None:
    """Look where one more error is allowed: between two such points more labels only hurt."""

    def more(allowed: int) -> int:
        return max(0, _labels_for(allowed, limit, alpha) - n)

    def good(allowed: int) -> bool:
        found = more(allowed)
        return enough(found, allowed - errors) if found else True

    step, high = 1, errors
    while not good(high):
        if _labels_for(high, limit, alpha) > _MOST:
            return None
        high, step = high + step, 2 * step
    low = max(errors, high - step // 2)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if good(middle) else (middle, high)
    # The chance rises with small dents: one of the few before may do, too.
    return more(next(c for c in range(max(errors, high - 20), high + 1) if good(c)))


def _labels_for(allowed: int, limit: float, alpha: float) -> int:
    """The fewest labels at which this many errors still show the limit."""
    low = allowed
    high = math.ceil((allowed + 10 * math.sqrt(allowed + 1) - 20 * math.log(alpha)) / limit)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if at_most(allowed, middle, limit) <= alpha else (middle, high)
    return high


def _largest_rate(n: int, limit: float, alpha: float, power: float) -> float:
    """The rate at which ``n`` labels show the limit with the wanted chance."""
    low, high = 0, n
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if special.bdtr(middle, n, limit) <= alpha else (low, middle)
    return float(special.bdtri(low, n, power))
