import numpy as np
import pytest

pytest.importorskip("torch")

from fireassay import data
from fireassay.ambiguity import top_pair_accuracy
from fireassay.core import DataError, ParameterError
from fireassay.core.arrays import entropy_bits
from fireassay.papers.vae_baseline import VaeBaseline

pytestmark = [pytest.mark.extras, pytest.mark.slow]


@pytest.fixture(scope="module")
def digits():
    return data.digits()


@pytest.fixture(scope="module")
def baseline(digits):
    return VaeBaseline(epochs=25, most_mutual_information=0.3).fit(digits.X, digits.y)


def test_samples_pass_the_filter(baseline, digits):
    found = baseline.sample(100)
    assert found.X.shape == (100, 8, 8)
    assert (found.entropy >= baseline.least_entropy).all()
    assert (found.mutual_information <= baseline.most_mutual_information).all()
    assert found.soft_labels.sum(axis=1) == pytest.approx(np.ones(100))
    assert ((found.soft_labels * 10).round(9) % 1 == 0).all()
    assert 0 < found.kept < 1


def test_some_labels_are_not_ambiguous_and_top_pair_is_not_calculable(baseline):
    found = baseline.sample(200)
    single = (found.soft_labels.max(axis=1) == 1.0).mean()
    assert found.non_ambiguous == pytest.approx(single)
    assert found.without_pair >= found.non_ambiguous > 0
    assert (entropy_bits(found.soft_labels) == 0).mean() == pytest.approx(single)
    with pytest.raises(DataError, match="two leading classes"):
        top_pair_accuracy(found.soft_labels, np.full((200, 10), 0.1))


def test_same_seed_same_samples(baseline):
    assert (baseline.sample(20).X == baseline.sample(20).X).all()


def test_impossible_filters_and_missing_fit_are_named(baseline):
    with pytest.raises(ParameterError, match="fitted"):
        VaeBaseline().sample(3)
    strict = VaeBaseline(least_entropy=3.4)
    strict.__dict__.update({k: v for k, v in vars(baseline).items() if k.endswith("_")})
    with pytest.raises(DataError, match="Lower least_entropy"):
        strict.sample(10)
