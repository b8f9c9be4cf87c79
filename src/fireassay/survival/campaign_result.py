"""What a campaign found: tables by attack and defence, effects, and cost ratios."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from fireassay.core.errors import AssumptionWarning
from fireassay.core.estimate import Estimate
from fireassay.core.evidence import Assumption, Evidence, Provenance, Table
from fireassay.core.pictures import picture
from fireassay.core.result import Result
from fireassay.statistics import clopper_pearson, poisson_interval
from fireassay.survival.aft_fit import AftFit
from fireassay.survival.cost import Cost
from fireassay.survival.cox_fit import CoxFit
from fireassay.survival.fit import fit
from fireassay.survival.kaplan_meier import KaplanMeier, kaplan_meier
from fireassay.survival.rmst import Rmst, rmst
from fireassay.survival.trash import trash

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class CampaignResult(Result):
    """Times of failure of many models, and what their training cost.

    Attributes
    ----------
    table
        One row per sample, attack, defence and model; ``model_id`` is the cluster.
    trials
        One row per trial: samples, how many were right before and fell, queries spent.
    models
        One row per trained model: train_seconds, n_train, seconds_per_query.
    """

    table: pd.DataFrame
    trials: pd.DataFrame
    models: pd.DataFrame
    budget: int

    def frame(self) -> pd.DataFrame:
        """One row per sample and trial."""
        return self.table

    def curves(self, by: str | Sequence[str] = "attack") -> KaplanMeier:
        """Survival curves with intervals between models."""
        return kaplan_meier(self.table, by=by, cluster="model_id")

    def mean_times(self, by: str | Sequence[str] = "defence") -> Rmst:
        """Restricted mean times with intervals between models."""
        return rmst(self.table, by=by, cluster="model_id")

    def fit(
        self, family: str = "weibull", covariates: Sequence[str] | None = None
    ) -> AftFit | CoxFit:
        """Effects of everything that varied, with intervals between models."""
        names = self._covariates() if covariates is None else list(covariates)
        reference = {"defence": "none"} if "defence" in names else None
        return fit(self.table, family, names, cluster="model_id", reference=reference)

    def _covariates(self) -> list[str]:
        candidates = ("layers", "epochs", "learning_rate", "attack", "defence", "data")
        return [name for name in candidates if self.table[name].nunique() > 1]

    def accuracy(self) -> pd.DataFrame:
        """Benign and adversarial accuracy and failures per query by attack and defence (Fig. 1)."""
        rows = []
        for (attack, defence), part in self.trials.groupby(["attack", "defence"], sort=True):
            n, failures = int(part["n"].sum()), int(part["failures"].sum())
            right = int(part["right"].sum())
            stood, spent = right - failures, float(part["queries_spent"].sum())
            row: dict[str, Any] = {"attack": attack, "defence": defence, "n": n}
            for name, count in (("benign_accuracy", right), ("adversarial_accuracy", stood)):
                low, high = clopper_pearson(count, n)
                row |= {name: count / n, f"{name}_low": float(low), f"{name}_high": float(high)}
            low, high = poisson_interval(failures)
            row |= {
                "failure_rate": failures / spent if spent else np.nan,
                "failure_rate_low": float(low) / spent if spent else np.nan,
                "failure_rate_high": float(high) / spent if spent else np.nan,
                "benign_rejection_rate": float(part["benign_rejection_rate"].mean()),
            }
            rows.append(row)
        return pd.DataFrame(rows)

    def trash(self, family: str = "weibull", price: Cost | None = None) -> pd.DataFrame:
        """The cost ratio of each model and defence with its interval (Fig. 4)."""
        fitted = self.fit(family)
        if not isinstance(fitted, AftFit):
            raise TypeError("trash needs a parametric family")
        rows = []
        for (model, defence), part in self.table.groupby(["model", "defence"], sort=True):
            own = self.models[self.models["model"] == model]
            prices = price or Cost(seconds_per_query=float(own["seconds_per_query"].median()))
            ratio = trash(fitted, float(own["train_seconds_per_sample"].mean()), prices, rows=part)
            rows.append(
                {
                    "model": model,
                    "defence": defence,
                    "trash": ratio.value,
                    "low": ratio.low,
                    "high": ratio.high,
                    "p_above_one": ratio.probability_above_one,
                    "survival_at_budget": ratio.survival_at_horizon,
                    "mean_queries": ratio.mean_time.value,
                    "train_seconds_per_sample": float(own["train_seconds_per_sample"].mean()),
                    "seconds_per_query": prices.seconds_per_query,
                }
            )
        return pd.DataFrame(rows)

    def benign_cost(self) -> pd.DataFrame:
        """Benign cost ratio: training seconds over benign failures' time, by model (Fig. 4, left).

        Without an attacker a query fails with probability 1 − accuracy, so the expected time to
        a failure is that of 1 / (1 − accuracy) queries.
        """
        rows = []
        for model, part in self.trials.groupby("model", sort=True):
            own = self.models[self.models["model"] == model]
            wrong = 1.0 - float(part["right"].sum() / part["n"].sum())
            query = float(own["seconds_per_query"].median())
            train = float(own["train_seconds_per_sample"].mean())
            ratio = train * wrong / query if wrong > 0 else 0.0
            rows.append({"model": model, "benign_error": wrong, "benign_cost_ratio": ratio})
        return pd.DataFrame(rows)

    def figures(self) -> "dict[str, Figure]":
        """Accuracy and failure rate (Fig. 1), effects (Fig. 3), cost (Fig. 4), curves."""
        from fireassay.survival.figures import accuracy_figure, cost_figure

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssumptionWarning)  # said in the evidence
            fitted, cost = self.fit(), self.trash()
        own = fitted.figures()
        return {
            "accuracy": accuracy_figure(self.accuracy()),
            "effects": own["effects"],
            "quantiles": own["quantiles"],
            "calibration": own["calibration"],
            "cost": cost_figure(cost),
            "curves": self.curves("attack").figures()["survival"],
        }

    def evidence(self) -> Evidence:
        """Mean queries by defence, effects of depth and training, cost ratios."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", AssumptionWarning)
            fitted, cost = self.fit(), self.trash()
        means = self.mean_times("defence")
        slopes = fitted.coefficients.drop(index="Intercept", errors="ignore")
        estimates = {
            f"mean_queries_{name}": means.estimate(str(name)) for name in means.table.index
        }
        for name, row in slopes.iterrows():
            if np.isfinite([row["coef"], row["low"], row["high"]]).all():
                estimates[f"effect_{name!s}"] = Estimate(
                    row["coef"], row["low"], row["high"], 0.95, fitted.n, "CR3, Satterthwaite t"
                )
        worst = cost.sort_values("trash").iloc[-1]
        captions = {
            "accuracy": "Accuracy and failures per query by attack and defence",
            "effects": "Effects on log time with intervals between models",
            "quantiles": "Observed against fitted quantiles",
            "calibration": "Predicted against observed failure probability",
            "cost": "Cost of training over cost of attack",
            "curves": "Survival by attack",
        }
        return Evidence(
            question="survival",
            headline=f"{len(self.trials)} trials on {self.models['model_id'].nunique()} models; "
            f"largest cost ratio {worst['trash']:.3g} [{worst['low']:.3g}, {worst['high']:.3g}] "
            f"({worst['model']}, {worst['defence']})",
            estimates=estimates,
            assumptions=(
                Assumption(
                    "Models are independent of each other; their samples are not.",
                    "untestable",
                    f"{fitted.n_clusters} clusters, CR3 with Satterthwaite t.",
                ),
            ),
            tables={
                "accuracy": Table.from_frame(self.accuracy(), "By attack and defence", index=False),
                "effects": Table.from_frame(fitted.coefficients, "Effects on log time"),
                "mean_times": Table.from_frame(means.table, "Mean queries by defence"),
                "cost": Table.from_frame(cost, "Cost ratios", index=False),
            },
            figures={
                name: picture(figure, captions[name], captions[name])
                for name, figure in self.figures().items()
            },
            limits=tuple(str(w.message) for w in caught),
            provenance=Provenance(seed=0, queries=int(self.table["queries"].sum())),
        )
