"""One call for any data file: the name says which reader; packed files are unpacked first."""

import atexit
import bz2
import gzip
import lzma
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from fireassay.core.errors import DataError, ParameterError, UntrustedFileError
from fireassay.core.files import MAX_BYTES, check_declared_size, check_regular, expected
from fireassay.data.csv_file import Reading
from fireassay.data.dataset import DataSet
from fireassay.data.idx import load_idx
from fireassay.data.npz_file import load_npy, load_npz, npz_names
from fireassay.data.table_encoder import TableEncoder
from fireassay.data.table_file import is_table, load_table, read_table

_STREAMS: Final[dict[str, Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_AT_ONCE = 2**22
_DAMAGED = (OSError, EOFError, RuntimeError, zipfile.BadZipFile, lzma.LZMAError, zlib.error)


def unpacked(path: Path, max_bytes: int = MAX_BYTES) -> Path:
    """The file or folder that is packed in a file; any other path stays as it is."""
    inner = Path(path.stem)
    stream = path.suffix.lower() in _STREAMS
    packed = is_table(inner) or inner.suffix in (".npy", ".npz") if stream else _is_zip(path)
    if not packed or not path.is_file():
        return path
    kind = path.stat()
    return _unpacked(path.resolve(), kind.st_mtime_ns, kind.st_size, max_bytes)


@lru_cache(maxsize=8)
def _unpacked(path: Path, _: int, size: int, max_bytes: int) -> Path:
    check_regular(path)
    place = Path(tempfile.mkdtemp(prefix="fireassay-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    inside = place / path.stem
    with expected(f"Expected a whole packed file at {path}.", _DAMAGED, "Copy it again."):
        if _is_zip(path):
            with zipfile.ZipFile(path) as archive:
                members = [m for m in archive.infolist() if not _is_hidden(m.filename)]
                declared = sum(member.file_size for member in members)
                check_declared_size(declared, max_bytes, path, packed=size)
                archive.extractall(inside, members)  # names that lead outside are cut by zipfile
            inside = _only(inside)
        else:
            with _STREAMS[path.suffix.lower()](path) as source, open(inside, "wb") as target:
                while block := source.read(_AT_ONCE):
                    target.write(block)
                    check_declared_size(target.tell(), max_bytes, path, packed=size)
    return inside


def _is_zip(path: Path) -> bool:
    return path.suffix.lower() == ".zip"


def _is_hidden(name: str) -> bool:
    return any(part.startswith((".", "__MACOSX")) for part in Path(name).parts)


def _only(folder: Path) -> Path:
    """What a zip file is about: its only file, or its first folder that holds more than one."""
    while folder.is_dir():
        entries = list(folder.iterdir())
        if len(entries) != 1 or (entries[0].is_dir() and any(map(Path.is_file, folder.iterdir()))):
            break
        folder = entries[0]
    return folder


_PICKLES = (".pkl", ".pickle", ".joblib", ".pt", ".pth")
_OF_TABLES = (
    "label",
    "id_column",
    "group",
    "weight",
    "ignore",
    "slices",
    "columns",
    "encoder",
    "categorical",
    "kind",
    "split",
    "encoding",
    "header",
    "na",
    "drop_unlabelled",
    "size",
)
_KNOWN = (
    "npz, npy, csv, tsv, jsonl, parquet, feather, idx, one of these packed (gz, zip), or a folder "
    "of images with a folder per class"
)


def load(
    path: str | Path,
    *,
    label: str | bool | None = None,
    id_column: str | None = None,
    group: str | None = None,
    weight: str | None = None,
    ignore: Sequence[str] | None = None,
    slices: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    encoder: TableEncoder | None = None,
    categorical: Sequence[str] | None = None,
    kind: str | None = None,
    split: tuple[str, str] | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    na: Sequence[str] | None = None,
    drop_unlabelled: bool | None = None,
    missing: bool | None = None,
    scale: str | float | None = None,
    layout: str | None = None,
    size: tuple[int, int] | None = None,
    name: str = "",
    max_bytes: int = MAX_BYTES,
) -> DataSet:
    """Load a data set from a file or a folder of images; nothing in it is ever executed.

    Args:
        path: npz, npy, csv, tsv, jsonl, json, parquet, feather, idx, one of these packed (gz, bz2,
            xz, zip), or a folder (or zip) with one folder of images per class.
        label: A column (tables), array (npz) or file (npy, idx). None: by usual names. False: none.
        id_column: Tables: the column of identifiers.
        group: Tables and npz: the column or array that says which rows belong together; no feature.
        weight, ignore, slices, columns: Tables: the column of weights, columns that are no
            features, columns to look at value by value, and the columns that the model takes, in
            its order; see `from_frame`.
        encoder: Tables: one-hot features as this `TableEncoder` has learnt them.
        categorical: Tables: columns whose values are names, also where they look like numbers.
        kind: What the rows are, where type and shape do not say it. Arrays: "image", "series",
            "tokens", "integer" or "real". Tables: "text" (the only feature is a text) or "table".
        split: Tables: a column, and the part whose rows are taken: "test", "train", "operational".
        encoding, header, na: CSV: its encoding (UTF-8, or UTF-16 with its mark), whether its first
            line names the columns, and texts that stand for a missing value.
        drop_unlabelled: Tables: leave out rows without a label.
        missing: Arrays: True allows NaN, for a model that takes it.
        scale: Images: "auto" (default), "none", or a number to divide by; see `scaled_pixels`.
        layout: Images in npz or npy: "auto" (default), "HWC" or "CHW"; see `channels_last`.
        size: Images: (height, width) to resize to; by default all must have one size.
        name: What reports call the data; by default the file's name.
        max_bytes: Refuse files that unpack to more.

    Raises:
        DataError: If the file is missing, damaged, of an unknown kind, or not usable.
        UntrustedFileError: For pickled content.
        ParameterError: For an option that this kind of file does not have.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "rows.csv"
    ...     _ = path.write_text("height,label\\n1.5,short\\n1.9,tall\\n")
    ...     data = load(path)
    >>> data.X.shape, data.classes
    ((2, 1), ('short', 'tall'))
    """
    given = {option: value for option, value in locals().items() if value is not None}
    for of_every_kind in ("path", "name", "max_bytes"):
        del given[of_every_kind]
    path = _existing(path)
    name = name or path.stem.removesuffix(".csv")
    path = unpacked(path, max_bytes)
    reader, understood = _reader(path)
    foreign = sorted(set(given) - set(understood))
    if foreign:
        raise ParameterError(
            f"{path.name} can be loaded with the options {', '.join(understood)}.",
            got=", ".join(foreign),
        )
    loaded: DataSet = reader(path, name=name, max_bytes=max_bytes, **given)
    return loaded


def column_names(path: str | Path, reading: Reading | None = None) -> tuple[str, ...]:
    """The columns of a table or the arrays of an npz file; none for other kinds of files.

    Args:
        path: Of the file.
        reading: How a CSV file is written, where it does not say so itself.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "rows.csv"
    ...     _ = path.write_text("patient,height\\n7,1.5\\n")
    ...     column_names(path)
    ('patient', 'height')
    """
    path = unpacked(_existing(path))
    if path.suffix.lower() == ".npz":
        return npz_names(path)
    if path.suffix.lower() in (".parquet", ".pq"):
        from fireassay.data.parquet_file import parquet_names

        return parquet_names(path)
    if not is_table(path):
        return ()
    return tuple(str(name) for name in read_table(path, rows=0, reading=reading).columns)


def _existing(path: str | Path) -> Path:
    path = Path(path)
    if not path.exists():
        raise DataError("The data file must exist.", got=str(path))
    return path if path.is_dir() else check_regular(path)


def _reader(path: Path) -> tuple[Any, tuple[str, ...]]:
    if path.is_dir():
        from fireassay.data.image_folder import load_image_folder

        return load_image_folder, ("scale", "size")
    file_name = path.name.lower()
    if file_name.endswith(".npz"):
        return load_npz, ("label", "group", "scale", "layout", "kind", "missing")
    if file_name.endswith(".npy"):
        return load_npy, ("label", "scale", "layout", "kind", "missing")
    if is_table(path):
        return load_table, _OF_TABLES
    if "idx" in file_name or "ubyte" in file_name:
        return _load_idx, ("label", "scale")
    if file_name.endswith(_PICKLES):
        raise UntrustedFileError(
            f"{path} must be data, not a program.",
            got="a pickled file, which could run code when read",
            do=f"Save the data as {_KNOWN}.",
        )
    raise DataError(f"A data file must be {_KNOWN}.", got=str(path))


def _load_idx(path: Path, *, label: str | bool | None = None, **options: Any) -> DataSet:
    if label is False:
        loaded = load_idx(path, **options)
        return DataSet(loaded.X, name=loaded.name)
    return load_idx(path, label if isinstance(label, str) else None, **options)
