"""Partial identification: where no label was seen, the model may be wrong every time."""

from dataclasses import dataclass

import numpy as np

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.reliability.streamed import Streamed
from fireassay.reliability.surrogate import Inputs
from fireassay.statistics.clopper_pearson import clopper_pearson


@dataclass(frozen=True)
class WorstCase:
    """An interval that needs no trust in the model's own vote.

    Attributes
    ----------
    low, high
        Confidence limits: no error in unseen cells, an error at every input in them.
    identified_low, identified_high
        The same shares without sampling error.
    unseen
        Share of operational rows in cells without a label, or with several.
    cells_seen
        Cells with exactly one label.
    """

    low: float
    high: float
    identified_low: float
    identified_high: float
    unseen: float
    cells_seen: int


def worst_case_interval(
    labelled: Inputs,
    y: IntArray,
    operational: Inputs | Streamed,
    *,
    side: FloatArray,
    origin: FloatArray,
    alpha: float,
) -> WorstCase:
    """Bound the pmi by what operational rows fall into labelled cells, in any dimension.

    A row counts as wrong for sure if its cell has one label and the model says another, and as
    possibly wrong if its cell has no label or several. Both shares are binomial over operational
    rows, so exact limits hold, given that a cell has one true label.
    """
    label_of = _labels_by_cell(labelled.X, y, side, origin)
    unknown, wrong = 0, 0
    for block in operational.blocks():
        keys = _keys(block.inputs.X, side, origin)
        seen = np.array([label_of.get(key, -1) for key in keys], dtype=np.int64)
        unknown += int((seen < 0).sum())
        wrong += int(((seen >= 0) & (seen != block.inputs.predicted)).sum())
    n = len(operational)
    low = clopper_pearson(wrong, n, 1 - alpha, "lower")[0]
    high = clopper_pearson(wrong + unknown, n, 1 - alpha, "upper")[1]
    return WorstCase(
        float(low),
        float(high),
        wrong / n,
        (wrong + unknown) / n,
        unknown / n,
        sum(label >= 0 for label in label_of.values()),
    )


def _labels_by_cell(
    X: FloatArray, y: IntArray, side: FloatArray, origin: FloatArray
) -> dict[bytes, int]:
    found: dict[bytes, int] = {}
    for key, label in zip(_keys(X, side, origin), y.tolist(), strict=True):
        found[key] = label if found.get(key, label) == label else -1
    return found


def _keys(X: FloatArray, side: FloatArray, origin: FloatArray) -> list[bytes]:
    position = np.floor((X - origin) / side).astype(np.int64)
    return [row.tobytes() for row in position]
