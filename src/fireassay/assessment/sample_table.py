"""All rows of a run as a table on the disk: memory-mapped columns, checksums, written once."""

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.assessment.context import Context
from fireassay.assessment.part_answer import PartAnswer
from fireassay.assessment.parts.survival import rows_that_fooled
from fireassay.assessment.sample_columns import columns_of
from fireassay.assessment.sample_content import Content, shown_content
from fireassay.assessment.shown_rows import Gallery
from fireassay.core import Result, sha256, strict_json
from fireassay.core.hashing import sha256_file
from fireassay.engine.links import refuse_link

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
    """Write ``samples/`` into a run folder: what is known of each row, and what shows it.

    Parameters
    ----------
    folder
        The run folder.
    context
        The model and the data of the run.
    results
        What the parts found, by name.
    keys
        The key of each of them; with the same keys the table is there already and stays.
    content
        Whether the rows themselves may be kept in the folder.
    """
    made_from = sha256(VERSION, dict(sorted(keys.items())), context.test.sha256, content)
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
        (temporary / MANIFEST).write_text(strict_json.dumps(told), encoding="utf-8")
        temporary.chmod(0o755)
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
    told = strict_json.loads(path.read_text(encoding="utf-8"))
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
        _save(folder / f"{name}-{key}.npy", values)
    facts = {**columns.facts, "kind": kept.kind, "content": kept.facts}
    return {**facts, "n": len(data), "name": data.name, "columns": sorted(arrays)}


def _save(path: Path, values: NDArray[Any]) -> None:
    plain = values.astype(np.str_) if values.dtype.kind == "O" else values
    np.save(path, np.ascontiguousarray(plain), allow_pickle=False)
