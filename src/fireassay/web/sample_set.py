"""The rows of a run on the disk, as the app reads them: mapped columns, checked once."""

import io
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.core import strict_json
from fireassay.core.arrays import AnyArray
from fireassay.core.errors import DataError
from fireassay.core.hashing import sha256_file
from fireassay.core.regular_file import check_regular, read_small_text
from fireassay.engine.links import refuse_link

SAMPLES, MANIFEST, VERSION = "samples", "samples.json", 1
_CHECKED_BYTES = 2**26
_AGAIN = "Write it again: delete the folder samples, then fireassay run."


@dataclass(frozen=True, eq=False)
class SampleSet:
    """One set of rows: columns stay on the disk and are read where a page needs them.

    Attributes
    ----------
    name
        "test" or "operational".
    facts
        Classes, scores with thresholds, slices, names of features.
    columns
        Memory-mapped arrays by name.
    stamp
        Changes when the table is written again.
    """

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
        bit = (*self.facts["parts"], *self.facts["marks"]).index(name)
        found: NDArray[np.bool_] = (self.columns["flags"] & np.uint16(1 << bit)) != 0
        return found


class SampleSets:
    """The tables of all runs, opened once and again when they change."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[Path, tuple[int, dict[str, SampleSet]]] = {}

    def get(self, run: Path) -> dict[str, SampleSet]:
        """The sets of a run by name; empty where none was written."""
        path = run / SAMPLES / MANIFEST
        if not path.is_file():
            return {}
        changed = path.stat().st_mtime_ns
        with self._lock:
            kept = self._kept.get(run)
            if kept is None or kept[0] != changed:
                kept = changed, read_samples(run)
                self._kept[run] = kept
        return kept[1]


def read_samples(run: Path) -> dict[str, SampleSet]:
    """Open the table of a run; files that are not as they were written are refused.

    Files of up to 64 MiB are compared by their hash, larger ones by their length.
    """
    folder = run / SAMPLES
    refuse_link(folder)
    try:
        told = strict_json.loads(read_small_text(folder / MANIFEST))
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
