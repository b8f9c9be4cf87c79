"""All that is known about a curation, as one answer for the report."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fireassay.core.evidence import Assumption, Claim, Evidence, Picture, Provenance, Table
from fireassay.core.hashing import sha256
from fireassay.core.pictures import picture
from fireassay.core.result import Answer
from fireassay.curation.audit import Audit
from fireassay.curation.bounds import Bounds
from fireassay.curation.calibration import Calibration
from fireassay.curation.estimates import (
    audit_estimates,
    bounds_estimates,
    curation_estimates,
    robustness_estimates,
    trend_estimates,
)
from fireassay.curation.lone_evidence import LIMITS
from fireassay.curation.result import Curation
from fireassay.curation.robustness import Robustness
from fireassay.curation.stability import Stability
from fireassay.curation.validation import Trend

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class CurationAnswer(Answer):
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
        estimates = curation_estimates(curation)
        claims = list(_order_claims(self))
        tables = {"labelling functions": Table.from_frame(curation.lf_analysis(), index=False)}
        if self.trend is not None:
            estimates |= trend_estimates(self.trend)
            tables["datasets"] = Table.from_frame(
                self.trend.frame(), "Accuracy of the weak labels in each dataset", index=False
            )
        if self.audit is not None:
            estimates |= audit_estimates(self.audit)
        if self.bounds is not None:
            estimates |= bounds_estimates(self.bounds)
        if self.robustness is not None:
            estimates |= robustness_estimates(self.robustness)
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
            limits=LIMITS,
            provenance=Provenance(
                seed=curation.settings.seed,
                data_sha256=sha256(
                    curation.patterns.votes, curation.patterns.counts, curation.patterns.of_row
                ),
                labels=_labels_used(self),
            ),
        )


def _headline(answer: CurationAnswer) -> str:
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


def _order_claims(answer: CurationAnswer) -> list[Claim]:
    if answer.trend is not None:
        claims = [Claim(answer.trend.in_words(), answer.trend.verdict == "decreasing")]
    elif answer.audit is not None:
        claims = [Claim(answer.audit.in_words(), answer.audit.verdict == "decreasing")]
    elif answer.bounds is not None:
        claims = [Claim(answer.bounds.in_words(), answer.bounds.verdict == "decreasing" or None)]
    else:
        claims = [
            Claim(
                "Nothing shows yet that later sets are harder: give labels of some samples "
                f"(an audit of {answer.curation.settings.n_sets} or more) to find out."
            )
        ]
    if answer.stability is not None and answer.stability.stable is not None:
        claims.append(Claim(answer.stability.in_words(), answer.stability.stable))
    return claims


def _classifier(answer: CurationAnswer, found: Robustness) -> tuple[str, str]:
    """The classifier's verdict and its reason; withheld where the order is not shown."""
    if answer.verdict != "decreasing" and found.verdict != "not enough evidence":
        return "not enough evidence", (
            "The order is not shown to be adversarial by enough label models, so nobody can say "
            "how a robust model should behave on it."
        )
    return found.verdict, found.reason


def _robustness_claim(answer: CurationAnswer, found: Robustness) -> Claim:
    verdict, reason = _classifier(answer, found)
    holds = {"robust": True, "not robust": False}.get(verdict)
    return Claim(f"Classifier: {verdict}. {reason}", holds)


def _assumptions(answer: CurationAnswer) -> tuple[Assumption, ...]:
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


def _labels_used(answer: CurationAnswer) -> int:
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


def _pictures(answer: CurationAnswer) -> dict[str, Picture]:
    return {
        name: picture(figure, _CAPTIONS[name], _CAPTIONS[name])
        for name, figure in answer.figures().items()
    }
