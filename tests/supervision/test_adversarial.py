"""Adversarial sets on a model whose decision boundary is known."""

import numpy as np
import pytest

from fireassay import supervision
from fireassay.classifiers import as_classifier
from fireassay.core import ModelError, NotEnoughEvidenceError, ParameterError

pytestmark = pytest.mark.extras
torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def linear():
    """Class 1 where the sum of four features exceeds 2; logits 10 (sum − 2)."""
    layer = torch.nn.Linear(4, 2)
    with torch.no_grad():
        layer.weight[:] = torch.tensor([[0.0] * 4, [10.0] * 4])
        layer.bias[:] = torch.tensor([0.0, -20.0])
    return as_classifier(layer, output="logits", classes=(0, 1), bounds=(0, 1))


@pytest.fixture(scope="module")
def rows():
    X = np.random.default_rng(0).uniform(0.25, 0.75, (60, 4)).astype(np.float32)
    return X, (X.sum(axis=1) > 2).astype(int)


def test_the_smallest_epsilon_is_the_distance_to_the_boundary(linear, rows):
    X, y = rows
    found = supervision.adversarial_set(linear, X, y, ("fgm", "bim"), max_epsilon=0.4, steps=10)
    exact = np.abs(X.sum(axis=1) - 2)[found.row] / 4
    fgm = found.attack == "fgm"
    assert fgm.sum() == 60
    np.testing.assert_allclose(found.epsilon[fgm], exact[fgm], atol=0.4 / 2**9)
    assert (found.epsilon >= exact - 1e-6).all()


def test_every_row_is_misclassified_and_was_not_before(linear, rows):
    X, y = rows
    found = supervision.adversarial_set(linear, X, y, max_epsilon=0.4, steps=4)
    assert set(found.attack) == {"fgm", "bim", "pgd", "deepfool"}
    assert (linear.predict(found.X) != found.y).all()
    assert (linear.predict(X[found.row]) == found.y).all()
    assert (found.epsilon > 0).all()
    assert found.X.min() >= 0
    assert found.X.max() <= 1
    assert found.tried == dict.fromkeys(("fgm", "bim", "pgd", "deepfool"), 60)
    assert len(found.frame()) == len(found)


def test_high_confidence_ones_are_confident(linear, rows):
    X, y = rows
    minimal = supervision.adversarial_set(linear, X, y, ("pgd",), max_epsilon=0.3, steps=6)
    confident = supervision.adversarial_set(
        linear, X, y, ("pgd",), max_epsilon=0.3, steps=6, min_confidence=0.95
    )
    assert np.median(minimal.confidence) < 0.75
    assert confident.confidence.min() >= 0.95
    assert (linear.predict(confident.X) != confident.y).all()
    gaps = np.abs(confident.X - X[confident.row]).max(axis=1)
    assert gaps.max() <= 0.3 + 1e-6


def test_rows_that_are_wrong_already_are_left_out(linear, rows):
    X, y = rows
    lies = y.copy()
    lies[:10] = 1 - lies[:10]
    found = supervision.adversarial_set(linear, X, lies, ("fgm",), max_epsilon=0.4)
    assert found.tried == {"fgm": 50}
    assert found.row.min() >= 10


def test_bad_arguments(linear, rows):
    X, y = rows
    with pytest.raises(NotEnoughEvidenceError, match="max_epsilon"):
        supervision.adversarial_set(linear, X * 0, y * 0, ("fgm",), max_epsilon=0.01)
    with pytest.raises(ParameterError, match="among"):
        supervision.adversarial_set(linear, X, y, ("magic",))
    with pytest.raises(ModelError, match="gradients"):
        supervision.adversarial_set(lambda Z: np.tile([0.5, 0.5], (len(Z), 1)), X, y)
