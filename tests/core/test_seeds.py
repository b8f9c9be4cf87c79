import hashlib

import numpy as np
import pytest
from scipy import stats

from fireassay.core import ParameterError, derived_seed, generator
from fireassay.core.seeds import seed_sequence


def test_same_name_same_stream_other_name_other_stream():
    assert np.array_equal(generator(3, "a", 1).random(5), generator(3, "a", 1).random(5))
    streams = [
        generator(3, "a", 1),
        generator(3, "a", 2),
        generator(4, "a", 1),
        generator(3, "b", 1),
    ]
    first = [stream.random() for stream in streams]
    assert len(set(first)) == len(first)


def test_names_are_not_confused_with_each_other():
    assert generator(0, "1").random() != generator(0, 1).random()
    assert generator(0, "a", "b").random() != generator(0, "ab").random()
    assert generator(0, 5).random() == generator(0, np.int64(5)).random()


def test_neighbouring_streams_are_uniform_together():
    first_draws = [generator(0, "row", row).random() for row in range(2000)]
    assert stats.kstest(first_draws, "uniform").pvalue > 1e-3


@pytest.mark.parametrize("seed", [0, 2**32 - 1, 2**32, 2**100])
def test_streams_are_those_of_numbers_hashed_by_hand(seed):
    words = np.frombuffer(hashlib.sha256(b"s:a").digest()[:16], dtype="<u4")
    by_hand = np.random.SeedSequence([seed, *map(int, words)]).generate_state(4)
    np.testing.assert_array_equal(seed_sequence(seed, "a").generate_state(4), by_hand)


def test_derived_seed_fits_32_bits():
    assert 0 <= derived_seed(0, "torch") < 2**32


@pytest.mark.parametrize("seed", [None, -1, 1.5, True, "0"])
def test_refuses_seeds_that_cannot_be_repeated(seed):
    with pytest.raises(ParameterError, match="'seed' must be an int"):
        generator(seed, "a")
