"""What was found out about a curation, one finding alone or all together, as evidence."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fireassay.core.arrays import IntArray
from fireassay.core.chart import Chart
from fireassay.core.estimate import Estimate
from fireassay.core.evidence import Assumption, Claim, Evidence, LeadingNumber, Provenance, Table
from fireassay.core.hashing import sha256
from fireassay.core.lazy import pd
from fireassay.core.result import Answer
from fireassay.curation.measures import MEASURES, SENTENCES

if TYPE_CHECKING:
    from fireassay.curation.accuracy_bounds import AccuracyBounds
    from fireassay.curation.audit import Audit
    from fireassay.curation.curate import Curation
    from fireassay.curation.label_calibration import LabelCalibration
    from fireassay.curation.robustness import Robustness
    from fireassay.curation.stability import Stability
    from fireassay.curation.trend import Trend

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
LABEL_MODEL = "The label model gives each weak label its true probability."
# The words of people: "robust" and "adversarial" are said of attacks alone.
BEHAVES = {
    "robust": "behaves on hard cases as it should",
    "not robust": "does not behave on hard cases as it should",
}


class Finding(Answer):
    """One thing found out about a curation; it can stand in a report alone."""

    @abstractmethod
    def in_words(self) -> str:
        """The finding in a sentence or two."""

    @property
    def holds(self) -> bool | None:
        """Whether what one hopes for is shown; None where there is no verdict."""
        return None

    def estimates(self) -> dict[str, Estimate]:
        """Its numbers, by the names that gates use."""
        return {}

    def assumptions(self) -> tuple[Assumption, ...]:
        """What its numbers rest on."""
        return ()

    def evidence(self) -> Evidence:
        """This finding alone; `Curation.findings` puts several together."""
        return Evidence(
            question="curation",
            headline=self.in_words(),
            claims=(Claim(self.in_words(), self.holds),),
            estimates=self.estimates(),
            assumptions=self.assumptions(),
            tables={"table": Table.from_frame(self.frame(), index=False)},
            measures=MEASURES,
            limits=_LIMITS,
        )


def dataset_frame(sizes: IntArray, **columns: Any) -> pd.DataFrame:
    """One row per dataset: its number, its size, and the given columns."""
    return pd.DataFrame({"dataset": np.arange(1, len(sizes) + 1), "size": sizes, **columns})


def independent_rows(n_groups: int) -> Assumption:
    """That every sample is new evidence; a test that counts groups does not need it."""
    return Assumption(
        "Samples are independent of each other.",
        "supported" if n_groups else "untestable",
        f"The test counts {n_groups} groups, not samples."
        if n_groups
        else "No groups were given: several samples of one patient would count as new evidence.",
        "independent-rows",
    )


@dataclass(frozen=True, eq=False)
class CurationFindings(Answer):
    """A curation with whatever was found out about it.

    Attributes:
        curation: The order itself.
        trend, audit, bounds, robustness, stability, calibration: Each as `Curation`'s method of
            that name (``validate`` for the trend) gives it; None where it was not asked.

    >>> from fireassay.curation import curate, simulate_votes
    >>> votes, y = simulate_votes([0.9, 0.9, 0.6, 0.6], coverage=0.8, n=1000, seed=0)
    >>> result = curate(votes)
    >>> result.findings().verdict, result.findings(trend=result.validate(y)).verdict
    ('not shown', 'decreasing')
    """

    curation: Curation
    trend: Trend | None = None
    audit: Audit | None = None
    bounds: AccuracyBounds | None = None
    robustness: Robustness | None = None
    stability: Stability | None = None
    calibration: LabelCalibration | None = None

    @property
    def found(self) -> tuple[Finding, ...]:
        """All findings there are."""
        every = (self.trend, self.audit, self.calibration, self.bounds, self.robustness,
                 self.stability)  # fmt: skip
        return tuple(finding for finding in every if finding is not None)

    @property
    def verdict(self) -> str:
        """Whether the order is adversarial: "decreasing", "increasing", "none" or "not shown".

        Labels decide, then an audit, then bounds. "decreasing" needs a stable panel if there is
        one.
        """
        judge = self.trend or self.audit or self.bounds
        if judge is None or judge.verdict == "not enough evidence":
            return "not shown"
        unstable = self.stability is not None and self.stability.stable is False
        return "not shown" if judge.verdict == "decreasing" and unstable else judge.verdict

    def frame(self) -> pd.DataFrame:
        """The validation's table if there is one, else the curation's."""
        return self.curation.frame() if self.trend is None else self.trend.frame()

    def charts(self) -> dict[str, Chart]:
        """The charts of all findings and of the curation."""
        charts: dict[str, Chart] = {} if self.robustness is None else self.robustness.charts()
        for finding in self.found:
            charts |= finding.charts()
        return {**charts, **self.curation.charts()}

    def evidence(self) -> Evidence:
        """Headline, numbers with intervals, assumptions, charts."""
        curation, votes = self.curation, self.curation.patterns
        estimates = _counts(curation)
        assumptions = {a.id: a for a in _about_the_votes(curation)}
        for finding in self.found:
            estimates |= finding.estimates()
            for assumption in finding.assumptions():
                assumptions.setdefault(assumption.id, assumption)
        return Evidence(
            question="curation",
            headline=_headline(self),
            claims=tuple(_claims(self)),
            estimates=estimates,
            assumptions=tuple(assumptions.values()),
            tables=_tables(self),
            charts=self.charts(),
            measures=MEASURES,
            limits=_LIMITS,
            **_answer(self, estimates),
            provenance=Provenance(
                seed=curation.settings.seed,
                data_sha256=sha256(votes.votes, votes.counts, votes.of_row),
                labels=next((part.n for part in (self.trend, self.audit) if part is not None), 0),
            ),
        )


def _counts(curation: Curation) -> dict[str, Estimate]:
    """Numbers that need no labels; nothing in them is estimated."""
    covered = int(curation.patterns.counts[curation.table.n_votes > 0].sum())
    return {
        "kept_lfs": Estimate.count(len(curation.kept_lfs), len(curation.lf_names)),
        "covered": Estimate.count(covered / curation.n, curation.n, "share of samples with a vote"),
    }


def _about_the_votes(curation: Curation) -> list[Assumption]:
    kept = curation.kept_lfs
    correlation = np.nan_to_num(curation.table.pruning.correlation[np.ix_(kept, kept)])
    strongest = float(np.abs(correlation - np.diag(np.diag(correlation))).max(initial=0.0))
    found = [
        Assumption(
            "The labelling functions err independently given the true class.",
            "contradicted" if strongest > 0.5 else "untestable",
            f"Strongest correlation of the votes of two kept ones: {strongest:.2f}.",
            "independent-votes",
        )
    ]
    if curation.warnings:
        check = " ".join(curation.warnings)
        statement = "The votes are enough to order the samples."
        found.append(Assumption(statement, "contradicted", check, "enough-votes"))
    return found


def _headline(findings: CurationFindings) -> str:
    curation, trend = findings.curation, findings.trend
    ends = {
        "decreasing": "the order is shown to lead to hard cases",
        "increasing": "the order is the wrong way round: do not use it",
    }
    line = (
        f"{curation.n:,} samples in {len(curation.sizes)} ordered sets by "
        f"{len(curation.kept_lfs)} labelling functions; "
        f"{ends.get(findings.verdict, 'the order is not shown to lead to hard cases')}"
    )
    if trend is not None and trend.verdict == "decreasing" != findings.verdict:
        line += ", because the label models disagree about it"
    if findings.robustness is not None:
        verdict, _ = _about_the_classifier(findings, findings.robustness)
        line += f". Classifier: {BEHAVES.get(verdict, verdict)}"
    return f"{line}."


def _answer(findings: CurationFindings, estimates: dict[str, Estimate]) -> LeadingNumber:
    """Whether the model behaves on hard cases as it should, in one sentence with one number."""
    verdict = "not enough evidence"
    if findings.robustness is not None:
        verdict, _ = _about_the_classifier(findings, findings.robustness)
    if "agreement_auc" in estimates and verdict in BEHAVES:
        name = "agreement_auc"
    else:
        name = verdict = "last_accuracy" if "last_accuracy" in estimates else "covered"
    measure = next(m for m in MEASURES if m.name == name)
    told = measure.told(estimates[name])
    return {"answer": name, "sentence": SENTENCES[verdict].format(told)}


def _claims(findings: CurationFindings) -> list[Claim]:
    judge = findings.trend or findings.audit or findings.bounds
    claims = [
        Claim(
            "Nothing shows yet that later sets are harder: give labels of some samples "
            f"(an audit of {findings.curation.settings.n_sets} or more) to find out."
        )
        if judge is None
        else Claim(judge.in_words(), judge.holds)
    ]
    stability, robustness = findings.stability, findings.robustness
    if stability is not None and stability.stable is not None:
        claims.append(Claim(stability.in_words(), stability.stable))
    if robustness is not None:
        verdict, reason = _about_the_classifier(findings, robustness)
        holds = {"robust": True, "not robust": False}.get(verdict)
        claims.append(Claim(f"Classifier: {BEHAVES.get(verdict, verdict)}. {reason}", holds))
    return claims


def _about_the_classifier(findings: CurationFindings, found: Robustness) -> tuple[str, str]:
    """The classifier's verdict and its reason; withheld where the order is not shown."""
    if findings.verdict != "decreasing" and found.verdict != "not enough evidence":
        return "not enough evidence", (
            "The order is not shown to lead to hard cases by enough label models, so nobody can "
            "say how a model should behave on it."
        )
    return found.verdict, found.reason


def _tables(findings: CurationFindings) -> dict[str, Table]:
    analysis = findings.curation.lf_analysis()
    tables = {"labelling functions": Table.from_frame(analysis, index=False)}
    if findings.trend is not None:
        caption = "Accuracy of the weak labels in each dataset"
        tables["datasets"] = Table.from_frame(findings.trend.frame(), caption, index=False)
    if findings.robustness is not None and len(findings.robustness.subgroups):
        tables["subgroups"] = Table.from_frame(findings.robustness.subgroups, index=False)
    return tables
