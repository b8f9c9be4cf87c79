import gzip
import io
import pickle
import struct
import zipfile

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from fireassay.core import AssumptionWarning, DataError, ParameterError, UntrustedFileError
from fireassay.data import load, load_idx
from fireassay.data.npz_file import load_npz

X = np.arange(12.0).reshape(4, 3)


class Bomb:
    """Would leave a file behind if anything unpickled it."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


# npz and npy


@pytest.mark.parametrize(("x", "y"), [("X", "y"), ("x", "label"), ("data", "labels")])
def test_npz_arrays_are_found_by_their_usual_names(tmp_path, x, y):
    np.savez_compressed(tmp_path / "d.npz", **{x: X, y: list("abca")})
    data = load(tmp_path / "d.npz")
    np.testing.assert_array_equal(data.X, X)
    assert data.y.tolist() == list("abca")
    assert data.name == "d"


def test_npz_brings_ids_and_names_and_arrays_named_by_the_user(tmp_path):
    np.savez(tmp_path / "d.npz", X=X, z=[0, 1, 1, 0], ids=list("wxyz"), class_names=["no", "yes"])
    data = load(tmp_path / "d.npz", label="z")
    assert data.class_names == ("no", "yes")
    assert data.ids.tolist() == list("wxyz")
    assert load(tmp_path / "d.npz", label=False).y is None
    with pytest.raises(DataError, match="'absent'"):
        load(tmp_path / "d.npz", label="absent")


def test_npz_without_features(tmp_path):
    np.savez(tmp_path / "d.npz", something=X)
    with pytest.raises(DataError, match="named X"):
        load(tmp_path / "d.npz")
    assert len(load_npz(tmp_path / "d.npz", features="something")) == 4


def test_pickled_arrays_are_never_executed(tmp_path):
    mark = tmp_path / "executed"
    np.savez(tmp_path / "d.npz", X=np.array([Bomb(mark)], dtype=object), y=[1])
    np.save(tmp_path / "d.npy", np.array([Bomb(mark)], dtype=object), allow_pickle=True)
    (tmp_path / "d.pkl").write_bytes(pickle.dumps(Bomb(mark)))
    (tmp_path / "raw.npz").write_bytes(pickle.dumps(Bomb(mark)))
    (tmp_path / "raw.npy").write_bytes(pickle.dumps(Bomb(mark)))
    for name in ("d.npz", "d.npy", "d.pkl"):
        with pytest.raises(UntrustedFileError, match="run code"):
            load(tmp_path / name)
    for name in ("raw.npz", "raw.npy"):
        with pytest.raises(DataError, match="never read"):
            load(tmp_path / name)
    assert not mark.exists()


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path):
    np.savez_compressed(tmp_path / "bomb.npz", X=np.zeros((1000, 10_000)))
    assert (tmp_path / "bomb.npz").stat().st_size < 200_000
    with pytest.raises(DataError, match=r"at most 0\.01 GB"):
        load(tmp_path / "bomb.npz", max_bytes=10_000_000)


def test_a_header_that_declares_more_than_the_file_is_refused(tmp_path):
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        head, {"descr": "<f8", "fortran_order": False, "shape": (10**9, 10**3)}
    )
    (tmp_path / "huge.npy").write_bytes(head.getvalue() + b"\0" * 80)
    with zipfile.ZipFile(tmp_path / "huge.npz", "w") as archive:
        archive.writestr("X.npy", head.getvalue() + b"\0" * 80)
    for name in ("huge.npy", "huge.npz"):
        with pytest.raises(DataError, match="hold what it declares"):
            load(tmp_path / name)


@pytest.mark.parametrize("kept", [0.0, 0.3, 0.6, 0.95])
def test_files_cut_short_are_said_to_be_so(tmp_path, kept):
    np.savez(tmp_path / "d.npz", X=X, y=[0, 1, 0, 1])
    np.save(tmp_path / "d.npy", X)
    for name in ("d.npz", "d.npy"):
        content = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(content[: int(kept * len(content))])
        with pytest.raises(DataError, match=name):
            load(tmp_path / name)


def test_npy_is_read_only_and_labels_come_from_another_file(tmp_path):
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", [0, 1, 0, 1])
    data = load(tmp_path / "x.npy", label=str(tmp_path / "y.npy"))
    assert data.y.tolist() == [0, 1, 0, 1]
    assert not data.X.flags.writeable


# Pixels


def test_bytes_become_0_to_1_and_floats_in_0_to_255_are_noticed(tmp_path):
    pixels = np.arange(256, dtype=np.uint8).reshape(4, 8, 8)
    np.savez(tmp_path / "bytes.npz", X=pixels)
    data = load(tmp_path / "bytes.npz")
    assert data.X.dtype == np.float32
    assert (data.X.min(), data.X.max()) == (0.0, 1.0)
    np.savez(tmp_path / "floats.npz", X=pixels.astype(float))
    with pytest.warns(AssumptionWarning, match="look like 0–255"):
        assert load(tmp_path / "floats.npz").X.max() == 255.0
    assert load(tmp_path / "floats.npz", scale=255).X.max() == 1.0
    assert load(tmp_path / "floats.npz", scale="none").X.max() == 255.0


def test_channels_first_are_noticed_and_moved_when_asked(tmp_path):
    images = np.random.default_rng(0).random((5, 3, 8, 6))
    np.savez(tmp_path / "chw.npz", X=images)
    with pytest.warns(AssumptionWarning, match="channels first"):
        assert load(tmp_path / "chw.npz").X.shape == (5, 3, 8, 6)
    moved = load(tmp_path / "chw.npz", layout="CHW").X
    np.testing.assert_array_equal(moved, images.transpose(0, 2, 3, 1))
    assert load(tmp_path / "chw.npz", layout="HWC").X.shape == (5, 3, 8, 6)


# idx


def write_idx(path, array, code):
    head = struct.pack(">BBBB", 0, 0, code, array.ndim) + struct.pack(
        f">{array.ndim}I", *array.shape
    )
    content = head + array.tobytes()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_idx_images_find_their_labels(tmp_path, ending):
    pixels = np.arange(60, dtype=np.uint8).reshape(5, 3, 4)
    write_idx(tmp_path / f"t10k-images-idx3-ubyte{ending}", pixels, 8)
    write_idx(tmp_path / f"t10k-labels-idx1-ubyte{ending}", np.arange(5, dtype=np.uint8), 8)
    data = load(tmp_path / f"t10k-images-idx3-ubyte{ending}")
    np.testing.assert_allclose(data.X, pixels / 255, rtol=1e-6)
    assert data.y.tolist() == [0, 1, 2, 3, 4]
    assert load(tmp_path / f"t10k-images-idx3-ubyte{ending}", label=False).y is None


def test_idx_numbers_of_other_types(tmp_path):
    write_idx(tmp_path / "rows.idx2", np.array([[1.5, -2.0]], dtype=">f4"), 0x0D)
    assert load(tmp_path / "rows.idx2").X.tolist() == [[1.5, -2.0]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "begins with"),
        (b"\0\0\x08\x03\0\0", "cut header"),
        (b"\0\0\x08\x02" + struct.pack(">2I", 3, 3) + b"abc", "cut short"),
        (b"\0\0\x08\x02" + struct.pack(">2I", 1, 2) + b"abc", "more"),
        (b"\0\0\x08\x03" + struct.pack(">3I", 2**31, 2**31, 4), "GB declared"),
        (b"\0\0\x07\x01" + struct.pack(">I", 1) + b"a", "begins with"),
    ],
)
def test_damaged_idx(tmp_path, content, message):
    for name, stored in (("a.idx", content), ("a.idx.gz", gzip.compress(content))):
        (tmp_path / name).write_bytes(stored)
        with pytest.raises(DataError, match=message):
            load(tmp_path / name)


def test_damaged_gzip_and_labels_of_another_length(tmp_path):
    pixels = np.zeros((5, 3, 4), dtype=np.uint8)
    write_idx(tmp_path / "a-images.idx.gz", pixels, 8)
    whole = (tmp_path / "a-images.idx.gz").read_bytes()
    (tmp_path / "cut.idx.gz").write_bytes(whole[:-6])
    with pytest.raises(DataError, match="readable idx"):
        load(tmp_path / "cut.idx.gz")
    write_idx(tmp_path / "a-labels.idx.gz", np.zeros(4, dtype=np.uint8), 8)
    with pytest.raises(DataError, match="5 and 4"):
        load(tmp_path / "a-images.idx.gz")
    with pytest.raises(DataError, match="one dimension"):
        load_idx(tmp_path / "a-labels.idx.gz")


# Image folders


def save_image(path, colour, size=(4, 6), mode="RGB"):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new(mode, size[::-1], colour).save(path)


def test_image_folder(tmp_path):
    save_image(tmp_path / "f" / "dog" / "b.png", (255, 0, 0))
    save_image(tmp_path / "f" / "cat" / "a.png", (0, 255, 51))
    save_image(tmp_path / "f" / "cat" / f"{'ü' * 60}.PNG", (0, 0, 0))
    (tmp_path / "f" / "cat" / "notes.txt").write_text("not an image")
    data = load(tmp_path / "f")
    assert data.X.shape == (3, 4, 6, 3)
    assert data.class_names == ("cat", "dog")
    assert data.y.tolist() == [0, 0, 1]
    assert data.ids.tolist() == ["cat/a.png", f"cat/{'ü' * 60}.PNG", "dog/b.png"]
    np.testing.assert_allclose(data.X[0, 0, 0], [0.0, 1.0, 0.2], rtol=1e-6)


def test_grey_images_have_no_channels(tmp_path):
    save_image(tmp_path / "f" / "a" / "1.png", 255, mode="L")
    save_image(tmp_path / "f" / "b" / "1.png", 0, mode="L")
    assert load(tmp_path / "f").X.shape == (2, 4, 6)


def test_sizes_must_match_or_be_asked_for(tmp_path):
    save_image(tmp_path / "f" / "a" / "1.png", (1, 2, 3), (4, 6))
    save_image(tmp_path / "f" / "a" / "2.png", (1, 2, 3), (5, 6))
    with pytest.raises(DataError, match=r"5 × 6 in .*2\.png.*size="):
        load(tmp_path / "f")
    assert load(tmp_path / "f", size=(3, 2)).X.shape == (2, 3, 2, 3)


@pytest.mark.parametrize("what", ["file", "folder"])
def test_links_out_of_the_folder_are_refused(tmp_path, what):
    save_image(tmp_path / "secret" / "s.png", (1, 2, 3))
    save_image(tmp_path / "f" / "a" / "1.png", (1, 2, 3))
    if what == "file":
        (tmp_path / "f" / "a" / "2.png").symlink_to(tmp_path / "secret" / "s.png")
    else:
        (tmp_path / "f" / "b").symlink_to(tmp_path / "secret")
    with pytest.raises(DataError, match="a link"):
        load(tmp_path / "f")


def test_damaged_images_and_empty_folders(tmp_path):
    with pytest.raises(DataError, match="folder of images per class"):
        load(tmp_path)
    (tmp_path / "a").mkdir()
    with pytest.raises(DataError, match="must have images"):
        load(tmp_path)
    (tmp_path / "a" / "1.png").write_bytes(b"not an image")
    with pytest.raises(DataError, match=r"Expected an image at .*1\.png"):
        load(tmp_path)
    save_image(tmp_path / "a" / "1.png", (1, 2, 3), (64, 64))
    content = (tmp_path / "a" / "1.png").read_bytes()
    (tmp_path / "a" / "1.png").write_bytes(content[: len(content) - 40])
    with pytest.raises(DataError, match="image at"):
        load(tmp_path)


def test_sixteen_bit_images_keep_their_steps(tmp_path):
    (tmp_path / "a").mkdir()
    Image.fromarray(np.full((4, 4), 40_000, dtype=np.uint16)).save(tmp_path / "a" / "1.png")
    np.testing.assert_allclose(load(tmp_path).X, 40_000 / 65_535, rtol=1e-6)


# Whatever else


def test_unknown_files_and_foreign_options(tmp_path):
    (tmp_path / "a.docx").write_bytes(b"")
    with pytest.raises(DataError, match="npz, npy, csv"):
        load(tmp_path / "a.docx")
    with pytest.raises(DataError, match="must exist"):
        load(tmp_path / "absent.npz")
    with pytest.raises(DataError, match="must exist"):
        load(tmp_path / ("a" * 200 + ".npz"))
    np.savez(tmp_path / "d.npz", X=X)
    with pytest.raises(ParameterError, match="id_column"):
        load(tmp_path / "d.npz", id_column="a")


@pytest.mark.extras
def test_parquet_gives_the_same_data_as_csv(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"age": [1.5, 2.5, 3.5], "sex": ["f", "m", "f"], "label": [0, 1, 1]})
    frame.to_parquet(tmp_path / "d.parquet")
    frame.to_csv(tmp_path / "d.csv", index=False)
    assert load(tmp_path / "d.parquet").sha256 == load(tmp_path / "d.csv").sha256
    content = (tmp_path / "d.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(content[: len(content) // 2])
    with pytest.raises(DataError, match="whole Parquet"):
        load(tmp_path / "cut.parquet")
    with pytest.raises(DataError, match="GB declared"):
        load(tmp_path / "d.parquet", max_bytes=10)


def test_a_parquet_file_with_a_column_twice_is_refused_in_words(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    twice = pa.Table.from_arrays([pa.array(["u", "v"]), pa.array(["w", "x"])], names=["a", "a"])
    lists = pa.Table.from_arrays([pa.array(["u", "v"]), pa.array([[1], [2]])], names=["a", "a"])
    for table in (twice, lists):
        parquet.write_table(table, tmp_path / "a.parquet")
        with pytest.raises(DataError, match="each column once"):
            load(tmp_path / "a.parquet")


@pytest.mark.parametrize("names", ["class_names", "feature_names"])
@pytest.mark.parametrize("value", [np.int64(7), np.longdouble(0.5)])
def test_names_that_are_one_number_are_refused_in_words(tmp_path, names, value):
    np.savez(tmp_path / "a.npz", X=np.eye(4), y=np.array(["a", "b"] * 2), **{names: value})
    with pytest.raises(DataError):
        load(tmp_path / "a.npz")


def test_features_that_are_one_number_are_refused_in_words(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.float64(3.0), y=np.arange(4), patient_id=np.arange(4))
    with pytest.raises(DataError):
        load(tmp_path / "a.npz")
