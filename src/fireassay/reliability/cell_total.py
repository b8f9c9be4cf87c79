"""What a black box gets wrong by the labels of its cells, over the whole profile: a plain share."""

from dataclasses import dataclass

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.seeds import generator
from fireassay.reliability.cell_shares import Predict, WithinCell
from fireassay.reliability.cells import CROSS_BOUNDARY, CellLabels, Grid
from fireassay.statistics import clopper_pearson

_ROWS_AT_ONCE = 400_000


@dataclass(frozen=True)
class CellTotal:
    """Points drawn from the cells by their mass, and how many disagree with their cell's label."""

    disagree: int
    drawn: int

    @property
    def share(self) -> float:
        """Unbiased for the total of the cells, whatever their size."""
        return self.disagree / self.drawn

    def upper(self, alpha: float) -> float:
        """Exact upper bound of the total, with error probability ``alpha``."""
        return float(clopper_pearson(self.disagree, self.drawn, 1.0 - alpha, "upper")[1])


def cell_total(
    predict: Predict,
    grid: Grid,
    labels: CellLabels,
    label: IntArray,
    mass: FloatArray,
    *,
    draws: int,
    seed: int,
    within: WithinCell | None = None,
) -> CellTotal:
    """Draw cells by their mass, one fresh point in each, and count disagreements: a coin."""
    rng = generator(seed, "cell total")
    cells = rng.choice(grid.n_cells, size=draws, p=mass / mass.sum())
    wrong = int((labels.kind[cells] == CROSS_BOUNDARY).sum())
    asked = cells[labels.kind[cells] != CROSS_BOUNDARY]
    for start in range(0, len(asked), _ROWS_AT_ONCE):
        some = asked[start : start + _ROWS_AT_ONCE]
        low, high = grid.boxes(some)
        points = (
            low + (high - low) * rng.random(low.shape) if within is None else within(low, high, rng)
        )
        wrong += int((predict(points) != label[some]).sum())
    return CellTotal(wrong, draws)
