"""Rows prepared for display: small pictures, a table of numbers, lines, texts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.assessment.config import Config
from fireassay.assessment.context import Context, load_sets
from fireassay.assessment.parts.accuracy_result import AccuracyResult
from fireassay.assessment.run.compare import PairedRuns
from fireassay.assessment.run.folder import configuration, read_results
from fireassay.assessment.samples.gallery import MOST, Gallery
from fireassay.core import FireassayError, Sample
from fireassay.core.arrays import is_frame
from fireassay.core.lazy import pd
from fireassay.data.shown import blocks, channels_last, lines_of, thinned
from fireassay.report import MovedAnswers

MOST_BYTES = 2**30
_PICTURES_BYTES = 2**28
_SIDES = (32, 256)
_CHANNELS, _STEPS, _TOKENS, _LEVELS, _CELL = 4, 240, 4000, 1000, 200
_EXACT = 2**24  # whole numbers beyond are rounded by four bytes


@dataclass(frozen=True)
class Content:
    """Rows prepared for display: pictures, table, curves or texts."""

    kind: str
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)


def shown_content(gallery: Gallery, rows: Any = None) -> Content:
    """The rows of a gallery, or others of the same form, as a page shows them."""
    values = gallery.rows if rows is None else rows
    kind = gallery.kind
    if kind == "table":
        found = _table(gallery, values)
    elif kind == "text":
        found = Content("text", _texts([str(v)[:_TOKENS] for v in np.asarray(values).tolist()]))
    elif kind == "image":
        found = _images(values, gallery.pixels)
    else:
        lines = thinned(lines_of(np.asarray(values)), _CHANNELS, _STEPS)
        found = Content("series", {"content": np.ascontiguousarray(lines, dtype=np.float32)})
    if sum(array.nbytes for array in found.arrays.values()) > MOST_BYTES:
        reason = (
            f"the rows take more than {MOST_BYTES / 2**30:g} GiB and are not kept a second time"
        )
        return Content("none", facts={"reason": reason})
    return found


def _images(images: Any, pixels: Callable[[NDArray[Any]], NDArray[Any]]) -> Content:
    """Bytes of pixels (``pixels`` gives 0 to 1), channels last, smaller where that saves much."""
    placed = channels_last(images)
    shape = placed.shape
    height, width = shape[1:3]
    channels = 1 if len(shape) == 3 else shape[3]
    room = int(np.sqrt(_PICTURES_BYTES / max(1, shape[0] * channels)))
    factor = -(-max(height, width) // max(_SIDES[0], min(_SIDES[1], room)))
    small = (max(1, height // factor), max(1, width // factor))
    if shape[0] * small[0] * small[1] * channels > MOST_BYTES:
        return Content("none", facts={"reason": "the pictures take more than 1 GiB"})
    out = np.empty((shape[0], *small, channels), dtype=np.uint8)
    for block in blocks(placed):
        some = channels_last(np.nan_to_num(pixels(np.asarray(images[block], dtype=np.float64))))
        some = some[..., None] if len(shape) == 3 else some
        if factor > 1:
            some = some[:, : small[0] * factor, : small[1] * factor]
            parts = (len(some), small[0], factor, small[1], factor, channels)
            some = some.reshape(parts).mean(axis=(2, 4))
        out[block] = np.rint(some * 255).astype(np.uint8)
    return Content("image", {"content": out}, {"side": [int(height), int(width)]})


def _table(gallery: Gallery, rows: Any) -> Content:
    """Numbers; names as positions in their list, or as texts where there are too many."""
    frame = rows if is_frame(rows) else None
    own = gallery.rows  # levels and what is usual are those of the whole set
    names = gallery.names
    arrays: dict[str, NDArray[Any]] = {}
    levels: dict[str, list[str]] = {}
    if frame is None:
        numbers = np.asarray(rows)
        plain = numbers.astype(_number_type(numbers))
    else:
        plain = np.full((len(frame), len(names)), np.nan)
        for i in range(len(names)):
            column = frame.iloc[:, i]
            if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
                plain[:, i] = column.to_numpy(dtype=np.float64, na_value=np.nan)
                continue
            texts = column.astype(str).where(column.notna(), "missing")
            known = pd.unique(own.iloc[:, i].astype(str).where(own.iloc[:, i].notna(), "missing"))
            if len(known) <= _LEVELS:
                levels[str(i)] = [str(v)[:_CELL] for v in known]
                plain[:, i] = pd.Categorical(texts, categories=known).codes
            else:
                packed = _texts([str(v)[:_CELL] for v in texts])
                arrays |= {f"cell-{i}-{key}": value for key, value in packed.items()}
        plain = plain.astype(_number_type(plain))
    arrays["content"] = plain
    facts = {"names": list(names), "levels": levels}
    return Content("table", arrays, {**facts, **_usual(plain, levels)})


def _usual(plain: NDArray[Any], levels: dict[str, list[str]]) -> dict[str, Any]:
    """Where most numbers of each column lie; distances are measured in these widths."""
    some = plain[:: max(1, len(plain) // 20_000)].astype(np.float64)
    low, high = [], []
    for i in range(some.shape[1]):
        held = some[:, i][np.isfinite(some[:, i])]
        ends = np.quantile(held, (0.025, 0.975)) if len(held) and str(i) not in levels else (0, 0)
        low.append(float(f"{ends[0]:.6g}"))
        high.append(float(f"{ends[1]:.6g}"))
    return {"low": low, "high": high}


def _number_type(numbers: NDArray[Any]) -> type[np.floating[Any]]:
    largest = np.nanmax(np.abs(numbers), initial=0.0) if numbers.size else 0.0
    return np.float64 if np.isfinite(largest) and largest > _EXACT else np.float32


def _texts(texts: list[str]) -> dict[str, NDArray[Any]]:
    """Texts of any length without a common width: all bytes, and where each begins."""
    encoded = [text.encode("utf-8", "replace") for text in texts]
    starts = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(one) for one in encoded], out=starts[1:])
    return {"bytes": np.frombuffer(b"".join(encoded), dtype=np.uint8), "starts": starts}


def moved_answers(before: Path, after: Path, pairs: PairedRuns) -> MovedAnswers | None:
    """A few of the rows that became wrong or right; None where the runs share no rows."""
    # The rows themselves are shown if the later run's configuration still names them, and does not
    # keep samples out.
    old, new = (read_results(run).get("accuracy") for run in (before, after))
    if not isinstance(old, AccuracyResult) or not isinstance(new, AccuracyResult):
        return None
    if not np.isin(new.rows.marks, old.rows.marks).any():
        return None
    config = configuration(after)
    gallery = None if config is None or not config.run.samples else _gallery(config)
    wrong, right = (
        tuple(_sample(one, word, old, new, gallery) for one in ids[:MOST])
        for ids, word in ((pairs.newly_wrong, "newly wrong"), (pairs.newly_right, "newly right"))
    )
    return MovedAnswers(wrong, right, len(pairs.newly_wrong), len(pairs.newly_right))


def _sample(
    identity: Any, word: str, old: AccuracyResult, new: AccuracyResult, gallery: Gallery | None
) -> Sample:
    here = int(np.flatnonzero(new.rows.ids == identity)[0])
    there = int(np.flatnonzero(old.rows.marks == new.rows.marks[here])[0])
    was, now = old.classes[old.rows.predicted[there]], new.classes[new.rows.predicted[here]]
    row = identity if isinstance(identity, int) else str(identity)
    content = {} if gallery is None else _content(gallery, identity)
    return Sample(
        row,
        f"{word} (truth: before → after)",
        said=f"{new.classes[new.rows.labels[here]]}: {was} → {now}",
        confidence=None if new.sure is None else float(new.sure[here]),
        **content,
    )


def _content(gallery: Gallery, identity: Any) -> dict[str, Any]:
    ids = np.asarray(gallery.data.ids)
    places = np.flatnonzero(ids.astype(str) == str(identity))
    if not len(places):
        return {}
    sample = gallery.at(int(places[0]), "")
    return {name: getattr(sample, name) for name in ("pictures", "cells", "text", "series")}


def _gallery(config: Config) -> Gallery | None:
    """The labelled rows of a configuration; None where they are not there any more."""
    try:
        test = load_sets(config.data.model_copy(update=_TEST_ALONE), config.folder)["test"]
    except (FireassayError, OSError):
        return None  # the page then names rows without showing them
    model: Any = SimpleNamespace(bounds=config.model.bounds)
    # Nobody is to be asked: there is no model here.
    return Gallery(Context(model=model, test=test, hard_labels=True), test)


_TEST_ALONE = {"train": None, "operational": None, "votes": None, "groups": None}
