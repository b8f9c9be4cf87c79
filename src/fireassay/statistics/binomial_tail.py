"""Tails of the binomial distribution, one number at a time and without any library.

scipy has them too, but takes a fifth of a second to import: longer than a verdict should.
"""

import math

_SERIES_FROM = 16
_NEGLIGIBLE = 1e-17


def at_least(count: int, n: int, rate: float) -> float:
    """The chance of ``count`` or more hits among ``n`` independent ones.

    Parameters
    ----------
    count, n
        How many hits at least, of how many.
    rate
        The chance of each, in [0, 1].

    Notes
    -----
    One term by Loader's saddle-point expansion, the terms beyond it by their ratios: right to about
    twelve digits.

    >>> round(at_least(1, 2, 0.5), 12), at_least(3, 2, 0.5), at_least(0, 2, 0.5)
    (0.75, 0.0, 1.0)
    """
    return _upper(count, n, rate, 1.0 - rate)


def at_most(count: int, n: int, rate: float) -> float:
    """The chance of ``count`` or fewer hits among ``n`` independent ones.

    Parameters
    ----------
    count, n, rate
        As for `at_least`.

    >>> round(at_most(1, 2, 0.5), 12)
    0.75
    """
    return _upper(n - count, n, 1.0 - rate, rate)


def _upper(count: int, n: int, rate: float, other: float) -> float:
    """`at_least`; ``other`` is one minus the rate, which loses digits when it is taken back."""
    if count <= 0 or (other <= 0.0 and count <= n):
        return 1.0
    if count > n or rate <= 0.0:
        return 0.0
    if count > n * rate:
        return min(1.0, _mass(count, n, rate, other) * _beyond(count, n, rate / other))
    rest = n - count + 1
    return max(0.0, 1.0 - _mass(rest, n, other, rate) * _beyond(rest, n, other / rate))


def _beyond(count: int, n: int, odds: float) -> float:
    """The sum of the terms from this one on, in units of it: beyond the mean they fall."""
    term = total = 1.0
    for i in range(count, n):
        term *= (n - i) / (i + 1) * odds
        total += term
        if term < _NEGLIGIBLE * total:
            break
    return total


def _mass(count: int, n: int, rate: float, other: float) -> float:
    if count == n:
        return math.exp(n * (math.log(rate) if rate < other else math.log1p(-other)))
    rest = n - count
    exponent = _stirling_error(n) - _stirling_error(count) - _stirling_error(rest)
    gap = count - n * rate if rate < other else n * other - rest
    exponent -= _deviance(count, n * rate, gap) + _deviance(rest, n * other, -gap)
    return math.exp(exponent) * math.sqrt(n / (2 * math.pi * count * rest))


def _stirling_error(n: int) -> float:
    """``log n!`` beyond Stirling's formula."""
    if n < _SERIES_FROM:
        return math.lgamma(n + 1.0) - (n + 0.5) * math.log(n) + n - 0.5 * math.log(2 * math.pi)
    square = float(n) * n
    series = 1 / 1260 - (1 / 1680 - 1 / (1188 * square)) / square
    return (1 / 12 - (1 / 360 - series / square) / square) / n


def _deviance(count: int, mean: float, gap: float) -> float:
    """``count log(count / mean) - gap``, also where the two are close; gap is their difference."""
    if abs(gap) >= 0.1 * (count + mean):
        return count * math.log(count / mean) - gap
    v = gap / (count + mean)
    total, power, odd = gap * v, 2 * count * v, 1
    while True:
        power *= v * v
        odd += 2
        longer = total + power / odd
        if longer == total:
            return total
        total = longer
