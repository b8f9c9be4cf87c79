"""What people see of a row follows from its form."""

import io

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from fireassay.core.errors import DataError
from fireassay.data import Rows
from fireassay.data.shown import Curve, Picture, Table, Words, png_uri, shown, signed_picture


def _pixels(png):
    return np.asarray(Image.open(io.BytesIO(png)))


@pytest.mark.parametrize("first", [True, False])
def test_pixels_come_back_from_the_file(first):
    colours = np.random.default_rng(0).integers(0, 256, (4, 8, 9, 3))
    X = colours / 255
    seen = shown(Rows(np.moveaxis(X, -1, 1) if first else X), 2)
    assert isinstance(seen, Picture)
    np.testing.assert_array_equal(_pixels(seen.png()), colours[2])


def test_grey_images_bytes_and_large_numbers():
    grey = np.arange(64, dtype=np.uint8).reshape(1, 8, 8)
    np.testing.assert_array_equal(_pixels(shown(Rows(grey), 0).png()), grey[0])
    np.testing.assert_array_equal(_pixels(shown(Rows(grey.astype(float)), 0).png()), grey[0])
    wide = grey * 100.0 - 50.0  # stretched from the lowest to the highest
    assert _pixels(shown(Rows(wide), 0).png()).max() == 255
    with pytest.raises(DataError, match="finite"):
        shown(Rows(np.full((1, 8, 8), np.nan)), 0)


def test_ends_are_black_and_white():
    seen = shown(Rows(np.full((1, 8, 8), 0.25)), 0, ends=(-1.0, 1.0))
    assert set(seen.pixels.ravel().tolist()) == {159}


def test_tables_of_every_kind():
    frame = pd.DataFrame({"age": [40, 61], "ward": ["A", None]})
    assert list(shown(Rows(frame), 0)) == [("age", 40), ("ward", "A")]
    assert shown(Rows(np.eye(2)), 1) == Table(("feature 0", "feature 1"), (0.0, 1.0))
    assert shown(Rows(np.eye(2), form="recorded"), 0) == Table((), ())


def test_time_is_the_longer_side_unless_channels_are_named():
    X = np.random.default_rng(0).random((2, 3, 50))
    for values in (X, np.moveaxis(X, 1, -1)):
        seen = shown(Rows(values), 1)
        assert isinstance(seen, Curve)
        np.testing.assert_array_equal(seen.lines, X[1])
        assert seen.names == ("channel 0", "channel 1", "channel 2")
    few = shown(Rows(X, form="series"), 0, names=[f"lead {i}" for i in range(50)])
    assert few.lines.shape == (50, 3)
    assert shown(Rows(X[:, 0], form="series"), 0).lines.shape == (1, 50)


def test_thinned_lines_keep_names_and_holes_become_zero():
    lines = np.arange(2000.0).reshape(2, 1000)
    lines[0, 0] = np.nan
    found = Curve(("a", "b"), lines).thinned(1, 100)
    assert list(found) == ["a"]
    assert len(found["a"]) == 100
    assert found["a"][:2] == (0.0, 10.0)
    assert Curve(("a", "b"), lines).drawn().pixels.shape == (280, 600, 3)


def test_texts_are_words():
    assert shown(Rows(np.array(["one", "two"], dtype=object)), 1) == Words("two")


def test_differences_are_red_and_blue():
    pixels = signed_picture(np.array([[0.0, 0.2], [-0.2, 0.0]])).pixels.astype(int)
    assert pixels[0, 0].tolist() == [255, 255, 255]
    assert pixels[0, 1, 0] > pixels[0, 1, 2]
    assert pixels[1, 0, 2] > pixels[1, 0, 0]
    assert png_uri(np.eye(8)).startswith("data:image/png;base64,")
