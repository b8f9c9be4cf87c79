"""The result of a comparison: a row per supervisor and set, and what follows from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fireassay.core.arrays import FloatArray
from fireassay.core.estimate import Estimate
from fireassay.core.evidence import Assumption, Claim, Evidence, Provenance, Table
from fireassay.core.pictures import picture
from fireassay.core.result import Answer
from fireassay.engine import Executor
from fireassay.statistics import clopper_pearson, delong_interval, delong_test
from fireassay.supervision.alarm_threshold import AlarmRule
from fireassay.supervision.detection_metrics import detection_metrics, joined
from fireassay.supervision.supervisor import Supervisor

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DENSITY = ("mdsa", "gmm-density", "mahalanobis", "knn", "dsa")
_CONTROL = "control"  # sets of this name are harmless rows of the same making as a set of trouble
_OFF = 0.6  # a density supervisor above this says: the set lies off the training distribution
_LIMITS = (
    "An AUROC says how well scores separate these sets, not how often such inputs occur.",
    "A supervisor that catches one kind of trouble may miss another: look at every column.",
    "An attacker who knows the supervisor can attack it too; that was not tried.",
    "The best of many is chosen on the same rows: its own number is a little too good.",
    "Thresholds come from rows that took no part in fitting or choosing.",
)


@dataclass(frozen=True)
class Comparison(Answer):
    """How well each supervisor tells each set from nominal rows.

    Attributes
    ----------
    table
        What `frame` returns.
    scores
        Scores by set (also "nominal" and "calibration") and supervisor.
    rules
        The alarm threshold of each supervisor; empty where there were too few nominal rows.
    group_table
        AUROC by supervisor, set and group, if groups were given.
    recommended
        The supervisor whose worst set is best.
    pair
        The two supervisors that leave the fewest gaps: the best minimum over sets of the better
        of the two.
    """

    table: pd.DataFrame
    scores: dict[str, dict[str, FloatArray]]
    rules: dict[str, AlarmRule]
    group_table: pd.DataFrame
    recommended: str | None
    pair: tuple[str, ...]
    assumptions: tuple[Assumption, ...]
    false_alarms: dict[str, Estimate]
    confidence: float
    seed: int
    queries: int
    model_sha256: str
    data_sha256: str
    rule_reason: str = ""

    def frame(self) -> pd.DataFrame:
        """One row per supervisor and set: auroc, low, high, fpr95, cost (µs per input), …"""
        return self.table.copy()

    def group_frame(self) -> pd.DataFrame:
        """One row per supervisor, set and group."""
        return self.group_table.copy()

    def matrix(self, number: str = "auroc") -> pd.DataFrame:
        """One number as supervisors × sets, in the order of the comparison."""
        wide = self.table.pivot(index="supervisor", columns="set", values=number)
        rows = self.table["supervisor"].drop_duplicates()
        return wide.loc[rows, self.table["set"].drop_duplicates()]

    def figures(self) -> "dict[str, Figure]":
        """The heat map of AUROCs."""
        from fireassay.supervision.heat_map import heat_map

        return {"heat_map": heat_map(self)}

    def evidence(self) -> Evidence:
        """Numbers of the recommended supervisor per set, and the best of each column."""
        done = self.table[self.table["status"] == "done"]
        if self.recommended is None:
            reasons = "; ".join(sorted(set(self.table["reason"])))
            return Evidence.not_available("supervision", f"no supervisor could be used: {reasons}")
        own = done[done["supervisor"] == self.recommended].set_index("set")
        trouble = _troubles(self.table)
        best = trouble.loc[trouble.groupby("set", sort=False)["auroc"].idxmax()]
        estimates: dict[str, Estimate] = {}
        for name, row in own.iterrows():
            estimates[f"auroc_{name}"] = self._estimate(row, "auroc", "low", "high")
            if self.rules:
                estimates[f"caught_{name}"] = self._estimate(
                    row, "caught", "caught_low", "caught_high"
                )
        for _, winner in best.iterrows():
            if winner["supervisor"] != self.recommended:
                key = f"auroc_{winner['set']}_best_{winner['supervisor']}"
                estimates[key] = self._estimate(winner, "auroc", "low", "high")
        if self.recommended in self.false_alarms:
            estimates["false_alarm"] = self.false_alarms[self.recommended]
        shown = ", ".join(
            f"{r['supervisor']} on {r['set']} ({_auroc(r)})" for _, r in best.iterrows()
        )
        winners = set(best["supervisor"])
        judged = own[own.index.isin(trouble["set"])]
        worst = str(judged["auroc"].idxmin())
        text = (
            f"{self.recommended} has the best worst case (AUROC {_auroc(judged.loc[worst])} on "
            f"{worst}); best per set: {shown}; {self.confidence:.0%} intervals."
        )
        columns = [
            "supervisor", "set", "status", "auroc", "low", "high", "aupr", "aupr_low", "aupr_high",
            "fpr95", "fpr95_low", "fpr95_high", "p_value", "caught", "caught_low", "caught_high",
            "reason",
        ]  # fmt: skip
        rounded = self.table[columns].round(4).astype(object)
        shown_rows = rounded.where(rounded.notna(), None)
        return Evidence(
            "supervision",
            text,
            claims=(
                Claim("No single supervisor is best on every set.", len(winners) > 1),
                Claim(f"The pair that leaves the fewest gaps is {' + '.join(self.pair)}."),
            ),
            estimates=estimates,
            assumptions=self.assumptions,
            tables={
                "supervisors": Table.from_frame(shown_rows, "Supervisors by set.", index=False)
            },
            figures={
                "heat_map": picture(
                    self.figures()["heat_map"],
                    "AUROC of each supervisor on each set; the best of a set is framed.",
                    f"Heat map of AUROCs, supervisors in rows, sets in columns. {text}",
                )
            },
            limits=_LIMITS,
            provenance=Provenance(
                self.seed, self.model_sha256, self.data_sha256, queries=self.queries
            ),
        )

    def _estimate(self, row: Any, value: str, low: str, high: str) -> Estimate:
        method, n = "DeLong, logit scale", int(row["n"])
        if value == "caught":
            set_name = row.get("set", row.name)
            method, n = "Clopper-Pearson", len(self.scores[set_name][row["supervisor"]])
        return Estimate(row[value], row[low], row[high], self.confidence, n, method)


def build_comparison(
    *,
    entrants: Sequence[tuple[Supervisor, str, str]],
    scores: dict[str, dict[str, FloatArray]],
    wrong: Mapping[str, NDArray[np.bool_]],
    groups: Mapping[str, NDArray[np.str_]],
    rules: dict[str, AlarmRule],
    rule_reason: str,
    costs: Mapping[str, float],
    overlap: int,
    confidence: float,
    n_resamples: int,
    seed: int,
    queries: int,
    model_sha256: str,
    data_sha256: str,
    executor: Executor,
) -> Comparison:
    """All numbers from scores."""
    nominal = scores["nominal"]
    set_names = [name for name in scores if name not in ("nominal", "calibration")]
    errors = {
        name: np.concatenate([wrong["nominal"], wrong[name]])
        for name in set_names
        if "nominal" in wrong and name in wrong
    }
    p_values = {name: _against_best(nominal, scores[name]) for name in set_names}
    done = [s.name for s, status, _ in entrants if status == "done"]
    tasks = [(set_name, name) for set_name in set_names for name in done]
    shared = {
        "scores": scores, "errors": errors, "rules": rules,
        "settings": (confidence, n_resamples, seed),
    }  # fmt: skip
    numbers = dict(
        zip(tasks, executor.map(_numbers, tasks, shared, name="compute numbers"), strict=True)
    )
    rows = []
    for set_name in set_names:
        for supervisor, status, reason in entrants:
            name = supervisor.name
            row: dict[str, Any] = {"supervisor": name, "set": set_name, "status": status}
            row |= {"reason": reason, "note": ""}
            if status == "done":
                row |= numbers[set_name, name]
                row["p_value"] = p_values[set_name][name]
                row["cost"] = costs[name]
                row["memory_kib"] = _kibibytes(supervisor.state_)
                if name.startswith("ensemble") and "adversarial" in set_name:
                    row["note"] = "transfer"
            rows.append(row)
    table = pd.DataFrame(rows).reindex(columns=list(_COLUMNS))
    order = {s.name: i for i, (s, _, _) in enumerate(entrants)}
    table = table.sort_values("supervisor", key=lambda c: c.map(order), kind="stable")
    table = table.reset_index(drop=True)
    recommended, pair = _recommendation(table)
    return Comparison(
        table=table,
        scores=scores,
        rules=rules,
        group_table=_group_table(scores, groups, confidence),
        recommended=recommended,
        pair=pair,
        assumptions=_assumptions(table, overlap, rule_reason),
        false_alarms={
            name: _share(nominal[name] > rule.threshold, confidence)
            for name, rule in rules.items()
            if name in nominal
        },
        confidence=confidence,
        seed=seed,
        queries=queries,
        model_sha256=model_sha256,
        data_sha256=data_sha256,
        rule_reason=rule_reason,
    )


_COLUMNS = (
    "supervisor", "set", "n", "auroc", "low", "high", "aupr", "aupr_low", "aupr_high", "fpr95",
    "fpr95_low", "fpr95_high", "aurc", "aurc_low", "aurc_high", "p_value", "threshold", "caught",
    "caught_low", "caught_high", "cost", "memory_kib", "note", "status", "reason",
)  # fmt: skip


def _numbers(
    task: tuple[str, str],
    scores: Mapping[str, Mapping[str, FloatArray]],
    errors: Mapping[str, NDArray[np.bool_]],
    rules: Mapping[str, AlarmRule],
    settings: tuple[float, int, int],
) -> dict[str, Any]:
    """The numbers of one supervisor on one set."""
    set_name, name = task
    confidence, n_resamples, seed = settings
    suspicious = scores[set_name][name]
    found = detection_metrics(
        scores["nominal"][name], suspicious, errors.get(set_name),
        confidence=confidence, n_resamples=n_resamples, seed=seed,
    )  # fmt: skip
    rule = rules.get(name)
    row: dict[str, Any] = {"n": found.auroc.n, "auroc": found.auroc.value}
    row |= {"low": found.auroc.low, "high": found.auroc.high}
    for name in ("aupr", "fpr95", "aurc"):
        estimate: Estimate | None = getattr(found, name)
        if estimate is not None:
            row |= {
                name: estimate.value,
                f"{name}_low": estimate.low,
                f"{name}_high": estimate.high,
            }
    if rule is not None:
        share = _share(suspicious > rule.threshold, confidence)
        row |= {"threshold": rule.threshold, "caught": share.value}
        row |= {"caught_low": share.low, "caught_high": share.high}
    return row


def _share(flags: NDArray[np.bool_], confidence: float) -> Estimate:
    low, high = clopper_pearson(int(flags.sum()), len(flags), confidence)
    value = float(flags.mean())
    return Estimate(value, float(low), float(high), confidence, len(flags), "Clopper-Pearson")


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


def _troubles(table: pd.DataFrame) -> pd.DataFrame:
    """Rows with numbers, without control sets: to flag those is no merit."""
    done = table[table["status"] == "done"]
    trouble = done[~done["set"].str.startswith(_CONTROL)]
    return done if trouble.empty else trouble


def _recommendation(table: pd.DataFrame) -> tuple[str | None, tuple[str, ...]]:
    done = _troubles(table)
    if done.empty:
        return None, ()
    wide = done.pivot(index="supervisor", columns="set", values="auroc")
    wide = wide.loc[done["supervisor"].drop_duplicates()]
    alone = str(wide.min(axis=1).idxmax())
    if len(wide) < 2:
        return alone, (alone,)
    pair = max(combinations(wide.index, 2), key=lambda two: wide.loc[list(two)].max().min())
    return alone, tuple(map(str, pair))


def _group_table(
    scores: Mapping[str, Mapping[str, FloatArray]],
    groups: Mapping[str, NDArray[np.str_]],
    confidence: float,
) -> pd.DataFrame:
    rows = []
    for set_name, labels in groups.items():
        for name, values in scores[set_name].items():
            for group in np.unique(labels):
                chosen = values[labels == group]
                found = delong_interval(*joined(scores["nominal"][name], chosen), confidence)
                rows.append(
                    {
                        "supervisor": name, "set": set_name, "group": str(group),
                        "n": len(chosen), "auroc": found.value, "low": found.low,
                        "high": found.high,
                    }
                )  # fmt: skip
    columns = ["supervisor", "set", "group", "n", "auroc", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def _assumptions(table: pd.DataFrame, overlap: int, rule_reason: str) -> tuple[Assumption, ...]:
    found = [
        Assumption(
            "Nominal rows are not among the training rows.",
            "contradicted" if overlap else "supported",
            f"{overlap} nominal row(s) are training rows as well.",
        ),
        Assumption(
            "Nominal rows are drawn like the inputs in operation.",
            "untestable",
            "The threshold's promise is about inputs drawn like these.",
        ),
    ]
    if rule_reason:
        text = "There are enough nominal rows for thresholds with a promise."
        found.append(Assumption(text, "untestable", f"No thresholds: {rule_reason}"))
    done = table[(table["status"] == "done") & table["set"].str.startswith("ambiguous")]
    for name in _DENSITY:
        own = done[done["supervisor"] == name]
        if len(own):
            row = own.iloc[0]
            found.append(
                Assumption(
                    "Ambiguous inputs lie within the training distribution.",
                    "contradicted" if row["low"] > _OFF else "supported",
                    f"{name} tells them from nominal rows with an AUROC of {_auroc(row)}: a "
                    "model trained without ambiguous rows finds them strange as well as ambiguous.",
                )
            )
            break
    return tuple(found)


def _auroc(row: Any) -> str:
    """Value and interval, as people read them."""
    return f"{row['auroc']:.2f} [{row['low']:.2f}, {row['high']:.2f}]"


def _kibibytes(state: Any) -> float:
    """Size of the fitted arrays."""
    if isinstance(state, np.ndarray):
        return float(state.nbytes) / 1024
    if isinstance(state, dict):
        return sum(map(_kibibytes, state.values()))
    if isinstance(state, list | tuple):
        return sum(map(_kibibytes, state))
    return sum(map(_kibibytes, vars(state).values())) if hasattr(state, "__dict__") else 0.0
