"""An interval around each weak label's confidence (Clopper-Pearson on the votes)."""

import numpy as np
from numpy.typing import NDArray

from fireassay.statistics.clopper_pearson import clopper_pearson

INTERVALS = ("posterior", "paper")


def label_intervals(
    n_votes: NDArray[np.float64],
    confidence: NDArray[np.float64],
    *,
    interval: str = "posterior",
    alpha: float = 0.05,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lower and upper end for each pattern.

    ``"posterior"`` counts ``n * confidence`` of the n votes as successes, as the paper's text
    says; the count is fractional and no binomial draw, so the result is a score to order by.
    ``"paper"`` is what the authors' program computes: both classes weigh the same, so that
    ``round(n / 2)`` votes succeed whatever the label, and only the number of votes matters.
    Without votes the interval is [0, 1].
    """
    n = np.asarray(n_votes, dtype=np.float64)
    successes = np.round(n / 2) if interval == "paper" else n * confidence
    low, high = np.zeros_like(n), np.ones_like(n)
    voted = n > 0
    if voted.any():
        # Equal (n, s) pairs share one beta quantile, which is the costly step.
        pairs, where = np.unique(
            np.column_stack([n[voted], successes[voted]]), axis=0, return_inverse=True
        )
        bounds = clopper_pearson(pairs[:, 1], pairs[:, 0], confidence=1 - alpha)
        low[voted], high[voted] = (np.asarray(bound)[where.ravel()] for bound in bounds)
    return low, high
