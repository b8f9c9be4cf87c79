"""One call for any data file: the name says which reader."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fireassay.core.errors import DataError, ParameterError, UntrustedFileError
from fireassay.core.limits import MAX_BYTES
from fireassay.core.regular_file import check_regular
from fireassay.data.csv_file import load_csv, read_csv
from fireassay.data.dataset import DataSet
from fireassay.data.idx import load_idx
from fireassay.data.npz_file import load_npy, load_npz, npz_names
from fireassay.data.table_encoder import TableEncoder

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
)
_KNOWN = "npz, npy, csv, tsv, parquet, idx, idx.gz, or a folder of images with a folder per class"


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
    missing: bool | None = None,
    scale: str | float | None = None,
    layout: str | None = None,
    size: tuple[int, int] | None = None,
    name: str = "",
    max_bytes: int = MAX_BYTES,
) -> DataSet:
    """Load a data set from a file or a folder of images; nothing in it is ever executed.

    Parameters
    ----------
    path
        npz, npy, csv, tsv, parquet, idx, idx.gz, or a folder with one folder of images per class.
    label
        Where the labels are: a column (tables), an array (npz), a file (npy, idx). None: found
        by the usual names. False: none.
    id_column
        Tables: the column of identifiers.
    group
        Tables and npz: the column or array that says which rows belong together; no feature.
    weight, ignore, slices, columns
        Tables: the column of weights, columns that are no features, columns to look at value by
        value, and the columns that the model takes, in its order; see `from_frame`.
    encoder
        Tables: one-hot features as this `TableEncoder` has learnt them.
    categorical
        Tables: columns whose values are names, also where they look like numbers.
    kind
        Arrays: "image", "series", "integer" or "real", where the type does not say it.
    missing
        Arrays: True allows NaN, for a model that takes it.
    scale
        Images: "auto" (default), "none", or a number to divide by; see `scaled_pixels`.
    layout
        Images in npz or npy: "auto" (default), "HWC" or "CHW"; see `channels_last`.
    size
        Image folder: (height, width) to resize to; by default all images must have one size.
    name
        What reports call the data; by default the file's name.
    max_bytes
        Refuse files that unpack to more.

    Raises
    ------
    DataError
        If the file is missing, damaged, not of a known kind, or its content is not usable.
    UntrustedFileError
        For pickled content.
    ParameterError
        For an option that this kind of file does not have.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "rows.csv"
    ...     _ = path.write_text("height,label\\n1.5,short\\n1.9,tall\\n")
    ...     data = load(path)
    >>> data.X.shape, data.classes
    ((2, 1), ('short', 'tall'))
    """
    path = Path(path)
    if not path.exists():
        raise DataError("The data file must exist.", got=str(path))
    if not path.is_dir():
        check_regular(path)
    options = {
        "label": label,
        "id_column": id_column,
        "group": group,
        "weight": weight,
        "ignore": ignore,
        "slices": slices,
        "columns": columns,
        "kind": kind,
        "missing": missing,
        "encoder": encoder,
        "categorical": categorical,
        "scale": scale,
        "layout": layout,
        "size": size,
    }
    given = {option: value for option, value in options.items() if value is not None}
    reader, understood = _reader(path)
    foreign = sorted(set(given) - set(understood))
    if foreign:
        raise ParameterError(
            f"{path.name} can be loaded with the options {', '.join(understood)}.",
            got=", ".join(foreign),
        )
    loaded: DataSet = reader(path, name=name or path.stem, max_bytes=max_bytes, **given)
    return loaded


def column_names(path: str | Path) -> tuple[str, ...]:
    """The columns of a table or the arrays of an npz file; none for other kinds of files.

    Parameters
    ----------
    path
        Of the file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "rows.csv"
    ...     _ = path.write_text("patient,height\\n7,1.5\\n")
    ...     column_names(path)
    ('patient', 'height')
    """
    path = Path(path)
    if not path.exists():
        raise DataError("The data file must exist.", got=str(path))
    if not path.is_dir():
        check_regular(path)
    kind = path.suffix.lower()
    if kind == ".npz":
        return npz_names(path)
    if kind in (".csv", ".tsv", ".txt"):
        return tuple(str(name) for name in read_csv(path, rows=0).columns)
    if kind in (".parquet", ".pq"):
        from fireassay.data.parquet_file import parquet_names

        return parquet_names(path)
    return ()


def _reader(path: Path) -> tuple[Any, tuple[str, ...]]:
    if path.is_dir():
        from fireassay.data.image_folder import load_image_folder

        return load_image_folder, ("scale", "size")
    file_name = path.name.lower()
    if file_name.endswith(".npz"):
        return load_npz, ("label", "group", "scale", "layout", "kind", "missing")
    if file_name.endswith(".npy"):
        return load_npy, ("label", "scale", "layout", "kind", "missing")
    if file_name.endswith((".csv", ".tsv", ".txt")):
        return load_csv, _OF_TABLES
    if file_name.endswith((".parquet", ".pq")):
        from fireassay.data.parquet_file import load_parquet

        return load_parquet, _OF_TABLES
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
