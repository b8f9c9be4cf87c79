"""Files as people have them: packed, in other encodings, without a header, pictures in cells."""

import gzip
import io
import json
import shutil

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from fireassay.core import AssumptionWarning, DataError
from fireassay.data import column_names, load

FRAME = pd.DataFrame(
    {"age": [40.5, 51.25, 60.0, 33.5], "ward": ["Süd", "Ost", "Ost", "Süd"], "label": [*"aabb"]}
)


def same(data):
    assert data.feature_names == ("age", "ward")
    assert data.X["age"].tolist() == FRAME["age"].tolist()
    assert data.X["ward"].tolist() == FRAME["ward"].tolist()
    assert data.y.tolist() == FRAME["label"].tolist()


def zipped(path):
    inner = path.parent / "inner" / "rows.csv"
    inner.parent.mkdir()
    FRAME.to_csv(inner, index=False)
    shutil.make_archive(str(path.with_suffix("")), "zip", inner.parent)


def commented(path):
    path.write_text("# exported\n# by a clinic\n" + FRAME.to_csv(index=False), encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "write", "options"),
    [
        ("a.csv.gz", lambda p: FRAME.to_csv(p, index=False), {}),
        ("a.csv.xz", lambda p: FRAME.to_csv(p, index=False), {}),
        ("a.zip", zipped, {}),
        ("a.csv", lambda p: FRAME.to_csv(p, index=False, encoding="utf-16", sep="\t"), {}),
        (
            "a.csv",
            lambda p: FRAME.to_csv(p, index=False, encoding="latin-1"),
            {"encoding": "latin-1"},
        ),
        ("a.csv", lambda p: FRAME.to_csv(p, index=False, sep="|"), {}),
        ("a.csv", commented, {}),
        ("a.jsonl", lambda p: FRAME.to_json(p, orient="records", lines=True), {}),
        ("a.json", lambda p: FRAME.to_json(p, orient="records", indent=1), {}),
        ("a.json", lambda p: FRAME.to_json(p), {}),
        pytest.param("a.feather", FRAME.to_feather, {}, marks=pytest.mark.extras),
    ],
)
def test_a_table_is_the_same_however_it_is_written(tmp_path, name, write, options):
    write(tmp_path / name)
    same(load(tmp_path / name, **options))


def test_decimal_commas_are_read_and_said(tmp_path):
    FRAME.to_csv(tmp_path / "a.csv", index=False, sep=";", decimal=",")
    with pytest.warns(AssumptionWarning, match="decimal points in: age"):
        same(load(tmp_path / "a.csv"))


@pytest.mark.parametrize(
    ("text", "flag"),
    [
        ("1.5,2.5,a\n3.5,4.5,b\n", "--no-header"),
        ("x,y\n?,a\n2,b\n3,b\n4,a\n", "--na '[?]'"),
        ("x,y\n1,a\n2,\n", "--drop-unlabelled"),
        ("x,split,y\n1,train,a\n2,test,b\n", "--split split"),
    ],
)
def test_what_is_refused_names_its_flag(tmp_path, text, flag):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(DataError, match=flag):
        load(tmp_path / "a.csv", label=None if "no-h" in flag else "y")


def test_the_flags_do_what_was_said(tmp_path):
    (tmp_path / "a.csv").write_text("1.5,2.5,a\n3.5,4.5,b\n")
    bare = load(tmp_path / "a.csv", header=False, label="2")
    assert bare.X.tolist() == [[1.5, 2.5], [3.5, 4.5]]
    assert bare.y.tolist() == ["a", "b"]
    (tmp_path / "b.csv").write_text("x,y\n?,a\n2,\n3,b\n")
    held = load(tmp_path / "b.csv", na=["?"], label="y", drop_unlabelled=True)
    assert held.X["x"].isna().tolist() == [True, False]
    assert held.y.tolist() == ["a", "b"]


def pictures(n=6):
    return np.random.default_rng(0).integers(0, 256, (n, 5, 4, 3), dtype=np.uint8)


def png(pixels):
    held = io.BytesIO()
    Image.fromarray(pixels).save(held, "PNG")
    return held.getvalue()


def test_pictures_of_hugging_face_with_their_class_names(tmp_path):
    X = pictures()
    cells = [{"bytes": png(x), "path": f"{i}.png"} for i, x in enumerate(X)]
    names = {"label": {"names": ["a cat", "a dog"], "_type": "ClassLabel"}}
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    table = pa.table({"image": cells, "label": [0, 1, 1, 0, 1, 0]}).replace_schema_metadata(
        {"huggingface": json.dumps({"info": {"features": names}})}
    )
    pq.write_table(table, tmp_path / "test.parquet")
    data = load(tmp_path / "test.parquet")
    assert data.rows.form == "image"
    assert data.class_names == ("a cat", "a dog")
    np.testing.assert_array_equal(data.X, X.astype(np.float32) / np.float32(255))


def test_a_table_that_names_the_files_of_its_pictures(tmp_path):
    X = pictures()
    (tmp_path / "all").mkdir()
    for i, x in enumerate(X):
        (tmp_path / "all" / f"{i}.png").write_bytes(png(x))
    files = [f"all/{i}.png" for i in range(len(X))]
    frame = pd.DataFrame({"file_name": files, "label": [*"ababab"]})
    frame.to_csv(tmp_path / "labels.csv", index=False)
    np.testing.assert_array_equal(
        load(tmp_path / "labels.csv").X, X.astype(np.float32) / np.float32(255)
    )
    frame["file_name"] = [f"../{name}" for name in files]  # outside of the folder: texts
    (tmp_path / "in").mkdir()
    frame.to_csv(tmp_path / "in" / "labels.csv", index=False)
    assert load(tmp_path / "in" / "labels.csv").rows.form != "image"


def test_vectors_and_sixteen_bits(tmp_path):
    vectors = [[0.5, 1.5], [2.5, 3.5]]
    pytest.importorskip("pyarrow")
    pd.DataFrame({"embedding": vectors, "label": [0, 1]}).to_parquet(tmp_path / "a.parquet")
    assert load(tmp_path / "a.parquet").X.tolist() == vectors
    tokens = {"ids": [[1, 900], [2, 3]], "label": [0, 1], "source": ["a", "b"]}
    pd.DataFrame(tokens).to_json(tmp_path / "b.jsonl", orient="records", lines=True)
    with pytest.warns(AssumptionWarning, match="'ids'; left out: source"):
        assert load(tmp_path / "b.jsonl").X.dtype == np.int64
    ragged = {"note": [{"a": 1}, {"b": 2}], "x": [1, 2], "y": ["a", "b"]}
    pd.DataFrame(ragged).to_json(tmp_path / "c.jsonl", orient="records", lines=True)
    with pytest.raises(DataError, match="--ignore note"):
        load(tmp_path / "c.jsonl")
    deep = np.array([[0, 65535], [257, 514]], dtype=np.uint16)
    for name in ("a", "b"):
        (tmp_path / "pics" / name / "deeper").mkdir(parents=True)
        Image.fromarray(deep).save(tmp_path / "pics" / name / "deeper" / "1.png")
    np.testing.assert_allclose(load(tmp_path / "pics").X[0], deep / 65535, rtol=1e-6)


def test_parts_are_no_classes(tmp_path):
    for part in ("train", "val"):
        (tmp_path / "pics" / part / "cat").mkdir(parents=True)
    with pytest.raises(DataError, match="--data pics/val"):
        load(tmp_path / "pics")


@pytest.mark.parametrize("y", [np.eye(2)[[0, 1, 1]], np.array([[0], [1], [1]])])
def test_labels_as_keras_has_them(tmp_path, y):
    np.savez(tmp_path / "a.npz", np.ones((3, 2)))
    np.savez(tmp_path / "b.npz", inputs=np.ones((3, 2)), outcome=np.array([0, 1, 1]))
    np.savez(tmp_path / "c.npz", X=np.ones((3, 2)), y=y)
    assert load(tmp_path / "b.npz").y.tolist() == load(tmp_path / "c.npz").y.tolist() == [0, 1, 1]
    with pytest.raises(DataError, match="leave one array of rows and one of labels"):
        load(tmp_path / "a.npz")


def test_a_packed_file_that_grows_too_large_is_refused(tmp_path):
    with gzip.open(tmp_path / "a.csv.gz", "wb") as file:
        file.write(b"x,y\n" + b"1,2\n" * 1000)
    assert column_names(tmp_path / "a.csv.gz") == ("x", "y")
    with pytest.raises(DataError, match="unpack"):
        load(tmp_path / "a.csv.gz", max_bytes=1000)


def test_digits_of_another_script_are_text(tmp_path):
    (tmp_path / "a.csv").write_text('size;label\n"٣";a\n"٤";b\n"٣";a\n"٤";b\n', "utf-8")
    assert load(tmp_path / "a.csv").X.iloc[0, 0] == "٣"
