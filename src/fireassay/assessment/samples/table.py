"""What a run found out about each row of a set: truth, answer, scores, attacks, datasets."""

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.assessment.context import Context
from fireassay.assessment.parts.accuracy_result import AccuracyResult
from fireassay.assessment.parts.curation import curated_rows
from fireassay.assessment.parts.part import PartAnswer
from fireassay.assessment.parts.supervision import scored_sets
from fireassay.assessment.parts.survival import rows_that_fooled
from fireassay.assessment.samples.content import Content, shown_content
from fireassay.assessment.samples.gallery import Gallery
from fireassay.core import Result, json_files, sha256
from fireassay.core.hashing import sha256_file
from fireassay.data import DataSet
from fireassay.engine.run_lock import refuse_link

# Bits of the column "flags": the parts that looked at a row, then what became of it there.
PARTS_BITS = ("accuracy", "curation", "supervision", "discovery", "reliability", "survival")
MARKS = ("fell to an attack", "raises the alarm", "found by the search")
_BIT = {name: 1 << i for i, name in enumerate((*PARTS_BITS, *MARKS))}
_MOST_LEVELS = 200


@dataclass
class Columns:
    """The columns of one set, and what their numbers mean."""

    n: int
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)

    def flag(self, name: str, rows: Any) -> None:
        """Note that rows (positions or a mask) have to do with something."""
        self.arrays["flags"][rows] |= np.uint16(_BIT[name])


def columns_of(
    context: Context, data: DataSet, source: str, results: Mapping[str, Result]
) -> Columns:
    """Everything that is known row by row; ``source`` is "test" or "operational"."""
    found = Columns(len(data))
    classes = [str(name) for name in context.model.classes]
    found.facts |= {"classes": classes, "parts": list(PARTS_BITS), "marks": list(MARKS)}
    found.arrays |= {
        "ids": np.asarray(data.ids),
        "truth": np.full(len(data), -1, dtype=np.int32),
        "said": np.full(len(data), -1, dtype=np.int32),
        "confidence": np.full(len(data), np.nan, dtype=np.float32),
        "flags": np.zeros(len(data), dtype=np.uint16),
    }
    if data.y is not None:
        place = {name: i for i, name in enumerate(classes)}
        found.arrays["truth"][:] = [place.get(str(label), -1) for label in data.y.tolist()]
    if source == "test":
        _add_answers(found, results)
        _add_search(found, results)
        _add_attacks(found, results)
    else:
        _add_draws(found, results)
    _add_scores(found, results, source)
    _add_datasets(found, context, results, source)
    _add_slices(found, data)
    return found


def _add_answers(found: Columns, results: Mapping[str, Result]) -> None:
    answers = results.get("accuracy")
    if not isinstance(answers, AccuracyResult):
        return
    rows = answers.rows
    found.arrays |= {
        "marks": rows.marks,
        "said": rows.predicted.astype(np.int32),
        "top": rows.top,
        "top_p": rows.top_p,
    }
    if answers.sure is not None:
        found.arrays["confidence"] = answers.sure.astype(np.float32)
    found.flag("accuracy", slice(None))
    if "reliability" in results:
        found.flag("reliability", slice(None))


def _add_search(found: Columns, results: Mapping[str, Result]) -> None:
    """Rows that the search asked about, and those where it found an error."""
    searched = results.get("discovery")
    if not isinstance(searched, PartAnswer):
        return
    state: Any = getattr(searched.result, "state", None)
    if state is None or state.ids is None:
        return
    place = {str(name): i for i, name in enumerate(found.arrays["ids"].tolist())}
    asked = list(state.asked)
    rows = np.array([place[str(state.ids[c])] for c in asked], dtype=np.int64)
    found.flag("discovery", rows)
    told = state.told
    wrong = [c in told and state.classes[state.predicted[c]] != told[c] for c in asked]
    found.flag("found by the search", rows[np.asarray(wrong, dtype=np.bool_)])


def _add_draws(found: Columns, results: Mapping[str, Result]) -> None:
    """Field rows that the model was asked about, and the labels that were bought."""
    searched = results.get("discovery")
    drawn = searched.kept.get("drawn") if isinstance(searched, PartAnswer) else None
    if drawn is None:
        return
    state = drawn.state
    found.arrays["said"][state.rows] = state.predicted
    found.arrays["confidence"][state.rows] = state.confidence
    found.flag("discovery", state.rows[list(state.asked)])
    place = {str(name): i for i, name in enumerate(state.classes)}
    for candidate, label in state.told.items():
        found.arrays["truth"][state.rows[candidate]] = place.get(str(label), -1)
    wrong = [c for c in state.told if state.classes[state.predicted[c]] != state.told[c]]
    found.flag("found by the search", state.rows[wrong])


def _add_attacks(found: Columns, results: Mapping[str, Result]) -> None:
    """One entry per attacked row and attack, in the order of the part's own table."""
    attacked = results.get("survival")
    if not isinstance(attacked, PartAnswer):
        return
    table = attacked.result.frame()
    rows = table["sample"].to_numpy(dtype=np.int64)
    fell = table["success"].to_numpy(dtype=np.bool_)
    found.flag("survival", rows)
    found.flag("fell to an attack", rows[fell])
    made_by = zip(table["made_by"], table["attack"], strict=True)
    names = [str(own or asked) for own, asked in made_by]  # of rows that stood nothing was made
    known = list(dict.fromkeys(names))
    found.facts["attacks"] = known
    found.arrays |= {
        "attack_row": rows,
        "attack": np.array([known.index(name) for name in names], dtype=np.int32),
        "attack_fell": fell,
        "attack_queries": table["queries"].to_numpy(dtype=np.float32),
        "attack_distance": table["distance"].to_numpy(dtype=np.float32),
    }


def _add_scores(found: Columns, results: Mapping[str, Result], source: str) -> None:
    """Each monitor's score, NaN where it was not asked, and its threshold."""
    compared = results.get("supervision")
    found.facts["scores"] = []
    if not isinstance(compared, PartAnswer):
        return
    comparison: Any = compared.result
    rows, sets = compared.kept["rows"], scored_sets(compared, source)
    for number, name in enumerate(sorted({n for s in sets for n in comparison.scores[s]})):
        scores = np.full(found.n, np.nan, dtype=np.float32)
        for one in sets:
            if name in comparison.scores[one]:
                scores[rows[one]] = comparison.scores[one][name]
        held = scores[np.isfinite(scores)]
        if not len(held):
            continue
        rule = comparison.rules.get(name)
        found.arrays[f"score-{number}"] = scores
        told: dict[str, Any] = {"name": name, "column": f"score-{number}"}
        told["threshold"] = None if rule is None else float(np.float32(rule.threshold))
        told["recommended"] = name == comparison.recommended
        found.facts["scores"].append(told | {"low": float(held.min()), "high": float(held.max())})
        found.flag("supervision", np.isfinite(scores))
        if rule is not None and name == comparison.recommended:
            found.flag("raises the alarm", np.nan_to_num(scores, nan=-np.inf) > rule.threshold)


def _add_datasets(
    found: Columns, context: Context, results: Mapping[str, Result], source: str
) -> None:
    """The dataset of curation that each voted row is in: 1 is the safest."""
    if "curation" not in results:
        return
    curated = curated_rows(context)
    if curated is None or curated.source != source:
        return
    found.arrays["dataset"] = np.zeros(found.n, dtype=np.int16)
    for number, ring in enumerate(curated.rings):
        found.arrays["dataset"][ring] = number + 1
        found.flag("curation", ring)
    found.facts["datasets"] = len(curated.rings)


def _add_slices(found: Columns, data: DataSet) -> None:
    """Values of each slice as positions in their list; rare ones share the last place."""
    found.facts["slices"] = []
    for number, (name, values) in enumerate((data.slices or {}).items()):
        levels, codes, counts = np.unique(
            np.asarray(values).astype(str), return_inverse=True, return_counts=True
        )
        if len(levels) > _MOST_LEVELS:
            most = np.sort(np.argsort(-counts, kind="stable")[: _MOST_LEVELS - 1])
            place = np.full(len(levels), len(most))
            place[most] = np.arange(len(most))
            codes, levels = place[codes], np.append(levels[most], "other values")
        found.arrays[f"slice-{number}"] = codes.astype(np.int32)
        told = {"name": str(name), "column": f"slice-{number}", "levels": levels.tolist()}
        found.facts["slices"].append(told)


SAMPLES, MANIFEST, VERSION = "samples", "samples.json", 1
SETS = ("test", "operational")


def write_samples(
    folder: Path,
    context: Context,
    results: Mapping[str, Result],
    keys: Mapping[str, str],
    *,
    content: bool = True,
) -> None:
    """Write ``samples/`` into a run folder: what is known of each row, and what shows it."""
    made_from = sha256(VERSION, dict(sorted(keys.items())), context.digest(context.test), content)
    target = folder / SAMPLES
    refuse_link(target)
    if _made_from(target) == made_from:
        return
    temporary = Path(tempfile.mkdtemp(prefix=".samples-", dir=folder))
    try:
        context = replace(context, results=dict(results))
        sets = {
            name: _write_set(temporary, context, name, results, content=content)
            for name in SETS
            if getattr(context, name) is not None
        }
        files = {
            file.name: {"sha256": sha256_file(file), "bytes": file.stat().st_size}
            for file in sorted(temporary.iterdir())
        }
        told = {"version": VERSION, "made_from": made_from, "sets": sets, "files": files}
        (temporary / MANIFEST).write_text(json_files.dumps(told), encoding="utf-8")
        if target.exists():
            shutil.rmtree(target)
        temporary.replace(target)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def _made_from(folder: Path) -> str:
    path = folder / MANIFEST
    if not path.is_file():
        return ""
    told = json_files.loads(path.read_text(encoding="utf-8"))
    return str(told.get("made_from", "")) if isinstance(told, dict) else ""


def _write_set(
    folder: Path, context: Context, name: str, results: Mapping[str, Result], *, content: bool
) -> dict[str, Any]:
    data = getattr(context, name)
    columns = columns_of(context, data, name, results)
    kept = Content("none", facts={"reason": "the run was asked to keep no samples"})
    arrays = dict(columns.arrays)
    if content:
        gallery = Gallery(context, data, name)
        kept = shown_content(gallery)
        attacked = results.get("survival")
        if name == "test" and isinstance(attacked, PartAnswer) and kept.kind != "none":
            made = rows_that_fooled(context, attacked)
            if len(made):
                changed = shown_content(gallery, made)
                arrays |= {f"adversarial-{key}": value for key, value in changed.arrays.items()}
    arrays |= {f"rows-{key}": value for key, value in kept.arrays.items()}
    for key, values in arrays.items():
        plain = np.ascontiguousarray(values.astype(np.str_) if values.dtype.kind == "O" else values)
        np.save(folder / f"{name}-{key}.npy", plain, allow_pickle=False)
    facts = {**columns.facts, "kind": kept.kind, "content": kept.facts}
    return {**facts, "n": len(data), "name": data.name, "columns": sorted(arrays)}
