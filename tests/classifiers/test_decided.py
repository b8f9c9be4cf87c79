"""An operating rule: the answers, the gradients and the hash are those of the decision."""

import pickle
from typing import Any

import numpy as np
import pytest

import fireassay as fa
from fireassay.classifiers import Decided, GradientClassifier, TemperatureScaled
from fireassay.core import ModelError, ParameterError
from fireassay.core.arrays import softmax

RNG = np.random.default_rng(3)
TABLE = RNG.dirichlet(np.full(4, 0.7), 500)
TABLE[:3] = [[0, 1, 0, 0], [0.2, 0.5, 0.3, 0], [0.19999, 0.2, 0.30001, 0.3]]
ROWS = np.arange(500.0)[:, None]


def by_row(rows: np.ndarray) -> np.ndarray:
    return np.asarray(TABLE[rows[:, 0].astype(int)])


def by_hand(p: np.ndarray, threshold: dict[int, float]) -> int:
    """The class furthest above its threshold in odds, else the most probable of the others."""
    above = {
        c: (p[c] / max(1e-300, 1 - p[c])) / (t / (1 - t)) for c, t in threshold.items() if p[c] >= t
    }
    if above:
        return max(above, key=lambda c: above[c])
    others = [c for c in range(4) if c not in threshold]
    return max(others, key=lambda c: p[c])


@pytest.mark.parametrize("threshold", [{0: 0.2}, {1: 0.7}, {0: 0.1, 2: 0.25}, {0: 0.9, 1: 0.05}])
def test_the_largest_probability_is_the_decision(threshold: dict[int, float]) -> None:
    model: Any = Decided(fa.as_classifier(by_row), threshold)
    answers = model.predict_proba(ROWS)
    expected = [by_hand(p, threshold) for p in TABLE]
    np.testing.assert_array_equal(answers.argmax(axis=1), expected)
    np.testing.assert_array_equal(model.predict(ROWS), expected)
    np.testing.assert_allclose(answers.sum(axis=1), 1)
    np.testing.assert_allclose(model.own(answers), TABLE, atol=1e-9)
    np.testing.assert_array_equal(
        TemperatureScaled(model, 3.0).predict(ROWS), expected
    )  # calibrating it leaves the decisions alone


def test_a_probability_on_the_threshold_counts_as_reached() -> None:
    trees = fa.as_classifier(
        lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), classes=["no", "yes"]
    )
    shares = np.arange(11)[:, None] / 10
    for t in (0.1, 0.2, 0.3, 0.6, 0.7):
        said = Decided(trees, {"yes": t}).predict(shares)
        np.testing.assert_array_equal(said == "yes", np.arange(11) >= round(10 * t))


def test_what_it_is_is_in_its_hash_and_travels() -> None:
    inner = fa.as_classifier(by_row)
    model: Any = Decided(inner, {0: 0.2})
    assert len({inner.sha256, model.sha256, Decided(inner, {0: 0.3}).sha256}) == 3
    assert model.sha256 == Decided(inner, {"0": 0.2}).sha256
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict_proba(ROWS), model.predict_proba(ROWS))
    assert not isinstance(model, GradientClassifier)
    assert "0 at 0.2" in repr(model)


@pytest.mark.parametrize(
    ("threshold", "message"),
    [({}, "threshold"), ({0: 1.0}, r"in \(0, 1\)"), ({0: 0.0}, r"in \(0, 1\)")],
)
def test_rules_without_sense_are_refused(threshold: dict[int, float], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Decided(by_row, threshold)


def test_classes_that_are_not_there_are_named() -> None:
    with pytest.raises(ParameterError, match="sepsys"):
        Decided(by_row, {"sepsys": 0.2}).predict_proba(ROWS)
    with pytest.raises(ParameterError, match="not for all"):
        Decided(by_row, dict.fromkeys(range(4), 0.2)).predict_proba(ROWS)
    hard = fa.as_classifier(lambda X: X[:, 0] > 1, classes=[0, 1], output="labels")
    with pytest.raises(ModelError, match="labels"):
        Decided(hard, {1: 0.2})


@pytest.mark.extras
@pytest.mark.parametrize("threshold", [{0: 0.2}, {0: 0.3, 2: 0.6}])
def test_gradients_are_finite_differences_of_the_decisions_scores(
    threshold: dict[int, float],
) -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.Tanh(), torch.nn.Linear(7, 3))
    inner = fa.as_classifier(module.double(), output="logits")
    model: Any = TemperatureScaled(Decided(inner, threshold), 2.0)
    assert isinstance(model, GradientClassifier)
    rows, labels, step = RNG.normal(size=(12, 5)), np.arange(12) % 3, 1e-5
    columns = np.column_stack([labels, (labels + 1) % 3])
    numeric = np.zeros((12, 2, 5))
    for feature in range(5):
        moved = step * np.eye(5)[feature]
        up, down = (np.log(model.predict_proba(rows + sign * moved)) for sign in (1, -1))
        numeric[:, :, feature] = np.take_along_axis(up - down, columns, axis=1) / (2 * step)
    scores, slope = model.loss_gradient(rows, labels)
    np.testing.assert_allclose(slope, -numeric[:, 0], atol=1e-7)
    np.testing.assert_allclose(softmax(scores), model.predict_proba(rows), atol=1e-12)
    _, slopes = model.logit_gradients(rows, columns)
    np.testing.assert_allclose(
        slopes[:, 0] - slopes[:, 1], numeric[:, 0] - numeric[:, 1], atol=1e-7
    )
    _, weighted = model.score_gradient(
        rows, columns, lambda z, some: np.eye(3)[some[:, 0]] - softmax(z)
    )
    np.testing.assert_allclose(weighted, numeric[:, 0], atol=1e-7)
