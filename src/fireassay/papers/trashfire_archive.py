"""Table I and Figs. 1 to 4 of the TRASHFIRE paper from its archived experiments."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.stats import t

from fireassay.core.chart import Chart
from fireassay.core.drawing import Spec, grouped
from fireassay.papers.trashfire import paper_covariates, paper_rows

if TYPE_CHECKING:
    from fireassay.survival.fitted import SurvivalFit

SCORES = (
    "aic", "bic", "concordance", "test_concordance", "ici", "test_ici", "e50", "test_e50",
)  # fmt: skip
# Table I as printed; None: the cell is empty.
PRINTED: dict[str, tuple[float | None, ...]] = {
    "cox": (None, None, 0.92, 0.92, 0.07, None, 0.05, None),
    "gengamma": (None, None, 0.51, 0.52, 0.26, 0.17, 0.17, 0.24),
    "weibull": (9.05e4, 9.05e4, 0.92, 0.92, 0.02, 0.02, 0.0, 0.01),
    "exponential": (7.93e4, 7.93e4, 0.86, 0.86, 0.04, 0.19, 0.01, 0.02),
    "loglogistic": (9.79e4, 9.79e4, 0.92, 0.92, 0.07, 0.08, 0.01, 0.01),
    "lognormal": (1.14e5, 1.14e5, 0.91, 0.91, 0.15, 0.26, 0.08, 0.19),
}
_COST_COLUMNS = (
    "attack", "model_name", "accuracy", "attack_size", "adv_fit_time", "train_time_per_sample",
    "epochs", "lr", "split_seed",
)  # fmt: skip
_FITTED = ("exponential", "weibull", "lognormal", "loglogistic", "gengamma")


@dataclass(frozen=True)
class Archive:
    """What the archived table says.

    Attributes:
        experiments: The table as archived.
        families: Table I: one row per family, ours.
        fits: The families with a likelihood, fitted to all rows.
        effects: Coefficients of the Weibull model, with the intervals of models as clusters.
        without_query_time: The effect of layers where the time of a prediction is left out.
        cost: By attack and model: training over attack seconds, per sample.
    """

    experiments: pd.DataFrame
    families: pd.DataFrame
    fits: "Mapping[str, SurvivalFit]"
    effects: pd.DataFrame
    without_query_time: pd.DataFrame
    cost: pd.DataFrame

    def charts(self) -> dict[str, Chart]:
        """Figs. 1 to 4; the first and the last need the columns of `cost_ratios`."""
        drawn = {"fig_2": _quantiles(self.fits), "fig_3": _effects(self.effects)}
        if len(self.cost):
            drawn["fig_1"] = _accuracy_chart(self.experiments)
            drawn["fig_4"] = _cost_chart(self.cost)
        return dict(sorted(drawn.items()))

    def beside_printed(self) -> pd.DataFrame:
        """Table I: our scores, and the printed ones in columns of their own."""
        columns: dict[str, Any] = {}
        for at, score in enumerate(SCORES):
            columns[score] = self.families[score]
            columns[f"printed {score}"] = [PRINTED[name][at] for name in self.families.index]
        return pd.DataFrame(columns, index=self.families.index).astype(float)

    def to_dict(self) -> dict[str, Any]:
        """Everything that verdicts need, as plain values."""
        return {
            "rows": len(self.experiments),
            "printed": {name: dict(zip(SCORES, row, strict=True)) for name, row in PRINTED.items()},
            "families": _plain(self.families[list(SCORES)]),
            "effects": _plain(self.effects),
            "without_query_time": _plain(self.without_query_time),
            "cost": self.cost.to_dict("records"),
            **_outcomes(self.experiments),
        }


def read_archive(table: str | Path, seed: int = 0) -> Archive:
    """Fit the six families to an archived experiment table, and what the figures need.

    Args:
        table: The authors' CSV: one experiment per row.
        seed: Of the split into a training and a test part.
    """
    from fireassay import survival

    experiments = pd.read_csv(table)
    rows = paper_rows(experiments)
    covariates = paper_covariates(rows)
    families = survival.compare(rows, covariates=covariates, seed=seed).frame()
    groups = "model_id" if "model_id" in rows else None
    fits = {name: survival.fit(rows, name, covariates) for name in _FITTED}
    effects = survival.fit(rows, "weibull", covariates, groups).coefficients
    layers = pd.DataFrame()
    if "predict_time" in covariates and "layers" in covariates:
        fewer = [name for name in covariates if name not in ("predict_time", "train_time")]
        layers = survival.fit(rows, "weibull", fewer, groups).coefficients.loc[["layers"]]
    return Archive(experiments, families, fits, effects, layers, cost_ratios(experiments))


def cost_ratios(experiments: pd.DataFrame) -> pd.DataFrame:
    """Training over attack seconds per sample, by attack and model, with 95 % intervals.

    Nothing is censored in the archive, so the mean time of an attack is that of the rows; the
    interval is that of a ratio of means on the logarithmic scale, with trained models as units.
    Empty where a table has no such columns.
    """
    if not set(_COST_COLUMNS) <= set(experiments.columns):
        return pd.DataFrame()
    own = experiments.assign(
        attack_s=experiments["adv_fit_time"] / experiments["attack_size"],
        trained=experiments[["model_name", "epochs", "lr", "split_seed"]].astype(str).sum(axis=1),
    )
    rows = []
    for (attack, model), part in own.groupby(["attack", "model_name"], sort=True):
        means = part.groupby("trained")[["train_time_per_sample", "attack_s"]].sum()
        cost, time = means["train_time_per_sample"], means["attack_s"]
        ratio = cost.sum() / time.sum()
        residual = cost / cost.sum() - time / time.sum()
        n = len(means)
        arm = t.isf(0.025, n - 1) * math.sqrt(n / (n - 1) * float((residual**2).sum()))
        rows.append({
            "attack": attack, "model": model, "experiments": len(part), "models": n,
            "ratio": ratio, "low": ratio * math.exp(-arm), "high": ratio * math.exp(arm),
        })  # fmt: skip
    return pd.DataFrame(rows)


def _accuracy_chart(experiments: pd.DataFrame) -> Chart:
    """Fig. 1: benign and adversarial accuracy and failures per second, by attack and model."""
    own = experiments.assign(
        failures=(1 - experiments["adv_accuracy"])
        * experiments["attack_size"]
        / experiments["adv_fit_time"]
    )
    panels = []
    for column, title, log in (
        ("accuracy", "benign accuracy", False),
        ("adv_accuracy", "adversarial accuracy", False),
        ("failures", "failures per second", True),
    ):
        rows = []
        for (attack, model), part in own.groupby(["attack", "model_name"], sort=True):
            middle, low, high = (float(q) for q in part[column].quantile([0.5, 0.25, 0.75]))
            rows.append((str(attack), str(model), middle, low, high))
        panels.append(grouped(rows, title, unit="number" if log else "share", log=log, width=220))
    return Chart(
        {"hconcat": panels},
        "Median and quartiles over the archived experiments, by attack (rows) and model (colours). "
        "The archive names no defences.",
        "Three panels of dots with bars.",
    )


def _quantiles(fits: "Mapping[str, SurvivalFit]") -> Chart:
    """Fig. 2: one panel per family."""
    from fireassay.survival.charts import quantiles_chart

    panels = [
        dict(quantiles_chart(fit, most=80).body) | {"title": name} for name, fit in fits.items()
    ]
    return Chart(
        {"concat": panels, "columns": 3},
        "Observed against fitted quantiles: on the dashed line a family describes the times.",
        "Five panels, each a line along a dashed diagonal.",
    )


def _effects(coefficients: pd.DataFrame) -> Chart:
    """Fig. 3: Weibull coefficients with intervals."""
    from fireassay.survival.charts import effects_chart

    return effects_chart(coefficients)


def _cost_chart(cost: pd.DataFrame) -> Chart:
    """Fig. 4: cost of training over cost of an attack."""
    rows = [
        (str(r["attack"]), str(r["model"]), r["ratio"], r["low"], r["high"])
        for r in cost.to_dict("records")
    ]
    spec: Spec = grouped(
        rows, "seconds of training / seconds of attack, per sample", unit="number", log=True,
        guide=1.0,
    )  # fmt: skip
    return Chart(
        spec,
        "Right of the dashed line an attack is cheaper than training; left of it, dearer.",
        "Dots with intervals by attack and model.",
    )


def _outcomes(experiments: pd.DataFrame) -> dict[str, Any]:
    """What became of the attacked samples, where the table says so."""
    names = [n for n in ("accuracy", "adv_accuracy", "adv_success") if n in experiments]
    by = experiments.groupby("attack")[names].mean() if "attack" in experiments else pd.DataFrame()
    wrong = experiments["adv_accuracy"] < 1
    unchanged = (
        wrong & (experiments["adv_success"] == 0) if "adv_success" in names else wrong & False
    )
    return {
        "by_attack": _plain(by),
        "censored": int((~wrong).sum()),
        "unchanged": int(unchanged.sum()),
    }


def _plain(frame: pd.DataFrame) -> dict[str, dict[str, Any]]:
    return {
        str(name): {
            str(column): (None if isinstance(v, float) and not np.isfinite(v) else v)
            for column, v in row.items()
        }
        for name, row in frame.to_dict("index").items()
    }
