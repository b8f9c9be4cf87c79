"""How many rows, labels or groups a claim takes, before any is bought."""

import math
from collections.abc import Callable

import numpy as np

from fireassay.core.errors import ParameterError
from fireassay.core.lazy import special, stats
from fireassay.core.seeds import generator
from fireassay.core.validation import check_integer, check_real
from fireassay.statistics.error_detector import ErrorDetector
from fireassay.statistics.groups.group_bound import groups_needed, log_capital

_MOST, _BLOCK, _STUDIES, _STREAMS = 10_000_000, 50, 1000, 100


def rows_for_bound(
    limit: float,
    rate: float,
    confidence: float = 0.975,
    power: float = 0.8,
    *,
    slices: int = 1,
    smallest_slice: float = 1.0,
) -> int:
    """Labelled rows so that the exact upper bound of an error rate keeps its limit.

    Args:
        limit: The bound must not be above it.
        rate: The true error rate, below the limit.
        confidence: Of the bound, one-sided.
        power: The chance that the labels show it; with slices for each of them alone.
        slices, smallest_slice: So many bounds must hold at once, the smallest on this share.

    >>> rows_for_bound(0.05, 0.02)
    312
    >>> rows_for_bound(0.05, 0.02, slices=10, smallest_slice=0.05)
    11140
    """
    _below(rate, limit)
    check_integer(slices, "slices", low=1)
    check_real(smallest_slice, "smallest_slice", low=0, high=1, inclusive="high")
    alpha = (1.0 - check_real(confidence, "confidence", low=0, high=1)) / slices
    check_real(power, "power", low=0, high=1)

    def enough(n: int) -> bool:
        allowed = int(stats.binom.ppf(alpha, n, limit))
        if stats.binom.cdf(allowed, n, limit) > alpha:
            allowed -= 1
        return allowed >= 0 and bool(stats.binom.cdf(allowed, n, rate) >= power)

    return math.ceil(_fewest(enough) / smallest_slice)


def groups_for_bound(
    limit: float,
    rate: float,
    rows_per_group: int,
    correlation: float,
    confidence: float = 0.975,
    power: float = 0.8,
) -> int:
    """Patients, devices or documents so that the bound of an error rate keeps its limit.

    More rows of the same patients cannot replace patients.

    Args:
        limit, rate, confidence, power: As for `rows_for_bound`.
        rows_per_group: Rows of one group.
        correlation: Of two rows of one group (intra-class), in [0, 1].

    The search starts at the rows that `rows_for_bound` asks for, times the design effect
    1 + (m - 1) ρ, and goes on until `group_mean` keeps the limit often enough in 1,000 simulated
    studies whose groups differ as the correlation says (beta-binomial).

    >>> groups_for_bound(0.1, 0.04, rows_per_group=1, correlation=0.0) == rows_for_bound(0.1, 0.04)
    True
    """
    check_integer(rows_per_group, "rows_per_group", low=1)
    check_real(correlation, "correlation", low=0, high=1, inclusive="low")
    rows = rows_for_bound(limit, rate, confidence, power)
    effect = 1.0 + (rows_per_group - 1) * correlation
    groups = max(3, math.ceil(rows * effect / rows_per_group))
    if correlation == 0.0 and rows_per_group == 1:
        return groups
    scale = 1.0 / max(correlation, 1e-6) - 1.0
    groups = max(groups, groups_needed(limit, 1.0 - confidence))
    while groups < _MOST:
        rng = generator(0, "groups for a bound")
        own = rng.beta(max(rate, 1e-9) * scale, (1.0 - rate) * scale, (_STUDIES, groups))
        wrong = rng.binomial(rows_per_group, own) / rows_per_group
        capital = log_capital(limit, wrong, 1.0 - wrong, 1.0 - confidence, groups)
        if (capital >= -math.log(1.0 - confidence)).mean() >= power:
            return groups
        groups = math.ceil(1.07 * groups)
    raise ParameterError("This takes more than ten million groups.", got=f"limit {limit:g}")


def rows_for_pair(gained: float, lost: float, confidence: float = 0.95, power: float = 0.8) -> int:
    """Rows to show that of two models, judged on the same rows, one is right more often.

    Args:
        gained, lost: Shares of rows that only the one (larger), and only the other gets right.
        confidence: Of the two-sided exact test (McNemar).
        power: The chance that it tells them apart.

    >>> rows_for_pair(0.06, 0.03)
    830
    """
    _below(lost, gained)
    if gained + lost > 1:
        raise ParameterError("gained and lost are shares of all rows.", got=f"{gained + lost:g}")
    tail = (1.0 - check_real(confidence, "confidence", low=0, high=1)) / 2.0
    share = gained / (gained + lost)

    def enough(n: int) -> bool:
        spread = 6.0 * math.sqrt(n * (gained + lost))
        middle = n * (gained + lost)
        discordant = np.arange(max(0, int(middle - spread)), min(n, int(middle + spread)) + 1)
        # The fewest wins among so many with P(Bin(d, 1/2) >= wins) <= tail.
        wins = stats.binom.isf(tail, discordant, 0.5) + 1
        found = stats.binom.sf(wins - 1, discordant, share)
        return bool((stats.binom.pmf(discordant, n, gained + lost) * found).sum() >= power)

    return _fewest(enough)


def rows_for_auroc(
    auc: float, width: float, positives: float = 0.5, confidence: float = 0.95
) -> int:
    """Rows so that the interval of an AUROC is about as wide as wanted.

    Args:
        auc: The expected AUROC, in (0.5, 1).
        width: Of the whole interval.
        positives: Share of the rows that are positive.
        confidence: Of the interval, two-sided.

    The variance of the AUROC of normal scores, on the logit scale as `delong_interval` has it.

    >>> rows_for_auroc(0.9, 0.05, positives=0.2)
    873
    """
    check_real(auc, "auc", low=0.5, high=1)
    check_real(width, "width", low=0, high=1)
    share = check_real(positives, "positives", low=0, high=1)
    z = -float(special.ndtri((1.0 - check_real(confidence, "confidence", low=0, high=1)) / 2.0))
    # That one row of the one class is beyond two of the other: two normals that correlate by 1/2.
    both = float(
        stats.multivariate_normal.cdf(np.full(2, special.ndtri(auc)), cov=[[1.0, 0.5], [0.5, 1.0]])
    )

    def enough(n: int) -> bool:
        pos, neg = n * share, n * (1.0 - share)
        if min(pos, neg) < 5:
            return False
        variance = (auc * (1 - auc) + (pos + neg - 2) * (both - auc**2)) / (pos * neg)
        centre, half = math.log(auc / (1 - auc)), z * math.sqrt(variance) / (auc * (1 - auc))
        low, high = (1 / (1 + math.exp(-centre - side * half)) for side in (-1, 1))
        return high - low <= width

    return _fewest(enough)


def labels_until_alarm(
    limit: float, rate: float, alpha: float = 0.05, *, quiet: int = 500, seed: int = 0
) -> int:
    """Labels after a rise of the error rate until the monitor's alarm, in half of all cases.

    Args:
        limit: The error rate that the monitor accepts.
        rate: The rate after the rise, above the limit.
        alpha: The probability of ever a false alarm.
        quiet: Labels before the rise, at the limit: the longer the run, the later the alarm.
        seed: Of the simulated streams.

    Simulated: 100 streams of labels, judged by `ErrorDetector`.

    >>> 15 < labels_until_alarm(0.01, 0.2, quiet=100) < 60
    True
    """
    _below(limit, rate)
    check_integer(quiet, "quiet", low=0)
    rng = generator(seed, "labels until alarm")
    delays: list[int] = []
    most = math.ceil(200 * limit / (rate - limit) ** 2 * math.log(1 / alpha)) + 200
    while len(delays) < _STREAMS:
        detector = ErrorDetector(limit, alpha).after(rng.random(quiet) < limit)
        if detector.alarm:
            continue  # a false alarm is no delay
        while not detector.alarm and detector.seen < quiet + most:
            detector = detector.after(rng.random(_BLOCK) < rate)
        delays.append((detector.alarm_at or detector.seen) - quiet)
    return int(np.quantile(delays, 0.5, method="higher"))


def _below(small: float, large: float) -> None:
    check_real(small, "rate", low=0, high=1, inclusive="low")
    check_real(large, "limit", low=0, high=1)
    if small >= large:
        raise ParameterError(
            "No number of rows shows what is not so.", got=f"{small:g} ≥ {large:g}"
        )


def _fewest(enough: Callable[[int], bool]) -> int:
    """The smallest number from which on it is enough, up to the saw teeth of exact bounds."""
    high = 8
    while not enough(high):
        high *= 2
        if high > _MOST:
            raise ParameterError("This takes more than ten million rows.", got=f"{high:,}")
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
