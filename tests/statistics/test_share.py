"""A share of rows with its exact interval."""

import importlib
import math

import numpy as np
import pytest
from scipy.stats import binomtest

from fireassay.core import Estimate, ParameterError
from fireassay.statistics import share
from fireassay.statistics.shares import exact_shares

share_file = importlib.import_module("fireassay.statistics.shares")


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


def test_shares_of_many_counts_are_those_of_each():
    rng = np.random.default_rng(0)
    n = rng.integers(0, 40, 300)
    hits = rng.binomial(n, 0.3)
    each = [share(int(k), int(m), 0.9) for k, m in zip(hits, n, strict=True)]
    for one, other in zip(each, exact_shares(hits, n, 0.9), strict=True):
        assert (one.n, one.method, one.confidence) == (other.n, other.method, other.confidence)
        assert (one.low, one.high) == (other.low, other.high) or one.n == 0
        assert one.value == other.value or one.n == 0


def test_a_thousand_classes_need_few_quantiles(monkeypatch):
    sizes = []
    whole = share_file.clopper_pearson

    def counted(k, n, *options):
        sizes.append(len(k))
        return whole(k, n, *options)

    monkeypatch.setattr(share_file, "clopper_pearson", counted)
    exact_shares(np.tile([0, 1, 2], 400), np.full(1200, 50), simultaneous=True)
    assert sizes == [3]
