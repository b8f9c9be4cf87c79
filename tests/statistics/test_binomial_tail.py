"""Tails of the binomial distribution against sums in fifty digits, and their edges."""

from decimal import Decimal, localcontext

import pytest

from fireassay.statistics.counts import at_least, at_most


def summed(first, last, n, rate):
    """The chance of first to last hits, added up in fifty digits."""
    with localcontext() as digits:
        digits.prec = 50
        p, total = Decimal(rate), Decimal(0)
        term = (1 - p) ** n
        for i in range(last + 1):
            total += term if i >= first else 0
            term = term * (n - i) / (i + 1) * p / (1 - p)
        return float(total)


@pytest.mark.parametrize(
    ("count", "n", "rate"),
    [
        (1, 1, 0.3),
        (3, 8, 0.5),
        (58, 897, 0.1),
        (58, 897, 0.05),
        (700, 897, 0.7),
        (897, 897, 0.9),
        (20, 2000, 1e-6),
        (1990, 2000, 0.9999),
        (3, 8_952_726, 1.4084093578630327e-06),
        (2600, 50_000, 0.05),
    ],
)
def test_both_tails_have_twelve_right_digits(count, n, rate):
    assert at_most(count - 1, n, rate) == pytest.approx(
        summed(0, count - 1, n, rate), rel=1e-12, abs=1e-15
    )
    if n < 100_000:
        assert at_least(count, n, rate) == pytest.approx(
            summed(count, n, n, rate), rel=1e-12, abs=1e-300
        )


def test_tails_at_the_edges():
    assert [at_least(k, 5, 0.0) for k in (0, 1, 5)] == [1.0, 0.0, 0.0]
    assert [at_least(k, 5, 1.0) for k in (0, 5, 6)] == [1.0, 1.0, 0.0]
    assert [at_most(k, 5, 0.0) for k in (-1, 0, 5)] == [0.0, 1.0, 1.0]
    assert [at_most(k, 5, 1.0) for k in (0, 4, 5)] == [0.0, 0.0, 1.0]
