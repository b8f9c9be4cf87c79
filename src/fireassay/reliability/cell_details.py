"""What an assessment by cells found: the published numbers, its cells, and where to look next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fireassay.core import Chart, Claim, Estimate, Table
from fireassay.core.drawing import axis, curves, field
from fireassay.core.lazy import pd
from fireassay.reliability.label_bounds import exact_estimates
from fireassay.reliability.result import Details, ReliabilityResult

_ASSUMED = (
    "independent-cells",
    "r-separated",
    "labels-from-the-field",
    "one-label-per-cell",
    "vote-is-right",
    "uniform-in-cells",
)
_UNLIKELY = 0.01


@dataclass(frozen=True)
class ByCells(Details):
    """The published numbers, which are no bound."""

    pmi: float
    pmi_upper: float
    acu: float
    cells: pd.DataFrame
    contradiction_p: float

    how: ClassVar[str] = "cells weighted by the profile (published bound)"

    @property
    def rests_on(self) -> tuple[str, ...]:
        """On the paper's six assumptions."""
        return _ASSUMED

    def headline(self, result: ReliabilityResult) -> str:  # noqa: ARG002
        """The published numbers, and that they do not hold."""
        return (
            f"E[pmi] = {self.pmi:.3g}, published bound {self.pmi_upper:.3g}: not a bound that "
            f"holds (the data has probability {self.contradiction_p:.1g} under it)."
        )

    def claims(self, result: ReliabilityResult) -> tuple[Claim, ...]:  # noqa: ARG002
        """Whether the labels agree."""
        holds = bool(self.contradiction_p >= _UNLIKELY)
        return (Claim("The published bound agrees with the labels.", holds),)

    def estimates(self, result: ReliabilityResult) -> dict[str, Estimate]:
        """The published numbers, and the bounds that hold beside them."""
        n, how, rests_on = result.n_labels, self.how, self.rests_on
        cells = len(self.cells)
        return {
            "pmi_ram": Estimate.point(self.pmi, n, how, rests_on=rests_on),
            "pmi_upper_published": Estimate.point(self.pmi_upper, n, how, rests_on=rests_on),
            **exact_estimates(result),
            "acu": Estimate.point(self.acu, cells, "mean λ", rests_on=rests_on),
        }

    def labelling_queue(self, most: int = 100) -> pd.DataFrame:
        """Heavy cells without a label and with a weak vote, the most uncertain mass first."""
        empty = self.cells[self.cells["kind"] == "empty"]
        doubt = empty["mass"] * (1 - empty["vote"])
        queue = empty.assign(doubt=doubt).sort_values(["doubt", "mass"], ascending=False)
        return queue.head(most).reset_index(drop=True)

    def failing_cells(self, above: float = 0.0) -> pd.DataFrame:
        """Cells in which the model is wrong, the heaviest first: where to collect training rows."""
        bad = self.cells[self.cells["unastuteness"] > above]
        share = bad["unastuteness"] * bad["mass"]
        return bad.assign(share=share).sort_values("share", ascending=False, ignore_index=True)


@dataclass(frozen=True)
class GridCells(ByCells):
    """The published numbers on a full grid.

    Attributes:
        pmi, std, pmi_upper: E[λ], √V[λ] and the bound as published.
        std_covariances: The standard deviation with every covariance between cells kept.
        shape: Cells per axis.
        refinement: How estimate and ACU move with the size of the cells.
        sensitivity: How the estimate moves with the bandwidth; empty for a profile that was given.
        cells: One row per cell.
        contradiction_p: Probability of at least as many errors as seen, if the pmi were
            ``pmi_upper``.

    >>> from fireassay.reliability import Ram, assess
    >>> half = lambda X: np.column_stack([1 - X[:, 0], X[:, 0]])
    >>> X = (np.arange(100)[:, None] + 0.5) / 100
    >>> found = assess(half, X, X[:, 0] > 0.5, method=Ram(cells=20, samples=50)).details
    >>> found.shape, len(found.cells), found.acu  # never wrong
    ((20,), 20, 0.0)
    """

    std: float
    std_covariances: float
    shape: tuple[int, ...]
    refinement: pd.DataFrame
    sensitivity: pd.DataFrame

    def tables(self) -> dict[str, Table]:
        """The refinement curve."""
        return {"refinement": Table.from_frame(self.refinement, "Finer cells", index=False)}

    def charts(self, result: ReliabilityResult) -> dict[str, Chart]:
        """The refinement curve; in two dimensions also maps of profile and cells."""
        charts = {"refinement": self._refinement(result.n_errors / result.n_labels)}
        if len(self.shape) == 2:
            charts["cells"] = self._map("unastuteness", "unastuteness of the cell")
            charts["profile"] = self._map("mass", "share of inputs per cell", total=True)
        return charts

    def _map(self, column: str, label: str, *, total: bool = False) -> Chart:
        """One value per cell of a two-dimensional grid."""
        values = self.cells[column].to_numpy(dtype=float).reshape(self.shape)
        low = self.cells[["low_0", "low_1"]].to_numpy(dtype=float)
        side = (low.max(axis=0) - low.min(axis=0)) / np.maximum(np.array(self.shape) - 1, 1)
        (left, bottom), (right, top) = low.min(axis=0), low.max(axis=0) + side
        names = {"title": label, "across": "feature 0", "up": "feature 1"}
        spec = field(values, (left, right, bottom, top), **names, total=total)
        return Chart(spec, f"{label.capitalize()}.", f"A map: {label}.")

    def _refinement(self, rate: float) -> Chart:
        """Estimate and ACU against the number of cells, with the error rate seen."""
        table = self.refinement
        counts = table["cells_per_axis"].to_numpy()
        ticks = axis("cells per axis", values=[int(c) for c in counts], format=",d")
        spec = curves(
            {"E[λ]": (counts, table["pmi"]), "ACU": (counts, table["acu"])},
            {"axis": ticks, "scale": {"type": "log", "nice": False}},
            {"axis": axis("pmi")},
            levels=[(rate, "error rate on the labels")],
            points=True,
            height=220,
        )
        return Chart(
            spec,
            "The estimate depends on the cells: finer cells give other numbers.",
            "Two lines of the estimate against cells per axis.",
        )


@dataclass(frozen=True)
class LatentCells(ByCells):
    """The published numbers on cells of a latent space.

    Attributes:
        pmi, pmi_upper: With the cells that were not evaluated; equal, since the paper gives no
            bound here.
        mean: E[λ] within the evaluated cells.
        evaluated_mass: Share of the profile in them.
        drawn, drawn_upper: E[λ] over cells drawn from the profile and its normal limit; nan if
            fewer than two were.
        acu: Mean unastuteness of the evaluated cells.
        cells: One row per evaluated cell.
        contradiction_p: Probability of at least as many errors as seen, if the pmi were
            ``pmi_upper``.

    >>> from fireassay.reliability import PcaLatent, Ram, TopCells, assess
    >>> images = np.random.default_rng(0).random((60, 4, 4))
    >>> bright = lambda X: np.column_stack([1 - X.mean(axis=(1, 2)), X.mean(axis=(1, 2))])
    >>> ram = Ram(latent=PcaLatent(2).fit(images), top=TopCells(side=0.5, top_k=5, draws=0))
    >>> found = assess(bright, images, images.mean(axis=(1, 2)) > 0.5, method=ram).details
    >>> len(found.cells), bool(found.evaluated_mass < 1)
    (5, True)
    """

    mean: float
    evaluated_mass: float
    drawn: float
    drawn_upper: float

    def headline(self, result: ReliabilityResult) -> str:
        """How little of the profile was evaluated."""
        if self.evaluated_mass >= 1:
            return super().headline(result)
        return (
            f"E[λ] = {self.mean:.3g} in {len(self.cells)} latent cells that hold "
            f"{self.evaluated_mass:.2g} of the profile; with the rest E[pmi] = {self.pmi:.3g}: "
            "not a bound that holds."
        )
