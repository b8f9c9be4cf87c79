"""Corruptions: shape, range, severity, seeds."""

import numpy as np
import pytest
from scipy import ndimage

from fireassay.core import DataError, ParameterError
from fireassay.data import breast_cancer, corrupt, corruption_kinds, digits


@pytest.fixture(scope="module")
def images():
    # Blown up to 28 × 28, where five severities of a blur differ.
    larger = ndimage.zoom(digits().X[:40], (1, 3.5, 3.5), order=1)
    return np.clip(larger, 0, 1).astype(np.float32)


def test_fifteen_kinds_for_images_and_four_for_tables():
    assert len(set(corruption_kinds())) == 15
    assert corruption_kinds("tables") == ("missing", "noise", "unit_change", "swap")
    with pytest.raises(ParameterError, match="images"):
        corruption_kinds("sounds")


@pytest.mark.parametrize("kind", corruption_kinds())
def test_images_stay_images(kind, images):
    before = images.copy()
    for shape in (images.shape, (*images.shape, 1)):
        changed = corrupt(images.reshape(shape), kind, 3)
        assert changed.shape == shape
        assert changed.dtype == images.dtype
        assert changed.min() >= 0
        assert changed.max() <= 1
    colour = corrupt(np.repeat(images[..., None], 3, axis=3), kind, 2)
    assert colour.shape == (*images.shape, 3)
    np.testing.assert_array_equal(images, before)


@pytest.mark.parametrize("kind", corruption_kinds())
def test_higher_severity_changes_more(kind, images):
    changes = [np.abs(corrupt(images, kind, s) - images).mean() for s in range(1, 6)]
    assert changes[0] > 0
    assert (np.diff(changes) > 0).all(), changes


@pytest.mark.parametrize("kind", [*corruption_kinds(), *corruption_kinds("tables")])
def test_same_seed_same_bytes(kind, images):
    X = images if kind in corruption_kinds() else breast_cancer().X
    first, second = corrupt(X, kind, 4, seed=7), corrupt(X, kind, 4, seed=7)
    np.testing.assert_array_equal(first, second)
    if kind not in ("defocus_blur", "brightness", "contrast", "pixelate"):
        assert not np.array_equal(first, corrupt(X, kind, 4, seed=8))


@pytest.mark.parametrize("kind", corruption_kinds("tables"))
def test_tables(kind):
    X = breast_cancer().X
    spread = X.std(axis=0)
    changes = []
    for severity in range(1, 6):
        changed = corrupt(X, kind, severity, seed=1)
        assert changed.shape == X.shape
        assert np.isfinite(changed).all()
        changes.append((np.abs(changed - X) > 1e-9 * spread).mean())
    assert changes[0] > 0
    assert (np.diff(changes) >= 0).all()


def test_a_swap_keeps_all_values_and_missing_fills_medians():
    X = breast_cancer().X
    swapped = corrupt(X, "swap", 5)
    np.testing.assert_array_equal(np.sort(swapped, axis=1), np.sort(X, axis=1))
    filled = corrupt(X, "missing", 5)
    changed = filled != X
    np.testing.assert_array_equal(
        filled[changed], np.broadcast_to(np.median(X, 0), X.shape)[changed]
    )


def test_geometry_moves_what_it_should():
    image = np.zeros((1, 21, 21))
    image[0, 10, 10] = 1.0
    turned = corrupt(image, "rotate", 5)
    assert turned[0, 10, 10] == pytest.approx(1.0)  # the centre stays
    moved = corrupt(image, "translate", 5, seed=1)
    rows, columns = np.nonzero(moved[0])
    distance = np.hypot(rows.mean() - 10, columns.mean() - 10)
    assert distance == pytest.approx(0.34 * 21, abs=1.0)
    smaller = corrupt(np.ones((1, 20, 20)), "scale", 4)
    assert smaller.mean() == pytest.approx(0.48**2, abs=0.06)


def test_bad_arguments(images):
    with pytest.raises(ParameterError, match="one of gaussian_noise"):
        corrupt(images, "earthquake")
    with pytest.raises(ParameterError, match="one of missing"):
        corrupt(breast_cancer().X, "fog")
    for severity in (0, 6, 2.5):
        with pytest.raises(ParameterError, match="severity"):
            corrupt(images, "fog", severity)
    with pytest.raises(DataError, match="X / 255"):
        corrupt(images * 255, "fog")
    with pytest.raises(DataError, match="finite"):
        corrupt(images * np.nan, "fog")
