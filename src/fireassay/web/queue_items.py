"""What can be an item of a labelling queue, and how it is kept."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.core.arrays import AnyArray, FloatArray, IntArray
from fireassay.core.errors import DataError
from fireassay.data.rows import Rows
from fireassay.data.shown import as_bytes, channels_last, pixel_ends

_LONGEST_NAME = 500


def usual_kind(items: AnyArray) -> str:
    """What items are in a queue, by their form: "image", "series" or "row"."""
    form = Rows(items).form
    return form if form in ("image", "series") else "row"


def check_content(items: AnyArray, kind: str) -> AnyArray:
    """Items as they are kept on disk: pixels as bytes, other numbers as float32."""
    axes = {"image": (3, 4), "row": (2,), "series": (2, 3)}[kind]
    if kind == "row" and items.ndim == 1 and items.dtype.kind == "U":
        items = items[:, None]  # one text each
    allowed = "biufU" if kind == "row" else "biuf"  # of tables with names in their columns
    if items.ndim not in axes or items.dtype.kind not in allowed or 0 in items.shape:
        raise DataError(
            f"Items of kind {kind!r} must be numbers with {' or '.join(map(str, axes))} axes.",
            got=f"{items.dtype} of shape {items.shape}",
        )
    if items.dtype.kind == "U":
        return items
    if kind != "image":
        return items.astype(np.float32, copy=False)
    placed = channels_last(items)
    if placed.ndim == 4 and placed.shape[3] not in (1, 3, 4):
        raise DataError(
            "Images must have 1, 3 or 4 channels, first or last.", got=f"shape {items.shape}"
        )
    return as_bytes(placed, pixel_ends(placed))


def positions_of(given: ArrayLike | None, names: tuple[str, ...], n: int) -> IntArray:
    """Predicted classes as positions; −1 where nothing is predicted."""
    if given is None:
        return np.full(n, -1, dtype=np.int64)
    known = {name: position for position, name in enumerate(names)}
    texts = [str(label) for label in np.asarray(given).ravel().tolist()]
    unknown = [text for text in texts if text not in known]
    if unknown:
        raise DataError(
            f"predicted must be one of {', '.join(names[:12])}.", got=repr(unknown[0][:80])
        )
    return np.array([known[text] for text in texts], dtype=np.int64)


def check_confidences(given: ArrayLike | None, n: int) -> FloatArray:
    """Confidences in [0, 1]; NaN where none are given."""
    if given is None:
        return np.full(n, np.nan)
    values = np.asarray(given, dtype=np.float64).ravel()
    if not ((values >= 0) & (values <= 1)).all():
        raise DataError("confidence must be in [0, 1].", got="NaN or a value outside")
    return values


def check_choices(names: tuple[str, ...]) -> list[str]:
    """Class names for the buttons: at least two, all different."""
    if len(set(names)) != len(names) or not 2 <= len(names) <= 1000:
        raise DataError("classes must be 2 to 1000 different names.", got=f"{len(names)} names")
    return [name[:_LONGEST_NAME] for name in names]


def check_feature_names(
    names: Sequence[str] | None, items: AnyArray, kind: str
) -> list[str] | None:
    """A name per column of a row, or per channel of a series."""
    if names is None or kind == "image":
        return None
    width = items.shape[1] if kind == "row" else (items.shape[2] if items.ndim == 3 else 1)
    if len(names) != width:
        raise DataError("feature_names must name every column.", got=f"{len(names)} for {width}")
    return [str(name)[:_LONGEST_NAME] for name in names]


def check_ids(ids: ArrayLike | None, rows: AnyArray) -> NDArray[np.str_]:
    """One text per item, all different; the row numbers if none are given."""
    if ids is None:
        return rows.astype(np.str_)
    texts = np.array([str(value)[:_LONGEST_NAME] for value in np.asarray(ids).ravel().tolist()])
    if len(np.unique(texts)) != len(texts):
        raise DataError("ids must differ.", got="an id that is there twice")
    return texts
