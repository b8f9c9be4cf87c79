"""A release of ambiguous images comes back as it was, also with other tools."""

import io

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from fireassay.ambiguity import AmbiguityGenerator, read_release, write_release
from fireassay.core.errors import DataError
from fireassay.data import digits


@pytest.fixture(scope="module")
def amb():
    data = digits()
    return AmbiguityGenerator([(3, 8)], tries=1).fit(data.X, data.y).sample(30)


def test_a_release_comes_back_row_by_row(amb, tmp_path):
    data = digits()
    files = write_release(amb, tmp_path, (data.X[:50], data.y[:50]))
    assert [file.name for file in files] == ["ambiguous.parquet", "README.md"]
    found = read_release(tmp_path)
    assert found.X.shape == (80, 8, 8)
    assert found.is_ambiguous.sum() == 30
    assert not found.is_ambiguous[:30].all()  # mixed
    assert ((found.p_labels > 0).sum(axis=1) == np.where(found.is_ambiguous, 2, 1)).all()
    own, p = found.X[found.is_ambiguous], found.p_labels[found.is_ambiguous]
    for row in range(len(amb)):
        at = np.flatnonzero((p == amb.soft_labels[row]).all(axis=1))
        assert np.abs(own[at] - amb.X[row]).max(axis=(1, 2)).min() <= 0.5 / 255 + 1e-6
    card = files[1].read_text(encoding="utf-8")
    assert amb.sha256 in card
    assert "80 images, 30 of them ambiguous" in card


def test_other_tools_read_the_columns(amb, tmp_path):
    table = pd.read_parquet(write_release(amb, tmp_path)[0])
    assert table.columns.tolist() == ["image", "label", "text_label", "p_label", "is_ambiguous"]
    assert Image.open(io.BytesIO(table["image"][0]["bytes"])).size == (8, 8)
    assert set(table["label"]) == {3, 8}
    assert table["text_label"].str.match(r"p\(3\)=0\.\d\d, p\(8\)=0\.\d\d").all()


def test_what_is_no_release_is_refused(amb, tmp_path):
    pd.DataFrame({"x": [1]}).to_parquet(tmp_path / "other.parquet")
    for name in ("other.parquet", "missing.parquet"):
        with pytest.raises(DataError, match="image, label, p_label"):
            read_release(tmp_path / name)
    with pytest.raises(DataError, match="labels of"):
        write_release(amb, tmp_path, (amb.X[:1], [99]))
