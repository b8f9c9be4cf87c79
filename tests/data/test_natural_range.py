"""The natural range of images and signals."""

import numpy as np
import pytest

from fireassay.core import DataError, ParameterError
from fireassay.data import NaturalRange
from fireassay.data.pixel_range import as_normalisation

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def photographs(n=6, *, last=False):
    """Pixels from 0 to 1, and the same normalised, channels first or last."""
    pixels = np.random.default_rng(0).random((n, 3, 9, 10)).astype(np.float32)
    pixels[0, :, 0, 0], pixels[0, :, 0, 1] = 0.0, 1.0
    shape = (3, 1, 1)
    X = (pixels - np.reshape(MEAN, shape)) / np.reshape(STD, shape)
    X = X.astype(np.float32)
    return (np.moveaxis(pixels, 1, -1), np.moveaxis(X, 1, -1)) if last else (pixels, X)


@pytest.mark.parametrize("last", [False, True])
def test_mean_and_std_lead_back_to_pixels(last):
    pixels, X = photographs(last=last)
    natural = NaturalRange.normalised(MEAN, STD, X)
    assert np.allclose(natural.inside(X), pixels, atol=1e-6)
    assert np.allclose(natural.outside(pixels), X, atol=1e-5)
    assert "-2.12 to 2.25" in natural.found  # (0 - .485) / .229 and (1 - .485) / .229
    low, high = natural.ends(X.shape[1:])
    assert low.shape == (270,)
    assert (low <= X.reshape(6, -1) + 1e-5).all()
    assert (high >= X.reshape(6, -1) - 1e-5).all()


def test_means_above_one_are_of_bytes():
    pixels, X = photographs()
    of_bytes = NaturalRange.normalised([255 * m for m in MEAN], [255 * s for s in STD], X)
    assert np.allclose(of_bytes.inside(X), pixels, atol=1e-6)


def test_pixels_that_cannot_come_from_such_images_are_refused():
    _, X = photographs()
    with pytest.raises(DataError, match="mean and std give"):
        NaturalRange.normalised((0.5,) * 3, (0.5,) * 3, X)


def test_one_number_per_channel():
    _, X = photographs()
    with pytest.raises(ParameterError, match="one number per channel"):
        NaturalRange.normalised((0.5, 0.5), (0.5, 0.5), X)
    one = NaturalRange.normalised((0.5,), (0.125,), X)
    assert one.found == "mean and std as given: -4 to 4"


@pytest.mark.parametrize(
    ("mean", "std", "bounds"),
    [((0.5,), None, None), ((0.5,), (0.1, 0.2), None), ((0.5,), (-1.0,), None)],
)
def test_halves_of_a_normalisation_are_refused(mean, std, bounds):
    with pytest.raises(ParameterError):
        as_normalisation(mean, std, bounds)


def test_bounds_and_mean_are_two_answers_to_one_question():
    with pytest.raises(ParameterError, match="Leave bounds out"):
        as_normalisation((0.5,), (0.1,), (0.0, 1.0))
    assert as_normalisation(None, None, (0.0, 1.0)) is None


def test_what_is_seen_is_by_channel_where_values_are_negative_and_for_series():
    _, X = photographs()
    assert NaturalRange.seen(X).low.shape == (3, 1, 1)
    assert NaturalRange.seen(np.abs(X)).low.shape == ()
    series = NaturalRange.seen(X[:, :, 0], series=True)
    assert series.high.ravel().tolist() == X[:, :, 0].max(axis=(0, 2)).tolist()
