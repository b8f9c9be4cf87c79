"""What a campaign found: tables by attack and defence, effects, and cost ratios."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fireassay.core import Answer, Chart, DataError, Evidence, ParameterError
from fireassay.core.lazy import pd, stats
from fireassay.statistics import poisson_interval, share
from fireassay.survival.cox_fit import CoxFit
from fireassay.survival.curves import KaplanMeier, kaplan_meier
from fireassay.survival.family_comparison import FamilyComparison, compare
from fireassay.survival.fit import fit
from fireassay.survival.fitted import AftFit
from fireassay.survival.log_rank import Rmst, log_rank, rmst
from fireassay.survival.trash import Cost, trash

AXES = ("attack", "defence", "model", "layers", "epochs", "learning_rate", "data")
_OF_THE_MODEL = ("layers", "epochs", "learning_rate", "data")


@dataclass(frozen=True)
class CampaignResult(Answer):
    """Times of failure of many models, and what their training cost.

    Attributes:
        table: One row per sample, attack, defence and model; ``model_id`` is the group.
        trials: One row per trial: samples, how many were right before and fell, queries spent.
        models: One row per attacked model and seed: train_seconds, n_train, seconds_per_query.
        budget: Most queries of an attack on one sample, in forward-equivalents.
    """

    table: pd.DataFrame
    trials: pd.DataFrame
    models: pd.DataFrame
    budget: int

    def frame(self) -> pd.DataFrame:
        """One row per sample and trial."""
        return self.table

    def varied(self) -> list[str]:
        """Axes with more than one value, all of them known."""
        return [
            name
            for name in AXES
            if self.table[name].nunique() > 1
            and self.table[name].notna().all()
            and not (name == "layers" and (self.table[name] == 0).any())
        ]

    def groups_for(self, by: str | Sequence[str] = ()) -> str:
        """What belongs together: models; samples, where a group has one model alone."""
        groups = [by] if isinstance(by, str) else list(by)
        models = self.table.groupby(groups)["model_id"] if groups else self.table["model_id"]
        return "model_id" if np.min(models.nunique()) > 1 else "sample_id"

    def curves(self, by: str | Sequence[str] = "attack") -> KaplanMeier:
        """Survival curves with intervals between models."""
        return kaplan_meier(self.table, by=by, groups=self.groups_for(by))

    def mean_times(self, by: str | Sequence[str] = "defence") -> Rmst:
        """Restricted mean times with intervals between models."""
        return rmst(self.table, by=by, groups=self.groups_for(by))

    def log_ranks(self) -> pd.DataFrame:
        """Log-rank tests of every axis that was varied, between models."""
        rows = {}
        for name in self.varied():
            try:
                found = log_rank(self.table, name, groups="model_id")
                rows[name] = (found.statistic, found.p, found.method)
            except DataError as refusal:  # too few models for this axis: said, not hidden
                rows[name] = (np.nan, np.nan, str(refusal))
        table = pd.DataFrame.from_dict(rows, orient="index", columns=["statistic", "p", "method"])
        table.index.name = "axis"
        return table

    def covariates(self) -> list[str]:
        """What `fit` explains the time with: every axis, of the model's own as many as it can.

        An effect of models needs models: with fewer than three more than there are such axes,
        attack and defence alone are left.
        """
        names = [name for name in self.varied() if name != "model"]
        own = [name for name in names if name in _OF_THE_MODEL]
        if self.table["model_id"].nunique() < len(own) + 3:
            return [name for name in names if name not in own]
        return names

    def fit(
        self, family: str = "weibull", covariates: Sequence[str] | None = None
    ) -> AftFit | CoxFit:
        """Effects of everything that varied, with intervals between models."""
        if family == "weibull" and covariates is None:
            return self._weibull
        names = self.covariates() if covariates is None else list(covariates)
        reference = None
        if "defence" in names and (self.table["defence"] == "none").any():
            reference = {"defence": "none"}
        return fit(self.table, family, names, groups=self.groups_for(), reference=reference)

    @cached_property
    def _weibull(self) -> AftFit | CoxFit:
        return self.fit("weibull", self.covariates())

    def families(self, test_share: float = 0.25) -> FamilyComparison:
        """All six families on a training and a test part, models kept whole."""
        return compare(
            self.table,
            test_share=test_share,
            covariates=self.covariates(),
            groups=self.groups_for(),
        )

    def accuracy(self) -> pd.DataFrame:
        """Benign and adversarial accuracy and failures per query by attack and defence (Fig. 1).

        Intervals are between models (jackknife, t), but never narrower than over samples: a few
        models that agree by luck are no proof that they always do.
        """
        rows = []
        for (attack, defence), part in self.trials.groupby(["attack", "defence"], sort=True):
            by_model = part.groupby("model_id")[["n", "right", "failures", "queries_spent"]].sum()
            n, failures = int(part["n"].sum()), int(part["failures"].sum())
            right, spent = int(part["right"].sum()), float(part["queries_spent"].sum())
            stood = by_model["right"] - by_model["failures"]
            row: dict[str, Any] = {"attack": attack, "defence": defence, "n": n}
            for name, counts in (
                ("benign_accuracy", by_model["right"]),
                ("adversarial_accuracy", stood),
            ):
                low, high = _share_interval(counts, by_model["n"])
                row |= {name: counts.sum() / n, f"{name}_low": low, f"{name}_high": high}
            low, high = _rate_interval(by_model["failures"], by_model["queries_spent"])
            row |= {
                "failure_rate": failures / spent if spent else np.nan,
                "failure_rate_low": low,
                "failure_rate_high": high,
                "benign_rejection_rate": float(part["benign_rejection_rate"].mean()),
                "right": right,
            }
            rows.append(row)
        return pd.DataFrame(rows)

    def trash(self, family: str = "weibull", price: Cost | None = None) -> pd.DataFrame:
        """The cost ratio of each model and defence with its interval (Fig. 4).

        While samples stand, ``low`` is 0 and the ratio is an upper bound (see `Trash`); the
        intervals hold for all models and defences at once (Bonferroni).
        """
        fitted = self.fit(family)
        if not isinstance(fitted, AftFit):
            raise ParameterError("TRASH needs a parametric family.", got=repr(family))
        rows = []
        parts = self.table.groupby(["model", "defence"], sort=True)
        level = 1.0 - (1.0 - fitted.confidence) / parts.ngroups
        for (model, defence), part in parts:
            train, query = self._costs(str(model), str(defence))
            prices = price or Cost(seconds_per_query=query)
            ratio = trash(fitted, train, prices, rows=part, confidence=level)
            rows.append(
                {
                    "model": model,
                    "defence": defence,
                    "trash": ratio.value,
                    "low": ratio.low,
                    "high": ratio.high,
                    "p_above_one": ratio.probability_above_one,
                    "standing": ratio.standing,
                    "survival_at_budget": ratio.survival_at_horizon,
                    "never_falls": np.nan if ratio.never_falls is None else ratio.never_falls.value,
                    "mean_queries": ratio.mean_time.value,
                    "train_seconds_per_sample": train,
                    "seconds_per_query": prices.seconds_per_query,
                }
            )
        return pd.DataFrame(rows)

    def benign_cost(self) -> pd.DataFrame:
        """Benign cost ratio: training over the time to a failure without attacker (Fig. 4, left).

        Without an attacker a query fails with probability 1 − accuracy, so the expected time to
        a failure is that of 1 / (1 − accuracy) queries. A withheld answer is no failure.
        """
        rows = []
        for (model, defence), part in self.trials.groupby(["model", "defence"], sort=True):
            train, query = self._costs(str(model), str(defence))
            withheld = part["benign_rejection_rate"] * part["n"]
            by_model = pd.DataFrame({"wrong": part["n"] - part["right"] - withheld, "n": part["n"]})
            by_model = by_model.groupby(part["model_id"]).sum()
            wrong, n = float(by_model["wrong"].sum()), int(by_model["n"].sum())
            low, high = _share_interval(by_model["wrong"], by_model["n"])
            rows.append(
                {
                    "model": model,
                    "defence": defence,
                    "benign_error": wrong / n,
                    "ratio": train * wrong / n / query,
                    "low": train * low / query,
                    "high": train * high / query,
                }
            )
        return pd.DataFrame(rows)

    def _costs(self, model: str, defence: str) -> tuple[float, float]:
        """Training seconds per sample and seconds per query of a model behind a defence."""
        own = self.models[self.models["model"] == model]
        trained = own[own["training_defence"] == defence]
        chosen = trained if len(trained) else own[own["training_defence"] == "none"]
        return (
            float(chosen["train_seconds_per_sample"].mean()),
            float(own["seconds_per_query"].median()),
        )

    def charts(self) -> dict[str, Chart]:
        """Accuracy and failure rate (Fig. 1), effects (Fig. 3), cost (Fig. 4), curves."""
        from fireassay.survival.campaign_evidence import campaign_charts

        return campaign_charts(self)

    def evidence(self) -> Evidence:
        """Mean queries, tests, families, effects of depth and training, cost, and conclusions."""
        from fireassay.survival.campaign_evidence import campaign_evidence

        return campaign_evidence(self)


def _share_interval(counts: pd.Series[Any], totals: pd.Series[Any]) -> tuple[float, float]:
    within = share(float(counts.sum()), int(totals.sum()))
    between = _between(counts, totals)
    return max(0.0, min(within.low, between[0])), min(1.0, max(within.high, between[1]))


def _rate_interval(counts: pd.Series[Any], spent: pd.Series[Any]) -> tuple[float, float]:
    total = float(spent.sum())
    if not total:
        return float("nan"), float("nan")
    low, high = poisson_interval(float(counts.sum()))
    between = _between(counts, spent)
    return max(0.0, min(float(low) / total, between[0])), max(float(high) / total, between[1])


def _between(counts: pd.Series[Any], totals: pd.Series[Any]) -> tuple[float, float]:
    """95 % interval of a ratio of sums, jackknifed over models; empty where it cannot be."""
    k = len(counts)
    part, whole = counts.to_numpy(dtype=float), totals.to_numpy(dtype=float)
    if k < 2 or (whole.sum() - whole <= 0).any():
        return float("inf"), float("-inf")
    ratio = float(part.sum() / whole.sum())
    left_out = (part.sum() - part) / (whole.sum() - whole)
    spread = float(np.sqrt((k - 1) / k * np.sum((left_out - left_out.mean()) ** 2)))
    reach = float(stats.t.ppf(0.975, k - 1)) * spread
    return ratio - reach, ratio + reach
