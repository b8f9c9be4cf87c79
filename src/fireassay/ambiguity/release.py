"""An ambiguous set as others load it: a Parquet file with images, a card, and a reader."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fireassay.ambiguity.ambiguous_set import AmbiguousSet
from fireassay.ambiguity.export import is_image, png, rounded_pixels
from fireassay.core.arrays import BoolArray, Float32Array, FloatArray, IntArray
from fireassay.core.errors import DataError
from fireassay.core.files import write_text
from fireassay.core.lazy import require
from fireassay.core.seeds import generator
from fireassay.core.validation import check_lengths

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
