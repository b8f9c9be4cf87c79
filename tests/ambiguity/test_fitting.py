import numpy as np
import pytest

pytest.importorskip("torch")

from fireassay.ambiguity.fitting import Judgement, allowed_real_fake, pair_summary
from fireassay.ambiguity.fitting import required_label_accuracy as required
from fireassay.ambiguity.stacked_networks import balanced_accuracy

pytestmark = pytest.mark.extras


def test_the_paper_asks_for_ninety_percent():
    assert required(float("nan")) == 0.9
    assert required(1.0) == 0.9


def test_hard_pairs_are_judged_by_what_a_pair_classifier_reaches():
    assert required(0.85) == pytest.approx(0.80)
    assert required(0.95) == pytest.approx(0.90)


def test_rows_that_could_be_either_class_may_lie_between_the_priors():
    assert allowed_real_fake(float("nan")) == (0.4, 0.6)
    assert allowed_real_fake(0.99) == (0.4, 0.6)
    assert allowed_real_fake(0.75) == pytest.approx((0.4, 0.8))


def test_overlapping_classes_of_a_table_are_accepted():
    from fireassay.ambiguity import AmbiguityGenerator, Preset

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X = rng.normal(0, 1, (400, 3)) + 1.2 * y[:, None] * [1, 1, 0]  # at best 80 % are right
    preset = Preset("short", steps=120, batch=32, hidden=32)
    report = AmbiguityGenerator(tries=1, preset=preset).fit(X, y).report
    assert report["reference_accuracy"][0] < 0.9
    assert report["accepted"][0] == 1, report["reason"][0]


def test_balanced_accuracy_counts_classes_equally_and_ties_half():
    second = np.array([0.1, 0.2, 0.9, 0.4])
    side = np.array([0, 0, 0, 1], dtype=np.float32)
    assert balanced_accuracy(second, side) == pytest.approx((2 / 3 + 0) / 2)
    assert balanced_accuracy(np.array([0.5, 0.5]), np.array([0, 1], dtype=np.float32)) == 0.5


def test_summary_shows_accepted_tries_and_every_reason():
    good = Judgement(0.98, 0.5, 0.99, 0.07, 0.1, "")
    bad = Judgement(0.6, 0.7, 0.99, 0.3, 0.1, "label accuracy 0.600 is below 0.900")
    row = pair_summary([bad, good])
    assert (row["accepted"], row["tries"], row["label_accuracy"]) == (1, 2, 0.98)
    assert row["reason"] == "try 0: label accuracy 0.600 is below 0.900"
    assert pair_summary([bad])["label_accuracy"] == 0.6


def test_a_collapsed_autoencoder_is_rejected(digits):
    import dataclasses

    from fireassay.ambiguity import AmbiguityGenerator
    from fireassay.ambiguity.preset import FAST

    untrained = dataclasses.replace(FAST, steps=1, warm_up=0)
    gen = AmbiguityGenerator([(3, 8)], tries=1, preset=untrained).fit(digits.X, digits.y)
    assert gen.report["accepted"][0] == 0
    assert "label accuracy" in gen.report["reason"][0]
