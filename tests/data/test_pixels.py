import numpy as np
import pytest

from fireassay.core import DataError
from fireassay.data import check_comparable
from fireassay.data.pixel_range import image_layout, looks_like_bytes

IMAGES = np.random.default_rng(0).random((6, 8, 10, 3))


@pytest.mark.parametrize(
    ("shape", "layout"),
    [
        ((5, 28, 28, 1), "HWC"),
        ((5, 1, 28, 28), "CHW"),
        ((5, 32, 32, 4), "HWC"),
        ((5, 3, 3, 3), "unclear"),
        ((5, 16, 16, 16), "unclear"),
        ((5, 28, 28), "unclear"),
    ],
)
def test_where_the_channels_are(shape, layout):
    assert image_layout(shape) == layout


def test_only_images_can_look_like_bytes():
    assert looks_like_bytes(255 * IMAGES)
    assert not looks_like_bytes(IMAGES)
    assert not looks_like_bytes((IMAGES - 0.5) / 0.1)  # standardised
    assert not looks_like_bytes(np.array([[200.0, 30.0]]))  # a table of measurements


def test_data_on_another_scale_or_in_another_layout_are_not_comparable():
    check_comparable(IMAGES, IMAGES[:2] * 0.9)
    check_comparable(255 * IMAGES, 200 * IMAGES)
    with pytest.raises(DataError, match="one is 0–255, the other 0–1"):
        check_comparable(IMAGES, 255 * IMAGES)
    with pytest.raises(DataError, match=r"field must have pixels.*same scale"):
        check_comparable(255 * IMAGES, IMAGES, name="field")
    with pytest.raises(DataError, match="layout='CHW'"):
        check_comparable(IMAGES, np.moveaxis(IMAGES, -1, 1))
    with pytest.raises(DataError, match=r"shape \(8, 10, 3\)"):
        check_comparable(IMAGES, IMAGES[:, :4])
