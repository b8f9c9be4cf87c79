"""Times to failure under attack, with what they say on their own."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from fireassay.core.estimate import Estimate
from fireassay.core.evidence import Assumption, Claim, Evidence, Provenance, Table
from fireassay.core.pictures import picture
from fireassay.core.result import Answer
from fireassay.statistics import clopper_pearson, poisson_interval
from fireassay.survival.kaplan_meier import KaplanMeier, kaplan_meier, reached
from fireassay.survival.rmst import Rmst, rmst

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_ONE_MODEL = (
    "Intervals are over samples of this one model; another training run of the same recipe can "
    "differ. Compare recipes with a campaign and cluster='model_id'."
)


@dataclass(frozen=True)
class Observations(Answer):
    """One row per sample and attack; also usable like the data frame it holds.

    Attributes
    ----------
    table
        Columns ``lower`` and ``upper`` bracket the time of failure in forward-equivalent queries
        (upper infinite: it stood), next to sample, attack, norm, eps, success, distance, queries,
        gradient_queries, model_id, defence and defence_value.
    benign_accuracy, benign_rejection_rate
        On the samples before any attack; answers that a defence withholds are in the second.
    """

    table: pd.DataFrame
    budget: int
    gradient_cost: float
    benign_accuracy: Estimate
    benign_rejection_rate: Estimate
    confidence: float
    seed: int
    model_sha256: str
    data_sha256: str

    def frame(self) -> pd.DataFrame:
        """One row per sample and attack."""
        return self.table

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, key: Any) -> Any:
        return self.table[key]

    @property
    def columns(self) -> "pd.Index[str]":
        """Names of the columns."""
        return self.table.columns

    def curves(self) -> KaplanMeier:
        """Survival curves by attack, on this model."""
        return kaplan_meier(self.table, by="attack", confidence=self.confidence)

    def mean_times(self) -> Rmst:
        """Restricted mean times by attack, up to the budget or the latest failure."""
        return rmst(self.table, by="attack", confidence=self.confidence)

    def accuracy(self) -> pd.DataFrame:
        """Benign and adversarial accuracy and failures per query (Eqs 2 and 3), by attack."""
        rows = {}
        for name, part in self.table.groupby("attack", sort=True):
            n, failures = self.benign_accuracy.n, int(part["success"].sum())
            stood = len(part) - failures
            low, high = clopper_pearson(stood, n, self.confidence)
            spent = float(np.where(np.isfinite(part["upper"]), part["upper"], part["lower"]).sum())
            rate_low, rate_high = poisson_interval(failures, self.confidence)
            rows[str(name)] = {
                "benign_accuracy": self.benign_accuracy.value,
                "benign_accuracy_low": self.benign_accuracy.low,
                "benign_accuracy_high": self.benign_accuracy.high,
                "adversarial_accuracy": stood / n,
                "adversarial_accuracy_low": float(low),
                "adversarial_accuracy_high": float(high),
                "failure_rate": failures / spent,
                "failure_rate_low": float(rate_low) / spent,
                "failure_rate_high": float(rate_high) / spent,
                "failures": failures,
                "n": n,
            }
        table = pd.DataFrame.from_dict(rows, orient="index")
        table.index.name = "attack"
        return table

    def standing(self) -> Estimate:
        """Share of attacked samples that no attack broke within the budget."""
        broken = self.table.groupby("sample")["success"].any()
        stood, n = int((~broken).sum()), len(broken)
        low, high = clopper_pearson(stood, n, self.confidence)
        return Estimate(stood / n, float(low), float(high), self.confidence, n, "Clopper-Pearson")

    def figures(self) -> "dict[str, Figure]":
        """Survival curves by attack."""
        return self.curves().figures()

    def evidence(self) -> Evidence:
        """How many samples stand, how soon the others fall, per attack."""
        curves, means, accuracy = self.curves(), self.mean_times(), self.accuracy()
        standing = self.standing()
        estimates = {
            "standing_share": standing,
            "benign_accuracy": self.benign_accuracy,
            "benign_rejection_rate": self.benign_rejection_rate,
        }
        for name in accuracy.index:
            estimates[f"survival_{name}"] = curves.at(np.inf, str(name))
            estimates[f"mean_queries_{name}"] = means.estimate(str(name))
        medians = {str(n): float(m) for n, m in curves.medians["median"].items()}
        fastest = min(
            medians, key=lambda name: (medians[name], accuracy["adversarial_accuracy"][name])
        )
        caption = "Share of samples still right against queries spent on each"
        return Evidence(
            question="survival",
            headline=f"{standing.percent()} of correctly classified samples stand against "
            f"{len(medians)} attack{'s'[: len(medians) - 1]} within {self.budget} queries; "
            f"hardest: {fastest}, "
            f"{_half_fallen(curves.medians.loc[[fastest]].iloc[0], curves.confidence)}",
            claims=(
                Claim(
                    f"At least half of the samples stand within {self.budget} queries.",
                    True if standing.low > 0.5 else False if standing.high < 0.5 else None,
                ),
            ),
            estimates=estimates,
            assumptions=(
                Assumption(
                    "The attacks are the strongest an adversary would use.",
                    "untestable",
                    "Attacks bound survival from above: a better one can only be faster.",
                ),
                Assumption(
                    "One gradient query costs as much as "
                    f"{self.gradient_cost:g} forward queries, besides its forward pass.",
                    "untestable",
                    "Forward and gradient queries are also given apart, in the table.",
                ),
            ),
            tables={
                "accuracy": Table.from_frame(accuracy, "Accuracy and failure rate by attack"),
                "mean_times": Table.from_frame(means.frame(), "Mean queries to failure"),
            },
            figures={"survival": picture(curves.figures()["survival"], caption, caption)},
            limits=(_ONE_MODEL,),
            provenance=Provenance(
                seed=self.seed,
                model_sha256=self.model_sha256,
                data_sha256=self.data_sha256,
                queries=int(self.table["queries"].sum()) + self.benign_accuracy.n,
            ),
        )


def _half_fallen(median: pd.Series, confidence: float) -> str:
    """When half of the samples have fallen, with its interval, in words."""
    if not np.isfinite(median["median"]):
        return "fewer than half of the samples fall"
    return (
        f"half of the samples fall by query {median['median']:.4g} ({confidence:.0%} interval "
        f"{median['low']:.4g} to {reached(median['high'])})"
    )
