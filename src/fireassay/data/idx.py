"""idx files, the format of MNIST: a short header, then raw big-endian numbers."""

import gzip
import math
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.core.errors import DataError
from fireassay.core.files import MAX_BYTES, check_declared_size, expected
from fireassay.data.dataset import DataSet
from fireassay.data.pixel_range import scaled_pixels

_TYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


def load_idx(
    images: str | Path,
    labels: str | Path | None = None,
    *,
    class_names: tuple[str, ...] | None = None,
    name: str = "",
    scale: str | float = "auto",
    max_bytes: int = MAX_BYTES,
) -> DataSet:
    """Images (and labels) from idx or idx.gz files.

    Args:
        images: The images file; bytes are scaled to [0, 1].
        labels: The labels file; by default beside the images ("labels" and "idx1" in its name).
        class_names, name: Of the data set.
        max_bytes: Larger files are refused.
        scale: As in `load`.

    >>> import tempfile
    >>> head = bytes([0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 2])  # bytes, 1 × 2 × 2
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "images-idx3-ubyte"
    ...     _ = path.write_bytes(head + bytes([0, 255, 255, 0]))
    ...     load_idx(path).X.tolist()
    [[[0.0, 1.0], [1.0, 0.0]]]
    """
    path = Path(images)
    X = scaled_pixels(read_idx(path, max_bytes=max_bytes), scale, name=path.name)
    if X.ndim == 1:
        raise DataError(f"Expected images or rows in {path.name}.", got="labels (one dimension)")
    beside = labels_beside(path) if labels is None else Path(labels)
    y = None if beside is None else read_idx(beside, max_bytes=max_bytes)
    if y is not None and len(y) != len(X):
        raise DataError(
            f"{path.name} and {beside} must have the same number of rows.",
            got=f"{len(X)} and {len(y)}",
        )
    return DataSet(X, y, class_names=class_names, name=name or path.name)


def read_idx(path: str | Path, *, max_bytes: int = MAX_BYTES) -> NDArray[Any]:
    """The array of one idx or idx.gz file."""
    path = Path(path)
    opened: Any = gzip.open if path.suffix == ".gz" else open
    damage = (OSError, EOFError, struct.error, zlib.error)
    with expected(f"Expected a readable idx file at {path}.", damage), opened(path, "rb") as file:
        head = file.read(4)
        if len(head) < 4 or head[:2] != b"\0\0" or head[2] not in _TYPES or not 0 < head[3] < 5:
            raise DataError(f"Expected an idx file at {path}.", got=f"it begins with {head!r}")
        dtype = np.dtype(_TYPES[head[2]])
        sizes = file.read(4 * head[3])
        if len(sizes) < 4 * head[3]:
            raise DataError(f"Expected a whole idx file at {path}.", got="a cut header")
        shape = struct.unpack(f">{head[3]}I", sizes)
        declared = math.prod(shape) * dtype.itemsize
        check_declared_size(declared, max_bytes, path, packed=path.stat().st_size)
        content = file.read(declared + 1)
    if len(content) != declared:
        raise DataError(
            f"{path} must have the {declared} bytes that its header declares.",
            got="more" if len(content) > declared else f"{len(content)}: it is cut short",
            do="Copy or download the file again.",
        )
    if 0 in shape:
        raise DataError(f"{path} must have rows and columns.", got=f"shape {shape}")
    array = np.frombuffer(content, dtype=dtype).reshape(shape)
    return array.astype(dtype.newbyteorder("="), copy=False)


def labels_beside(images: Path) -> Path | None:
    """The labels file that belongs to a file of images, if it is there."""
    name = images.name.replace("images", "labels").replace("idx3", "idx1").replace("idx4", "idx1")
    bare = name.removesuffix(".gz")
    beside = (images.with_name(other) for other in (name, bare, f"{bare}.gz"))
    return next((p for p in beside if p.name != images.name and p.exists()), None)
