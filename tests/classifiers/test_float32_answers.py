"""Float32 probabilities stay as they come, are checked once, and give the numbers of float64."""

from typing import Any

import numpy as np
import pytest

from fireassay import as_classifier
from fireassay.classifiers import Decided, TemperatureScaled
from fireassay.classifiers.answers import log_probabilities
from fireassay.classifiers.kept_answers import KeptAnswers, KeptSet
from fireassay.core.arrays import entropy_bits, largest, softmax
from fireassay.core.row_index import RowIndex
from fireassay.survival import defences

K = 40
rng = np.random.default_rng(0)
W = rng.normal(size=(6, K)).astype(np.float32)
X = rng.normal(size=(700, 6)).astype(np.float32)


def narrow(rows: np.ndarray) -> np.ndarray:
    return np.asarray(softmax(np.asarray(rows, dtype=np.float32) @ W))


def wide(rows: np.ndarray) -> np.ndarray:
    return narrow(rows).astype(np.float64)


def test_float32_stays_to_the_last_bit_and_all_else_is_float64() -> None:
    model = as_classifier(narrow, batch_size=None)
    assert model.predict_proba(X).dtype == np.float32
    assert model.predict_proba(X).tobytes() == narrow(X).tobytes()
    kinds = {
        "float64": as_classifier(wide),
        "logits": as_classifier(lambda rows: rows @ W, output="logits"),
        "labels": as_classifier(
            lambda rows: narrow(rows).argmax(axis=1), output="labels", classes=range(K)
        ),
    }
    for name, other in kinds.items():
        assert other.predict_proba(X).dtype == np.float64, name
    half = as_classifier(lambda rows: narrow(rows).astype(np.float16)).predict_proba(X)
    assert half.dtype == np.float32
    np.testing.assert_allclose(half.sum(axis=1), 1, atol=1e-5)


def rounded(rows: np.ndarray) -> np.ndarray:
    """A third of the rows sums to one by four digits only, another is a little above one.

    A product by BLAS rounds a row alone and among others differently on some processors.
    """
    p = np.asarray(softmax((rows[:, :, None] * W).sum(axis=1)))
    p[rows[:, 0] > 0.5] *= np.float32(1.0004)
    sure = rows[:, 0] < -0.5
    p[sure] = 0
    p[sure, 0] = np.float32(1.0000002)
    return p


def test_what_happens_to_a_row_does_not_depend_on_the_others() -> None:
    model = as_classifier(rounded, batch_size=None)
    together = model.predict_proba(X)
    alone = np.concatenate([model.predict_proba(X[i : i + 1]) for i in range(len(X))])
    turned = as_classifier(lambda rows: np.asfortranarray(rounded(rows)), batch_size=None)
    assert together.dtype == np.float32
    assert alone.tobytes() == together.tobytes() == turned.predict_proba(X).tobytes()
    assert np.abs(together.sum(axis=1, dtype=np.float64) - 1).max() < 1e-5
    assert together.max() <= 1
    fine = np.abs(X[:, 0]) < 0.5
    assert (together[fine] == rounded(X)[fine]).all()


def test_a_model_may_use_its_memory_again() -> None:
    memory = np.empty((256, K), dtype=np.float32)

    def thrifty(rows: np.ndarray) -> np.ndarray:
        memory[: len(rows)] = narrow(rows)
        return memory[: len(rows)]

    model = as_classifier(thrifty)
    first = model.predict_proba(X[:256])
    kept = first.copy()
    model.predict_proba(X[256:])
    assert (first == kept).all()
    first[:] = 0
    assert memory.any()


def test_a_model_of_two_types_keeps_its_digits() -> None:
    def moody(rows: np.ndarray) -> np.ndarray:
        p = narrow(rows).astype(np.float64)
        return p / p.sum(axis=1, keepdims=True) if rows[0, 0] > 0 else narrow(rows)

    table = KeptAnswers([KeptSet(RowIndex(X))], like=narrow(X[:1]))
    table.store(np.array([0]), narrow(X[:1]), journalled=True)
    exact = wide(X[1:2]) / wide(X[1:2]).sum()
    table.store(np.array([1]), exact, journalled=True)
    assert (table.held_answers(np.array([0, 1])) == np.concatenate([wide(X[:1]), exact])).all()
    for model in (as_classifier(moody, batch_size=1), as_classifier(moody, batch_size=None)):
        np.testing.assert_allclose(model.predict_proba(X), wide(X), atol=1e-6)


def test_what_is_computed_of_float32_is_computed_in_float64() -> None:
    p = narrow(X)
    p[0] = 0
    p[0, 3] = 1
    exact = p.astype(np.float64)
    assert (largest(p) == exact.max(axis=1)).all()
    assert (entropy_bits(p) == entropy_bits(exact)).all()
    assert (log_probabilities(p) == log_probabilities(exact)).all()
    many = np.tile(p, (60, 1))  # more than are taken at once
    assert (entropy_bits(many) == np.tile(entropy_bits(exact), 60)).all()


@pytest.mark.parametrize(
    "around",
    [
        lambda model: TemperatureScaled(model, 0.3),
        lambda model: TemperatureScaled(model, 7.0),
        lambda model: Decided(model, {3: 0.2}),
        lambda model: defences.defend(model, defences.GaussOut(sigma=0.01)),
        lambda model: defences.defend(model, defences.Conf(threshold=0.5)),
    ],
)
def test_wrapped_classifiers_say_the_same_of_both_types(around: Any) -> None:
    some = X[:60]
    answers = [around(as_classifier(f)).predict_proba(some) for f in (narrow, wide)]
    np.testing.assert_allclose(answers[0], answers[1], atol=1e-6)
    np.testing.assert_allclose(answers[0].sum(axis=1), 1, atol=1e-5)


def test_a_threshold_means_the_same_of_both_types() -> None:
    p = np.array([[0.9, 0.1], [0.8999, 0.1001]], dtype=np.float32)
    rejected = defences.Conf(threshold=0.9).rejected
    assert (rejected(p) == rejected(p.astype(np.float64))).all()


def test_a_forest_stays_float64() -> None:
    ensemble = pytest.importorskip("sklearn.ensemble")
    forest = ensemble.RandomForestClassifier(5, random_state=0).fit(X, X[:, 0] > 0)
    answers = as_classifier(forest).predict_proba(X)
    assert answers.dtype == np.float64
    np.testing.assert_allclose(answers, forest.predict_proba(X), atol=1e-15)


@pytest.mark.extras
def test_a_network_of_torch_stays_float32() -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.Softmax(dim=1))
    with torch.no_grad():
        expected = module(torch.from_numpy(X)).numpy()
    answers = as_classifier(module, batch_size=None).predict_proba(X)
    assert answers.dtype == np.float32
    assert answers.tobytes() == expected.tobytes()
