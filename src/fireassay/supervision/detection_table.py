"""Table of supervisors by set, simultaneous AUROCs, and the recommendation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import BoolArray, FloatArray, IntArray
from fireassay.core.errors import DataError, ParameterError
from fireassay.core.estimate import Estimate
from fireassay.core.lazy import pd
from fireassay.core.seeds import generator
from fireassay.core.validation import check_labels
from fireassay.engine import Executor
from fireassay.statistics import delong, delong_interval, share, simultaneous_aucs, worse_than_best
from fireassay.statistics.clustered_auc import (
    clustered_auc,
    clustered_logits,
    simultaneous_clustered_aucs,
)
from fireassay.supervision.candidates import CALIBRATION, NOMINAL, Candidate, Scores
from fireassay.supervision.detection_metrics import detection_metrics, joined
from fireassay.supervision.supervisor import AlarmRule

Groups = Mapping[str, IntArray]


@dataclass(frozen=True)
class SimultaneousAurocs:
    """All supervisors on one set: intervals that hold at once, and who is worse than the best."""

    intervals: dict[str, Estimate]
    worse: dict[str, bool]


def judge_together(
    scores: Scores, set_name: str, groups: Groups | None, confidence: float
) -> SimultaneousAurocs:
    """Simultaneous AUROC intervals of all supervisors on a set, and a Tukey-type comparison."""
    nominal, suspicious = scores[NOMINAL], scores[set_name]
    pooled = {n: joined(nominal[n], suspicious[n]) for n in suspicious if n in nominal}
    if not pooled:
        return SimultaneousAurocs({}, {})
    table = np.stack([values for values, _ in pooled.values()])
    _, marks = next(iter(pooled.values()))
    if groups is not None:
        together = np.concatenate([groups[NOMINAL], groups[set_name]])
        found = simultaneous_clustered_aucs(table, marks, together, confidence)
        aucs, covariance, _ = clustered_logits(table, marks, together)
        slope = aucs * (1.0 - aucs)
        known = np.isfinite(np.diag(covariance))
        covariance = np.where(np.outer(known, known), covariance, 0.0) * np.outer(slope, slope)
    elif min(marks.sum(), (~marks).sum()) < 2:
        single = 1.0 - (1.0 - confidence) / len(pooled)
        alone = {n: delong_interval(*both, single) for n, both in pooled.items()}
        return SimultaneousAurocs(alone, dict.fromkeys(pooled, False))
    else:
        found = simultaneous_aucs(table, marks, confidence)
        aucs, covariance = delong(table, marks)
    worse = worse_than_best(aucs, covariance, confidence)
    intervals, below = zip(pooled, found, strict=True), zip(pooled, worse, strict=True)
    return SimultaneousAurocs(dict(intervals), dict(below))


def numbered_groups(
    groups: Mapping[str, ArrayLike] | None, sizes: Mapping[str, int]
) -> dict[str, IntArray] | None:
    """One number per group over all sets; rows of sets without groups stand for themselves."""
    if groups is None:
        return None
    unknown = sorted(set(groups) - set(sizes))
    if unknown:
        raise ParameterError(
            "The 'groups' must name sets.", got=", ".join(unknown), do=f"Use {', '.join(sizes)}."
        )
    labels = []
    for name, n in sizes.items():
        if name in groups:
            given = check_labels(groups[name], name=f"groups[{name!r}]", n=n)
            labels.append(np.char.add("group ", np.asarray(given).astype(str)))
        else:
            labels.append(np.array([f"{name} row {i}" for i in range(n)]))
    _, numbers = np.unique(np.concatenate(labels), return_inverse=True)
    ends = np.cumsum(list(sizes.values()))[:-1]
    return dict(zip(sizes, np.split(numbers.ravel(), ends), strict=True))


def group_halves(numbers: IntArray, share: float, seed: int, *names: str) -> BoolArray:
    """Which rows fall into the first part, about ``share`` of the rows, groups kept whole."""
    which, sizes = np.unique(numbers, return_counts=True)
    order = generator(seed, "supervision", *names).permutation(len(which))
    before = np.cumsum(sizes[order]) - sizes[order]
    first = which[order[before < share * len(numbers)]]
    return np.isin(numbers, first)


def split_for_choice(
    scores: Scores, confirm: float, groups: Groups | None, seed: int
) -> dict[str, BoolArray]:
    """For each set, the rows on which to choose; the others are for the report."""
    names = [name for name in scores if name != CALIBRATION]
    sizes = [len(next(iter(scores[name].values()))) for name in names]
    share = 1.0 - confirm
    if groups is None:
        each = zip(names, map(np.arange, sizes), strict=True)
        found = {name: group_halves(rows, share, seed, "confirm", name) for name, rows in each}
    else:
        numbers = np.concatenate([groups[name] for name in names])
        parts = np.split(group_halves(numbers, share, seed, "confirm"), np.cumsum(sizes)[:-1])
        found = dict(zip(names, parts, strict=True))
    for name, choosing in found.items():
        if min(choosing.sum(), (~choosing).sum()) < 2:
            raise DataError(
                f"'confirm' needs at least two rows of {name!r} on either side.",
                got=f"{int(choosing.sum())} and {int((~choosing).sum())}",
                do="Give more rows, or leave confirm out: intervals are then simultaneous.",
            )
    return found


def part_of(scores: Scores, chosen: Mapping[str, BoolArray]) -> Scores:
    """The scores of some rows of each set; calibration rows stay."""
    parts = dict(scores)
    for name, rows in chosen.items():
        parts[name] = {k: np.asarray(values[rows]) for k, values in scores[name].items()}
    return parts


def auroc_points(scores: Scores) -> dict[str, dict[str, float]]:
    """AUROC by set and supervisor, without intervals."""
    found: dict[str, dict[str, float]] = {}
    for set_name, by_name in scores.items():
        if set_name not in (NOMINAL, CALIBRATION):
            found[set_name] = {
                name: delong_interval(*joined(scores[NOMINAL][name], values)).value
                for name, values in by_name.items()
                if name in scores[NOMINAL]
            }
    return found


_CONTROL = "control"  # sets of this name are harmless rows of the same making as a set of trouble
_COLUMNS = (
    "supervisor", "set", "n", "auroc", "low", "high", "simultaneous_low",
    "simultaneous_high", "aupr", "aupr_low", "aupr_high", "fpr95",
    "fpr95_low", "fpr95_high", "aurc", "aurc_low", "aurc_high", "worse", "threshold", "caught",
    "caught_low", "caught_high", "cost", "memory_kib", "note", "status", "reason",
)  # fmt: skip


def detection_table(
    candidates: Sequence[Candidate],
    scores: Scores,
    wrong: Mapping[str, BoolArray],
    rules: Mapping[str, AlarmRule],
    *,
    confidence: float,
    executor: Executor,
    groups: Groups | None = None,
) -> pd.DataFrame:
    """A row per supervisor and set with all numbers, or with the reason why there are none."""
    # The simultaneous ends hold for all supervisors and sets at once; ``worse``: than the set's
    # best.
    set_names = [name for name in scores if name not in (NOMINAL, CALIBRATION)]
    errors = {
        name: np.concatenate([wrong[NOMINAL], wrong[name]])
        for name in set_names
        if NOMINAL in wrong and name in wrong
    }
    tasks = [(s, e.name) for s in set_names for e in candidates if e.status == "done"]
    shared = {
        "scores": scores, "errors": errors, "rules": dict(rules),
        "confidence": confidence, "groups": groups,
    }  # fmt: skip
    found = executor.map(_numbers, tasks, shared, name="compute numbers")
    numbers = dict(zip(tasks, found, strict=True))
    level = 1.0 - (1.0 - confidence) / max(1, len(set_names))
    fields = {name: judge_together(scores, name, groups, level) for name in set_names}
    rows = []
    for candidate in candidates:
        for set_name in set_names:
            row: dict[str, Any] = {
                "supervisor": candidate.name, "set": set_name, "note": "",
                "status": candidate.status, "reason": candidate.reason,
            }  # fmt: skip
            if candidate.status == "done":
                row |= numbers[set_name, candidate.name]
                together = fields[set_name].intervals[candidate.name]
                row |= {"simultaneous_low": together.low, "simultaneous_high": together.high}
                row["worse"] = fields[set_name].worse[candidate.name]
                seconds = candidate.read_seconds + candidate.own_seconds
                row["cost"] = 1e6 * seconds / len(scores[NOMINAL][candidate.name])
                row["memory_kib"] = _kibibytes(candidate.supervisor.state_)
                if "ensemble" in candidate.supervisor.needs and "adversarial" in set_name:
                    row["note"] = "transfer"
            rows.append(row)
    return pd.DataFrame(rows).reindex(columns=list(_COLUMNS))


def kind_table(
    scores: Scores, kinds: Mapping[str, ArrayLike], confidence: float, groups: Groups | None = None
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
    """The supervisor whose worst set is best, the best pair, and the best of each set."""
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


def _kibibytes(state: Any) -> float:
    """Size of the fitted arrays."""
    if isinstance(state, np.ndarray):
        return float(state.nbytes) / 1024
    if isinstance(state, dict):
        return sum(map(_kibibytes, state.values()))
    if isinstance(state, list | tuple):
        return sum(map(_kibibytes, state))
    return sum(map(_kibibytes, vars(state).values())) if hasattr(state, "__dict__") else 0.0
