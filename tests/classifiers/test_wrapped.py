"""A wrapper changes what goes in or out, and loses neither gradients, layers nor counts."""

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import fireassay as fa
from fireassay.attacks import AttackSpace, SpacedClassifier
from fireassay.classifiers import (
    ActivationClassifier,
    GradientClassifier,
    TemperatureScaled,
    WrappedClassifier,
)
from fireassay.core import BudgetExceededError
from fireassay.core.arrays import softmax
from fireassay.survival.defences import Conf, Defence, FeatureSqueezing, GaussIn, GaussOut, defend

ROWS = np.random.default_rng(0).random((12, 5))
LOW, SPAN = np.linspace(-2, 1, 5), np.linspace(0.5, 3, 5)


def unit_scaled(model: Any, low: np.ndarray, span: np.ndarray) -> Any:
    """Rows on a scale of one per column: the space of rows evenly spread between the ends."""
    space = AttackSpace.of(np.vstack([low, low + span]))
    return SpacedClassifier(model, replace(space, unit=span))


LABELS = np.arange(12) % 3

WRAPPERS: dict[str, Any] = {
    "temperature": lambda model: TemperatureScaled(model, 2.5),
    "unit scale": lambda model: unit_scaled(model, LOW, SPAN),
    "no defence": lambda model: defend(model, Defence()),
    "rejection": lambda model: defend(model, Conf(0.9)),
    "noise in training": lambda model: defend(model, GaussIn(0.1)),
    "scale in temperature": lambda model: TemperatureScaled(unit_scaled(model, LOW, SPAN), 0.5),
    "temperature in scale": lambda model: unit_scaled(TemperatureScaled(model, 3.0), LOW, SPAN),
    "defence in scale": lambda model: unit_scaled(defend(model, Conf(0.9)), LOW, SPAN),
}


def probabilities(rows: np.ndarray) -> np.ndarray:
    return np.asarray(softmax(rows[:, :3] * 4))


def network(**options: Any) -> Any:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.Tanh(), torch.nn.Linear(7, 3))
    return fa.as_classifier(module.double(), output="logits", **options)


@pytest.mark.parametrize("name", WRAPPERS)
def test_classes_counts_budget_and_hash_are_those_of_the_inner_model(name: str) -> None:
    inner: Any = fa.as_classifier(probabilities, classes=list("abc"), max_queries=40)
    wrapped = WRAPPERS[name](inner)
    wrapped.predict_proba(ROWS)
    wrapped.predict(ROWS)
    assert (wrapped.classes, wrapped.queries, wrapped.rows_delivered) == (tuple("abc"), 24, 24)
    assert not isinstance(wrapped, GradientClassifier | ActivationClassifier)
    with pytest.raises(BudgetExceededError):
        wrapped.predict_proba(np.tile(ROWS, (2, 1)))
    wrapped.max_queries = 100
    wrapped.predict_proba(np.tile(ROWS, (2, 1)))
    assert inner.max_queries == 100
    other = WRAPPERS[name](fa.as_classifier(lambda rows: probabilities(rows) ** 1))
    assert len({wrapped.sha256, inner.sha256, other.sha256}) == 3
    copy = pickle.loads(pickle.dumps(WRAPPERS[name](fa.as_classifier(probabilities))))
    np.testing.assert_array_equal(copy.predict_proba(ROWS), wrapped.predict_proba(ROWS))
    assert type(copy).__name__ in repr(copy)


@pytest.mark.extras
@pytest.mark.parametrize("name", WRAPPERS)
def test_gradients_are_finite_differences_of_what_the_wrapper_answers(name: str) -> None:
    wrapped = WRAPPERS[name](network())
    assert isinstance(wrapped, GradientClassifier)
    assert isinstance(wrapped, ActivationClassifier)
    assert wrapped.gradient_rule == "exact"
    step = 1e-5
    loss, differences = np.zeros_like(ROWS), np.zeros((12, 2, 5))
    columns = np.column_stack([LABELS, (LABELS + 1) % 3])

    def log_odds(rows: np.ndarray) -> np.ndarray:
        scores = np.log(wrapped.predict_proba(rows))
        return np.asarray(np.take_along_axis(scores, columns, axis=1))

    for feature in range(5):
        moved = step * np.eye(5)[feature]
        above, below = log_odds(ROWS + moved), log_odds(ROWS - moved)
        loss[:, feature] = -(above - below)[:, 0] / (2 * step)
        differences[:, :, feature] = (above - below) / (2 * step)
    before = wrapped.gradient_queries
    logits, slope = wrapped.loss_gradient(ROWS, LABELS)
    np.testing.assert_allclose(slope, loss, atol=1e-7)
    np.testing.assert_allclose(softmax(logits), wrapped.predict_proba(ROWS), atol=1e-12)
    np.testing.assert_allclose(softmax(wrapped.logits(ROWS)), softmax(logits), atol=1e-12)
    logits, slopes = wrapped.logit_gradients(ROWS, columns)
    np.testing.assert_allclose(softmax(logits), wrapped.predict_proba(ROWS), atol=1e-12)
    between = slopes[:, 0] - slopes[:, 1]
    np.testing.assert_allclose(between, differences[:, 0] - differences[:, 1], atol=1e-7)
    assert wrapped.gradient_queries - before == 12 + 24


@pytest.mark.extras
@pytest.mark.parametrize("defence", [FeatureSqueezing(3), GaussOut(0.05)])
def test_a_defence_without_a_derivative_says_so_and_passes_the_inner_one(defence: Any) -> None:
    inner = network(bounds=(0, 1))
    shielded: Any = defend(inner, defence)
    assert shielded.gradient_rule == "straight-through"
    _, slope = shielded.loss_gradient(ROWS, LABELS)
    seen = defence.inputs(ROWS, (0, 1))
    np.testing.assert_array_equal(slope, inner.loss_gradient(seen, LABELS)[1])
    np.testing.assert_allclose(
        softmax(shielded.logits(ROWS)), shielded.predict_proba(ROWS), atol=1e-12
    )


@pytest.mark.extras
def test_layers_are_read_for_the_rows_that_the_inner_model_gets() -> None:
    inner = network()
    wrapped: Any = unit_scaled(inner, LOW, SPAN)
    read = wrapped.activations(ROWS, ["1"])["1"]
    np.testing.assert_array_equal(read, inner.activations(LOW + ROWS * SPAN, ["1"])["1"])
    assert wrapped.layers == inner.layers


def test_withheld_answers_stay_withheld_behind_every_wrapper() -> None:
    shielded: Any = defend(fa.as_classifier(probabilities), Conf(0.6))
    expected = shielded.withheld(shielded.predict_proba(ROWS))
    assert 0 < expected.sum() < 12
    heated: Any = TemperatureScaled(shielded, 5.0)
    np.testing.assert_array_equal(heated.withheld(heated.predict_proba(ROWS)), expected)
    shifted: Any = unit_scaled(shielded, np.zeros(5), np.ones(5))
    np.testing.assert_array_equal(shifted.withheld(shifted.predict_proba(ROWS)), expected)
    assert not hasattr(TemperatureScaled(fa.as_classifier(probabilities), 2.0), "withheld")


def test_a_wrapper_must_say_what_it_is() -> None:
    class Nameless(WrappedClassifier):
        pass

    with pytest.raises(TypeError, match="_identity"):
        Nameless(fa.as_classifier(probabilities))  # type: ignore[abstract]
