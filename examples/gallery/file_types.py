"""A real model in ten minutes: what kind of file is this? (Magika, 214 kinds, from 2,048 bytes)

pip install --no-deps magika
python examples/gallery/file_types.py FOLDER
"""

import json
import shutil
import sys
import sysconfig
from pathlib import Path

import numpy as np
from text_direction import package_file

MODEL = "models/standard_v3_3"
KINDS = {
    ".py": "python", ".h": "c", ".html": "html", ".css": "css", ".js": "javascript",
    ".json": "json", ".png": "png", ".svg": "svg", ".csv": "csv", ".toml": "toml",
}  # fmt: skip
PER_KIND = 40


def tokens(content, settings):
    """The bytes at both ends of a file as integers, as the package's own reader makes them."""
    begin, end, empty = settings["beg_size"], settings["end_size"], settings["padding_token"]
    block = settings["block_size"]
    head = list(content[:block].lstrip()[:begin])
    tail = list(content[-block:].rstrip()[-end:])
    return head + [empty] * (begin - len(head)) + [empty] * (end - len(tail)) + tail


def files():
    """Files that every Python installation has, by kind; short ones are left out."""
    paths = sysconfig.get_paths()
    roots = [Path(paths[name]) for name in ("stdlib", "purelib", "include")]
    for ending, kind in KINDS.items():
        found = sorted(p for root in roots for p in root.rglob(f"*{ending}") if p.is_file())
        kept = [p for p in found if p.stat().st_size >= 200]
        chosen = np.random.default_rng(0).permutation(len(kept))[:PER_KIND]
        yield from ((kept[i], kind) for i in sorted(chosen))


def main(folder):
    place = package_file("magika", MODEL)
    settings = json.loads((place / "config.min.json").read_text())
    names = settings["target_labels_space"]
    rows = [(tokens(path.read_bytes(), settings), names.index(kind)) for path, kind in files()]
    folder.mkdir(parents=True, exist_ok=True)
    X = np.array([row for row, _ in rows], dtype=np.int32)
    np.savez(folder / "test.npz", X=X, y=np.array([label for _, label in rows]), class_names=names)
    shutil.copy(place / "model.onnx", folder / "file_types.onnx")
    print(f"{len(X)} files in {folder}/test.npz, the model in {folder}/file_types.onnx")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "file-types"))
