"""From scores to numbers: a row per supervisor and set, and whom to recommend."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from fireassay.core.arrays import BoolArray, FloatArray
from fireassay.core.estimate import Estimate
from fireassay.engine import Executor
from fireassay.statistics import delong_interval, delong_test, share
from fireassay.supervision.alarm_threshold import AlarmRule
from fireassay.supervision.detection_metrics import detection_metrics, joined
from fireassay.supervision.entrants import CALIBRATION, NOMINAL, Entrant, Scores

_CONTROL = "control"  # sets of this name are harmless rows of the same making as a set of trouble
_COLUMNS = (
    "supervisor", "set", "n", "auroc", "low", "high", "aupr", "aupr_low", "aupr_high", "fpr95",
    "fpr95_low", "fpr95_high", "aurc", "aurc_low", "aurc_high", "p_value", "threshold", "caught",
    "caught_low", "caught_high", "cost", "memory_kib", "note", "status", "reason",
)  # fmt: skip


def detection_table(
    entrants: Sequence[Entrant],
    scores: Scores,
    wrong: Mapping[str, BoolArray],
    rules: Mapping[str, AlarmRule],
    *,
    confidence: float,
    n_resamples: int,
    seed: int,
    executor: Executor,
) -> pd.DataFrame:
    """A row per supervisor and set with all numbers, or with the reason why there are none."""
    set_names = [name for name in scores if name not in (NOMINAL, CALIBRATION)]
    errors = {
        name: np.concatenate([wrong[NOMINAL], wrong[name]])
        for name in set_names
        if NOMINAL in wrong and name in wrong
    }
    tasks = [(s, e.name) for s in set_names for e in entrants if e.status == "done"]
    shared = {
        "scores": scores, "errors": errors, "rules": dict(rules),
        "settings": (confidence, n_resamples, seed),
    }  # fmt: skip
    found = executor.map(_numbers, tasks, shared, name="compute numbers")
    numbers = dict(zip(tasks, found, strict=True))
    p_values = {name: _against_best(scores[NOMINAL], scores[name]) for name in set_names}
    rows = []
    for entrant in entrants:
        for set_name in set_names:
            row: dict[str, Any] = {
                "supervisor": entrant.name, "set": set_name, "note": "",
                "status": entrant.status, "reason": entrant.reason,
            }  # fmt: skip
            if entrant.status == "done":
                row |= numbers[set_name, entrant.name]
                row["p_value"] = p_values[set_name][entrant.name]
                row["cost"] = _microseconds(entrant, len(scores[NOMINAL][entrant.name]))
                row["memory_kib"] = _kibibytes(entrant.supervisor.state_)
                if "ensemble" in entrant.supervisor.needs and "adversarial" in set_name:
                    row["note"] = "transfer"
            rows.append(row)
    return pd.DataFrame(rows).reindex(columns=list(_COLUMNS))


def kind_table(scores: Scores, kinds: Mapping[str, ArrayLike], confidence: float) -> pd.DataFrame:
    """AUROC of each supervisor on each kind within a set: one row per supervisor, set and kind."""
    rows = []
    for set_name, given in kinds.items():
        labels = np.asarray(given).astype(str)
        for name, values in scores[set_name].items():
            for kind in np.unique(labels):
                chosen = values[labels == kind]
                found = delong_interval(*joined(scores[NOMINAL][name], chosen), confidence)
                rows.append(
                    {
                        "supervisor": name, "set": set_name, "kind": str(kind),
                        "n": len(chosen), "auroc": found.value, "low": found.low,
                        "high": found.high,
                    }
                )  # fmt: skip
    columns = ["supervisor", "set", "kind", "n", "auroc", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def troubles(table: pd.DataFrame) -> pd.DataFrame:
    """Rows with numbers, without control sets: to flag those is no merit."""
    done = table[table["status"] == "done"]
    trouble = done[~done["set"].str.startswith(_CONTROL)]
    return done if trouble.empty else trouble


def recommendation(table: pd.DataFrame) -> tuple[str | None, tuple[str, ...]]:
    """The supervisor whose worst set is best, and the two that leave the fewest gaps together."""
    done = troubles(table)
    if done.empty:
        return None, ()
    wide = done.pivot(index="supervisor", columns="set", values="auroc")
    wide = wide.loc[done["supervisor"].drop_duplicates()]
    alone = str(wide.min(axis=1).idxmax())
    if len(wide) < 2:
        return alone, (alone,)
    pair = max(combinations(wide.index, 2), key=lambda two: wide.loc[list(two)].max().min())
    return alone, tuple(map(str, pair))


def alarms(scores: FloatArray, rule: AlarmRule, confidence: float) -> Estimate:
    """The share of rows above the threshold."""
    return share(int((scores > rule.threshold).sum()), len(scores), confidence)


def _numbers(
    task: tuple[str, str],
    scores: Scores,
    errors: Mapping[str, BoolArray],
    rules: Mapping[str, AlarmRule],
    settings: tuple[float, int, int],
) -> dict[str, Any]:
    """The numbers of one supervisor on one set."""
    set_name, name = task
    confidence, n_resamples, seed = settings
    suspicious = scores[set_name][name]
    found = detection_metrics(
        scores[NOMINAL][name], suspicious, errors.get(set_name),
        confidence=confidence, n_resamples=n_resamples, seed=seed,
    )  # fmt: skip
    row: dict[str, Any] = {"n": found.auroc.n, "auroc": found.auroc.value}
    row |= {"low": found.auroc.low, "high": found.auroc.high}
    estimates: dict[str, Estimate | None] = {
        "aupr": found.aupr, "fpr95": found.fpr95, "aurc": found.aurc,
    }  # fmt: skip
    if name in rules:
        row["threshold"] = rules[name].threshold
        estimates["caught"] = alarms(suspicious, rules[name], confidence)
    for number, estimate in estimates.items():
        if estimate is not None:
            row |= {
                number: estimate.value,
                f"{number}_low": estimate.low,
                f"{number}_high": estimate.high,
            }
    return row


def _against_best(
    nominal: Mapping[str, FloatArray], suspicious: Mapping[str, FloatArray]
) -> dict[str, float]:
    """Paired DeLong tests against the best of the set, Holm-adjusted."""
    names = [name for name in suspicious if name in nominal]
    if not names:
        return {}
    pooled = {name: joined(nominal[name], suspicious[name]) for name in names}
    marks = pooled[names[0]][1]
    if min(marks.sum(), (~marks).sum()) < 2:
        return dict.fromkeys(names, float("nan"))
    aucs = {name: delong_interval(*pooled[name]).value for name in names}
    best = max(names, key=lambda name: aucs[name])
    raw = {n: delong_test(pooled[best][0], pooled[n][0], marks) for n in names if n != best}
    adjusted = {best: 1.0}
    largest = 0.0
    for rank, name in enumerate(sorted(raw, key=lambda name: raw[name])):
        largest = max(largest, min(1.0, raw[name] * (len(raw) - rank)))
        adjusted[name] = largest
    return adjusted


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
