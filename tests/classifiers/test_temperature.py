"""Temperature scaling: the right softmax, the right gradients, honest confidence."""

import pickle
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

import fireassay as fa
from fireassay.classifiers import (
    ActivationClassifier,
    Classifier,
    GradientClassifier,
    TemperatureScaled,
    calibrate,
)
from fireassay.core import DataError, ModelError, ParameterError
from fireassay.core.arrays import softmax

LOGITS = np.random.default_rng(0).normal(scale=3, size=(400, 4))
ROWS = np.arange(400.0)[:, None]
LABELS = np.array(
    [np.random.default_rng(i).choice(4, p=softmax(row / 2.5)) for i, row in enumerate(LOGITS)]
)


def by_logits(rows: np.ndarray) -> np.ndarray:
    return np.asarray(LOGITS[rows[:, 0].astype(int)])


def by_probabilities(rows: np.ndarray) -> np.ndarray:
    return np.asarray(softmax(by_logits(rows), axis=1))


@pytest.mark.parametrize(
    ("model", "output"), [(by_logits, "logits"), (by_probabilities, "probabilities")]
)
def test_it_is_the_softmax_of_divided_logits(model: Any, output: str) -> None:
    inner = fa.as_classifier(model, output=output, classes=list("abcd"))
    scaled = TemperatureScaled(inner, 2.5)
    np.testing.assert_allclose(
        scaled.predict_proba(ROWS), softmax(LOGITS / 2.5, axis=1), atol=1e-12
    )
    np.testing.assert_array_equal(scaled.predict(ROWS), inner.predict(ROWS))
    assert (scaled.classes, scaled.queries) == (tuple("abcd"), 1200)
    assert scaled.sha256 not in (inner.sha256, TemperatureScaled(inner, 2.0).sha256)
    assert isinstance(scaled, Classifier)
    assert not isinstance(scaled, GradientClassifier | ActivationClassifier)


def test_exact_zeros_and_ones_stay() -> None:
    sure = fa.as_classifier(lambda rows: np.array([[1.0, 0.0, 0.0]] * len(rows)))
    for temperature in (0.01, 1.0, 50.0):
        answer = TemperatureScaled(sure, temperature).predict_proba([[0.0]])
        assert answer.tolist() == [[1.0, 0.0, 0.0]]


def test_calibrate_finds_the_likeliest_temperature() -> None:
    def loss(log_temperature: float) -> float:
        scores = log_softmax(LOGITS / np.exp(log_temperature), axis=1)
        return float(-scores[np.arange(400), LABELS].mean())

    best = np.exp(minimize_scalar(loss, bounds=(-3, 3), method="bounded").x)
    found = calibrate(by_probabilities, ROWS, LABELS)
    assert found.temperature == pytest.approx(best, rel=1e-4)
    assert 2.0 < found.temperature < 3.2, "the labels were drawn at 2.5"
    named = fa.as_classifier(by_logits, output="logits", classes=list("abcd"))
    assert calibrate(named, ROWS, np.array(list("abcd"))[LABELS]).temperature == pytest.approx(
        best, rel=1e-4
    )
    with pytest.raises(DataError, match="classes"):
        calibrate(named, ROWS, np.full(400, "z"))


def test_labels_and_bad_temperatures_are_refused() -> None:
    labels = fa.as_classifier(lambda rows: rows[:, 0] > 1, classes=[0, 1], output="labels")
    with pytest.raises(ModelError, match="labels"):
        TemperatureScaled(labels, 2.0)
    for bad in (0, -1, np.nan, "2"):
        with pytest.raises(ParameterError, match="temperature"):
            TemperatureScaled(fa.as_classifier(by_probabilities), bad)  # type: ignore[arg-type]


@pytest.mark.extras
def test_gradients_and_layers_pass_through() -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.Tanh(), torch.nn.Linear(7, 3))
    inner: Any = fa.as_classifier(module, output="logits")
    scaled: Any = TemperatureScaled(TemperatureScaled(inner, 4.0), 0.75)
    assert isinstance(scaled, GradientClassifier)
    assert isinstance(scaled, ActivationClassifier)
    rows = np.random.default_rng(0).random((9, 5)).astype(np.float32)
    y = np.arange(9) % 3
    inputs = torch.from_numpy(rows).requires_grad_()
    scores = module(inputs) / 3.0
    torch.nn.functional.cross_entropy(scores, torch.from_numpy(y), reduction="sum").backward()
    logits, gradient = scaled.loss_gradient(rows, y)
    np.testing.assert_allclose(logits, scores.detach().numpy(), atol=1e-6)
    np.testing.assert_allclose(gradient, inputs.grad.numpy(), atol=1e-6)
    _, by_column = scaled.logit_gradients(rows, np.tile(np.arange(3), (9, 1)))
    weights = softmax(logits, axis=1) - np.eye(3)[y]
    np.testing.assert_allclose(np.einsum("nk,nkd->nd", weights, by_column), gradient, atol=1e-6)
    np.testing.assert_allclose(scaled.predict_proba(rows), softmax(logits, axis=1), atol=1e-6)
    assert set(scaled.activations(rows, ["1"])) == {"1"}
    copy = pickle.loads(pickle.dumps(scaled))
    assert isinstance(copy, GradientClassifier)
    np.testing.assert_array_equal(copy.predict_proba(rows), scaled.predict_proba(rows))
