"""A campaign's answer: tables, charts, and one sentence for each question it was run for."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from fireassay.core import AssumptionWarning, Chart, Estimate, FireassayError
from fireassay.core.evidence import Assumption, Claim, Evidence, Provenance, Table
from fireassay.core.lazy import pd
from fireassay.core.words import percent
from fireassay.survival.curves import reached
from fireassay.survival.fit import fit
from fireassay.survival.fitted import AftFit
from fireassay.survival.measures import MEASURES
from fireassay.survival.plan import plan
from fireassay.survival.rows import STRONGEST_ATTACKS

if TYPE_CHECKING:
    from fireassay.survival.campaign_result import CampaignResult

_PLANNED_RATIO = 1.2
# A twentieth fewer samples is within the error of the plan itself.
_WORTH_SAYING = 1.05


def campaign_charts(result: CampaignResult) -> dict[str, Chart]:
    """Accuracy (Fig. 1), effects (Fig. 3), cost (Fig. 4), curves, quantiles (Fig. 2)."""
    from fireassay.survival.charts import accuracy_chart, cost_chart

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)  # said in the evidence
        own = result.fit().charts()
        cost = cost_chart(result.trash(), result.benign_cost())
    found = {
        "accuracy": accuracy_chart(result.accuracy()),
        "effects": own.get("effects"),  # none where nothing was varied
        "cost": cost,
        "curves": result.curves("attack").charts()["survival"],
        "quantiles": own["quantiles"],
        "calibration": own["calibration"],
    }
    return {name: chart for name, chart in found.items() if chart is not None}


def samples_needed(result: CampaignResult) -> pd.DataFrame:
    """Samples per arm that see a time ratio of 1.2 with 80 % power, by what is compared."""
    rows = {}
    for attack, part in result.table.groupby("attack", sort=True):
        share = float(np.isfinite(part["upper"]).mean())
        if not 0.02 < share < 0.98:
            continue
        scale = float(fit(part, "weibull").scale)  # type: ignore[union-attr]
        planned = plan(_PLANNED_RATIO, 0.8, failure_share=share, scale=scale)
        rows[attack] = {
            "failed_within_budget": share,
            "scale": scale,
            "survival": planned.samples,
            "adversarial_accuracy": planned.samples_by_adversarial_accuracy,
            "saving": planned.saving,
        }
    table = pd.DataFrame.from_dict(rows, orient="index")
    table.index.name = "attack"
    return table


def conclusions(
    result: CampaignResult, effects: pd.DataFrame, cost: pd.DataFrame, samples: pd.DataFrame
) -> list[Claim]:
    """One sentence with its figures for each question; no verdict where the data has none."""
    found = []
    rows: dict[Any, dict[Any, float]] = effects.to_dict(orient="index")
    if "layers" in rows:
        found.append(_depth(result, rows["layers"]))
    if "epochs" in rows:
        row = rows["epochs"]
        text = f"More epochs fail sooner: one more multiplies the time by {_factor(row)}."
        longer = _longer(row)
        found.append(Claim(text, None if longer is None else not longer))
    withheld = result.trials.groupby("defence")["benign_rejection_rate"].mean()
    for name in [n for n in rows if str(n).startswith("defence[")]:
        defence = str(name)[len("defence[") : -1]
        text = f"The defence {defence} lengthens survival: time × {_factor(rows[name])}"
        if withheld.get(defence, 0.0) > 0:
            text += f", and it withholds {percent(withheld[defence])} of clean answers"
        found.append(Claim(f"{text}.", _longer(rows[name])))
    above, below = int((cost["low"] > 1).sum()), int((cost["high"] < 1).sum())
    stand = " (samples stand: the ratio is only bounded from above)"
    text = (
        f"Breaking a sample costs less than training on one did: {above} of {len(cost)} models "
        f"and defences are above 1, {below} below, the others undecided"
        f"{stand if (cost['standing'] > 0).any() else ''}."
    )
    found.append(Claim(text, _decided(above == len(cost), below == len(cost))))
    if len(samples):
        low, high = float(samples["saving"].min()), float(samples["saving"].max())
        text = (
            "Comparing survival needs fewer samples than comparing adversarial accuracy: "
            f"{low:.2f} to {high:.2f} times fewer, by attack, for a time ratio of "
            f"{_PLANNED_RATIO:g}."
        )
        found.append(Claim(text, _decided(low > _WORTH_SAYING, high < _WORTH_SAYING)))
    return [
        claim if claim.holds is not None else Claim(f"Not decided: {claim.text}", None)
        for claim in found
    ]


def _depth(result: CampaignResult, row: dict[Any, float]) -> Claim:
    seconds = result.models.groupby("layers")["seconds_per_query"].median()
    factor = float(seconds.iloc[-1] / seconds.iloc[0])
    return Claim(
        f"Depth buys robustness, not only slower inference: one layer more multiplies the queries "
        f"to failure by {_factor(row)}, while a query of {seconds.index[-1]} layers takes "
        f"{factor:.1f} times that of {seconds.index[0]}.",
        _longer(row),
    )


def _factor(row: dict[Any, float]) -> str:
    value, low, high = (float(np.exp(row[name])) for name in ("coef", "low", "high"))
    return f"{value:.3g} [{low:.3g}, {high:.3g}]"


def _longer(row: dict[Any, float]) -> bool | None:
    """Whether an effect on log time lies above zero, all effects judged at once; None: unclear."""
    return _decided(row["simultaneous_low"] > 0, row["simultaneous_high"] < 0)


def _decided(holds: bool, fails: bool) -> bool | None:
    return True if holds else False if fails else None


def _tables(
    result: CampaignResult, effects: pd.DataFrame, cost: pd.DataFrame, samples: pd.DataFrame
) -> tuple[dict[str, Table], list[str]]:
    medians = result.curves("attack").medians.copy()
    for name in ("median", "low", "high"):
        medians[name] = [reached(value) for value in medians[name]]
    frames: dict[str, tuple[pd.DataFrame, str]] = {
        "medians": (medians, "Median queries to failure by attack (Kaplan-Meier)"),
        **{
            f"mean_queries_by_{axis}": (
                result.mean_times(axis).frame(),
                f"Mean queries to failure within the budget, by {axis}",
            )
            for axis in result.varied()
            if axis != "layers"
        },
        "log_rank": (result.log_ranks(), "Log-rank tests, rows of a model kept together"),
        "effects": (effects, "Effects on log time: positive is longer"),
        "accuracy": (result.accuracy().set_index("attack"), "By attack and defence"),
        "cost": (cost.set_index("model"), "Cost of training over cost of attack"),
        "benign_cost": (result.benign_cost().set_index("model"), "The same without an attacker"),
    }
    refusals = []
    try:
        frames["families"] = (
            result.families().frame().drop(columns="note"),
            "Families on a training and a test part, models kept whole",
        )
    except FireassayError as refusal:
        refusals.append(f"Families are not compared: {refusal}")
    if len(samples):
        frames["samples"] = (samples, f"Samples per arm for a time ratio of {_PLANNED_RATIO:g}")
    return {
        name: Table.from_frame(frame, caption) for name, (frame, caption) in frames.items()
    }, refusals


def campaign_evidence(result: CampaignResult) -> Evidence:
    """Everything a report needs; what cannot be said is said to be missing, with its reason."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", AssumptionWarning)
        fitted, cost, samples = result.fit(), result.trash(), samples_needed(result)
        effects = fitted.coefficients
        tables, refusals = _tables(result, effects, cost, samples)
        charts = campaign_charts(result)
    assert isinstance(fitted, AftFit)
    estimates = {}
    for axis in ("defence", "attack"):
        means = result.mean_times(axis)
        for name in means.table.index:
            estimates[f"mean_queries_{name}"] = means.estimate(str(name))
    for name, row in effects.drop(index="Intercept", errors="ignore").iterrows():
        if np.isfinite([row["coef"], row["low"], row["high"]]).all():
            estimates[f"effect_{name!s}"] = Estimate(
                row["coef"], row["low"], row["high"], 0.95, fitted.n, "CR3, Satterthwaite t",
                rests_on=("independent-rows",),
            )  # fmt: skip
    worst = cost.sort_values("trash").iloc[-1]
    largest = estimates["largest_trash"] = Estimate(
        worst["trash"], cost["low"].max(), cost["high"].max(),
        fitted.confidence, fitted.n, f"TRASH, delta method on logs, simultaneous over {len(cost)}",
    )  # fmt: skip
    warned = [str(w.message) for w in caught if issubclass(w.category, AssumptionWarning)]
    said = dict.fromkeys([*fitted.notes, *warned])
    models = int(result.table["model_id"].nunique())
    return Evidence(
        question="survival",
        headline=f"{len(result.trials)} trials on {models} models; "
        f"largest cost ratio {worst['trash']:.3g} [{largest.low:.3g}, {largest.high:.3g}] "
        f"({worst['model']}, {worst['defence']})",
        claims=tuple(conclusions(result, effects, cost, samples)),
        estimates=estimates,
        assumptions=(
            Assumption(
                "Models are independent of each other; their samples are not."
                if models > 1
                else "Samples of the one model are independent of each other.",
                "untestable",
                f"{fitted.n_groups} groups, CR3 with Satterthwaite t.",
                id="independent-rows",
            ),
            STRONGEST_ATTACKS,
        ),
        measures=MEASURES,
        tables=tables,
        charts=charts,
        limits=(*said, *refusals),
        provenance=Provenance(seed=0, queries=int(result.table["queries"].sum())),
    )
