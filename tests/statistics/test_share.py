"""A share of rows with its exact interval."""

import math

import pytest
from scipy.stats import binomtest

from fireassay.core import Estimate, ParameterError
from fireassay.statistics import share


@pytest.mark.parametrize(("hits", "n"), [(0, 7), (3, 40), (7, 7), (250, 1000)])
def test_the_interval_is_scipys_exact_one(hits, n):
    found = share(hits, n, 0.9)
    ends = binomtest(hits, n).proportion_ci(0.9, "exact")
    assert (found.low, found.high) == pytest.approx((ends.low, ends.high), abs=1e-12)
    assert found.kind == "interval"


def test_no_rows_is_not_estimable():
    assert math.isnan(share(0, 0).value)


def test_kinds_of_estimates():
    assert Estimate.around(1.0, 0.9, 0.99, confidence=0.95, n=3, method="m").high == 1.0
    assert Estimate.count(3, n=40).confidence == 1.0
    assert Estimate.point(0.3, n=40, method="m").confidence == 0.0
    zero = Estimate(0.0, 0.0, 0.0, 0.95, 10, "m")
    assert zero.kind == "interval", "an interval without width is not a bound"
    with pytest.raises(ParameterError, match="no interval"):
        Estimate(0.1, 0.0, 0.2, 0.95, 10, "m", "bound")
    with pytest.raises(ParameterError, match="confidence"):
        Estimate(0.1, 0.0, 0.2, 1.0, 10, "m")
