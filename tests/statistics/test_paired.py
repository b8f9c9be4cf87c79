import numpy as np
import pytest
from scipy import stats

from fireassay.core import DataError
from fireassay.statistics.paired import paired_difference


def rows(both, only_first, only_second, neither):
    first = [True] * (both + only_first) + [False] * (only_second + neither)
    second = [True] * both + [False] * only_first + [True] * only_second + [False] * neither
    return first, second


def test_uncorrelated_pairs_give_the_unpaired_newcombe_interval():
    # Margins 50 and 50 of 100 with no correlation: the two Wilson intervals combined.
    estimate = paired_difference(*rows(25, 25, 25, 25))
    wilson = stats.binomtest(50, 100).proportion_ci(0.95, method="wilson")
    assert estimate.high == pytest.approx(np.hypot(wilson.high - 0.5, 0.5 - wilson.low))


def test_agreement_makes_it_narrower_than_independent_samples():
    paired = paired_difference(*rows(85, 5, 5, 5))
    apart = paired_difference(*rows(81, 9, 9, 1))
    assert paired.high - paired.low < apart.high - apart.low


def test_swapping_the_two_mirrors_the_interval():
    first, second = rows(60, 12, 5, 23)
    forward, backward = paired_difference(first, second), paired_difference(second, first)
    assert (forward.value, forward.low) == pytest.approx((-backward.value, -backward.high))


def test_identical_answers_still_have_an_interval():
    estimate = paired_difference([True] * 30, [True] * 30)
    assert estimate.value == 0
    assert estimate.low < 0 < estimate.high


@pytest.mark.slow
@pytest.mark.parametrize("cells", [(0.85, 0.05, 0.02, 0.08), (0.4, 0.1, 0.2, 0.3)])
def test_coverage(cells):
    rng = np.random.default_rng(1)
    truth, misses, repeats = cells[2] - cells[1], 0, 2000
    for counts in rng.multinomial(120, cells, size=repeats):
        estimate = paired_difference(*rows(*counts))
        misses += not estimate.low <= truth <= estimate.high
    assert misses <= stats.binom.ppf(0.999, repeats, 0.05)


def test_bad_input():
    with pytest.raises(DataError):
        paired_difference([], [])
    with pytest.raises(DataError):
        paired_difference([True], [True, False])
