"""Small files that declare much: refused before memory is taken, each in a process of its own."""

import gzip
import io
import json
import resource
import struct
import subprocess
import sys
import zipfile
import zlib

import numpy as np
import pytest
from PIL import Image

from fireassay.core import DataError, UntrustedFileError, codec
from fireassay.data import load

GIB = 1024**3
# The libraries take up to 300 MiB; a bomb may add no more than the gigabyte that is harmless.
MOST_MIB = 1600
WATCHED = """
import json, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
from fireassay.core import DataError, UntrustedFileError, codec
from fireassay.data import load
import pandas, PIL, pyarrow.parquet
def most():  # getrusage would begin with the most of the process that started this one
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))
before = most()
try:
    codec.load(sys.argv[1]) if sys.argv[1].endswith("saved") else load(sys.argv[1])
    said = "loaded"
except (DataError, UntrustedFileError) as error:
    said = str(error)
print(json.dumps({"said": said, "before": before, "peak": most()}))
"""


def npy_header(descr, shape, length=None):
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    padded = text.ljust((length or 118) - 1) + "\n"
    if length is None:
        return b"\x93NUMPY\1\0" + struct.pack("<H", len(padded)) + padded.encode()
    return b"\x93NUMPY\2\0" + struct.pack("<I", len(padded)) + padded.encode()


def zipped(path, members, zeros=0):
    """An archive whose last member goes on with so many zeros."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            with archive.open(name, "w", force_zip64=True) as member:
                member.write(content)
                block = bytes(64 << 20)
                for _ in range(zeros // len(block)):
                    member.write(block)
    return path


def npz_width_0(folder):
    header = npy_header("<U0", (400_000_000,))
    return zipped(
        folder / "bomb.npz", {"y.npy": header, "X.npy": npy_header("<f8", (1, 1)) + bytes(8)}
    )


def npz_more_than_it_holds(folder):
    return zipped(folder / "bomb.npz", {"X.npy": npy_header("<f8", (1 << 20, 1 << 20))})


def npz_zeros(folder):
    return zipped(folder / "bomb.npz", {"X.npy": npy_header("<f8", (1 << 18, 1 << 10))}, 2 * GIB)


def npz_long_header(folder):
    header = npy_header("<f8", (1, 1), length=1 << 28)
    return zipped(folder / "bomb.npz", {"X.npy": header})


def npy_more_than_it_holds(folder):
    (folder / "bomb.npy").write_bytes(npy_header("<f8", (1 << 20, 1 << 20)) + bytes(64))
    return folder / "bomb.npy"


def npy_width_0(folder):
    (folder / "bomb.npy").write_bytes(npy_header("<U0", (400_000_000, 1)))
    return folder / "bomb.npy"


def saved_zeros(folder):
    tree = json.dumps({"schema_version": 2, "tree": {"$array": "array0"}}).encode()
    header = npy_header("|i1", (2 * GIB,))
    zipped(folder / "bomb.saved", {"array0.npy": header}, 2 * GIB)
    with zipfile.ZipFile(folder / "bomb.saved", "a") as archive:
        archive.writestr("tree.json", tree)
    return folder / "bomb.saved"


def saved_width_0(folder):
    tree = json.dumps({"schema_version": 2, "tree": {"$array": "array0"}}).encode()
    members = {"tree.json": tree, "array0.npy": npy_header("<U0", (400_000_000,))}
    return zipped(folder / "bomb.saved", members)


def parquet_one_value_repeated(folder):
    import pyarrow as pa
    import pyarrow.parquet as pq

    path, rows = folder / "bomb.parquet", 1 << 22
    table = pa.table({f"c{i}": pa.array(np.zeros(rows)) for i in range(2)})
    with pq.ParquetWriter(path, table.schema, compression="zstd") as writer:
        for _ in range(20):
            writer.write_table(table)
    return path


def parquet_long_text_repeated(folder):
    import pyarrow as pa
    import pyarrow.parquet as pq

    codes = pa.array(np.zeros(20_000, dtype=np.int32))
    text = pa.DictionaryArray.from_arrays(codes, pa.array(["x" * 200_000]))
    table = pa.table({"a": np.zeros(20_000), "text": text, "label": text})
    pq.write_table(table, folder / "bomb.parquet", store_schema=False)
    return folder / "bomb.parquet"


def png(folder, side):
    def chunk(kind, content):
        body = kind + content
        return struct.pack(">I", len(content)) + body + struct.pack(">I", zlib.crc32(body))

    packer = zlib.compressobj(9)
    rows = b"".join(packer.compress(bytes(1 + 3 * side)) for _ in range(side)) + packer.flush()
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    content = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows)
    (folder / "images" / "a").mkdir(parents=True)
    (folder / "images" / "a" / "bomb.png").write_bytes(content + chunk(b"IEND", b""))
    return folder / "images"


def png_below_the_limit_of_pixels(folder):
    return png(folder, 9000)


def png_beyond_the_limit_of_pixels(folder):
    return png(folder, 14_000)


def png_text(folder):
    png(folder, 8)
    path = folder / "images" / "a" / "bomb.png"
    content = path.read_bytes()
    text = b"zTXt" + b"Comment\0\0" + zlib.compress(bytes(512 << 20), 9)
    chunk = struct.pack(">I", len(text) - 4) + text + struct.pack(">I", zlib.crc32(text))
    path.write_bytes(content[:33] + chunk + content[33:])
    return folder / "images"


def idx_more_than_it_holds(folder):
    head = bytes([0, 0, 8, 3]) + struct.pack(">3I", 1 << 16, 1 << 9, 1 << 8)
    (folder / "images-idx3-ubyte").write_bytes(head)
    return folder / "images-idx3-ubyte"


def idx_zeros(folder):
    path = folder / "images-idx3-ubyte.gz"
    with gzip.open(path, "wb", compresslevel=9) as file:
        file.write(bytes([0, 0, 8, 3]) + struct.pack(">3I", 1 << 13, 1 << 9, 1 << 9))
        for _ in range(32):
            file.write(bytes(64 << 20))
    return path


REFUSED = [
    npz_width_0,
    npz_more_than_it_holds,
    npz_long_header,
    npy_more_than_it_holds,
    npy_width_0,
    saved_width_0,
    png_beyond_the_limit_of_pixels,
    png_text,
    idx_more_than_it_holds,
    *(
        pytest.param(bomb, marks=pytest.mark.slow)
        for bomb in (
            npz_zeros,
            saved_zeros,
            parquet_one_value_repeated,
            png_below_the_limit_of_pixels,
            idx_zeros,
        )
    ),
]


def peak(path):
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("bomb", REFUSED)
def test_bombs_are_refused_within_little_memory(tmp_path, bomb):
    found = peak(bomb(tmp_path))
    assert found["said"] != "loaded"
    assert found["peak"] < MOST_MIB


@pytest.mark.slow
@pytest.mark.parametrize("bomb", [b for b in REFUSED if callable(b) and b is not png_text])
def test_bombs_are_refused_with_a_typed_error(tmp_path, bomb):
    path = bomb(tmp_path)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises((DataError, UntrustedFileError)):
        codec.load(path) if path.suffix == ".saved" else load(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300 * 1024


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_long_texts_are_held_once_and_refused_as_labels(tmp_path):
    path = parquet_long_text_repeated(tmp_path)
    assert path.stat().st_size < 1 << 20
    found = peak(path)
    assert "short texts" in found["said"]
    assert found["peak"] - found["before"] < 300
    lines = ["a,label", *(f"{i},x" for i in range(4000)), f"1,{'y' * 100_000}"]
    (tmp_path / "long.csv").write_text("\n".join(lines))
    with pytest.raises(DataError, match="100000 characters"):
        load(tmp_path / "long.csv")


def test_an_array_with_a_name_twice_is_refused(tmp_path):
    first, second = io.BytesIO(), io.BytesIO()
    np.save(first, np.zeros((2, 2)))
    np.save(second, np.ones((2, 2)))
    members = {"X.npy": first.getvalue(), "X": second.getvalue()}
    with pytest.raises(DataError, match="name twice"):
        load(zipped(tmp_path / "d.npz", members))


def test_only_the_formats_of_images_are_read_as_images(tmp_path):
    (tmp_path / "images" / "a").mkdir(parents=True)
    Image.new("RGB", (4, 4)).save(tmp_path / "images" / "a" / "x.eps")
    (tmp_path / "images" / "a" / "x.eps").rename(tmp_path / "images" / "a" / "x.png")
    with pytest.raises(DataError, match="Expected an image"):
        load(tmp_path / "images")


def test_a_saved_file_never_starts_the_program(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["fireassay", "--version"])
    tree = {"schema_version": 2, "tree": {"$class": "fireassay.__main__:app", "fields": {}}}
    path = zipped(tmp_path / "x.saved", {"tree.json": json.dumps(tree).encode()})
    with pytest.raises(DataError, match="class that this version"):
        codec.load(path)
