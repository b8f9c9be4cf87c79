"""A set as files: a folder of arrays, tables and picture sheets, or a Parquet release."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fireassay.ambiguity.ambiguous_set import AmbiguousSet, ControlSet
from fireassay.core import json_files
from fireassay.core.arrays import AnyArray, BoolArray, Float32Array, FloatArray, IntArray
from fireassay.core.errors import DataError
from fireassay.core.files import write_bytes, write_text
from fireassay.core.lazy import is_installed, pd, require
from fireassay.core.seeds import generator
from fireassay.core.validation import check_lengths

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
    report = amb.report.astype(object).to_dict(orient="list")
    manifest = {**amb.manifest, "sha256": amb.sha256, "report": report}
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


_CARD = """---
task_categories:
- image-classification
annotations_creators:
- machine-generated
---

# Ambiguous images

{rows:,} images, {ambiguous:,} of them ambiguous between two classes. Classes: {classes}.

- `image`: PNG. `label`: a class index, drawn from `p_label`.
- `p_label`: a probability for each class; two are above zero where `is_ambiguous`.
- `text_label`: the same in words.

Largest difference of the two probabilities: {delta_max:g}. Seed {seed}, preset {preset}.
SHA-256 of the ambiguous part: `{sha256}`. Read it with `fireassay.ambiguity.read_release`.
The licence is that of the images that the generator was fitted on.
"""


class Release(NamedTuple):
    """What `read_release` gives: images in [0, 1], class indices, probabilities, flags.

    >>> Release._fields
    ('X', 'labels', 'p_labels', 'is_ambiguous')
    """

    X: Float32Array
    labels: IntArray
    p_labels: FloatArray
    is_ambiguous: BoolArray


def write_release(
    amb: AmbiguousSet, folder: str | Path, nominal: tuple[Any, Any] | None = None
) -> list[Path]:
    """Write ``ambiguous.parquet`` and ``README.md``; with nominal rows, all mixed in random order.

    Args:
        amb: The set; its rows must be images.
        folder: Where the files go; made if it is not there.
        nominal: Images in [0, 1] and class labels to mix in, with probability 1 for their label.

    Raises:
        DataError: If rows are no images, or a nominal label is not a class of the set.
        MissingExtraError: Without pyarrow.

    >>> import tempfile
    >>> from fireassay.ambiguity import AmbiguityGenerator
    >>> from fireassay.data import digits
    >>> data = digits()
    >>> amb = AmbiguityGenerator([(4, 9)], tries=1).fit(data.X, data.y).sample(20)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = [path.name for path in write_release(amb, folder)]
    ...     read = read_release(folder)
    >>> files, read.X.shape, bool(read.is_ambiguous.all())
    (['ambiguous.parquet', 'README.md'], (20, 8, 8), True)
    """
    require("pyarrow", "tables", "Writing Parquet")
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not is_image(amb.X):
        raise DataError("A release holds images with values in [0, 1].", got=f"{amb.X.shape}")
    place = {label: i for i, label in enumerate(amb.classes)}
    X, p = amb.X, amb.soft_labels
    labels = np.array([place[label] for label in amb.labels.tolist()])
    if nominal is not None:
        images, classes = np.asarray(nominal[0]), np.asarray(nominal[1]).tolist()
        check_lengths(X=len(images), y=len(classes))
        unknown = sorted({str(label) for label in classes if label not in place})
        if unknown or images.shape[1:] != X.shape[1:]:
            raise DataError(
                f"Nominal rows must have the shape {X.shape[1:]} and labels of {amb.classes}.",
                got=f"{images.shape[1:]}, {', '.join(unknown)}",
            )
        own = np.array([place[label] for label in classes])
        X, labels = np.concatenate([X, images]), np.concatenate([labels, own])
        p = np.concatenate([p, np.eye(len(place))[own]])
    order = generator(amb.manifest["seed"], "release").permutation(len(X))
    names = [str(label) for label in amb.classes]
    table = pa.table({
        "image": [{"bytes": png(rounded_pixels(X[i]).squeeze()), "path": None} for i in order],
        "label": labels[order],
        "text_label": [_in_words(names, row) for row in p[order]],
        "p_label": pa.array(p[order].tolist(), pa.list_(pa.float64(), len(place))),
        "is_ambiguous": order < len(amb),
    })  # fmt: skip
    features = {"image": {"_type": "Image"}, "label": {"names": names, "_type": "ClassLabel"}}
    told = json.dumps({"info": {"features": features}})
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "ambiguous.parquet"
    pq.write_table(table.replace_schema_metadata({"huggingface": told}), path)
    card = _CARD.format(
        rows=len(X), ambiguous=len(amb), classes=", ".join(names), sha256=amb.sha256,
        delta_max=amb.manifest["delta_max"], seed=amb.manifest["seed"],
        preset=amb.manifest["preset"]["name"],
    )  # fmt: skip
    return [path, write_text(folder / "README.md", card)]


def read_release(path: str | Path) -> Release:
    """Read what `write_release` wrote, or a published set with the same columns.

    Args:
        path: The Parquet file, or the folder with ``ambiguous.parquet``.

    Raises:
        DataError: If it is no Parquet file with these columns.

    >>> read_release("nowhere.parquet")
    Traceback (most recent call last):
    ...
    fireassay.core.errors.DataError: Expected a Parquet file with image, label, ...
    """
    require("pyarrow", "tables", "Reading Parquet")
    import pyarrow as pa
    import pyarrow.parquet as pq
    from PIL import Image

    file = Path(path)
    file = file / "ambiguous.parquet" if file.is_dir() else file
    try:
        table = pq.read_table(file, columns=["image", "label", "p_label", "is_ambiguous"])
        stored = [row["bytes"] for row in table["image"].to_pylist()]
        pixels = [np.asarray(Image.open(io.BytesIO(one))) for one in stored]
        images = np.divide(np.stack(pixels), 255, dtype=np.float32)
    except (pa.ArrowException, OSError, KeyError, TypeError, ValueError) as error:
        raise DataError(
            "Expected a Parquet file with image, label, p_label and is_ambiguous.",
            got=f"{file}: {error}",
        ) from error
    p = np.array(table["p_label"].to_pylist(), dtype=np.float64)
    return Release(images, table["label"].to_numpy(), p, table["is_ambiguous"].to_numpy())


def _in_words(names: list[str], p: FloatArray) -> str:
    return ", ".join(f"p({names[i]})={p[i]:.2f}" for i in np.flatnonzero(p))
