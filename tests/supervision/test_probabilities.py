"""Supervisors on probabilities, against numbers worked out by hand."""

import numpy as np
import pytest

from fireassay import supervision
from fireassay.core import DataError, ProbabilityError
from fireassay.supervision import NotAvailableError, Reading, SampleSummary
from fireassay.supervision.dissector import support
from fireassay.supervision.reading import FIELDS

P = np.array([[0.5, 0.25, 0.25], [1.0, 0.0, 0.0]])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("max-softmax", [0.5, 0.0]),
        ("pcs", [0.75, 0.0]),
        ("softmax-entropy", [1.5, 0.0]),
        ("deep-gini", [1 - 0.375, 0.0]),
        ("gen", [0.25**0.1 + 2 * 0.1875**0.1, 0.0]),
    ],
)
def test_by_hand(name, expected):
    found = supervision.make(name).score_reading(Reading(probabilities=P))
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_samples_by_hand():
    samples = [[[1.0, 0.0]], [[0.0, 1.0]], [[1.0, 0.0]], [[0.5, 0.5]]]
    summary = SampleSummary.of(np.array(samples))
    reading = Reading(dropout=summary, ensemble=summary)
    mean = np.array([0.625, 0.375])
    entropy = -(mean * np.log2(mean)).sum()
    expected = {
        "mc-dropout-variation-ratio": 0.25,
        "mc-dropout-mean-softmax": 0.375,
        "mc-dropout-predictive-entropy": entropy,
        "mc-dropout-mutual-information": entropy - 0.25,
        "ensemble-mean-softmax": 0.375,
        "ensemble-predictive-entropy": entropy,
        "ensemble-mutual-information": entropy - 0.25,
    }
    for name, value in expected.items():
        found = supervision.make(name).score_reading(reading)
        np.testing.assert_allclose(found, [value], atol=1e-12, err_msg=name)


def test_agreeing_samples_carry_no_information():
    same = SampleSummary.of(np.repeat(P[None], 5, axis=0))
    found = supervision.make("ensemble-mutual-information").score_reading(Reading(ensemble=same))
    np.testing.assert_allclose(found, 0.0, atol=1e-12)


def test_bad_samples_are_refused():
    with pytest.raises(DataError, match="at least one"):
        SampleSummary.of([])
    with pytest.raises(ProbabilityError, match="sample 1"):
        SampleSummary.of([P, P[:1]])
    with pytest.raises(ProbabilityError, match="sum to 1"):
        SampleSummary.of([P + 0.5])


def test_support_of_a_probe():
    probabilities = np.array([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1]])
    # Agrees: 0.6 / (0.6 + 0.3). Disagrees: 1 − 0.7 / (0.7 + 0.2).
    np.testing.assert_allclose(support(probabilities, np.array([0, 0])), [2 / 3, 1 - 7 / 9])


def test_what_a_reading_lacks_is_named():
    with pytest.raises(NotAvailableError, match="energy needs logits"):
        supervision.make("energy").score_reading(Reading(probabilities=P))
    reading = Reading(probabilities=P)
    for name in FIELDS:
        if name != "probabilities":
            with pytest.raises(NotAvailableError, match=rf"reading of prob.* Pass {name}= to"):
                getattr(reading, name)
    with pytest.raises(NotAvailableError, match="Pass probabilities="):
        _ = Reading(inputs=P).predictions
    with pytest.raises(DataError, match="same number of rows"):
        Reading(probabilities=P, logits=P[:1])
