"""The paper's four approaches side by side, in the shape of its Table III."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fireassay.core.arrays import FloatArray
from fireassay.core.chart import Chart
from fireassay.core.drawing import axis, curves
from fireassay.core.result import Result
from fireassay.curation import curate

APPROACHES: dict[str, tuple[bool, str]] = {
    "PL Conf with all LFs": (False, "confidence"),
    "PL Conf with Indep. LFs": (True, "confidence"),
    "CI LB with all LFs": (False, "lower_bound"),
    "Our Approach": (True, "lower_bound"),
}


@dataclass(frozen=True, eq=False)
class FourApproaches(Result):
    """One row per labeler and approach; print it to see the paper's table.

    Attributes
    ----------
    rows
        Labeler, approach, Definition 2's rho and p-value, the paper's verdict, the calibrated AUC
        with p-value, and the calibrated verdict.
    accuracy
        Accuracy of D_1 … D_N for each of those rows.
    """

    case: str
    rows: pd.DataFrame
    accuracy: FloatArray

    def frame(self) -> pd.DataFrame:
        """One row per labeler and approach."""
        return self.rows

    def table(self, calibrated: bool = False) -> pd.DataFrame:
        """Table III: ``rho (p)`` per labeler and approach, or ``AUC (p)`` of the valid test."""
        value, p = ("auc", "auc_p_value") if calibrated else ("rho", "p_value")
        cells = self.rows.assign(
            cell=[f"{v:.3f} ({q:.3f})" for v, q in zip(self.rows[value], self.rows[p], strict=True)]
        )
        wide = cells.pivot(index="labeler", columns="approach", values="cell")
        wide = wide.loc[list(dict.fromkeys(self.rows["labeler"])), list(APPROACHES)]
        wide.columns.name = None
        wide.insert(0, "case", self.case)
        return wide.reset_index().set_index(["case", "labeler"])

    def __str__(self) -> str:
        return str(self.table().to_string())

    def charts(self) -> dict[str, Chart]:
        """Accuracy of the datasets by approach, one panel per labeler (Figure 3)."""
        panels = []
        for labeler in dict.fromkeys(self.rows["labeler"]):
            lines = {}
            for place in np.flatnonzero(self.rows["labeler"] == labeler):
                curve = self.accuracy[place]
                lines[str(self.rows["approach"].iloc[place])] = (
                    np.arange(1, len(curve) + 1),
                    curve,
                )
            panel = curves(
                lines,
                {"axis": axis("dataset", tickMinStep=1), "scale": {"zero": False}},
                {
                    "axis": axis("accuracy of the weak labels", "share"),
                    "scale": {"domain": [0, 1]},
                },
                points=True,
                width=300,
            )
            panels.append({"title": f"{self.case}: {labeler}", **panel})
        caption = f"{self.case}: accuracy of the datasets by approach, one panel per label model."
        return {"approaches": Chart({"hconcat": panels}, caption, "Lines along the datasets.")}

    def summary(self) -> str:
        """How often the published rule and the calibrated test agree."""
        agree = int((self.rows["definition_3"] == self.rows["verdict"]).sum())
        return (
            f"{self.case}: the published rule and the calibrated test agree in {agree} of "
            f"{len(self.rows)} combinations of label model and approach."
        )


def compare_approaches(
    votes: Any,
    y: Any,
    n_classes: int = 2,
    fit_votes: Any = None,
    labelers: Sequence[Any] = ("majority", "snorkel"),
    prune: float = 0.5,
    interval: str = "paper",
    confidence: float = 0.95,
    n_sets: int = 10,
    default_class: int = 0,
    drop_silent: bool = False,
    seed: int = 0,
    *,
    gamma: float = 0.05,
    ties: str = "expected",
    groups: Any = None,
    case: str = "votes",
) -> FourApproaches:
    """Order by confidence or by lower bound, with all or with independent labelling functions.

    The defaults are the paper's; ``interval="posterior"`` and ``drop_silent=True`` give the same
    comparison for the corrected interval. True labels are needed.
    """
    rows, accuracy = [], []
    for labeler in labelers:
        for approach, (pruned, order_by) in APPROACHES.items():
            result = curate(
                votes, n_classes, fit_votes, labeler, prune if pruned else None, order_by, interval,
                confidence, n_sets, default_class, drop_silent, seed,
            )  # fmt: skip
            trend = result.validate(y, gamma, ties, groups=groups)
            rows.append(
                {
                    "labeler": result.settings.labeler,
                    "approach": approach,
                    "kept_lfs": len(result.kept_lfs),
                    "rho": trend.rho,
                    "p_value": trend.p_value,
                    "definition_3": trend.definition_3,
                    "permutation_p": trend.permutation_p,
                    "auc": trend.auc,
                    "auc_p_value": trend.auc_p_value,
                    "verdict": trend.verdict,
                }
            )
            accuracy.append(trend.accuracy)
    return FourApproaches(case, pd.DataFrame(rows), np.array(accuracy))
