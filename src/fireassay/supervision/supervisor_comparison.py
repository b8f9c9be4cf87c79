"""The result of comparing supervisors: a row per supervisor and set, and what follows from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.chart import Chart
from fireassay.core.drawing import IntervalRow, intervals, matrix
from fireassay.core.estimate import Estimate
from fireassay.core.evidence import Assumption, Claim, Evidence, LeadingNumber, Provenance, Table
from fireassay.core.lazy import pd
from fireassay.core.measure import find_measure
from fireassay.core.result import Answer
from fireassay.core.words import percent
from fireassay.data.splits import CopiedRows
from fireassay.supervision.candidates import NOMINAL
from fireassay.supervision.detection_table import alarms, troubles
from fireassay.supervision.measures import MEASURES, SENTENCES
from fireassay.supervision.registry import SavedSupervisor
from fireassay.supervision.supervisor import AlarmRule

_DENSITY = ("mdsa", "gmm-density", "mahalanobis", "knn", "dsa")
_AMBIGUOUS = "ambiguous"
_COIN = 0.5
_OFF = 0.6  # a density supervisor above this says: the set lies off the training distribution
# Ids of the assumptions.
APART, LIKE_FIELD = "nominal-apart-from-training", "nominal-like-the-field"
ENOUGH, IN_DISTRIBUTION = "enough-nominal-rows", "ambiguous-in-distribution"
_TROUBLES = {
    "adversarial": "slight attacks",
    "strong adversarial": "strong attacks",
    "ambiguous": "ambiguous inputs",
    "corrupted": "corrupted inputs",
    "scrambled": "scrambled inputs",
    "curated": "naturally hard cases",
    "errors": "its own errors",
    "control field": "rows of the field",
}
_LIMITS = (
    "It says how well trouble is told from normal rows, not how often trouble comes.",
    "A monitor that catches one kind of trouble may miss another: look at every row.",
    "An attacker who knows the monitor can attack it, too; that was not tried.",
)
_CAPTION = "Supervisors by set."
_SHOWN = [
    "supervisor", "set", "status", "auroc", "low", "high", "simultaneous_low",
    "simultaneous_high", "aupr", "aupr_low", "aupr_high",
    "fpr95", "fpr95_low", "fpr95_high", "worse", "caught", "caught_low", "caught_high", "reason",
]  # fmt: skip


@dataclass(frozen=True)
class SupervisorComparison(Answer):
    """How well each supervisor tells each set from nominal rows.

    Attributes:
        table: What `frame` returns.
        scores: Scores by set (also "nominal" and "calibration") and supervisor.
        rules: The alarm threshold of each supervisor; empty where there were too few nominal rows.
        kind_table: AUROC by supervisor, set and kind, if kinds were given.
        recommended: The supervisor whose worst set is best.
        pair: The two supervisors that leave the fewest gaps: the best minimum over sets of the
            better of the two.
        best: The best supervisor of each set of trouble.
        reported, groups, confirmed: The scores that the table rests on, their groups (None: rows
            are independent), and whether the supervisors were chosen on other rows.
        assumptions: What the numbers rest on.
        confidence, seed: Of all intervals, and of whatever was drawn.
        queries, model_sha256, data_sha256: Rows sent to the model, and what model and data were.
        rule_reason: Why there are no thresholds; empty where there are.
        monitor: The recommended supervisor as it was fitted, with its threshold.
    """

    table: pd.DataFrame
    scores: dict[str, dict[str, FloatArray]]
    rules: dict[str, AlarmRule]
    kind_table: pd.DataFrame
    recommended: str | None
    pair: tuple[str, ...]
    best: dict[str, str]
    reported: dict[str, dict[str, FloatArray]]
    groups: Mapping[str, IntArray] | None
    confirmed: bool
    assumptions: tuple[Assumption, ...]
    confidence: float
    seed: int
    queries: int
    model_sha256: str
    data_sha256: str
    rule_reason: str = ""
    monitor: SavedSupervisor | None = None

    def frame(self) -> pd.DataFrame:
        """One row per supervisor and set: auroc, low, high, fpr95, cost (µs per input), …"""
        return self.table.copy()

    def kind_frame(self) -> pd.DataFrame:
        """One row per supervisor, set and kind."""
        return self.kind_table.copy()

    def matrix(self, number: str = "auroc") -> pd.DataFrame:
        """One number as supervisors × sets, in the order of the comparison."""
        wide = self.table.pivot(index="supervisor", columns="set", values=number)
        rows = self.table["supervisor"].drop_duplicates()
        return wide.loc[rows, self.table["set"].drop_duplicates()]

    def charts(self) -> dict[str, Chart]:
        """What the recommended supervisor catches, worst first, and the matrix of AUROCs."""
        charts = {}
        rule = self.rules.get(str(self.recommended))
        if rule is not None:
            charts["caught"] = self._caught(rule)
        return {**charts, "heat_map": self._aurocs()}

    def _caught(self, rule: AlarmRule) -> Chart:
        name, doubted = str(self.recommended), self._doubted
        done = self.table[(self.table["status"] == "done") & (self.table["supervisor"] == name)]
        kinds = set(troubles(self.table)["set"])
        found = {str(s): self._alarms(s, name, rule) for s in [*done["set"], NOMINAL]}
        rows = []
        for s in sorted(found, key=lambda s: (s not in kinds, found[s].value)):
            shown = _row_name(s, s in kinds, doubted=bool(doubted & set(self._rests_on(s))))
            value, state = found[s].value, "dot" if s in kinds else "none"
            ends = found[s].low, found[s].high
            rows.append(IntervalRow(shown, value, *ends, state=state, text=percent(value)))
        return Chart(
            intervals(rows, "share that raises the alarm", domain=(0, 1)),
            f"Share that raises the alarm of the recommended monitor ({name}), worst trouble "
            "first; squares are inputs without trouble.",
            "A dot with an interval for each kind of trouble.",
        )

    def _alarms(self, set_name: str, supervisor: str, rule: AlarmRule) -> Estimate:
        """The share of a set's reported rows above a supervisor's threshold."""
        groups = None if self.groups is None else self.groups[set_name]
        return alarms(self.reported[set_name][supervisor], rule, self.confidence, groups)

    def _aurocs(self) -> Chart:
        wide = self.matrix("auroc")
        cells = [
            (str(row), str(column), float(value))
            for row, values in wide.iterrows()
            for column, value in values.items()
        ]
        usable = wide.dropna(axis=1, how="all")
        framed = {(str(usable[c].idxmax()), str(c)) for c in usable.columns}
        order, columns = list(map(str, wide.index)), list(map(str, wide.columns))
        return Chart(
            matrix(
                cells, title="AUROC", unit="number", order=order, columns=columns, framed=framed
            ),
            "AUROC of each supervisor on each set; the best of a set is framed, what could not be "
            "used is empty.",
            "A matrix of AUROCs, supervisors in rows, sets in columns.",
        )

    def evidence(self) -> Evidence:
        """Numbers of the recommended supervisor per set, and the best of each column."""
        if self.recommended is None:
            reasons = "; ".join(sorted(set(self.table["reason"])))
            return Evidence.not_available("supervision", f"no supervisor could be used: {reasons}")
        done = self.table[self.table["status"] == "done"]
        own = done[done["supervisor"] == self.recommended]
        trouble = troubles(self.table)
        best = trouble[[self.best[r["set"]] == r["supervisor"] for _, r in trouble.iterrows()]]
        low, high = self._ends
        shown = ", ".join(
            f"{r['supervisor']} on {r['set']} ({_auroc(r, low, high)})" for _, r in best.iterrows()
        )
        judged = own[own["set"].isin(trouble["set"])]
        worst = judged.iloc[int(judged["auroc"].argmin())]
        found = f"(AUROC {_auroc(worst, low, high)} on {worst['set']})"
        blind = self.blind_to
        if blind:
            where = "here" if len(blind) == len(judged) else f"against {_listed(blind)}"
            first = (
                f"No monitor works {where}: {self.recommended}, the best, is no better than a "
                f"coin {found}"
            )
        elif worst[low] <= _COIN:
            first = f"{self.recommended} fails least, and may be a coin {found}"
        else:
            first = f"{self.recommended} has the best worst case {found}"
        hold = "that hold for all supervisors and sets at once."
        hold = "on rows that took no part in the choice." if self.confirmed else hold
        text = f"{first}; best per set: {shown}; {percent(self.confidence)} intervals {hold}"
        several = best["supervisor"].nunique() > 1
        rounded = self.table[_SHOWN].round(4).astype(object)
        table = Table.from_frame(rounded.where(rounded.notna(), None), _CAPTION, index=False)
        estimates = self._estimates(own, best)
        return Evidence(
            "supervision",
            text,
            **self._answer(estimates, [str(name) for name in judged["set"]]),
            claims=(
                Claim("No single supervisor is best on every set.", several),
                Claim(f"The pair that leaves the fewest gaps is {' + '.join(self.pair)}."),
            ),
            estimates=estimates,
            measures=MEASURES,
            assumptions=self.assumptions,
            tables={"supervisors": table},
            charts=self.charts(),
            limits=_LIMITS,
            provenance=Provenance(
                self.seed, self.model_sha256, self.data_sha256, queries=self.queries
            ),
        )

    @property
    def blind_to(self) -> tuple[str, ...]:
        """Sets of trouble that the recommended supervisor tells no better than a coin does."""
        own = troubles(self.table)
        own = own[(own["supervisor"] == self.recommended) & (own["auroc"] <= _COIN)]
        return tuple(map(str, own["set"]))

    @property
    def works(self) -> bool:
        """Whether the recommended supervisor beats a coin on some kind of trouble."""
        own = troubles(self.table)
        return bool((own[own["supervisor"] == self.recommended]["auroc"] > _COIN).any())

    def _answer(self, estimates: dict[str, Estimate], sets: list[str]) -> LeadingNumber:
        """The worst trouble in one sentence: how much of it raises the promised alarm."""
        kind = "caught" if all(f"caught_{name}" in estimates for name in sets) else "auroc"
        sets = [name for name in sets if not self._doubted & set(self._rests_on(name))] or sets
        worst = min(sets, key=lambda name: estimates[f"{kind}_{name}"].value)
        answer = f"{kind}_{worst}"
        measure = find_measure(answer, MEASURES)
        assert measure is not None  # both families are declared
        told = measure.told(estimates[answer])
        if not self.works:
            kind = "none"
        rule = self.rules.get(str(self.recommended))
        promised = "" if rule is None else percent(rule.false_alarm)
        text = SENTENCES[kind].format(kind=trouble_in_words(worst), told=told, promised=promised)
        return {"answer": answer, "sentence": text}

    def _estimates(self, own: pd.DataFrame, best: pd.DataFrame) -> dict[str, Estimate]:
        """AUROCs and caught shares of the recommended one, and of who is better on a set."""
        estimates: dict[str, Estimate] = {}
        rule = self.rules.get(str(self.recommended))
        for _, row in own.iterrows():
            name = row["set"]
            estimates[f"auroc_{name}"] = self._auroc_estimate(row)
            if rule is not None:
                caught = self._alarms(name, row["supervisor"], rule)
                estimates[f"caught_{name}"] = replace(caught, rests_on=self._rests_on(name))
        for _, row in best.iterrows():
            if row["supervisor"] != self.recommended:
                estimates[f"auroc_best_{row['set']}"] = self._auroc_estimate(row)
        if rule is not None:
            nominal = self._alarms(NOMINAL, str(self.recommended), rule)
            estimates["false_alarm"] = replace(nominal, rests_on=(APART, LIKE_FIELD))
        return estimates

    @property
    def _doubted(self) -> set[str]:
        """Ids of the assumptions that the data contradicts."""
        return {a.id for a in self.assumptions if a.status == "contradicted"}

    @property
    def _ends(self) -> tuple[str, str]:
        """The columns of the interval that holds in spite of the choice."""
        return ("low", "high") if self.confirmed else ("simultaneous_low", "simultaneous_high")

    def _auroc_estimate(self, row: Any) -> Estimate:
        low, high = self._ends
        done = self.table[self.table["status"] == "done"]
        m, sets = done["supervisor"].nunique(), done["set"].nunique()
        how = "DeLong" if self.groups is None else "jackknife over groups, logit scale"
        how += ", chosen on other rows" if self.confirmed else f", simultaneous over {m}"
        if not self.confirmed and sets > 1:
            how += f" supervisors × {sets} sets"
        return Estimate.around(
            row["auroc"], row[low], row[high], confidence=self.confidence, n=int(row["n"]),
            method=how, rests_on=self._rests_on(row["set"]),
        )  # fmt: skip

    def _rests_on(self, set_name: str) -> tuple[str, ...]:
        known = {assumption.id for assumption in self.assumptions}
        ambiguous = set_name.startswith(_AMBIGUOUS) and IN_DISTRIBUTION in known
        return (APART, LIKE_FIELD, *((IN_DISTRIBUTION,) if ambiguous else ()))


def trouble_in_words(name: str) -> str:
    """The usual word for a set of trouble; a user's own name stays."""
    return _TROUBLES.get(name, name)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(trouble_in_words(name) for name in names)


def _row_name(name: str, trouble: bool, *, doubted: bool) -> str:
    if name == NOMINAL:
        return "normal rows (false alarms)"
    if not trouble:
        return f"{trouble_in_words(name)} (no trouble)"
    return f"{trouble_in_words(name)} (in doubt)" if doubted else trouble_in_words(name)


def assumptions(
    table: pd.DataFrame, copies: CopiedRows, rule_reason: str
) -> tuple[Assumption, ...]:
    """What the numbers of a comparison need, and what the data says about it."""
    found = [
        Assumption(
            "Normal test rows are not among the training rows.",
            "contradicted" if copies.many else "untestable" if len(copies.rows) else "supported",
            SENTENCES["copied"].format(copied=len(copies.rows), n=copies.n)
            if len(copies.rows)
            else f"None of {copies.n} test rows is in the training data.",
            APART,
        ),
        Assumption(
            "Normal test rows are drawn like the inputs in operation.",
            "untestable",
            "The threshold's promise is about inputs drawn like these.",
            LIKE_FIELD,
        ),
    ]
    if rule_reason:
        text = "There are enough normal rows for thresholds with a promise."
        found.append(Assumption(text, "untestable", f"No thresholds: {rule_reason}", ENOUGH))
    done = table[(table["status"] == "done") & table["set"].str.startswith(_AMBIGUOUS)]
    for name in _DENSITY:
        own = done[done["supervisor"] == name]
        if len(own):
            row = own.iloc[0]
            found.append(
                Assumption(
                    "Ambiguous inputs lie within the training distribution.",
                    "contradicted" if row["low"] > _OFF else "supported",
                    f"The monitor {name} tells them from normal rows with AUROC {_auroc(row)}: "
                    "they are strange as well as ambiguous.",
                    IN_DISTRIBUTION,
                )
            )
            break
    return tuple(found)


def _auroc(row: Any, low: str = "low", high: str = "high") -> str:
    """Value and interval, as people read them."""
    return f"{row['auroc']:.2f} [{row[low]:.2f}, {row[high]:.2f}]"
