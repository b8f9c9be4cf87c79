"""An answer for a row depends on that row alone: not on cuts, order, neighbours or threads."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

import fireassay as fa
from fireassay.classifiers import Classifier
from fireassay.classifiers.backends.callable import CallableClassifier

X, y = load_digits(return_X_y=True)
X = (X / 16.0).astype(np.float32)
WEIGHTS = np.random.default_rng(0).normal(size=(64, 10))


class Padded(CallableClassifier):
    """A function whose blocks are filled up, as those of networks and files are."""

    pads_blocks = True


def linear(rows: np.ndarray) -> np.ndarray:
    return np.asarray(rows.astype(np.float64) @ WEIGHTS)


def models() -> dict[str, Classifier]:
    mlp = MLPClassifier((16,), solver="lbfgs", max_iter=3, random_state=0)
    with pytest.warns():
        mlp.fit(X[:300], y[:300])
    found: dict[str, Classifier] = {
        "matrix product": Padded(linear, output="logits"),
        "logistic": fa.as_classifier(LogisticRegression(C=0.1, max_iter=200).fit(X, y)),
        "network": fa.as_classifier(mlp),
        "tree": fa.as_classifier(DecisionTreeClassifier(max_depth=6).fit(X, y)),
    }
    try:
        import torch
    except ImportError:
        return found
    torch.manual_seed(0)
    cnn = torch.nn.Sequential(
        torch.nn.Unflatten(1, (1, 8, 8)),
        torch.nn.Conv2d(1, 8, 3),
        torch.nn.BatchNorm2d(8),
        torch.nn.ReLU(),
        torch.nn.Flatten(),
        torch.nn.Linear(288, 10),
    )
    found["torch"] = fa.as_classifier(cnn, output="logits")
    return found


MODELS = models()
WHOLE = {name: model.predict_proba(X) for name, model in MODELS.items()}


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=25, deadline=None)
@given(cuts=st.lists(st.integers(1, 699), max_size=5))
def test_how_rows_are_cut_into_calls_does_not_change_a_bit(name: str, cuts: list[int]) -> None:
    edges = [0, *sorted(set(cuts)), 700]
    parts = [MODELS[name].predict_proba(X[a:b]) for a, b in pairwise(edges)]
    np.testing.assert_array_equal(np.concatenate(parts), WHOLE[name][:700])


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=25, deadline=None)
@given(rows=st.lists(st.integers(0, len(X) - 1), min_size=1, max_size=600))
def test_subsets_orders_and_repeats_do_not_change_a_bit(name: str, rows: list[int]) -> None:
    np.testing.assert_array_equal(MODELS[name].predict_proba(X[rows]), WHOLE[name][rows])


@settings(max_examples=30, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 40), min_size=1, max_size=12),
    batch_size=st.one_of(st.none(), st.integers(1, 64)),
)
def test_queries_are_the_rows_sent_whatever_the_blocks(
    sizes: list[int], batch_size: int | None
) -> None:
    model = Padded(linear, output="logits", batch_size=batch_size)
    for size in sizes:
        assert model.predict_proba(X[:size]).shape == (size, 10)
    assert model.queries == sum(sizes)


@settings(max_examples=20, deadline=None)
@given(order=st.permutations(range(10)))
def test_renaming_classes_renames_the_labels_and_nothing_else(order: list[int]) -> None:
    names = [f"class {i}" for i in order]
    named = Padded(linear, output="logits", classes=names)
    np.testing.assert_array_equal(named.predict_proba(X[:50]), WHOLE["matrix product"][:50])
    expected = [names[i] for i in WHOLE["matrix product"][:50].argmax(1)]
    assert named.predict(X[:50]).tolist() == expected


@pytest.mark.parametrize("n_classes", [2, 3, 10, 33])
def test_no_place_in_a_block_is_special(n_classes: int) -> None:
    generator = np.random.default_rng(0)
    labels = generator.permutation(np.arange(len(X)) % n_classes)
    estimator = LogisticRegression(max_iter=5, tol=10.0).fit(X, labels)  # float32 coefficients
    model = fa.as_classifier(estimator)
    expected = model.predict_proba(X[:1])
    others = generator.random((256, 64)).astype(np.float32)
    for place in range(0, 256, 3):
        rows = others.copy()
        rows[place] = X[0]
        np.testing.assert_array_equal(model.predict_proba(rows)[place], expected[0])
