"""The paper's four approaches side by side, in the shape of its Table III."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from fireassay.core.evidence import Evidence
from fireassay.core.result import Answer
from fireassay.curation.curate import curate
from fireassay.curation.lone_evidence import lone_evidence

if TYPE_CHECKING:
    from matplotlib.figure import Figure

APPROACHES: dict[str, tuple[bool, str]] = {
    "PL Conf with all LFs": (False, "confidence"),
    "PL Conf with Indep. LFs": (True, "confidence"),
    "CI LB with all LFs": (False, "lower_bound"),
    "Our Approach": (True, "lower_bound"),
}


@dataclass(frozen=True, eq=False)
class Comparison(Answer):
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
    accuracy: "Any"

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

    def figures(self) -> "dict[str, Figure]":
        """Accuracy of the datasets by approach (Figure 3)."""
        from fireassay.curation.figures import comparison_figure

        return {"approaches": comparison_figure(self)}

    def evidence(self) -> Evidence:
        """The comparison alone."""
        agree = int((self.rows["definition_3"] == self.rows["verdict"]).sum())
        text = (
            f"{self.case}: the published rule and the calibrated test agree in {agree} of "
            f"{len(self.rows)} combinations of label model and approach."
        )
        return lone_evidence(text, None, {}, self.frame())


def compare_approaches(
    votes: Any,
    y: Any,
    n_classes: int = 2,
    fit_votes: Any = None,
    labelers: Sequence[Any] = ("majority", "snorkel"),
    prune: float = 0.5,
    interval: str = "paper",
    alpha: float = 0.05,
    n_sets: int = 10,
    default_class: int = 0,
    drop_silent: bool = False,
    seed: int = 0,
    *,
    gamma: float = 0.05,
    ties: str = "expected",
    groups: Any = None,
    case: str = "votes",
) -> Comparison:
    """Order by confidence or by lower bound, with all or with independent labelling functions.

    The defaults are the paper's; ``interval="posterior"`` and ``drop_silent=True`` give the same
    comparison for the corrected interval. True labels are needed.
    """
    rows, accuracy = [], []
    for labeler in labelers:
        for approach, (pruned, order_by) in APPROACHES.items():
            result = curate(
                votes, n_classes, fit_votes, labeler, prune if pruned else None, order_by, interval,
                alpha, n_sets, default_class, drop_silent, seed,
            )  # fmt: skip
            trend = result.validate(y, gamma, ties, groups=groups)
            rows.append(
                {
                    "labeler": labeler if isinstance(labeler, str) else result.settings.labeler,
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
    return Comparison(case, pd.DataFrame(rows), np.array(accuracy))
