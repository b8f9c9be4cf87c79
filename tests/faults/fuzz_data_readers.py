"""Every reader of data and of saved results, each with a content that is sound."""

import gzip
import io
import json
import struct
import zipfile

import numpy as np
import pandas as pd
from PIL import Image

import fireassay as fa
from fireassay.core import Estimate, Evidence, Provenance, codec
from fireassay.core.lazy import is_installed
from fireassay.data import load
from fireassay.discovery.label_files import from_csv
from fireassay.report import Report
from fireassay.web.queue import read_queue, write_queue

X = np.arange(12.0).reshape(4, 3)


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


def judged(folder, content):
    path = folder / "fuzzed.csv"
    path.write_bytes(content)
    fa.judge(path)


IDX = bytes([0, 0, 8, 3]) + struct.pack(">3I", 2, 2, 2) + bytes(range(8))
CSV = b"a,b,label\n1,u,cat\n2.5,v,dog\n3,u,cat\n"
READERS = {
    "npz": (from_file(".npz"), archive({"X.npy": npy(X), "y.npy": npy(np.arange(4))})),
    "npy in npz": (inner_npy, npy(X)),
    "npy": (from_file(".npy"), npy(X)),
    "csv": (from_file(".csv"), CSV),
    "predictions": (judged, b"y_true,y_pred,p,ward\n1,1,.9,a\n0,0,.2,b\n1,0,.4,a\n0,0,.1,b\n"),
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
