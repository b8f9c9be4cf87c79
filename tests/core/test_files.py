"""Files are there whole or not at all."""

import stat

import pytest

from fireassay.core import DataError
from fireassay.core.files import check_regular, write_bytes, write_text, written_whole


def test_a_failure_leaves_what_stood_there_and_nothing_else(tmp_path):
    path = write_text(tmp_path / "new" / "a.txt", "before")

    def broken():
        with written_whole(path) as temporary:
            temporary.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        broken()
    assert path.read_text() == "before"
    assert [found.name for found in path.parent.iterdir()] == ["a.txt"]


def test_an_ordinary_file_replaces_the_old_one(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    write_bytes(path, b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_device_is_no_ordinary_file():
    with pytest.raises(DataError, match=r"/dev/null must be an ordinary file. Got a device."):
        check_regular("/dev/null")
