"""How many labels, or groups, until a limit is shown: planned ahead, or given what was seen."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.errors import ParameterError
from fireassay.core.lazy import special, stats
from fireassay.core.seeds import generator
from fireassay.statistics.counts import at_most
from fireassay.statistics.groups.group_bound import log_growth
from fireassay.statistics.samples import check_sample


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


_FURTHEST = 20  # times what is there
_DRAWS = 400


@dataclass(frozen=True, slots=True)
class LabelsToPass:
    """What would settle a limit: labels or groups in all, how many more, and with what chance."""

    # None: even 20 times what is there would not settle it. Change the limit or the model.

    total: int | None
    more: int | None
    chance: float


def rows_to_pass(
    errors: int, n: int, limit: float, alpha: float = 0.025, power: float = 0.8
) -> LabelsToPass:
    """The fewest rows after which an exact bound keeps the limit with a chance of 80 %."""
    if not (0 < limit < 1 and 0 <= errors <= n and n > 0):
        raise ParameterError(
            "0 < limit < 1 and 0 <= errors <= n.", got=f"limit={limit}, errors={errors}, n={n}"
        )
    totals = np.arange(n + 1, _FURTHEST * n + 1)
    allowed = _most_errors(totals, limit, alpha) - errors
    chances = np.zeros(len(totals))
    # Between two totals at which one more error is allowed, more labels only hurt.
    first = np.flatnonzero(np.diff(allowed, prepend=-errors - 2) > 0)
    first = first[allowed[first] >= 0]
    chances[first] = stats.betabinom.cdf(
        allowed[first], totals[first] - n, errors + 1, n - errors + 1
    )
    good = np.flatnonzero(chances >= power)
    if not len(good):
        return LabelsToPass(None, None, float(chances.max(initial=0.0)))
    total = int(totals[good[0]])
    return LabelsToPass(total, total - n, float(chances[good[0]]))


def _most_errors(totals: IntArray, limit: float, alpha: float) -> FloatArray:
    """The most errors of each total with which the exact upper bound is at most the limit."""
    most = stats.binom.ppf(alpha, totals, limit)  # the smallest k with P(X <= k) >= alpha
    return np.where(special.bdtr(most, totals, limit) <= alpha, most, most - 1)


def groups_to_pass(
    sums: ArrayLike,
    sizes: ArrayLike,
    limit: float,
    alpha: float = 0.025,
    power: float = 0.8,
    *,
    largest_group: float | None = None,
    seed: int = 0,
) -> LabelsToPass:
    """The fewest groups after which `group_upper` keeps the limit with a chance of 80 %."""
    # New groups are like those seen (Bayesian bootstrap), and like one that is all wrong and one
    # that is all right, of the mean size: for groups of one row this is the uniform prior.
    errors, rows = check_sample(sums, "sums"), check_sample(sizes, "sizes")
    seen = len(rows)
    cap = float(rows.max()) if largest_group is None else largest_group
    hits = np.append(errors, [rows.mean(), 0.0]) / cap
    misses = np.append(rows - errors, [0.0, rows.mean()]) / cap
    rng = generator(seed, "groups to pass")
    chances = rng.dirichlet(np.ones(seen + 2), _DRAWS)
    had = np.append(np.ones(seen), [0.0, 0.0])

    def chance(total: int) -> float:
        drawn = generator(seed, "groups to pass", total).multinomial(total - seen, chances)
        growth, weights = log_growth(limit / (1.0 - limit), hits, misses, alpha, total)
        # A lost capital stays lost, and 0 × -inf is none.
        growth = np.maximum(growth, -1e9)
        capital = np.logaddexp.reduce(weights + (drawn + had) @ growth.T, axis=1)
        return float((capital >= -np.log(alpha)).mean())

    totals = np.unique(np.geomspace(seen + 1, _FURTHEST * seen, 60).astype(int))
    found = np.array([chance(int(total)) for total in totals])
    good = np.flatnonzero(found >= power)
    if not len(good):
        return LabelsToPass(None, None, float(found.max(initial=0.0)))
    low = int(totals[good[0] - 1]) if good[0] else seen
    high = int(totals[good[0]])
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if chance(middle) >= power else (middle, high)
    return LabelsToPass(high, high - seen, chance(high))
