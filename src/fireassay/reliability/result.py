"""What an assessment found: the bound, what stands beside it, and what it rests on."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from fireassay.core.estimate import Estimate
from fireassay.core.evidence import Assumption, Claim, Evidence, Provenance, Table
from fireassay.core.result import Answer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_METHODS = {
    "rectified": "min of Clopper-Pearson and rectified betting",
    "worst-case": "worst case over unlabelled cells, Clopper-Pearson",
    "conservative-bayes": "conservative Bayesian inference",
    "ram": "cells weighted by the profile (published bound)",
    "naive": "mean local unastuteness of the test rows",
}


@dataclass(frozen=True)
class ReliabilityResult(Answer):
    """The probability of a misclassification per input, and how sure one can be.

    Attributes
    ----------
    pmi, pmi_lower, pmi_upper
        Estimate and one-sided limits at confidence ``1 - alpha``. ``pmi_upper`` is the headline.
    is_bound
        Whether ``pmi_upper`` is claimed to hold (mode "ram" and "naive": no).
    std
        Standard error of ``pmi`` (nan where there is none).
    acu
        Average cell unastuteness (modes by cells; nan otherwise).
    cells
        One row per cell, or empty.
    assumptions
        The ledger: each assumption supported, contradicted or untestable.
    contradiction_p
        Probability of at least as many errors as seen, if the pmi were ``pmi_upper``.
    refinement
        How estimate and ACU move with the size of the cells (mode "ram").
    comparison
        Other bounds on the same data, side by side.
    confusions
        The pmi of each kind of mistake.
    sensitivity
        How the answer moves with what cannot be known: prior, bandwidth.
    """

    mode: str
    pmi: float
    pmi_lower: float
    pmi_upper: float
    std: float
    acu: float
    alpha: float
    n_labels: int
    n_errors: int
    n_operational: int
    cells: pd.DataFrame
    assumptions: tuple[Assumption, ...]
    contradiction_p: float
    refinement: pd.DataFrame
    comparison: pd.DataFrame
    confusions: pd.DataFrame
    sensitivity: pd.DataFrame
    is_bound: bool
    std_covariances: float
    evaluated_mass: float
    cell_shape: tuple[int, ...]
    notes: tuple[str, ...]
    provenance: Provenance

    @property
    def contradicted(self) -> tuple[Assumption, ...]:
        """Assumptions that the data speaks against."""
        return tuple(a for a in self.assumptions if a.status == "contradicted")

    def frame(self) -> pd.DataFrame:
        """All bounds on the same data, side by side."""
        return self.comparison

    def figures(self) -> "dict[str, Figure]":
        """Bound against labels; for cells also profile, cell map and refinement curve."""
        from fireassay.reliability.figures import result_figures

        return result_figures(self)

    def labelling_queue(self, most: int = 100) -> pd.DataFrame:
        """Heavy cells without a label and with a weak vote, the most uncertain mass first."""
        empty = self.cells[self.cells["kind"] == "empty"] if len(self.cells) else self.cells
        if not len(empty):
            return empty
        doubt = empty["mass"] * (1 - empty["vote"])
        queue = empty.assign(doubt=doubt).sort_values(["doubt", "mass"], ascending=False)
        return queue.head(most).reset_index(drop=True)

    def failing_cells(self, above: float = 0.0) -> pd.DataFrame:
        """Cells in which the model is wrong, the heaviest first: where to collect training rows."""
        if not len(self.cells):
            return self.cells
        bad = self.cells[self.cells["unastuteness"] > above]
        share = bad["unastuteness"] * bad["mass"]
        return bad.assign(share=share).sort_values("share", ascending=False, ignore_index=True)

    def evidence(self) -> Evidence:
        """The answer in the form the report understands."""
        from fireassay.core.pictures import picture

        captions = {
            "labels": ("How the bound falls with more labels", "bound against number of labels"),
            "profile": ("Operational profile", "map of the profile's mass"),
            "cells": ("Unastuteness of the cells", "map of cell unastuteness"),
            "refinement": ("The estimate depends on the cells", "estimate against cells per axis"),
            "sensitivity": ("What the prior decides", "bound against the assumed floor"),
        }
        pictures = {
            name: picture(figure, *captions[name]) for name, figure in self.figures().items()
        }
        tables = {"bounds": Table.from_frame(self.comparison, "Bounds side by side", index=False)}
        worst = self.confusions[self.confusions["count"] > 0].head(20)
        if len(worst):
            tables["confusions"] = Table.from_frame(worst, "Kinds of mistakes", index=False)
        if len(self.refinement):
            tables["refinement"] = Table.from_frame(self.refinement, "Finer cells", index=False)
        return Evidence(
            question="reliability",
            headline=self.headline,
            claims=self._claims(),
            estimates=self._estimates(),
            assumptions=self.assumptions,
            tables=tables,
            figures=pictures,
            limits=self.notes,
            provenance=self.provenance,
        )

    @property
    def headline(self) -> str:
        """The answer in one line."""
        counted = f"{self.n_errors} errors in {self.n_labels} labels"
        if self.mode == "conservative-bayes" and self.pmi_upper >= 1:
            return f"No claim below 100 % without a justified floor ({counted})."
        if not self.is_bound and self.mode == "rectified":
            return (
                f"About {self.pmi:.2%} of inputs are misclassified, perhaps up to "
                f"{self.pmi_upper:.2%}: with estimated weights no finite-sample claim is made."
            )
        if self.mode == "naive":
            return (
                f"Around the test rows {self.pmi:.3g} of points are misclassified: this smears the "
                f"test error, and is not a bound ({counted})."
            )
        if self.mode == "ram" and self.evaluated_mass < 1:
            inside = float(self.comparison["pmi"].iloc[0])
            return (
                f"E[λ] = {inside:.3g} in {len(self.cells)} latent cells that hold "
                f"{self.evaluated_mass:.2g} of the profile; with the rest E[pmi] = {self.pmi:.3g}: "
                "not a bound that holds."
            )
        if not self.is_bound:
            return (
                f"E[pmi] = {self.pmi:.3g}, published bound {self.pmi_upper:.3g}: not a bound that "
                f"holds (the data has probability {self.contradiction_p:.1g} under it)."
            )
        text = (
            f"At most {self.pmi_upper:.2%} of inputs are misclassified "
            f"({1 - self.alpha:.1%} confidence, {counted})."
        )
        broken = [
            a for a in self.contradicted if "profile" in a.statement and "label" in a.statement
        ]
        if broken and self.mode == "rectified":
            return (
                f"Not valid, the labels are not drawn from the profile: {text[0].lower()}{text[1:]}"
            )
        return text

    def _claims(self) -> tuple[Claim, ...]:
        claims = [Claim(self.headline)]
        if self.mode == "ram":
            holds = bool(self.contradiction_p >= 0.01)
            claims.append(Claim("The published bound agrees with the labels.", holds))
        broken = "The labels are drawn from the operational profile."
        if any("assumption 3" in a.statement for a in self.contradicted):
            claims.append(Claim(broken, holds=False))
        return tuple(claims)

    def _estimates(self) -> dict[str, Estimate]:
        confidence, method = 1 - self.alpha, _METHODS[self.mode]
        n = self.n_labels
        found: dict[str, Estimate] = {}
        if self.is_bound:
            found["pmi_upper"] = Estimate.bound(self.pmi_upper, confidence, n, method)
            low, high = min(self.pmi_lower, self.pmi), max(self.pmi_upper, self.pmi)
            found["pmi"] = Estimate(self.pmi, low, high, confidence, n, method)
        elif self.mode == "rectified":
            low, high = min(self.pmi_lower, self.pmi), max(self.pmi_upper, self.pmi)
            found["pmi"] = Estimate(self.pmi, low, high, confidence, n, "estimated weights")
        else:
            found["pmi_ram"] = Estimate.bound(self.pmi, confidence, n, method)
            found["pmi_upper_published"] = Estimate.bound(self.pmi_upper, confidence, n, method)
            text = "Clopper-Pearson"
            exact = self.comparison["pmi_upper"][self.comparison["method"] == text].to_numpy()
            found["pmi_upper"] = Estimate.bound(float(exact[0]), confidence, n, text)
        if self.acu == self.acu:
            found["acu"] = Estimate.bound(self.acu, confidence, len(self.cells) or n, "mean λ")
        return found


def empty_frame(*columns: str) -> pd.DataFrame:
    """A table without rows."""
    return pd.DataFrame({name: pd.Series(dtype=float) for name in columns})


def comparison_frame(rows: list[tuple[str, float, float, str]]) -> pd.DataFrame:
    """Bounds side by side: method, estimate, upper bound, what it claims."""
    columns = ["method", "pmi", "pmi_upper", "claim"]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.astype({"pmi": float, "pmi_upper": float})
