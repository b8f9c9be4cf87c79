"""Pixel and Threshold on a model whose answer to every single change is known."""

import numpy as np
import pytest

from fireassay import attacks
from fireassay.classifiers import as_classifier

WEIGHTS = np.random.default_rng(3).normal(size=16)


def scores(X):
    return np.asarray(X).reshape(len(X), -1) @ WEIGHTS - 0.5 * WEIGHTS.sum()


@pytest.fixture(scope="module")
def model():
    def answers(X):
        p = 1 / (1 + np.exp(-4 * scores(X)))
        return np.column_stack([1 - p, p])

    return as_classifier(answers, classes=[0, 1], bounds=(0, 1))


@pytest.fixture(scope="module")
def images():
    X = np.random.default_rng(4).random((60, 4, 4))
    return X, (scores(X) > 0).astype(int)


@pytest.mark.parametrize("count", [1, 3])
def test_pixel_breaks_what_so_many_pixels_can_break(model, images, count):
    X, y = images
    flat = X.reshape(60, -1)
    toward = np.where(y == 1, -1.0, 1.0)[:, None]
    # The most that each pixel can add on the way to the other class; the best of them together.
    gain = np.maximum(toward * WEIGHTS * (1 - flat), -toward * WEIGHTS * flat)
    most = np.sort(gain, axis=1)[:, ::-1][:, :count].sum(axis=1)
    breakable = most > np.abs(scores(X))
    out = attacks.pixel(model, X, y, eps=count, max_queries=400)
    assert 10 < breakable.sum() < 55 or count == 3
    assert not (out.success & ~breakable).any()
    assert out.success.sum() >= 0.8 * breakable.sum()
    changed = (out.adversarial != X).reshape(60, -1).sum(axis=1)
    found = out.status == "found"
    assert (changed[found] <= count).all()
    np.testing.assert_array_equal(out.distance[found], changed[found])


def test_threshold_breaks_what_the_ball_allows(model, images):
    X, y = images
    flat, eps = X.reshape(60, -1), 0.1
    toward = np.where(y == 1, -1.0, 1.0)[:, None]
    ends = np.clip(flat + eps * toward * np.sign(WEIGHTS), 0, 1)
    breakable = (scores(ends) > 0) != (y == 1)
    out = attacks.threshold(model, X, y, eps=eps, max_queries=400)
    assert breakable.sum() > 10
    assert not (out.success & ~breakable).any()
    assert out.success.sum() >= 0.6 * breakable.sum()
