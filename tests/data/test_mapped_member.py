"""Large arrays of uncompressed npz files stay on the disk."""

import zipfile

import numpy as np
import pytest

from fireassay.core import DataError
from fireassay.data import load, npz_file


@pytest.fixture(autouse=True)
def _small_arrays_count_as_large(monkeypatch):
    monkeypatch.setattr(npz_file, "LEAST_BYTES", 1000)


def saved(path, how=np.savez, **more):
    X = np.random.default_rng(0).random((60, 4, 5)).astype(np.float32)
    how(path, X=X, y=np.arange(60) % 3, **more)
    return X


def is_mapped(array):
    while array is not None:
        if isinstance(array, np.memmap):
            return True
        array = array.base
    return False


def test_an_uncompressed_array_is_mapped_and_equal(tmp_path):
    X = saved(tmp_path / "a.npz", ids=np.arange(60) + 7)
    data = load(tmp_path / "a.npz")
    assert is_mapped(data.X)
    assert (data.X == X).all()
    assert data.ids[0] == 7
    saved(tmp_path / "b.npz", np.savez_compressed, ids=np.arange(60) + 7)
    packed = load(tmp_path / "b.npz")
    assert not is_mapped(packed.X)
    assert packed.sha256 == data.sha256


def test_a_column_order_array_is_mapped_as_it_is(tmp_path):
    X = np.asfortranarray(np.random.default_rng(0).random((60, 7)))
    np.savez(tmp_path / "a.npz", X=X, y=np.arange(60) % 3)
    assert (load(tmp_path / "a.npz").X == X).all()


def test_what_stays_on_the_disk_may_be_larger_than_what_is_read(tmp_path):
    saved(tmp_path / "a.npz")
    assert len(load(tmp_path / "a.npz", max_bytes=2000)) == 60
    saved(tmp_path / "b.npz", np.savez_compressed)
    with pytest.raises(DataError, match="unpack"):
        load(tmp_path / "b.npz", max_bytes=2000)


@pytest.mark.parametrize("damage", ["a byte of the array", "the end", "the header", "the place"])
def test_damaged_files_are_refused(tmp_path, damage):
    path = tmp_path / "a.npz"
    saved(path)
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        member = archive.getinfo("X.npy")
    if damage == "a byte of the array":
        content[member.header_offset + 2000] ^= 1
    elif damage == "the end":
        content = content[: len(content) // 2]
    elif damage == "the header":
        content[member.header_offset] ^= 1
    else:  # the central directory points elsewhere
        where = content.rindex(b"PK\x01\x02", 0, content.rindex(b"y.npy"))
        content[where + 42 : where + 46] = (100).to_bytes(4, "little")
    path.write_bytes(content)
    with pytest.raises(DataError):
        load(path)


def test_an_array_that_declares_more_than_its_member_is_refused(tmp_path):
    path = tmp_path / "a.npz"
    saved(path)
    content = path.read_bytes().replace(b"(60, 4, 5)", b"(90, 4, 5)")
    path.write_bytes(content)
    with pytest.raises(DataError):
        load(path)
