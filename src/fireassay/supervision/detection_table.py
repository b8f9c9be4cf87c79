"""From scores to numbers: a row per supervisor and set, and whom to recommend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import BoolArray, FloatArray, IntArray
from fireassay.core.estimate import Estimate
from fireassay.core.lazy_modules import pd
from fireassay.engine import Executor
from fireassay.statistics import delong_interval, share
from fireassay.statistics.clustered_auc import clustered_auc
from fireassay.supervision.alarm_threshold import AlarmRule
from fireassay.supervision.detection_metrics import detection_metrics, joined
from fireassay.supervision.entrants import CALIBRATION, NOMINAL, Entrant, Scores
from fireassay.supervision.winners import Groups, judge_together

_CONTROL = "control"  # sets of this name are harmless rows of the same making as a set of trouble
_COLUMNS = (
    "supervisor", "set", "n", "auroc", "low", "high", "simultaneous_low",
    "simultaneous_high", "aupr", "aupr_low", "aupr_high", "fpr95",
    "fpr95_low", "fpr95_high", "aurc", "aurc_low", "aurc_high", "worse", "threshold", "caught",
    "caught_low", "caught_high", "cost", "memory_kib", "note", "status", "reason",
)  # fmt: skip


def detection_table(
    entrants: Sequence[Entrant],
    scores: Scores,
    wrong: Mapping[str, BoolArray],
    rules: Mapping[str, AlarmRule],
    *,
    confidence: float,
    executor: Executor,
    groups: Groups | None = None,
) -> pd.DataFrame:
    """A row per supervisor and set with all numbers, or with the reason why there are none.

    ``simultaneous_low`` and ``simultaneous_high`` hold for all supervisors and sets at once;
    ``worse`` says who is worse than the best of the set beyond doubt.
    """
    set_names = [name for name in scores if name not in (NOMINAL, CALIBRATION)]
    errors = {
        name: np.concatenate([wrong[NOMINAL], wrong[name]])
        for name in set_names
        if NOMINAL in wrong and name in wrong
    }
    tasks = [(s, e.name) for s in set_names for e in entrants if e.status == "done"]
    shared = {
        "scores": scores, "errors": errors, "rules": dict(rules),
        "confidence": confidence, "groups": groups,
    }  # fmt: skip
    found = executor.map(_numbers, tasks, shared, name="compute numbers")
    numbers = dict(zip(tasks, found, strict=True))
    level = 1.0 - (1.0 - confidence) / max(1, len(set_names))
    fields = {name: judge_together(scores, name, groups, level) for name in set_names}
    rows = []
    for entrant in entrants:
        for set_name in set_names:
            row: dict[str, Any] = {
                "supervisor": entrant.name, "set": set_name, "note": "",
                "status": entrant.status, "reason": entrant.reason,
            }  # fmt: skip
            if entrant.status == "done":
                row |= numbers[set_name, entrant.name]
                together = fields[set_name].intervals[entrant.name]
                row |= {"simultaneous_low": together.low, "simultaneous_high": together.high}
                row["worse"] = fields[set_name].worse[entrant.name]
                row["cost"] = _microseconds(entrant, len(scores[NOMINAL][entrant.name]))
                row["memory_kib"] = _kibibytes(entrant.supervisor.state_)
                if "ensemble" in entrant.supervisor.needs and "adversarial" in set_name:
                    row["note"] = "transfer"
            rows.append(row)
    return pd.DataFrame(rows).reindex(columns=list(_COLUMNS))


def kind_table(
    scores: Scores,
    kinds: Mapping[str, ArrayLike],
    confidence: float,
    groups: Groups | None = None,
) -> pd.DataFrame:
    """AUROC of each supervisor on each kind within a set: one row per supervisor, set and kind."""
    rows = []
    for set_name, given in kinds.items():
        labels = np.asarray(given).astype(str)
        for name, values in scores[set_name].items():
            for kind in np.unique(labels):
                chosen = values[labels == kind]
                pooled, marks = joined(scores[NOMINAL][name], chosen)
                found = delong_interval(pooled, marks, confidence)
                low, high = found.low, found.high
                if groups is not None:
                    own = np.concatenate([groups[NOMINAL], groups[set_name][labels == kind]])
                    grouped = clustered_auc(pooled, marks, own, confidence)
                    low, high = grouped.low, grouped.high
                rows.append(
                    {
                        "supervisor": name, "set": set_name, "kind": str(kind),
                        "n": len(chosen), "auroc": found.value, "low": low, "high": high,
                    }
                )  # fmt: skip
    columns = ["supervisor", "set", "kind", "n", "auroc", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def troubles(table: pd.DataFrame) -> pd.DataFrame:
    """Rows with numbers, without control sets: to flag those is no merit."""
    done = table[table["status"] == "done"]
    trouble = done[~done["set"].str.startswith(_CONTROL)]
    return done if trouble.empty else trouble


def recommendation(
    table: pd.DataFrame, chosen_on: Mapping[str, Mapping[str, float]] | None = None
) -> tuple[str | None, tuple[str, ...], dict[str, str]]:
    """The supervisor whose worst set is best, the best pair, and the best of each set.

    Parameters
    ----------
    chosen_on
        AUROCs by set and supervisor on which to choose, by default those of the table.
    """
    done = troubles(table)
    if done.empty:
        return None, (), {}
    wide = done.pivot(index="supervisor", columns="set", values="auroc")
    wide = wide.loc[done["supervisor"].drop_duplicates(), done["set"].drop_duplicates()]
    if chosen_on is not None:
        wide = pd.DataFrame(chosen_on).loc[wide.index, wide.columns]
    best = {str(name): str(supervisor) for name, supervisor in wide.idxmax().items()}
    alone = str(wide.min(axis=1).idxmax())
    if len(wide) < 2:
        return alone, (alone,), best
    pair = max(combinations(wide.index, 2), key=lambda two: wide.loc[list(two)].max().min())
    return alone, tuple(map(str, pair)), best


def alarms(
    scores: FloatArray, rule: AlarmRule, confidence: float, groups: IntArray | None = None
) -> Estimate:
    """The share of rows above the threshold."""
    above = scores > rule.threshold
    if groups is not None:
        return share(above, confidence=confidence, groups=groups)
    return share(int(above.sum()), len(scores), confidence)


def _numbers(
    task: tuple[str, str],
    scores: Scores,
    errors: Mapping[str, BoolArray],
    rules: Mapping[str, AlarmRule],
    confidence: float,
    groups: Groups | None,
) -> dict[str, Any]:
    """The numbers of one supervisor on one set."""
    set_name, name = task
    suspicious = scores[set_name][name]
    own = None if groups is None else np.concatenate([groups[NOMINAL], groups[set_name]])
    found = detection_metrics(
        scores[NOMINAL][name], suspicious, errors.get(set_name),
        confidence=confidence, groups=own,
    )  # fmt: skip
    row: dict[str, Any] = {"n": found.auroc.n, "auroc": found.auroc.value}
    row |= {"low": found.auroc.low, "high": found.auroc.high}
    estimates: dict[str, Estimate | None] = {
        "aupr": found.aupr, "fpr95": found.fpr95, "aurc": found.aurc,
    }  # fmt: skip
    if name in rules:
        row["threshold"] = rules[name].threshold
        own_groups = None if groups is None else groups[set_name]
        estimates["caught"] = alarms(suspicious, rules[name], confidence, own_groups)
    for number, estimate in estimates.items():
        if estimate is not None:
            row[number] = estimate.value
            row |= {f"{number}_low": estimate.low, f"{number}_high": estimate.high}
    return row


def _microseconds(entrant: Entrant, n: int) -> float:
    """Per input: the passes through the model that a supervisor needs, and its own."""
    return 1e6 * (entrant.read_seconds + entrant.own_seconds) / n


def _kibibytes(state: Any) -> float:
    """Size of the fitted arrays."""
    if isinstance(state, np.ndarray):
        return float(state.nbytes) / 1024
    if isinstance(state, dict):
        return sum(map(_kibibytes, state.values()))
    if isinstance(state, list | tuple):
        return sum(map(_kibibytes, state))
    return sum(map(_kibibytes, vars(state).values())) if hasattr(state, "__dict__") else 0.0
