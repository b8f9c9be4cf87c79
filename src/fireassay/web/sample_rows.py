"""The rows of a run on the disk, as the app reads them: mapped columns, checked once."""

import io
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.core import json_files
from fireassay.core.arrays import AnyArray
from fireassay.core.errors import DataError
from fireassay.core.files import check_regular, read_small_text
from fireassay.core.hashing import sha256_file
from fireassay.data.rows import Rows
from fireassay.data.shown import SMALL, Curve, Picture, shown, signed_picture
from fireassay.engine.run_lock import refuse_link
from fireassay.report.page import sparkline
from fireassay.web.latest import Latest

SAMPLES, MANIFEST, VERSION = "samples", "samples.json", 1
_CHECKED_BYTES = 2**26
_AGAIN = "Write it again: delete the folder samples, then fireassay run."


@dataclass(frozen=True, eq=False)
class SampleSet:
    """One set of rows: columns stay on the disk and are read where a page needs them."""

    name: str
    facts: Mapping[str, Any]
    columns: Mapping[str, AnyArray]
    stamp: str

    def __len__(self) -> int:
        return int(self.facts["n"])

    @property
    def kind(self) -> str:
        """How rows are shown: "image", "table", "series", "text" or "none"."""
        return str(self.facts["kind"])

    @property
    def classes(self) -> list[str]:
        """Of the model."""
        return list(self.facts["classes"])

    @cached_property
    def scores(self) -> dict[str, dict[str, Any]]:
        """What is known of each monitor's score, by name; the recommended one first."""
        found = sorted(self.facts["scores"], key=lambda s: not s["recommended"])
        return {str(score["name"]): score for score in found}

    @cached_property
    def slices(self) -> dict[str, dict[str, Any]]:
        """Column and levels of each slice, by name."""
        return {str(one["name"]): one for one in self.facts["slices"]}

    @property
    def knows_truth(self) -> bool:
        """Whether any row has a label."""
        return bool((self.columns["truth"] >= 0).any())

    @cached_property
    def facets(self) -> dict[str, str]:
        """Everything that rows can be filtered by, in the order shown: name → title."""
        found: dict[str, str] = {}
        answered = bool((self.columns["said"] >= 0).any())
        if self.knows_truth:
            found |= {"right": "Right or wrong"} if answered else {}
            found |= {"truth": "Truth"}
        if answered:
            found |= {"said": "Said"}
            if np.isfinite(self.columns["confidence"]).any():
                found |= {"confidence": "How sure"}
        if np.asarray(self.columns["flags"]).any():
            found |= {"part": "Part"}
        if any(self.flags(mark).any() for mark in self.facts["marks"]):
            found |= {"mark": "What happened"}
        if "dataset" in self.columns:
            found |= {"dataset": "Dataset of curation"}
        found |= {f"slice.{name}": name for name in self.slices}
        return found | {f"score.{name}": name for name in self.scores}

    def flags(self, name: str) -> NDArray[np.bool_]:
        """Which rows have to do with a part, or have a mark."""
        found: NDArray[np.bool_] = (self.columns["flags"] & np.uint16(1 << self._bit(name))) != 0
        return found

    def flag(self, row: int, name: str) -> bool:
        """Whether one row has to do with a part, or has a mark."""
        return bool(int(self.columns["flags"][row]) >> self._bit(name) & 1)

    def _bit(self, name: str) -> int:
        return (*self.facts["parts"], *self.facts["marks"]).index(name)


class SampleSets(Latest[dict[str, SampleSet]]):
    """The tables of all runs, opened once and again when they change."""

    def __init__(self) -> None:
        super().__init__(read_samples, lambda run: (run / SAMPLES / MANIFEST,))


def read_samples(run: Path) -> dict[str, SampleSet]:
    """The sets of rows of a run by name; files that are not as they were written are refused."""
    # Files of up to 64 MiB are compared by their hash, larger ones by their length.
    folder = run / SAMPLES
    refuse_link(folder)
    try:
        told = json_files.loads(read_small_text(folder / MANIFEST))
        if told["version"] != VERSION:
            raise DataError(
                f"Expected samples of version {VERSION}.", got=repr(told["version"]), do=_AGAIN
            )
        for name, fact in told["files"].items():
            _check_file(folder, name, fact)
        return {
            name: SampleSet(
                name,
                facts,
                {key: _mapped(folder, f"{name}-{key}.npy", told) for key in facts["columns"]},
                str(told["made_from"]),
            )
            for name, facts in told["sets"].items()
        }
    except (OSError, ValueError, KeyError, TypeError, EOFError, AttributeError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"Expected samples in {folder}.", got=f"{error}", do=_AGAIN) from error


def _check_file(folder: Path, name: str, fact: Mapping[str, Any]) -> None:
    if name != Path(name).name or name.startswith("."):
        raise DataError("A column's file must have a plain name.", got=repr(name[:80]))
    path = folder / name
    refuse_link(path)
    size = check_regular(path).stat().st_size
    same = size == fact["bytes"]
    if same and size <= _CHECKED_BYTES:
        same = sha256_file(path) == fact["sha256"]
    if not same:
        raise DataError(f"{path} must be as the run wrote it.", got="another content", do=_AGAIN)


def _mapped(folder: Path, name: str, told: Mapping[str, Any]) -> AnyArray:
    if name not in told["files"]:
        raise DataError("Every column must be among the files.", got=repr(name[:80]), do=_AGAIN)
    path = folder / name
    if path.stat().st_size < 2**12:  # a few rows, or none: not worth a mapping each
        return np.load(io.BytesIO(path.read_bytes()), allow_pickle=False)  # type: ignore[no-any-return]
    return np.load(path, mmap_mode="r", allow_pickle=False)  # type: ignore[no-any-return]


_BLOCK_BYTES = 2**24


@dataclass(frozen=True)
class Feature:
    """One cell of a row; whether it lies outside of what is usual in its column."""

    name: str
    value: str
    unusual: bool
    usual: str


@dataclass(frozen=True)
class Fall:
    """One attack on a row."""

    attack: str
    fell: bool
    queries: str
    distance: str
    picture: int | None


def brief(rows: SampleSet, row: int) -> dict[str, Any]:
    """What a grid or a table shows of a row."""
    truth, said = (int(rows.columns[name][row]) for name in ("truth", "said"))
    sure = float(rows.columns["confidence"][row])
    return {
        "row": row,
        "id": str(rows.columns["ids"][row]),
        "truth": rows.classes[truth] if truth >= 0 else None,
        "said": rows.classes[said] if said >= 0 else None,
        "confidence": sure if math.isfinite(sure) else None,
        "state": "not known" if truth < 0 or said < 0 else "right" if truth == said else "wrong",
        "sharp": is_small(rows),
        "features": features(rows, row, 6) if rows.kind == "table" else [],
        "lines": lines(rows, row) if rows.kind == "series" else [],
        "text": text_of(rows, row)[:300] if rows.kind == "text" else "",
    }


def scores_of(rows: SampleSet, row: int) -> list[dict[str, Any]]:
    """Each monitor's score against its threshold, with both as places between 0 and 100."""
    found = []
    for name, score in rows.scores.items():
        value = float(rows.columns[score["column"]][row])
        if not math.isfinite(value):
            continue
        low, threshold = score["low"], score["threshold"]
        width = (score["high"] - low) or 1.0
        told: dict[str, Any] = {"threshold": None, "limit": None, "alarm": False}
        if threshold is not None:
            limit = round(min(max(100 * (threshold - low) / width, 0.0), 100.0), 2)
            told = {"threshold": f"{threshold:.4g}", "limit": limit, "alarm": value > threshold}
        at = round(100 * (value - low) / width, 2)
        told |= {"name": name, "value": f"{value:.4g}", "at": at}
        found.append(told | {"recommended": score["recommended"]})
    return found


def first_answers(rows: SampleSet, row: int) -> list[tuple[str, float]]:
    """The classes with the highest probabilities."""
    if "top" not in rows.columns:
        return []
    top, chance = rows.columns["top"][row].tolist(), rows.columns["top_p"][row].tolist()
    return [(rows.classes[i], p) for i, p in zip(top, chance, strict=True)]


def attacks_on(rows: SampleSet, row: int) -> list[Fall]:
    """What attacks did to a row; a picture's number where there is one to show."""
    if "attack_row" not in rows.columns:
        return []
    fell = np.asarray(rows.columns["attack_fell"])
    number = np.cumsum(fell) - 1
    shown = "adversarial-content" in rows.columns and rows.kind in ("image", "table")
    found = []
    for i in np.flatnonzero(np.asarray(rows.columns["attack_row"]) == row):
        attack = rows.facts["attacks"][int(rows.columns["attack"][i])]
        queries = f"{float(rows.columns['attack_queries'][i]):,.0f}"
        distance = f"{float(rows.columns['attack_distance'][i]):.3g}" if fell[i] else ""
        picture = int(number[i]) if fell[i] and shown else None
        found.append(Fall(attack, bool(fell[i]), queries, distance, picture))
    return found


def neighbours(rows: SampleSet, row: int, most: int = 6) -> list[tuple[int, float]]:
    """The rows nearest to one and their distances, read block by block."""
    # Numbers of a table count in widths of their column, other values as equal or not.
    if rows.kind not in ("image", "table", "series"):
        return []
    content = rows.columns["rows-content"]
    scale, levels = _scale(rows)
    own = np.asarray(content[row], dtype=np.float32).ravel()
    near: list[tuple[float, int]] = []
    size = max(1, _BLOCK_BYTES // (4 * own.size))
    for start in range(0, len(content), size):
        block = np.asarray(content[start : start + size])
        apart = block.reshape(len(block), -1).astype(np.float32) - own
        apart[:, levels] = apart[:, levels] != 0
        apart = np.nan_to_num(apart / scale, nan=1.0, posinf=1.0, neginf=1.0)
        distance = np.einsum("ij,ij->i", apart, apart)
        if start <= row < start + len(block):
            distance[row - start] = np.inf
        k = min(most, len(distance))
        nearest = np.argpartition(distance, k - 1)[:k]
        near = sorted([*near, *((float(distance[i]), start + int(i)) for i in nearest)])[:most]
    return [(i, math.sqrt(d)) for d, i in near if math.isfinite(d)]


def _scale(rows: SampleSet) -> tuple[Any, list[int]]:
    facts = rows.facts["content"]
    if rows.kind != "table":
        return np.float32(255.0 if rows.kind == "image" else 1.0), []
    width = np.asarray(facts["high"], dtype=np.float32) - np.asarray(facts["low"], np.float32)
    return np.where(width > 0, width, 1.0).astype(np.float32), [int(i) for i in facts["levels"]]


def picture(rows: SampleSet, what: str, number: int) -> bytes:
    """A PNG: the "input" of a row, or the "made" one or "difference" of an attack."""
    if rows.kind != "image":
        raise DataError("These rows are no pictures.", got=rows.kind)
    if what == "input":
        return Picture(rows.columns["rows-content"][number]).png()
    made = np.asarray(rows.columns["adversarial-content"][number])
    if what == "made":
        return Picture(made).png()
    fallen = np.flatnonzero(np.asarray(rows.columns["attack_fell"]))
    row = int(rows.columns["attack_row"][fallen[number]])
    change = made.astype(float) - np.asarray(rows.columns["rows-content"][row]).astype(float)
    return signed_picture(change).png()


def changed_features(rows: SampleSet, number: int) -> list[tuple[str, str, str]]:
    """What an attack changed in a row of a table: name, before, after."""
    fallen = np.flatnonzero(np.asarray(rows.columns["attack_fell"]))
    row = int(rows.columns["attack_row"][fallen[number]])
    before, after = features(rows, row), features(rows, number, of="adversarial")
    return [
        (a.name, a.value, b.value) for a, b in zip(before, after, strict=True) if a.value != b.value
    ]


def lines(rows: SampleSet, row: int) -> list[str]:
    """Points of a small line per channel."""
    seen = shown(Rows(rows.columns["rows-content"], form="series"), row)
    assert isinstance(seen, Curve)
    return [sparkline(line) for line in np.nan_to_num(seen.lines).tolist()]


def text_of(rows: SampleSet, row: int, of: str = "rows") -> str:
    """The text of a row."""
    starts = rows.columns[f"{of}-starts"]
    packed: NDArray[np.uint8] = rows.columns[f"{of}-bytes"]
    return bytes(packed[int(starts[row]) : int(starts[row + 1])]).decode("utf-8", "replace")


def is_small(rows: SampleSet) -> bool:
    """Whether pictures are so small that their pixels should be seen."""
    side = rows.facts["content"].get("side", [SMALL, SMALL])
    return rows.kind == "image" and max(side) < SMALL


def features(rows: SampleSet, row: int, most: int | None = None, of: str = "rows") -> list[Feature]:
    """The cells of a row, those that are unusual first where only some are shown."""
    facts = rows.facts["content"]
    values = np.asarray(rows.columns[f"{of}-content"][row], dtype=np.float64).tolist()
    found = []
    for i, (name, value) in enumerate(zip(facts["names"], values, strict=True)):
        low, high = facts["low"][i], facts["high"][i]
        if str(i) in facts["levels"]:
            known = facts["levels"][str(i)]
            shown = known[int(value)] if 0 <= value < len(known) else "not known"
            found.append(Feature(name, shown, False, ""))
        elif f"{of}-cell-{i}-starts" in rows.columns:
            found.append(Feature(name, text_of(rows, row, f"{of}-cell-{i}"), False, ""))
        else:
            shown = f"{value:.6g}" if math.isfinite(value) else "missing"
            odd = math.isfinite(value) and not low <= value <= high
            found.append(Feature(name, shown, odd, f"{low:.4g} to {high:.4g}"))
    if most is not None and len(found) > most:
        found = sorted(found, key=lambda cell: not cell.unusual)[:most]
    return found
