"""Export of a generated set: arrays, tables, manifest, picture sheets."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.ambiguity.ambiguous_set import AmbiguousSet, ControlSet
from fireassay.core import json_files
from fireassay.core.arrays import AnyArray
from fireassay.core.errors import DataError
from fireassay.core.files import write_bytes
from fireassay.core.lazy import is_installed, pd

_PER_ROW = 12


def is_image(X: AnyArray) -> bool:
    """Whether rows can be shown: ``(n, h, w)`` or ``(n, h, w, 1 or 3)`` in [0, 1]."""
    shown = X.ndim == 3 or (X.ndim == 4 and X.shape[3] in (1, 3))
    return bool(shown and min(X.shape[1:3]) >= 4 and X.min() >= 0.0 and X.max() <= 1.0)


def tiles(images: AnyArray, columns: int = _PER_ROW, gap: int = 1) -> NDArray[np.uint8]:
    """Images side by side as one picture, white lines between; pixels are rounded, not cut."""
    grey = images if images.ndim == 4 else images[..., None]
    n, height, width, channels = grey.shape
    rows = -(-n // columns)
    sheet = np.full(
        (rows * (height + gap) + gap, columns * (width + gap) + gap, channels), 255, dtype=np.uint8
    )
    for i, image in enumerate(rounded_pixels(grey)):
        top = gap + (i // columns) * (height + gap)
        left = gap + (i % columns) * (width + gap)
        sheet[top : top + height, left : left + width] = image
    return sheet[..., 0] if channels == 1 else sheet


def rounded_pixels(images: AnyArray) -> NDArray[np.uint8]:
    """Pixels in [0, 1] as bytes."""
    return np.asarray(np.round(np.clip(images, 0.0, 1.0) * 255.0), dtype=np.uint8)


def pair_sheet(amb: AmbiguousSet, first: Any, second: Any, most: int = 48) -> NDArray[np.uint8]:
    """Samples of one pair, from the first class's side to the second's."""
    rows = amb.of_pair(first, second)[:most]
    towards_second = amb.soft_labels[rows, amb.classes.index(second)]
    return tiles(amb.X[rows[np.argsort(towards_second, kind="stable")]])


ARRAYS, CONTROL, MANIFEST, TABLE = "ambiguous.npz", "control.npz", "manifest.json", "samples"


def export_set(
    amb: AmbiguousSet, folder: str | Path, feature_names: Sequence[str] | None = None
) -> list[Path]:
    """Write a set to a folder, and return the files.

    ``ambiguous.npz`` (X, y, soft_labels, pairs, classes, autoencoders, codes), ``control.npz``
    (X, y, rows, autoencoders), ``manifest.json`` (seed, versions, hashes, report),
    ``samples.parquet`` (``.csv`` without pyarrow), and ``sheets/`` with a PNG per pair of images.
    With ``feature_names`` of table rows, the samples have a column for each feature. Equal sets
    give equal bytes, but for the versions in the manifest.

    Args:
        amb: The set.
        folder: Where the files go; made if it is not there.
        feature_names: Of the columns of table rows.

    >>> from fireassay.ambiguity import AmbiguityGenerator
    >>> from fireassay.data import digits
    >>> data = digits()
    >>> amb = AmbiguityGenerator([(3, 8)], tries=1).fit(data.X, data.y).sample(40)
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = export_set(amb, folder)
    ...     read_set(folder).sha256 == amb.sha256
    True
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    arrays = {"X": amb.X, "y": amb.labels}
    for name in ("soft_labels", "pairs", "classes", "autoencoders", "codes"):
        arrays[name] = np.asarray(getattr(amb, name))
    made = amb.control
    control = {"X": made.X, "y": made.labels, "rows": made.rows, "autoencoders": made.autoencoders}
    manifest = {
        **amb.manifest,
        "sha256": amb.sha256,
        "report": amb.report.astype(object).to_dict(orient="list"),
    }
    files = [
        write_bytes(folder / ARRAYS, _npz(arrays)),
        write_bytes(folder / CONTROL, _npz(control)),
        write_bytes(folder / MANIFEST, json_files.dumps(manifest, indent=2).encode()),
        _write_table(_samples(amb, feature_names), folder),
    ]
    if is_image(amb.X):
        files += _write_sheets(amb, folder / "sheets")
    return files


def read_set(folder: str | Path) -> AmbiguousSet:
    """Read what `export_set` wrote.

    Args:
        folder: What `export_set` was given.

    Raises:
        DataError: If a file is missing, damaged, or not the one the manifest names.

    >>> read_set("nowhere")
    Traceback (most recent call last):
    ...
    fireassay.core.errors.DataError: Expected the folder of an ambiguous set, ...
    """
    folder = Path(folder)
    if not (folder / MANIFEST).is_file():
        raise DataError(
            f"Expected the folder of an ambiguous set, with a {MANIFEST} in it.",
            got=str(folder),
            do="Write one: fireassay ambiguity generate DATA -o FOLDER, or export_set.",
        )
    manifest = json_files.loads(_read(folder / MANIFEST))
    if not isinstance(manifest, dict) or "sha256" not in manifest:
        raise DataError("Expected the manifest of an ambiguous set.", got=str(folder / MANIFEST))
    arrays, control = _arrays(folder / ARRAYS), _arrays(folder / CONTROL)
    stated = manifest.pop("sha256")
    amb = AmbiguousSet(
        X=arrays["X"],
        soft_labels=arrays["soft_labels"],
        labels=arrays["y"],
        pairs=arrays["pairs"],
        classes=tuple(arrays["classes"].tolist()),
        autoencoders=arrays["autoencoders"],
        codes=arrays["codes"],
        control=ControlSet(control["X"], control["y"], control["rows"], control["autoencoders"]),
        report=pd.DataFrame(manifest.pop("report")),
        manifest=manifest,
    )
    if amb.sha256 != stated:
        raise DataError(
            f"{folder / ARRAYS} must be the set of its manifest.",
            got="other content",
            do="Generate the set again, or copy the folder whole.",
        )
    return amb


def _npz(arrays: dict[str, AnyArray]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, array, allow_pickle=False)
            # A fixed date: the same set must give the same bytes at any time.
            info = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, member.getvalue())
    return buffer.getvalue()


def _arrays(path: Path) -> dict[str, AnyArray]:
    try:
        with np.load(io.BytesIO(_read(path)), allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError, OSError) as error:
        raise DataError(f"Expected {path} to hold arrays.", got=str(error)) from error


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"Expected {path}.", got=str(error)) from error


def _samples(amb: AmbiguousSet, feature_names: Sequence[str] | None) -> pd.DataFrame:
    frame = amb.frame()
    if feature_names is None or amb.X.ndim != 2:
        return frame
    if len(feature_names) != amb.X.shape[1]:
        raise DataError(
            f"Expected {amb.X.shape[1]} feature names, one for each column.",
            got=f"{len(feature_names)}",
        )
    taken = [f"feature {name}" if name in frame else name for name in feature_names]
    return pd.concat([frame, pd.DataFrame(amb.X, columns=taken)], axis=1)


def _write_table(frame: pd.DataFrame, folder: Path) -> Path:
    if is_installed("pyarrow"):
        path = folder / f"{TABLE}.parquet"
        frame.to_parquet(path, index=False)
    else:
        path = folder / f"{TABLE}.csv"
        frame.to_csv(path, index=False)
    return path


def _write_sheets(amb: AmbiguousSet, folder: Path) -> list[Path]:
    folder.mkdir(exist_ok=True)
    files = []
    for number, (first, second) in enumerate(amb.unique_pairs):
        safe = re.sub(r"[^A-Za-z0-9]+", "_", f"{first}-{second}").strip("_")[:60]
        picture = png(pair_sheet(amb, first, second))
        files.append(write_bytes(folder / f"{number:03d}-{safe}.png", picture))
    return files


def png(pixels: NDArray[np.uint8]) -> bytes:
    """A picture of bytes, (h, w) or (h, w, 3), as a PNG file."""
    from PIL import Image

    out = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels)).save(out, format="PNG")
    return out.getvalue()
