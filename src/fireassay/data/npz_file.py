"""npz and npy files, read without unpickling and only as large as they say they are."""

import lzma
import struct
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.core.errors import DataError, FireassayError
from fireassay.core.limits import MAX_BYTES, check_declared_size
from fireassay.core.npy_header import check_npy_header
from fireassay.core.regular_file import check_regular
from fireassay.data.dataset import DataSet
from fireassay.data.mapped_member import can_be_mapped, mapped_member
from fireassay.data.pixels import channels_last, scaled_pixels

_FEATURES = ("X", "x", "data", "features", "images", "X_test", "x_test")
_LABELS = ("y", "Y", "label", "labels", "target", "targets", "y_test")
_DAMAGED = (
    OSError,
    EOFError,
    LookupError,
    NotImplementedError,  # a compression that zipfile does not know
    RuntimeError,  # an encrypted member
    ValueError,
    lzma.LZMAError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)


def load_npz(
    path: str | Path,
    *,
    features: str | None = None,
    label: str | bool | None = None,
    group: str | None = None,
    scale: str | float = "auto",
    layout: str = "auto",
    kind: str | None = None,
    missing: bool = False,
    name: str = "",
    max_bytes: int = MAX_BYTES,
) -> DataSet:
    """A data set from the arrays of an npz file.

    Parameters
    ----------
    path
        The file. Arrays named ``ids``, ``class_names`` and ``feature_names`` are used if present.
        Large arrays of a file that is not compressed (`numpy.savez`) stay on the disk.
    features
        The array of features; by default X, x, data, features or images.
    label
        The array of labels; by default y, label, labels or target. False: no labels.
    group
        The array that says which rows belong together, if any.
    scale, layout
        See `scaled_pixels` and `channels_last`.
    kind, missing
        Of the features, see `DataSet`.
    max_bytes
        Refuse files that unpack to more; what stays on the disk does not count.
    """
    path = Path(path)
    try:
        with zipfile.ZipFile(path) as archive:
            listed = archive.infolist()
            members = {member.filename.removesuffix(".npy"): member for member in listed}
            if len(members) < len(listed):
                raise DataError(f"{path} must have each array once.", got="a name twice")
            declared = sum(each.file_size for each in listed if not can_be_mapped(each))
            check_declared_size(declared, max_bytes, path, packed=path.stat().st_size)
            x_name = _choose(features, _FEATURES, tuple(members), "features", path)
            y_name = (
                None
                if label is False
                else _choose(
                    label if isinstance(label, str) else None,
                    _LABELS,
                    tuple(members),
                    "label",
                    path,
                )
            )
            if x_name is None:
                raise _no_features(tuple(members), path)

            def read(key: str | None) -> NDArray[Any] | None:
                return _read(archive, members[key], path) if key in members else None

            together = _choose(group, (), tuple(members), "group", path)
            X, y, ids, groups = read(x_name), read(y_name), read("ids"), read(together)
            class_names, feature_names = read("class_names"), read("feature_names")
    except FireassayError:
        raise
    except _DAMAGED as error:
        raise _damaged(path, error) from error
    assert X is not None
    if kind not in ("series", "integer"):
        X = channels_last(scaled_pixels(X, scale, name=path.name), layout, name=path.name)
    return DataSet(
        X,
        y,
        ids,
        None if class_names is None else tuple(class_names.tolist()),
        None if feature_names is None else tuple(feature_names.tolist()),
        name or path.stem,
        groups=groups,
        kinds=None if kind is None else (kind,),
        missing=missing,
    )


def load_npy(
    path: str | Path,
    *,
    label: str | Path | bool | None = None,
    scale: str | float = "auto",
    layout: str = "auto",
    kind: str | None = None,
    missing: bool = False,
    name: str = "",
    max_bytes: int = MAX_BYTES,
) -> DataSet:
    """A data set from an npy file, mapped from the disk; ``label`` is the npy file of labels."""
    path = Path(path)
    X = read_npy(path, max_bytes=max_bytes)
    if kind not in ("series", "integer"):
        X = channels_last(scaled_pixels(X, scale, name=path.name), layout, name=path.name)
    y = None if label is None or isinstance(label, bool) else read_npy(label, max_bytes=max_bytes)
    kinds = None if kind is None else (kind,)
    return DataSet(X, y, name=name or path.stem, kinds=kinds, missing=missing)


def npz_names(path: str | Path) -> tuple[str, ...]:
    """The names of the arrays in an npz file."""
    try:
        with zipfile.ZipFile(path) as archive:
            return tuple(name.removesuffix(".npy") for name in archive.namelist())
    except _DAMAGED as error:
        raise _damaged(Path(path), error) from error


def read_npy(path: str | Path, *, max_bytes: int = MAX_BYTES) -> NDArray[Any]:
    """The array of an npy file as a read-only map of the disk; pickled objects are refused."""
    path = Path(path)
    try:
        with open(check_regular(path), "rb") as file:
            check_npy_header(file, path.stat().st_size, path)
        check_declared_size(path.stat().st_size, max_bytes, path)
        array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except FireassayError:
        raise
    except _DAMAGED as error:
        raise _damaged(path, error) from error
    return array


def _read(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path) -> NDArray[Any]:
    with archive.open(member) as file:
        check_npy_header(file, member.file_size, path)
    if can_be_mapped(member):
        return mapped_member(path, member)
    with archive.open(member) as file:
        array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    return array


def _choose(
    asked: str | None, usual: Sequence[str], present: Sequence[str], role: str, path: Path
) -> str | None:
    if asked is not None:
        if asked not in present:
            raise DataError(
                f"{path} must have the array {asked!r} ({role}).", got=", ".join(present[:12])
            )
        return asked
    return next((key for key in usual if key in present), None)


def _no_features(present: Sequence[str], path: Path) -> DataError:
    return DataError(
        f"{path} must have an array of features named X, x, data, features or images.",
        got=", ".join(present[:12]) or "no arrays",
        do="Name it with features=.",
    )


def _damaged(path: Path, error: Exception) -> DataError:
    return DataError(
        f"Expected a whole NumPy file at {path}.",
        got=f"{error}",
        do="Copy or write it again; pickled files are never read.",
    )
