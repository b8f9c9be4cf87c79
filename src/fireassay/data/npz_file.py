"""npz and npy files, read without unpickling; large members are read from the disk."""

import struct
import zipfile
import zlib
from collections.abc import Hashable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from fireassay.core.errors import DataError
from fireassay.core.files import (
    ARCHIVE_DAMAGE,
    MAX_BYTES,
    check_declared_size,
    check_npy_header,
    check_regular,
    expected,
    map_npy,
)
from fireassay.core.mapped import guarded
from fireassay.data.dataset import DataSet
from fireassay.data.pixel_range import channels_last, scaled_pixels
from fireassay.data.rows import Rows, of_kind
from fireassay.statistics.shared_units import names_a_unit, shared_units

LEAST_BYTES: Final = 2**26  # smaller arrays are read: that is faster than it is long
_LOCAL_HEADER: Final = struct.Struct("<4s22xHH")
_SIGNATURE: Final = b"PK\x03\x04"
_ENCRYPTED: Final = 1
_AT_ONCE: Final = 2**24


def can_be_mapped(member: zipfile.ZipInfo) -> bool:
    """Whether the bytes of a member lie in the file as they are, and are many."""
    plain = member.compress_type == zipfile.ZIP_STORED and not member.flag_bits & _ENCRYPTED
    return plain and member.file_size == member.compress_size >= LEAST_BYTES


def mapped_member(path: Path, member: zipfile.ZipInfo) -> NDArray[Any]:
    """The array as a read-only map of the file; its checksum is compared, piece by piece."""
    # Its npy header must have been checked (see `check_npy_header`).
    with open(path, "rb") as file:
        file.seek(member.header_offset)
        head = file.read(_LOCAL_HEADER.size)
        if len(head) < _LOCAL_HEADER.size or not head.startswith(_SIGNATURE):
            raise zipfile.BadZipFile(f"no header of {member.filename!r}")
        _, name_size, extra_size = _LOCAL_HEADER.unpack(head)
        start = member.header_offset + _LOCAL_HEADER.size + name_size + extra_size
        if start + member.file_size > path.stat().st_size:
            raise zipfile.BadZipFile(f"{member.filename!r} ends behind the end of the file")
        file.seek(start)
        _check_sum(file, member)
        file.seek(start)
        first = np.lib.format.read_magic(file) == (1, 0)
        header = np.lib.format
        read = header.read_array_header_1_0 if first else header.read_array_header_2_0
        shape, is_fortran, dtype = read(file)
        offset = file.tell()
    order: Any = "F" if is_fortran else "C"
    found = np.memmap(path, dtype=dtype, mode="r", offset=offset, shape=shape, order=order)
    return guarded(found, path)


def _check_sum(file: Any, member: zipfile.ZipInfo) -> None:
    found, left = 0, member.file_size
    while left:
        piece = file.read(min(left, _AT_ONCE))
        if not piece:
            raise zipfile.BadZipFile(f"{member.filename!r} is cut short")
        found, left = zlib.crc32(piece, found), left - len(piece)
    if found != member.CRC:
        raise zipfile.BadZipFile(f"Bad CRC-32 for file {member.filename!r}")


_FEATURES = ("X", "x", "data", "features", "images", "texts", "X_test", "x_test")
_LABELS = ("y", "Y", "label", "labels", "target", "targets", "y_test")


def _label_name(label: str | bool | None, members: tuple[str, ...], path: Path) -> str | None:
    asked = label if isinstance(label, str) else None
    return None if label is False else _choose(asked, _LABELS, members, "label", path)


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
    """A data set from the arrays of an npz file."""
    path = Path(path)
    with whole_numpy(path), zipfile.ZipFile(path) as archive:
        listed = archive.infolist()
        members = {member.filename.removesuffix(".npy"): member for member in listed}
        if len(members) < len(listed):
            raise DataError(f"{path} must have each array once.", got="a name twice")
        declared = sum(each.file_size for each in listed if not can_be_mapped(each))
        check_declared_size(declared, max_bytes, path, packed=path.stat().st_size)
        names = tuple(members)
        if {"indices", "indptr", "shape", "data"} <= {*names}:
            raise _no_features(("a sparse matrix",), path)
        x_name = _choose(features, _FEATURES, names, "features", path)
        y_name = _label_name(label, names, path)
        if x_name is None:
            x_name, y_name = _only_two(archive, members, label, y_name, path)

        def read(key: str | None) -> NDArray[Any] | None:
            return read_member(archive, members[key], path) if key in members else None

        together = _choose(group, (), tuple(members), "group", path)
        X, y, ids, groups = read(x_name), _flat(read(y_name)), read("ids"), read(together)
        class_names, feature_names = read("class_names"), read("feature_names")
        others = set(members) - {x_name, y_name, together, "class_names", "feature_names"}
        named = {name: read(name) for name in sorted(others) if names_a_unit(name)}
    assert X is not None
    rows = Rows(X, **of_kind(kind))
    per_row: dict[Hashable, Any] = {
        unit: values
        for unit, values in named.items()
        if values is not None and values.shape == X.shape[:1] != ()
    }
    return DataSet(
        X if kind == "integer" else _as_sent(rows, scale, layout, path),
        y,
        ids,
        None if class_names is None else tuple(np.atleast_1d(class_names).tolist()),
        None if feature_names is None else tuple(np.atleast_1d(feature_names).tolist()),
        name or path.stem,
        groups=groups,
        missing=missing,
        **_form(rows, kind),
        shared=() if groups is not None else tuple(shared_units(per_row)),
    )


def _only_two(
    archive: zipfile.ZipFile,
    members: dict[str, zipfile.ZipInfo],
    label: str | bool | None,
    y_name: str | None,
    path: Path,
) -> tuple[str, str | None]:
    """Rows and labels of a file whose names say nothing: its only array of rows, its only list."""
    shapes = {}
    for name, member in members.items():
        with archive.open(member) as file:
            shapes[name] = check_npy_header(file, member.file_size, path)
    rows = [name for name, shape in shapes.items() if len(shape) > 1 and name != y_name]
    lists = [name for name, shape in shapes.items() if len(shape) == 1]
    if len(rows) != 1 or (y_name is None and label is not False and len(lists) != 1):
        raise _no_features(tuple(members), path)
    return rows[0], lists[0] if y_name is None and label is not False else y_name


def _flat(y: NDArray[Any] | None) -> NDArray[Any] | None:
    """One label per row, also of a column or of one-hot rows."""
    if y is None or y.ndim != 2:
        return y
    if y.shape[1] == 1:
        return y[:, 0]
    if y.dtype.kind in "fiub" and ((y == 0) | (y == 1)).all() and (y.sum(axis=1) == 1).all():
        return np.asarray(y.argmax(axis=1))
    return y


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
    rows = Rows(X, **of_kind(kind))
    y = None if label is None or isinstance(label, bool) else read_npy(label, max_bytes=max_bytes)
    return DataSet(
        X if kind == "integer" else _as_sent(rows, scale, layout, path),
        y,
        name=name or path.stem,
        missing=missing,
        **_form(rows, kind),
    )


def _form(rows: Rows, kind: str | None) -> dict[str, Any]:
    return {"kinds": of_kind(kind).get("kinds"), "form": rows.form, "why": rows.why}


def _as_sent(rows: Rows, scale: str | float, layout: str, path: Path) -> Any:
    """Bytes of images as floats in [0, 1], other arrays as they are."""
    if rows.form in ("series", "tokens", "text") and isinstance(scale, str):
        return rows.values
    X = scaled_pixels(rows.values, scale, name=path.name)
    return channels_last(X, layout, name=path.name)


def npz_names(path: str | Path) -> tuple[str, ...]:
    """The names of the arrays in an npz file."""
    with whole_numpy(path), zipfile.ZipFile(path) as archive:
        return tuple(name.removesuffix(".npy") for name in archive.namelist())


def read_npy(path: str | Path, *, max_bytes: int = MAX_BYTES) -> NDArray[Any]:
    """The array of an npy file, a large one as a map of the disk; pickled objects are refused."""
    with whole_numpy(path):
        check_declared_size(check_regular(path).stat().st_size, max_bytes, path)
        return map_npy(Path(path))


def read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path) -> NDArray[Any]:
    """The array of one member of an npz file, a large one as a map of the disk."""
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
        do="Rename it, or leave one array of rows and one of labels in the file.",
    )


def whole_numpy(path: str | Path) -> AbstractContextManager[None]:
    """Say of a damaged npz or npy file what was expected."""
    what, do = f"Expected a whole NumPy file at {path}.", "Copy or write it again; pickled files"
    return expected(what, ARCHIVE_DAMAGE, f"{do} are never read.")
