"""Surprise adequacy and other distances against implementations written another way."""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import gaussian_kde, multivariate_normal

from fireassay import supervision
from fireassay.core import DataError
from fireassay.supervision import Reading


@pytest.fixture(scope="module")
def activations():
    rng = np.random.default_rng(3)
    classes = rng.integers(0, 4, 600)
    centres = 3 * rng.standard_normal((4, 6))
    train = centres[classes] + rng.standard_normal((600, 6))
    test_classes = rng.integers(0, 4, 80)
    test = centres[test_classes] + 2 * rng.standard_normal((80, 6))
    return train, classes, test, test_classes


def brute_force_dsa(train, classes, test, test_classes):
    scores = []
    for x, c in zip(test, test_classes, strict=True):
        same, other = train[classes == c], train[classes != c]
        to_same = np.sqrt(((same - x) ** 2).sum(axis=1))
        a = same[to_same.argmin()]
        scores.append(to_same.min() / np.sqrt(((other - a) ** 2).sum(axis=1)).min())
    return np.array(scores)


def test_dsa_equals_brute_force(activations):
    expected = brute_force_dsa(*activations)
    np.testing.assert_allclose(supervision.dsa_scores(*activations), expected, rtol=1e-12)


def test_dsa_is_exact_far_from_the_origin_and_in_float32(activations):
    train, classes, test, test_classes = activations
    shifted = (train + 1e4).astype(np.float32), (test + 1e4).astype(np.float32)
    expected = brute_force_dsa(
        shifted[0].astype(float), classes, shifted[1].astype(float), test_classes
    )
    found = supervision.dsa_scores(shifted[0], classes, shifted[1], test_classes)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_dsa_with_duplicates_and_training_points(activations):
    train, classes, _, _ = activations
    doubled, labels = np.concatenate([train, train]), np.concatenate([classes, classes])
    scores = supervision.dsa_scores(doubled, labels, train[:50], classes[:50])
    np.testing.assert_array_equal(scores, 0.0)


def test_dsa_of_a_class_never_predicted_in_training(activations):
    train, classes, test, _ = activations
    scores = supervision.dsa_scores(train, classes, test, np.full(len(test), 9))
    assert np.isfinite(scores).all()
    with pytest.raises(DataError, match="two predicted classes"):
        supervision.dsa_scores(train, np.zeros(len(train), int), test, np.zeros(len(test), int))


def test_mdsa_equals_the_textbook_formula(activations):
    train, classes, test, test_classes = activations
    expected = []
    for x, c in zip(test, test_classes, strict=True):
        own = train[classes == c]
        gap = x - own.mean(axis=0)
        expected.append(gap @ np.linalg.inv(np.cov(own.T, bias=True)) @ gap)
    np.testing.assert_allclose(supervision.mdsa_scores(*activations), expected, rtol=1e-9)


def test_silent_units_are_neither_ignored_nor_infinitely_surprising():
    rng = np.random.default_rng(0)
    train = np.hstack([rng.standard_normal((200, 3)), np.zeros((200, 2))])
    classes = rng.integers(0, 2, 200)
    quiet, awake = np.zeros((1, 5)), np.array([[0, 0, 0, 1.0, 0]])
    low = supervision.mdsa_scores(train, classes, quiet, [0])
    high = supervision.mdsa_scores(train, classes, awake, [0])
    assert low[0] < 1 < 100 < high[0] < 1e5


def test_lsa_equals_scipys_kernel_density(activations):
    train, classes, test, test_classes = activations
    expected = [
        -gaussian_kde(train[classes == c].T).logpdf(x)[0]
        for x, c in zip(test, test_classes, strict=True)
    ]
    np.testing.assert_allclose(supervision.lsa_scores(*activations), expected, rtol=1e-9)


def test_lsa_keeps_the_most_variable_features(activations):
    train, classes, test, test_classes = activations
    wide = np.hstack([train, 1e-3 * np.random.default_rng(0).standard_normal((600, 3))])
    wide_test = np.hstack([test, np.zeros((80, 3))])
    found = supervision.lsa_scores(wide, classes, wide_test, test_classes, max_features=6)
    np.testing.assert_allclose(found, supervision.lsa_scores(*activations), rtol=1e-9)


def test_lsa_of_collinear_features_is_finite():
    rng = np.random.default_rng(0)
    half = rng.standard_normal((300, 2))
    train = np.hstack([half, half])
    scores = supervision.lsa_scores(train, rng.integers(0, 2, 300), train[:20], np.zeros(20, int))
    assert np.isfinite(scores).all()


@pytest.mark.skipif("FIREASSAY_DATA" not in os.environ, reason="FIREASSAY_DATA is not set")
def test_original_authors_scores():
    folder = Path(os.environ["FIREASSAY_DATA"]) / "sa-golden"
    train = np.load(folder / "original_mnist_train_activation_3_ats.npy")
    classes = np.load(folder / "original_mnist_train_pred.npy")
    test = np.load(folder / "mnist_test_activation_3_ats.npy")[:1500]
    test_classes = np.load(folder / "mnist_test_pred.npy")[:1500]
    dsa = supervision.dsa_scores(train, classes, test, test_classes)
    lsa = supervision.lsa_scores(train, classes, test, test_classes)
    assert np.abs(dsa - np.load(folder / "original_dsa_scores.npy")[:1500]).max() <= 1e-6
    assert np.abs(lsa - np.load(folder / "original_lsa_scores.npy")[:1500]).max() <= 2e-2


def test_nan_and_wrong_shapes_are_refused(activations):
    train, classes, test, test_classes = activations
    broken = test.copy()
    broken[7, 0] = np.nan
    for function in (supervision.dsa_scores, supervision.lsa_scores, supervision.mdsa_scores):
        with pytest.raises(DataError, match="row 7"):
            function(train, classes, broken, test_classes)
        with pytest.raises(DataError, match="same number of rows"):
            function(train, classes[:-1], test, test_classes)
        with pytest.raises(DataError):
            function(train, classes, test[:, :3], test_classes)


def reading(features, **more):
    probabilities = np.full((len(features), 4), 0.25)
    return Reading(features=features, probabilities=probabilities, **more)


def test_knn_equals_sorting_all_distances(activations):
    train, _, test, _ = activations
    unit = [x / np.linalg.norm(x, axis=1, keepdims=True) for x in (train, test)]
    distances = np.sqrt(((unit[1][:, None] - unit[0]) ** 2).sum(axis=2))
    found = supervision.make("knn", k=7).fit_reading(reading(train)).score_reading(reading(test))
    np.testing.assert_allclose(found, np.sort(distances, axis=1)[:, 6], rtol=1e-7)


def test_mahalanobis_family_equals_scipys_densities(activations):
    train, classes, test, _ = activations
    means = [train[classes == c].mean(axis=0) for c in range(4)]
    centred = np.concatenate([train[classes == c] - means[c] for c in range(4)])
    inverse = np.linalg.inv(centred.T @ centred / len(centred))
    nearest = np.min([np.einsum("ij,jk,ik->i", test - m, inverse, test - m) for m in means], axis=0)
    all_rows = np.linalg.inv(np.cov(train.T, bias=True))
    gap = test - train.mean(axis=0)
    background = np.einsum("ij,jk,ik->i", gap, all_rows, gap)

    def scores(name):
        fitted = supervision.make(name).fit_reading(reading(train), classes)
        return fitted.score_reading(reading(test))

    np.testing.assert_allclose(scores("mahalanobis"), nearest, rtol=1e-8)
    np.testing.assert_allclose(scores("relative-mahalanobis"), nearest - background, rtol=1e-7)
    mixture = sum(
        (classes == c).mean()
        * multivariate_normal(means[c], np.cov(train[classes == c].T, bias=True)).pdf(test)
        for c in range(4)
    )
    np.testing.assert_allclose(scores("gmm-density"), -np.log(mixture), rtol=1e-8)


def test_vim_equals_its_definition(activations):
    train, _, test, _ = activations
    rng = np.random.default_rng(1)
    weights, bias = rng.standard_normal((4, 6)), rng.standard_normal(4)
    head = {"head": (weights, bias)}
    logits = [x @ weights.T + bias for x in (train, test)]
    origin = -np.linalg.pinv(weights) @ bias
    # Independent route: the residual by projecting on the principal vectors of an SVD.
    _, _, vectors = np.linalg.svd(train - origin, full_matrices=False)
    principal = vectors[:2].T @ vectors[:2]
    residual = [
        np.linalg.norm((x - origin) - (x - origin) @ principal, axis=1) for x in (train, test)
    ]
    alpha = logits[0].max(axis=1).mean() / residual[0].mean()
    expected = alpha * residual[1] - np.log(np.exp(logits[1]).sum(axis=1))
    fitted = supervision.make("vim", principal=2).fit_reading(
        reading(train, logits=logits[0], **head)
    )
    found = fitted.score_reading(reading(test, logits=logits[1], **head))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.extras
def test_gradnorm_equals_autograd(activations):
    torch = pytest.importorskip("torch")
    test = activations[2]
    layer = torch.nn.Linear(6, 4).double()
    expected, probabilities = [], []
    for row in torch.as_tensor(test):
        layer.zero_grad()
        logits = layer(row)
        uniform = torch.full((4,), 0.25, dtype=torch.float64)
        torch.nn.functional.cross_entropy(logits[None], uniform[None]).backward()
        expected.append(-layer.weight.grad.abs().sum().item())
        probabilities.append(logits.softmax(0).detach().numpy())
    weights = layer.weight.detach().numpy(), layer.bias.detach().numpy()
    found = supervision.make("gradnorm").score_reading(
        Reading(features=test, probabilities=np.array(probabilities), head=weights)
    )
    np.testing.assert_allclose(found, expected, rtol=1e-7)


def test_energies_after_shaping_equal_their_definitions(activations):
    train, _, test, _ = activations
    train, test = np.abs(train), np.abs(test)
    rng = np.random.default_rng(1)
    weights, bias = rng.standard_normal((4, 6)), rng.standard_normal(4)

    def energy(features):
        return -np.log(np.exp(features @ weights.T + bias).sum(axis=1))

    def scores(name, **parameters):
        made = supervision.make(name, **parameters)
        made.fit_reading(reading(train, head=(weights, bias)))
        return made.score_reading(
            reading(test, head=(weights, bias), logits=test @ weights.T + bias)
        )

    np.testing.assert_allclose(scores("energy"), energy(test), rtol=1e-9)
    np.testing.assert_allclose(scores("max-logit"), -(test @ weights.T + bias).max(axis=1))
    clipped = np.minimum(test, np.quantile(train, 0.8))
    np.testing.assert_allclose(scores("react", quantile=0.8), energy(clipped), rtol=1e-9)
    ash, scale = [], []
    for row in test:
        keep = np.sort(row)[3:]  # the largest half of six
        factor = np.exp(row.sum() / keep.sum())
        ash.append(energy(factor * np.where(row >= keep[0], row, 0)[None])[0])
        scale.append(energy(factor * row[None])[0])
    np.testing.assert_allclose(scores("ash", pruned=0.5), ash, rtol=1e-9)
    np.testing.assert_allclose(scores("scale", pruned=0.5), scale, rtol=1e-9)
