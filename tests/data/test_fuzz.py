"""Damaged and made-up bytes for every reader of data: a value, or an error that fireassay means."""

import contextlib
import gzip
import io
import json
import struct
import time
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from fireassay.core import Estimate, Evidence, FireassayError, Provenance, codec
from fireassay.core.extras import is_installed
from fireassay.data import load
from fireassay.discovery.labels_csv import from_csv
from fireassay.report import Report
from fireassay.web.queue import read_queue, write_queue

X = np.arange(12.0).reshape(4, 3)
SECONDS = 20.0


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def archive(members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, content in members.items():
            zipped.writestr(name, content)
    return file.getvalue()


def png():
    file = io.BytesIO()
    pixels = np.arange(64, dtype=np.uint8).reshape(8, 8)
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


def parquet():
    file = io.BytesIO()
    pd.DataFrame({"a": [1.0, 2.0], "b": ["u", "v"], "label": [0, 1]}).to_parquet(file)
    return file.getvalue()


def result():
    share = Estimate(0.9, 0.8, 0.95, 0.95, 50, "Clopper-Pearson")
    part = Evidence("accuracy", "Right.", estimates={"error": share}, provenance=Provenance(1))
    return json.dumps(Report([part]).document()).encode()


def from_file(ending):
    def read(folder, content):
        path = folder / f"fuzzed{ending}"
        path.write_bytes(content)
        load(path)

    return read


def image(folder, content):
    (folder / "images" / "a").mkdir(parents=True, exist_ok=True)
    (folder / "images" / "a" / "x.png").write_bytes(content)
    load(folder / "images")


def inner_npy(folder, content):
    from_file(".npz")(folder, archive({"X.npy": content, "y.npy": npy(np.arange(4))}))


def tree(folder, content):
    arrays = {f"array{i}.npy": npy(np.arange(1)) for i in range(4)}
    codec.from_bytes(archive({"tree.json": content, **arrays}))


def document(folder, content):
    (folder / "result.json").write_bytes(content)
    Report.from_json(folder / "result.json")


def labels(folder, content):
    path = folder / "queue"
    queue = read_queue(path if path.exists() else write_queue(path, X, classes="abc"))
    from_csv(queue, content.decode("utf-8", "replace"), "ada")


SAVED = {
    "estimate": Estimate(0.9, 0.8, 0.95, 0.95, 50, "m"),
    "X": X,
    "frame": pd.DataFrame({"a": [1]}),
}
IDX = bytes([0, 0, 8, 3]) + struct.pack(">3I", 2, 2, 2) + bytes(range(8))
CSV = b"a,b,label\n1,u,cat\n2.5,v,dog\n3,u,cat\n"
READERS = {
    "npz": (from_file(".npz"), archive({"X.npy": npy(X), "y.npy": npy(np.arange(4))})),
    "npy in npz": (inner_npy, npy(X)),
    "npy": (from_file(".npy"), npy(X)),
    "csv": (from_file(".csv"), CSV),
    "png": (image, png()),
    "idx": (from_file("-idx3-ubyte"), IDX),
    "idx.gz": (from_file("-idx3-ubyte.gz"), gzip.compress(IDX, mtime=0)),
    "codec": (lambda _, content: codec.from_bytes(content), codec.to_bytes(SAVED)),
    "codec tree": (tree, zipfile.ZipFile(io.BytesIO(codec.to_bytes(SAVED))).read("tree.json")),
    "result.json": (document, result()),
    "labels": (labels, b"row,label,annotator\n0,a,ada\n3,c,\n"),
}
if is_installed("pyarrow"):
    READERS["parquet"] = (from_file(".parquet"), parquet())


@st.composite
def damaged(draw, content):
    """The content with up to four changes: bits flipped, cut, repeated, overwritten."""
    found = bytearray(content)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(0, len(found) - 1)))
        how = draw(st.sampled_from(("flip", "cut", "drop", "repeat", "put", "number")))
        if how == "flip" and found:
            found[at] ^= 1 << draw(st.integers(0, 7))
        elif how == "cut":
            del found[at:]
        elif how == "drop":
            del found[at : at + draw(st.integers(1, 16))]
        elif how == "repeat":
            found[at:at] = found[at : at + 32] * draw(st.integers(1, 20))
        elif how == "put":
            found[at:at] = draw(st.binary(max_size=12))
        else:
            huge = draw(
                st.sampled_from((b"-1", b"1e999", b"NaN", b"9" * 30, b"\xff" * 4, b"[" * 99))
            )
            found[at : at + len(huge)] = huge
    return bytes(found)


def read_whatever_comes(name, folder, data):
    read, sound = READERS[name]
    content = data.draw(damaged(sound) | st.binary(max_size=200))
    began = time.process_time()
    with warnings.catch_warnings(), contextlib.suppress(FireassayError):
        warnings.simplefilter("ignore")
        read(folder, content)
    assert time.process_time() - began < SECONDS


QUIET = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=12, suppress_health_check=QUIET)
@given(data=st.data())
def test_a_value_or_an_error_that_is_meant(tmp_path, name, data):
    read_whatever_comes(name, tmp_path, data)


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
@settings(max_examples=1000, suppress_health_check=QUIET)
@given(data=st.data())
def test_ten_thousand_times_a_value_or_an_error_that_is_meant(tmp_path, name, data):
    read_whatever_comes(name, tmp_path, data)


@pytest.mark.parametrize("name", READERS)
def test_the_sound_content_is_read(tmp_path, name):
    read, sound = READERS[name]
    read(tmp_path, sound)
