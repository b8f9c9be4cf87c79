"""The files of a run folder, and how they are read back."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from fireassay.core import DataError, Evidence, Result, strict_json
from fireassay.engine import RunStore
from fireassay.report import Report

RESULT, PAGE = "result.json", "report.html"
TIMINGS, COSTS, GATES = "timings.json", "costs.json", "gates.json"
PART_KEYS, PART_FACTS = "part keys", "part facts"


def result_path(run: Path) -> Path:
    """The ``result.json`` of a run folder (or the file itself)."""
    path = run / RESULT if run.is_dir() else run
    if not path.is_file():
        raise DataError(
            f"Expected a run folder with a {RESULT}.",
            got=str(run),
            do="Make one with: fireassay run (or fireassay demo)",
        )
    return path


def read_report(folder: Path) -> Report:
    """The report of a run, with figures where they are kept."""
    plain = Report.from_json(result_path(folder))
    kept = _finished_parts(folder)
    parts = [
        with_figures(part, kept[part.question]["evidence"]) if part.question in kept else part
        for part in plain.parts
    ]
    return Report(parts, plain.title, plain.accepted)


def with_figures(part: Evidence, kept: Evidence) -> Evidence:
    """The evidence as it was journalled, with what has been said about it since."""
    return replace(kept, stale=part.stale, partial=part.partial)


def read_results(folder: Path) -> dict[str, Result]:
    """The results of the finished parts of a run, by name."""
    return {name: saved["result"] for name, saved in _finished_parts(folder).items()}


def read_gates(run: Path) -> Mapping[str, Mapping[str, float]]:
    """The limits that a run was configured with, under ``max`` and ``min``; empty without any."""
    path = (run if run.is_dir() else run.parent) / GATES
    found = strict_json.loads(path.read_text()) if path.is_file() else {}
    return found if any(found.values()) else {}


def read_costs(run: Path) -> dict[str, dict[str, Any]]:
    """For each part of a run what was planned and what it took; empty if nothing is known."""
    path = (run if run.is_dir() else run.parent) / COSTS
    return dict(strict_json.loads(path.read_text())) if path.is_file() else {}


def _finished_parts(folder: Path) -> dict[str, Any]:
    """Evidence and result of each finished part; nothing for a folder without a journal."""
    if not (folder / "run.sqlite").is_file():
        return {}
    with RunStore(folder, read_only=True) as store:
        keys: dict[str, str] = store.meta(PART_KEYS, {})
        kept = store.finished(list(keys.values()))
    return {name: kept[key] for name, key in keys.items() if key in kept}
