"""Test prioritisation: which rows to look at first, and how good that order is (APFD)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.chart import Chart
from fireassay.core.drawing import axis, curves
from fireassay.core.errors import DataError
from fireassay.core.estimate import Estimate
from fireassay.core.lazy import pd
from fireassay.core.result import Result
from fireassay.core.validation import check_choice, check_finite, check_lengths
from fireassay.statistics import average_ranks, delong_interval

PURPOSES = ("testing", "active-learning")


@dataclass(frozen=True)
class Prioritisation(Result):
    """An order of rows, first things first.

    Attributes:
        order: Positions of the rows, most urgent first.
        apfd: Average percentage of faults detected: 1 where all faults come first, 0.5 for a random
            order; None without ``wrong``, or where nothing or everything is wrong.
        best: The APFD of a perfect order of these rows.
        found: Share of the faults found after each row of the order.
    """

    order: IntArray
    apfd: Estimate | None
    best: float | None
    found: FloatArray

    def summary(self) -> str:
        """How many rows are in order, and how good the order is."""
        known = "" if self.apfd is None else f"; APFD {self.apfd}"
        return f"{len(self.order)} rows, most urgent first{known}"

    def frame(self) -> pd.DataFrame:
        """One row per place in the order."""
        columns: dict[str, NDArray[np.generic]] = {"row": self.order}
        if len(self.found):
            columns["share_of_faults_found"] = self.found
        return pd.DataFrame(columns)

    def charts(self) -> dict[str, Chart]:
        """Faults found by rows looked at."""
        if not len(self.found):
            return {}
        side = {"scale": {"domain": [0, 1]}}
        spec = curves(
            {"this order": (np.arange(1, len(self.found) + 1) / len(self.found), self.found)},
            {"axis": axis("rows looked at", "share"), **side},
            {"axis": axis("faults found", "share"), **side},
            diagonal=True,
            width=280,
            height=280,
        )
        caption = "Share of the faults found by share of the rows looked at; dashed: by chance."
        return {"faults_found": Chart(spec, caption, "A line above a dashed diagonal.")}


def prioritise(
    scores: ArrayLike,
    wrong: ArrayLike | None = None,
    *,
    ambiguity: ArrayLike | None = None,
    purpose: str = "testing",
    confidence: float = 0.95,
) -> Prioritisation:
    """Order rows by suspicion.

    Args:
        scores: Of a supervisor; higher is more suspicious.
        wrong: Whether the model is wrong on each row, where known: gives the APFD.
        ambiguity: Scores of ambiguity, e.g. softmax entropy. For ``purpose="testing"`` ambiguous
            rows move up: they are likely faults. For ``"active-learning"`` they move down: a row
            without one true label teaches a classifier little.
        confidence: Of the APFD's interval.
        purpose: ``"testing"`` or ``"active-learning"``: what to do with ambiguous rows.

    Ties share their mean rank, so that APFD = 1 − (mean rank of the faults) / n + 1 / (2n) is the
    expectation over their random order. It is linear in the AUROC of the scores for the faults:
    its interval is DeLong's, mapped.

    >>> prioritise([0.9, 0.1, 0.5], [True, False, False]).apfd.value
    0.8333333333333334
    """
    check_choice(purpose, "purpose", PURPOSES)
    urgency = _scores(scores, "scores")
    if ambiguity is not None:
        other = _scores(ambiguity, "ambiguity")
        check_lengths(scores=len(urgency), ambiguity=len(other))
        sign = 1.0 if purpose == "testing" else -1.0
        urgency = average_ranks(urgency) + sign * average_ranks(other)
    order = np.argsort(-urgency, kind="stable")
    nothing = np.zeros(0)
    if wrong is None:
        return Prioritisation(order, None, None, nothing)
    faults = np.asarray(wrong)
    if faults.shape != urgency.shape or faults.dtype.kind not in "bui":
        raise DataError(
            "'wrong' must be True or False per score.", got=f"{faults.dtype} {faults.shape}"
        )
    faults = faults.astype(bool)
    n, m = len(faults), int(faults.sum())
    if m in (0, n):
        return Prioritisation(order, None, None, nothing)
    auc = delong_interval(urgency, faults, confidence)

    def apfd(auroc: float) -> float:
        mean_rank = (m + 1) / 2 + (n - m) * (1 - auroc)
        return 1 - mean_rank / n + 1 / (2 * n)

    estimate = Estimate.around(
        apfd(auc.value), apfd(auc.low), apfd(auc.high),
        confidence=confidence, n=n, method=f"{auc.method}, mapped",
    )  # fmt: skip
    found = np.cumsum(faults[order]) / m
    return Prioritisation(order, estimate, apfd(1.0), found)


def _scores(values: ArrayLike, name: str) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or not len(array):
        raise DataError(f"{name} must have shape (n,), n >= 1.", got=f"{array.shape}")
    check_finite(array, name=name)
    return array
