import numpy as np

from fireassay.papers.superpixels import known_region, superpixels, surrogate_weights


def test_the_region_that_a_model_looks_at_is_found():
    inside = []
    for seed in range(8):
        image, square, probability = known_region(seed)
        segments = superpixels(image)
        weights = surrogate_weights(probability, image, segments, samples=200)
        inside.append(square[segments == np.unique(segments)[weights.argmax()]].mean())
    assert np.mean(np.array(inside) > 0.5) >= 0.9


def test_a_model_that_looks_at_nothing_gives_no_weight():
    image, _, _ = known_region(0)
    segments = superpixels(image)
    weights = surrogate_weights(lambda X: np.full(len(X), 0.7), image, segments, samples=100)
    assert np.abs(weights).max() < 1e-9
