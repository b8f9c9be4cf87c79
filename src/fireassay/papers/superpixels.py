"""Superpixels that lead to a prediction: LIME's surrogate, as in Figs. 8 and 9 of discovery."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.core.seeds import generator

_WIDTH = 0.25  # of LIME's kernel on the cosine distance of masks


def superpixels(image: NDArray[Any], count: int = 16, compactness: float = 0.3) -> NDArray[Any]:
    """Segments of alike neighbouring pixels: k-means of place and colour from a regular grid.

    That is SLIC (Achanta et al. 2012) without its window, which only saves time on large images.

    Args:
        image: ``(H, W)`` or ``(H, W, C)`` in [0, 1].
        count: About how many segments.
        compactness: A step of the grid counts as much as this difference in colour.

    >>> halves = np.zeros((8, 8)); halves[:, 4:] = 1.0
    >>> found = superpixels(halves, count=4)
    >>> len(np.unique(found)), len(np.intersect1d(found[:, :4], found[:, 4:]))
    (4, 0)
    """
    from sklearn.cluster import KMeans

    height, width = image.shape[:2]
    step = np.sqrt(height * width / count)
    rows, columns = (np.arange(step / 2, size, step) for size in (height, width))
    colours = np.asarray(image, dtype=np.float64).reshape(height, width, -1)
    places = np.moveaxis(np.indices((height, width)), 0, -1) + 0.5
    features = np.concatenate([places / step * compactness, colours], axis=-1)
    starts = np.array([features[int(r), int(c)] for r in rows for c in columns])
    found = KMeans(len(starts), init=starts, n_init=1, max_iter=20)
    labels = found.fit_predict(features.reshape(height * width, -1))
    return np.asarray(labels.reshape(height, width))


def surrogate_weights(
    probability: Callable[[NDArray[Any]], NDArray[Any]],
    image: NDArray[Any],
    segments: NDArray[Any],
    samples: int = 500,
    seed: int = 0,
) -> NDArray[np.float64]:
    """How much each segment adds to a prediction: ridge regression on copies with segments hidden.

    Args:
        probability: Of the explained class, for images.
        image, segments: One image, and its segments by pixel. Hidden segments take their mean
            colour.
        samples: Copies asked about.
        seed: Of which segments are hidden.

    >>> image = np.zeros((8, 8)); image[:4, :4] = 1.0
    >>> segments = np.repeat(np.repeat(np.arange(4).reshape(2, 2), 4, 0), 4, 1)
    >>> bright = lambda X: X[:, :4, :4].max(axis=(1, 2)) - X[:, :4, :4].min(axis=(1, 2))
    >>> image[0, 0] = 0.0  # hidden, the corner is flat: its contrast is gone
    >>> int(np.argmax(surrogate_weights(bright, image, segments)))
    0
    """
    names = np.unique(segments)
    rng = generator(seed, "superpixels")
    masks = rng.random((samples, len(names))) < 0.5
    masks[0] = True
    place = np.searchsorted(names, segments)
    flat = np.asarray(image, dtype=np.float64)
    hidden = np.empty_like(flat)
    for i in range(len(names)):
        hidden[place == i] = flat[place == i].mean(axis=0)
    shown = masks[:, place]
    shown = shown[..., None] if flat.ndim == 3 else shown
    answers = np.asarray(probability(np.where(shown, flat, hidden)), dtype=np.float64)
    share = masks.mean(axis=1)
    near = np.exp(-((1 - np.sqrt(share)) ** 2) / _WIDTH**2)
    design = np.column_stack([np.ones(samples), masks])
    weighted = design * near[:, None]
    penalty = np.diag([0.0, *np.ones(len(names))])
    found: NDArray[np.float64] = np.linalg.solve(
        weighted.T @ design + penalty, weighted.T @ answers
    )
    return found[1:]


def known_region(seed: int, size: int = 32) -> tuple[NDArray[Any], NDArray[np.bool_], Any]:
    """A smooth random image with a textured square, and a model that sees only that square.

    Returns image, square, and the model's probability: the more contrast in the square, the
    higher. Hiding any other part changes nothing.
    """
    from scipy.ndimage import gaussian_filter

    rng = generator(seed, "known region")
    noise = rng.random((size, size, 3))
    image = gaussian_filter(noise, (4, 4, 0))
    image = (image - image.min()) / (image.max() - image.min())
    top, left = rng.integers(2, size - 12, 2)
    square = np.zeros((size, size), dtype=bool)
    square[top : top + 10, left : left + 10] = True
    image[square] = np.clip(rng.random(3) + 0.3 * (rng.random((100, 3)) - 0.5), 0, 1)

    def probability(X: NDArray[Any]) -> NDArray[Any]:
        spread = X[:, square].std(axis=1).mean(axis=-1)
        return np.asarray(1 / (1 + np.exp(-60 * (spread - 0.04))))

    return image, square, probability
