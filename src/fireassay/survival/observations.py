"""Times to failure under attack, with what they say on their own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.core import Answer, Chart, Claim, Estimate, Evidence, Provenance, Table
from fireassay.core.lazy import pd
from fireassay.core.words import percent
from fireassay.statistics import poisson_interval, share
from fireassay.survival.attacker_checks import GradientCheck
from fireassay.survival.curves import KaplanMeier, kaplan_meier, reached
from fireassay.survival.log_rank import Rmst, rmst
from fireassay.survival.measures import MEASURES, SENTENCES
from fireassay.survival.rows import STRONGEST_ATTACKS, gradient_price, gradients_not_masked

_NORMS = {"linf": "ℓ∞", "l2": "ℓ2", "l1": "ℓ1", "l0": "ℓ0"}
_ONE_MODEL = "This is one model: another training run of the same recipe can stand more or less."


@dataclass(frozen=True)
class Observations(Answer):
    """One row per sample and attack; also usable like the data frame it holds.

    Attributes:
        table: Columns ``lower`` and ``upper`` bracket the time of failure in forward-equivalent
            queries (upper infinite: it stood), next to sample (position in X), attack, made_by (of
            attacks in turn, the one that broke it), norm, eps, success, distance, queries,
            gradient_queries, model_id, defence and defence_value.
        benign_accuracy, benign_rejection_rate: On the samples before any attack; answers that a
            defence withholds are in the second.
        adversarial: The inputs that fooled the model, one for each row with ``success``, if they
            were kept.
        budget, gradient_cost, confidence, seed: As in `observe`.
        model_sha256, data_sha256: What model and data were.
        not_tried: Attacks that were left out, each with the reason.
        moved: Of a table with rules for its columns: each column, its rule, and how many of the
            inputs that fooled the model differ in it.
        eps_words: What ``eps`` is a share of, where it is not in the model's own numbers.
        gradient_check: Of ``auto`` on a model with gradients: whether more effort broke less.
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
    adversarial: NDArray[Any] | None = None
    not_tried: tuple[str, ...] = ()
    moved: tuple[tuple[str, str, int], ...] | None = None
    gradient_check: GradientCheck | None = None
    eps_words: str = ""

    def frame(self) -> pd.DataFrame:
        """One row per sample and attack."""
        return self.table

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, key: Any) -> Any:
        return self.table[key]

    @property
    def columns(self) -> pd.Index[str]:
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
        rows: dict[str, dict[str, Any]] = {}
        for name, part in self.table.groupby("attack", sort=True):
            n, failures = self.benign_accuracy.n, int(part["success"].sum())
            stood = len(part) - failures
            stands = share(stood, n, self.confidence)
            spent = float(np.where(np.isfinite(part["upper"]), part["upper"], part["lower"]).sum())
            rate_low, rate_high = poisson_interval(failures, self.confidence)
            rows[str(name)] = {
                "benign_accuracy": self.benign_accuracy.value,
                "benign_accuracy_low": self.benign_accuracy.low,
                "benign_accuracy_high": self.benign_accuracy.high,
                "adversarial_accuracy": stands.value,
                "adversarial_accuracy_low": stands.low,
                "adversarial_accuracy_high": stands.high,
                "failure_rate": failures / spent,
                "failure_rate_low": float(rate_low) / spent,
                "failure_rate_high": float(rate_high) / spent,
                "failures": failures,
                "n": n,
                "norm": ", ".join(sorted(set(part["norm"]))),
                "eps": float(part["eps"].max()),
                "budget": self.budget,
                "broken_by": _counts(part["made_by"]),
            }
        table = pd.DataFrame.from_dict(rows, orient="index")
        table.index.name = "attack"
        return table

    def standing(self) -> Estimate:
        """Share of attacked samples that no attack broke within the budget."""
        broken = self.table.groupby("sample")["success"].any()
        return self._against_attacks(int((~broken).sum()), len(broken))

    def success_rate(self) -> Estimate:
        """Share of attacked samples that an attack flipped within the budget."""
        broken = self.table.groupby("sample")["success"].any()
        return self._against_attacks(int(broken.sum()), len(broken))

    def _against_attacks(self, count: int, n: int) -> Estimate:
        return share(count, n, self.confidence, rests_on=(STRONGEST_ATTACKS.id,))

    def _tried(self) -> tuple[str, ...]:
        """Within which changes and budget it was attacked, and what was left out."""
        sizes = _sizes_in_words(self.table, self.eps_words)
        found = [SENTENCES["within"].format(sizes=sizes, budget=self.budget)]
        if self.not_tried:
            found.append(SENTENCES["not tried"].format(names=", ".join(self.not_tried)))
        return tuple(found)

    def charts(self) -> dict[str, Chart]:
        """Survival curves by attack."""
        return self.curves().charts()

    def evidence(self) -> Evidence:
        """How many samples stand, how soon the others fall, per attack."""
        curves, means, accuracy = self.curves(), self.mean_times(), self.accuracy()
        standing, price = self.standing(), gradient_price(self.gradient_cost)
        flipped, stood = self.success_rate(), round(standing.value * standing.n)
        estimates = {
            "standing_share": standing,
            "robust_accuracy": self._against_attacks(stood, self.benign_accuracy.n),
            "attack_success_rate": flipped,
            "benign_accuracy": self.benign_accuracy,
            "benign_rejection_rate": self.benign_rejection_rate,
        }
        for name in accuracy.index:
            estimates[f"survival_{name}"] = curves.at(np.inf, str(name))
            mean = means.estimate(str(name))
            estimates[f"mean_queries_{name}"] = replace(mean, rests_on=(price.id,))
        medians = {str(n): float(m) for n, m in curves.medians["median"].items()}
        fastest = min(
            medians, key=lambda name: (medians[name], accuracy["adversarial_accuracy"][name])
        )
        masked = gradients_not_masked(self.table, self.confidence, self.gradient_check)
        tables = {
            "accuracy": Table.from_frame(accuracy, "Accuracy and failure rate by attack"),
            "mean_times": Table.from_frame(means.frame(), "Mean queries to failure"),
        }
        if self.moved is not None:
            heads = ("column", "rule", "inputs that differ in it")
            changed = "What the inputs that fooled the model changed"
            tables["moved_columns"] = Table(heads, self.moved, changed)
        if self.not_tried:
            reasons = tuple(map(_reason, self.not_tried))
            tables["not_tried"] = Table(("attack", "why"), reasons, "Attacks that were not tried")
        missed = f"; not tried: {', '.join(self.not_tried)}" if self.not_tried else ""
        sizes = _sizes_in_words(self.table, self.eps_words)
        hardest = f"hardest: {fastest}, " if len(medians) > 1 else ""
        fallen = _half_fallen(curves.medians.loc[[fastest]].iloc[0], curves.confidence)
        half = True if standing.low > 0.5 else False if standing.high < 0.5 else None
        return Evidence(
            question="survival",
            headline=f"{standing.percent()} of right answers withstand {self.budget} queries "
            f"within {sizes}; {hardest}{fallen}{missed}",
            claims=(
                Claim(f"At least half of the right answers withstand {self.budget} queries.", half),
            ),
            estimates=estimates,
            assumptions=(STRONGEST_ATTACKS, price, *([] if masked is None else [masked])),
            measures=MEASURES,
            tables=tables,
            charts=curves.charts(),
            answer="attack_success_rate",
            sentence=SENTENCES["flips"].format(
                budget=self.budget,
                sizes=_changes_in_words(self.table, self.eps_words),
                told=MEASURES[0].told(flipped),
            ),
            limits=(*self._tried(), _ONE_MODEL),
            provenance=Provenance(
                seed=self.seed,
                model_sha256=self.model_sha256,
                data_sha256=self.data_sha256,
                queries=int(self.table["queries"].sum()) + self.benign_accuracy.n,
                labels=self.benign_accuracy.n,
            ),
        )


def _reason(words: str) -> tuple[str, str]:
    """The name of an attack and why it was left out: ``"pgd (the model gives no gradients)"``."""
    name, _, why = words.partition(" (")
    return name, why.removesuffix(")")


def _changes_in_words(table: pd.DataFrame, of_what: str) -> str:
    """The changes that were allowed, for a sentence, e.g. ``up to 0.1 per value``."""
    eps = float(table["eps"].max())
    if set(table["attack"]) == {"perturbed"}:
        return "made by the given function"
    if set(table["norm"]) != {"linf"} or eps == np.inf:
        return f"within {_sizes_in_words(table, of_what)}"
    whole = " of a column's range" if "column" in of_what else of_what or " per value"
    return f"up to {_size(eps)}{whole}"


def _sizes_in_words(table: pd.DataFrame, of_what: str) -> str:
    """The changes that were allowed, e.g. ``ℓ∞ ≤ 0.1``."""
    if set(table["attack"]) == {"perturbed"}:
        return "the changes of the given function"
    kinds = table[["norm", "eps"]].drop_duplicates()
    sizes = {
        f"{_NORMS.get(norm, norm)} ≤ {_size(float(eps))}{of_what}"
        if eps < np.inf
        else f"{_NORMS.get(norm, norm)} of any size"
        for norm, eps in zip(kinds["norm"], kinds["eps"].astype(float), strict=True)
    }
    return ", ".join(sorted(sizes))


def _size(eps: float) -> str:
    """A change, in 255ths where it is a few grey levels of an image in [0, 1]."""
    levels = round(255 * eps)
    return f"{levels}/255" if 1 <= levels <= 32 and levels / 255 == eps else f"{eps:.3g}"


def _counts(made_by: pd.Series[str]) -> str:
    """Which attack broke how many samples."""
    counts = made_by[made_by != ""].value_counts()
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items())) or "none"


def _half_fallen(median: pd.Series, confidence: float) -> str:
    """When half of the samples have fallen, with its interval, in words."""
    if not np.isfinite(median["median"]):
        return "fewer than half of the samples fall"
    return (
        f"half of the samples fall by query {median['median']:.4g} ({percent(confidence)} interval "
        f"{median['low']:.4g} to {reached(median['high'])})"
    )
