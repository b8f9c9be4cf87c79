"""All that is known about a curation, as one answer for the report."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fireassay.core.estimate import Estimate
from fireassay.core.evidence import Assumption, Claim, Evidence, Picture, Provenance, Table
from fireassay.core.hashing import sha256
from fireassay.core.pictures import picture
from fireassay.core.result import Result
from fireassay.curation.audit import Audit
from fireassay.curation.bounds import Bounds
from fireassay.curation.calibration import Calibration
from fireassay.curation.result import Curation
from fireassay.curation.robustness import Robustness
from fireassay.curation.stability import NEEDED, Stability
from fireassay.curation.validation import Trend

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LIMITS = (
    (
        "The order tells which samples are hard for the labelling functions, which need not be "
        "those that are hard for a classifier."
    ),
    (
        "The interval of a weak label is a score to order by, not a confidence interval: how often "
        "it holds the true probability depends on the labelling functions."
    ),
)


@dataclass(frozen=True, eq=False)
class Answer(Result):
    """A curation with whatever was found out about it."""

    curation: Curation
    trend: Trend | None = None
    audit: Audit | None = None
    bounds: Bounds | None = None
    robustness: Robustness | None = None
    stability: Stability | None = None
    calibration: Calibration | None = None

    @property
    def verdict(self) -> str:
        """Whether the order is adversarial: "decreasing", "increasing", "none" or "not shown".

        Labels decide, then an audit, then bounds. "decreasing" needs a stable panel if there is
        one.
        """
        for part in (self.trend, self.audit, self.bounds):
            if part is not None:
                unstable = self.stability is not None and self.stability.stable is False
                if part.verdict == "decreasing" and unstable:
                    return "not shown"
                return part.verdict if part.verdict != "not enough evidence" else "not shown"
        return "not shown"

    def frame(self) -> pd.DataFrame:
        """The validation's table if there is one, else the curation's."""
        return self.curation.frame() if self.trend is None else self.trend.frame()

    def figures(self) -> "dict[str, Figure]":
        """The figures of all parts."""
        found = dict(self.curation.figures())
        for part in (self.trend, self.robustness, self.stability, self.calibration):
            if part is not None:
                found |= part.figures()
        return found

    def evidence(self) -> Evidence:
        """Headline, numbers with intervals, assumptions, figures."""
        curation = self.curation
        estimates = _curation_estimates(curation)
        claims = list(_order_claims(self))
        tables = {"labelling functions": Table.from_frame(curation.lf_analysis(), index=False)}
        if self.trend is not None:
            estimates |= _trend_estimates(self.trend)
            tables["datasets"] = Table.from_frame(
                self.trend.frame(), "Accuracy of the weak labels in each dataset", index=False
            )
        if self.audit is not None:
            estimates |= _audit_estimates(self.audit)
        if self.bounds is not None:
            estimates |= _bounds_estimates(self.bounds, curation.n)
        if self.robustness is not None:
            estimates |= _robustness_estimates(self.robustness)
            claims.append(_robustness_claim(self, self.robustness))
            if len(self.robustness.subgroups):
                tables["subgroups"] = Table.from_frame(self.robustness.subgroups, index=False)
        if self.calibration is not None:
            estimates["calibration_error"] = self.calibration.ece
        return Evidence(
            question="curation",
            headline=_headline(self),
            claims=tuple(claims),
            estimates=estimates,
            assumptions=_assumptions(self),
            tables=tables,
            figures=_pictures(self),
            limits=_LIMITS,
            provenance=Provenance(
                seed=curation.settings.seed,
                data_sha256=sha256(
                    curation.patterns.votes, curation.patterns.counts, curation.patterns.of_row
                ),
                labels=_labels_used(self),
            ),
        )


def trend_evidence(trend: Trend) -> Evidence:
    """A validation on its own."""
    return Evidence(
        question="curation",
        headline=trend.in_words(),
        claims=(Claim(trend.in_words(), trend.verdict == "decreasing"),),
        estimates=_trend_estimates(trend),
        tables={"datasets": Table.from_frame(trend.frame(), index=False)},
        limits=_LIMITS,
    )


def _headline(answer: Answer) -> str:
    n, n_sets = answer.curation.n, len(answer.curation.sizes)
    kept = len(answer.curation.kept_lfs)
    start = f"{n} samples in {n_sets} increasingly adversarial sets by {kept} labelling functions"
    ends = {
        "decreasing": "the order is shown to be adversarial",
        "increasing": "the order is the wrong way round: do not use it",
        "none": "the order is not shown to be adversarial",
        "not shown": "the order is not shown to be adversarial",
    }
    line = f"{start}; {ends[answer.verdict]}."
    if answer.trend is not None and answer.trend.verdict == "decreasing" != answer.verdict:
        line = line[:-1] + ", because the label models disagree about it."
    if answer.robustness is not None:
        line += f" Classifier: {_classifier(answer, answer.robustness)[0]}."
    return line


def _order_claims(answer: Answer) -> list[Claim]:
    if answer.trend is not None:
        claims = [Claim(answer.trend.in_words(), answer.trend.verdict == "decreasing")]
    elif answer.audit is not None:
        low, high = answer.audit.auc_interval
        text = (
            f"On {answer.audit.n} audited samples a right label stands before a wrong one in "
            f"{answer.audit.auc:.0%} ({low:.0%} to {high:.0%}) of pairs: {answer.audit.verdict}."
        )
        claims = [Claim(text, answer.audit.verdict == "decreasing")]
    elif answer.bounds is not None:
        text = (
            "Without labels, if the label model is right, the classifier's accuracy is at least "
            f"{answer.bounds.low[0]:.2f} on the safest set and at most "
            f"{answer.bounds.rest_high:.2f} on the rest: {answer.bounds.verdict}."
        )
        claims = [Claim(text, answer.bounds.verdict == "decreasing" or None)]
    else:
        claims = [
            Claim(
                "Nothing shows yet that later sets are harder: give labels of some samples "
                f"(an audit of {answer.curation.settings.n_sets} or more) to find out."
            )
        ]
    if answer.stability is not None and answer.stability.stable is not None:
        share = answer.stability.shares["decreasing"]
        claims.append(
            Claim(
                f"{share:.0%} of the label models and seeds tried agree that the order is "
                f"adversarial ({NEEDED:.0%} are asked for).",
                answer.stability.stable,
            )
        )
    return claims


def _classifier(answer: Answer, found: Robustness) -> tuple[str, str]:
    """The classifier's verdict and its reason; withheld where the order is not shown."""
    if answer.verdict != "decreasing" and found.verdict != "not enough evidence":
        return "not enough evidence", (
            "The order is not shown to be adversarial by enough label models, so nobody can say "
            "how a robust model should behave on it."
        )
    return found.verdict, found.reason


def _robustness_claim(answer: Answer, found: Robustness) -> Claim:
    verdict, reason = _classifier(answer, found)
    holds = {"robust": True, "not robust": False}.get(verdict)
    return Claim(f"Classifier: {verdict}. {reason}", holds)


def _assumptions(answer: Answer) -> tuple[Assumption, ...]:
    curation = answer.curation
    kept = curation.kept_lfs
    correlation = np.nan_to_num(curation.table.pruning.correlation[np.ix_(kept, kept)])
    strongest = float(np.abs(correlation - np.diag(np.diag(correlation))).max(initial=0.0))
    found = [
        Assumption(
            "The labelling functions err independently given the true class.",
            "contradicted" if strongest > 0.5 else "untestable",
            f"Strongest correlation of the votes of two kept ones: {strongest:.2f}.",
        )
    ]
    found += [
        Assumption("The votes are enough to order the samples.", "contradicted", warning)
        for warning in curation.warnings
    ]
    trend = answer.trend
    if trend is not None:
        found.append(
            Assumption(
                "Samples are independent of each other.",
                "untestable" if trend.n_groups == 0 else "supported",
                "No groups were given: several samples of one patient would count as new evidence."
                if trend.n_groups == 0
                else f"The test counts {trend.n_groups} groups, not samples.",
            )
        )
    if answer.calibration is not None:
        ece = answer.calibration.ece
        found.append(
            Assumption(
                "The weak confidences are calibrated.",
                "contradicted" if ece.low > 0.05 else "untestable",
                f"Expected calibration error {ece}.",
            )
        )
    return tuple(found)


def _curation_estimates(curation: Curation) -> dict[str, Estimate]:
    covered = int(curation.patterns.counts[curation.table.n_votes > 0].sum())
    share = covered / curation.n
    return {
        "kept_lfs": Estimate.bound(
            float(len(curation.kept_lfs)), 0.95, len(curation.lf_names), "count"
        ),
        "covered": Estimate.bound(share, 0.95, curation.n, "share of samples with a vote, exact"),
    }


def _trend_estimates(trend: Trend) -> dict[str, Estimate]:
    low, high = trend.auc_interval
    ends = trend.exact_interval
    found = {
        "order_auc": Estimate(
            trend.auc, min(low, trend.auc), max(high, trend.auc), 0.95, trend.n, trend.method
        )
    }
    for name, i in (("first_accuracy", 0), ("last_accuracy", -1)):
        if not np.isnan(trend.accuracy[i]):
            found[name] = Estimate(
                trend.accuracy[i],
                ends[i, 0],
                ends[i, 1],
                0.95,
                int(trend.sizes[i]),
                "Clopper-Pearson",
            )
    return found


def _audit_estimates(audit: Audit) -> dict[str, Estimate]:
    low, high = audit.auc_interval
    found = {
        "audit_auc": Estimate(
            audit.auc, min(low, audit.auc), max(high, audit.auc), 0.95, audit.n, "Mann-Whitney"
        )
    }
    if not np.isnan(audit.accuracy[-1]):
        found["audit_accuracy"] = Estimate(
            audit.accuracy[-1], audit.low[-1], audit.high[-1], 0.95, audit.n, "prediction-powered"
        )
    return found


def _bounds_estimates(bounds: Bounds, n: int) -> dict[str, Estimate]:
    confidence = 1 - bounds.delta
    return {
        "classifier_accuracy_lower": Estimate.bound(bounds.low[-1], confidence, n, "Fréchet"),
        "classifier_accuracy_upper": Estimate.bound(bounds.high[-1], confidence, n, "Fréchet"),
    }


def _robustness_estimates(found: Robustness) -> dict[str, Estimate]:
    low, high = found.auc_interval
    ends = found.agreement_interval[-1]
    n = int(found.sizes[-1])
    return {
        "agreement_auc": Estimate(
            found.auc, min(low, found.auc), max(high, found.auc), 0.95, n, "Mann-Whitney"
        ),
        "agreement": Estimate(found.agreement[-1], ends[0], ends[1], 0.95, n, "Clopper-Pearson"),
    }


def _labels_used(answer: Answer) -> int:
    if answer.trend is not None:
        return answer.trend.n
    return 0 if answer.audit is None else answer.audit.n


_CAPTIONS = {
    "labelling functions": "Labelling functions; a line joins two that depend on each other.",
    "scores": "Score of the samples along the order, from safe to adversarial.",
    "accuracy": "Accuracy of the weak labels in each dataset, 95 % and the paper's 90 % interval.",
    "robustness": "Agreement of the classifier with the weak labels along the datasets, 95 %.",
    "stability": "Verdict by label model and seed.",
    "calibration": "Accuracy of the weak labels against their stated confidence, 95 %.",
}


def _pictures(answer: Answer) -> dict[str, Picture]:
    return {
        name: picture(figure, _CAPTIONS[name], _CAPTIONS[name])
        for name, figure in answer.figures().items()
    }
