"""Two runs on the same rows: what changed, row by row, in every number that keeps its rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fireassay.assessment.parts.accuracy_result import AccuracyResult
from fireassay.assessment.parts.part import paired_change
from fireassay.assessment.parts.table import PARTS
from fireassay.assessment.run.folder import read_results
from fireassay.core import Estimate, Result
from fireassay.report import Report

_SAME = "the same model and rows: nothing can have changed"
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class PairedRuns:
    """What two runs say about the same rows."""

    changes: Mapping[str, Estimate]
    newly_wrong: tuple[Any, ...] = ()
    newly_right: tuple[Any, ...] = ()


def pair_runs(before: Path, after: Path, reports: tuple[Report, Report]) -> PairedRuns:
    """Pair two run folders row by row."""
    old, new = read_results(before), read_results(after)
    changes: dict[str, Estimate] = {}
    for part in new:
        if part not in old or not all(_has(report, part) for report in reports):
            continue
        changes |= _changes(part, old[part], new[part], reports)
    changes |= _of_pmi(old, new, reports)
    wrong, right = _moved(old.get("accuracy"), new.get("accuracy"))
    return PairedRuns(changes, wrong, right)


def _has(report: Report, part: str) -> bool:
    return any(item.question == part and item.status == "done" for item in report.parts)


def _changes(
    part: str, old: Result, new: Result, reports: tuple[Report, Report]
) -> dict[str, Estimate]:
    """The numbers of one part that both runs have."""
    first, second = (report[part] for report in reports)
    shared = [name for name in second.estimates if name in first.estimates]
    if _same_inputs(first.provenance, second.provenance) and _same_values(shared, reports, part):
        return {
            f"{part}.{name}": Estimate(
                0.0, 0.0, 0.0, _confidence(second.estimates[name]), second.estimates[name].n, _SAME
            )
            for name in shared
        }
    before, after = PARTS[part].outcomes(old), PARTS[part].outcomes(new)
    found = {}
    for name in shared:
        if name in before and name in after:
            change = paired_change(before[name], after[name], _confidence(second.estimates[name]))
            if change is not None:
                found[f"{part}.{name}"] = change
    return found


def _same_inputs(first: Any, second: Any) -> bool:
    if first is None or second is None:
        return False
    names = ("model_sha256", "data_sha256", "seed", "versions")
    return all(getattr(first, name) == getattr(second, name) for name in names)


def _same_values(names: list[str], reports: tuple[Report, Report], part: str) -> bool:
    first, second = (report[part].estimates for report in reports)
    return all(str(first[name]) == str(second[name]) for name in names)


def _of_pmi(
    old: Mapping[str, Result], new: Mapping[str, Result], reports: tuple[Report, Report]
) -> dict[str, Estimate]:
    """The errors behind reliability's pmi are those of accuracy, on the same labels."""
    first, second = old.get("accuracy"), new.get("accuracy")
    if not (isinstance(first, AccuracyResult) and isinstance(second, AccuracyResult)):
        return {}
    if not all(_has(r, "reliability") and "pmi" in r["reliability"].estimates for r in reports):
        return {}
    before, after = (PARTS["accuracy"].outcomes(r)["error"] for r in (first, second))
    confidence = _confidence(reports[1]["reliability"].estimates["pmi"])
    change = paired_change(before, after, confidence)
    return {} if change is None else {"reliability.pmi": change}


def _confidence(estimate: Estimate) -> float:
    return estimate.confidence if estimate.kind == "interval" else _CONFIDENCE


def _moved(old: Result | None, new: Result | None) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Ids of rows that only the first, and only the second run answers rightly."""
    if not (isinstance(old, AccuracyResult) and isinstance(new, AccuracyResult)):
        return (), ()
    _, first, second = np.intersect1d(old.rows.marks, new.rows.marks, return_indices=True)
    order = np.argsort(second)
    was, now = old.correct[first[order]], new.correct[second[order]]
    ids = new.rows.ids[second[order]]
    return tuple(ids[was & ~now].tolist()), tuple(ids[~was & now].tolist())
