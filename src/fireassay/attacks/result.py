"""What an attack found, sample by sample, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fireassay.core.arrays import AnyArray, BoolArray, FloatArray, IntArray
from fireassay.core.chart import Chart
from fireassay.core.drawing import axis, curves
from fireassay.core.lazy import pd
from fireassay.core.result import Result

FOUND, NOT_FOUND, ALREADY_WRONG = "found", "not found", "already wrong"
_SHOWN = (
    "status", "success", "distance", "queries", "gradient_queries", "queries_before_failure",
    "queries_to_failure",
)  # fmt: skip


@dataclass(frozen=True)
class AttackResult(Result):
    """One entry per attacked sample; nothing depends on batch size or row order.

    Attributes:
        adversarial: Inputs of the shape and type of X, inside the bounds: the adversarial one where
            there is one, otherwise the last point that was checked (fixed-size attacks) or the
            sample itself.
        success: Whether the model, asked again about exactly ``adversarial``, gave another class
            than the one attacked. True for samples that were wrong before the attack.
        distance: Distance of ``adversarial`` from X in ``norm``; inf: not found, 0: already wrong.
        queries, gradient_queries: Rows sent forward and backward for this sample. A gradient's
            forward pass is in ``queries``.
        queries_before_failure, queries_to_failure: Forward queries at the last check that was still
            right and at the first that was wrong (inf: never). The failure lies between the two.
            ``gradient_queries_before_failure`` and ``gradient_queries_to_failure`` are the backward
            passes at the same two checks.
        status: ``"found"``, ``"not found"`` or ``"already wrong"``.
        shared_queries: Forward queries made once for all samples (predicting a pool), in no
            sample's count.
        made_by: Of several attacks in turn: which of them found each sample's point ("" where none
            did).
        not_tried: Of several attacks in turn: those that were left out, each with the reason.
    """

    attack: str
    norm: str
    seed: int
    adversarial: AnyArray
    success: BoolArray
    distance: FloatArray
    queries: IntArray
    gradient_queries: IntArray
    queries_before_failure: FloatArray
    queries_to_failure: FloatArray
    gradient_queries_before_failure: FloatArray
    gradient_queries_to_failure: FloatArray
    status: NDArray[np.str_]
    shared_queries: int = 0
    made_by: NDArray[np.str_] | None = None
    not_tried: tuple[str, ...] = ()

    def summary(self) -> str:
        """How many samples fell, how far away and at what cost."""
        attacked = self.status != ALREADY_WRONG
        fell = self.status == FOUND
        nearest = f", median distance {np.median(self.distance[fell]):.3g}" if fell.any() else ""
        return (
            f"{self.attack} ({self.norm}): {fell.sum()} of {attacked.sum()} samples fell{nearest}; "
            f"{self.queries.sum() + self.shared_queries} queries"
        )

    def frame(self) -> pd.DataFrame:
        """One row per sample: status, distance and every count."""
        table = pd.DataFrame({name: getattr(self, name) for name in _SHOWN})
        return table.rename(columns={"distance": f"distance_{self.norm}"})

    def charts(self) -> dict[str, Chart]:
        """Share of samples that fell, by distance and by queries spent."""
        attacked = self.status != ALREADY_WRONG
        panels = []
        for values, title in (
            (self.distance[attacked], f"distance ({self.norm})"),
            (self.queries_to_failure[attacked], "queries"),
        ):
            fallen = np.sort(values[np.isfinite(values)])
            share = np.arange(1, len(fallen) + 1) / max(len(values), 1)
            lines = {self.attack: ([0.0, *fallen], [0.0, *share])}
            up = {"axis": axis("misclassified", "share"), "scale": {"domain": [0, 1]}}
            across = {"axis": axis(title)}
            panels.append(curves(lines, across, up, steps=True, width=260, height=200))
        caption = "Share of samples that fell, by distance and by queries spent."
        return {"fallen": Chart({"hconcat": panels}, caption, "Two rising step lines.")}
