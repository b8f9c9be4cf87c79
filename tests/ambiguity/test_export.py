import dataclasses
import json

import numpy as np
import pytest

pytest.importorskip("torch")

from fireassay.ambiguity import export_set, read_set
from fireassay.ambiguity.export import tiles
from fireassay.core import DataError

pytestmark = pytest.mark.extras


def test_folder_round_trip(amb, tmp_path):
    files = export_set(amb, tmp_path / "set")
    names = {path.relative_to(tmp_path / "set").as_posix() for path in files}
    assert {"ambiguous.npz", "control.npz", "manifest.json", "sheets/001-3_8.png"} <= names
    again = read_set(tmp_path / "set")
    assert again.sha256 == amb.sha256
    assert (again.control.X == amb.control.X).all()
    assert again.report["label_accuracy"].tolist() == amb.report["label_accuracy"].tolist()


def test_arrays_open_with_the_library_and_with_numpy(amb, tmp_path):
    from fireassay.data import load

    amb.export(tmp_path)
    data = load(tmp_path / "ambiguous.npz")
    assert pytest.approx(amb.X) == data.X
    assert (data.labels == amb.labels).all()
    with np.load(tmp_path / "ambiguous.npz", allow_pickle=False) as arrays:
        assert arrays["soft_labels"].dtype == np.float64


def test_manifest_is_strict_json_with_hash_seed_and_versions(amb, tmp_path):
    amb.export(tmp_path)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["sha256"] == amb.sha256
    assert manifest["seed"] == 0
    assert manifest["versions"]["fireassay"]
    assert manifest["preset"]["name"] == "fast"


def test_equal_sets_are_equal_bytes(amb, tmp_path):
    amb.export(tmp_path / "a")
    amb.export(tmp_path / "b")
    for name in ("ambiguous.npz", "control.npz", "manifest.json", "sheets/001-3_8.png"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_other_content_than_the_manifest_says_is_refused(amb, fitted, tmp_path):
    amb.export(tmp_path / "a")
    fitted.sample(30).export(tmp_path / "b")
    (tmp_path / "a/ambiguous.npz").write_bytes((tmp_path / "b/ambiguous.npz").read_bytes())
    with pytest.raises(DataError, match="other content"):
        read_set(tmp_path / "a")


@pytest.mark.parametrize("damage", ["missing", "truncated", "not json"])
def test_damaged_folders_are_refused_in_words(amb, tmp_path, damage):
    amb.export(tmp_path)
    if damage == "missing":
        (tmp_path / "control.npz").unlink()
    elif damage == "truncated":
        content = (tmp_path / "ambiguous.npz").read_bytes()
        (tmp_path / "ambiguous.npz").write_bytes(content[: len(content) // 2])
    else:
        (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(DataError):
        read_set(tmp_path)


def test_class_names_cannot_leave_the_folder(amb, tmp_path):
    names = np.array(["../../up", "</script>", *(f"class {i}" for i in range(2, 10))])
    # The pair 3-8 gets the two names: what counts is where its files are written.
    order = np.array([2, 3, 4, 0, 5, 6, 7, 8, 1, 9])
    renamed = dataclasses.replace(
        amb,
        classes=tuple(names[order].tolist()),
        pairs=names[order][amb.pairs],
        labels=names[order][amb.labels],
    )
    files = renamed.export(tmp_path / "inside")
    assert all(path.resolve().is_relative_to(tmp_path / "inside") for path in files)
    assert ("../../up", "</script>") in read_set(tmp_path / "inside").unique_pairs


def test_table_rows_are_written_with_the_names_of_their_features(amb, tmp_path):
    import pandas as pd

    control = dataclasses.replace(amb.control, X=amb.control.X[:, 0, :2])
    rows = dataclasses.replace(amb, X=amb.X[:, 0, :2], control=control)
    files = rows.export(tmp_path, ["width", "label"])
    frame = pd.read_parquet(next(path for path in files if path.suffix == ".parquet"))
    assert (frame["width"] == rows.X[:, 0]).all()
    assert (frame["feature label"] == rows.X[:, 1]).all()
    assert (frame["label"] == rows.labels).all()
    with pytest.raises(DataError, match="2 feature names"):
        rows.export(tmp_path, ["width"])


def test_white_stays_white_on_a_sheet():
    images = np.ones((3, 4, 4))
    images[1] = 0.0
    sheet = tiles(images, columns=3)
    assert sheet.shape == (6, 16)
    assert (sheet[1:5, 1:5] == 255).all()
    assert (sheet[1:5, 6:10] == 0).all()
    assert tiles(np.zeros((2, 4, 4, 3))).shape[2] == 3
