"""How long a row in a series remembers the rows before it."""

import math

import numpy as np
from numpy.typing import ArrayLike

from fireassay.statistics.samples import check_sample

_NONE = 1.5


def autocorrelation_time(values: ArrayLike) -> float:
    """How many rows of a series say as much as one independent row: 1 for independent rows.

    Parameters
    ----------
    values
        One number per row, in the order of time, at least 3.

    Notes
    -----
    ``1 + 2 Σ ρ_k`` up to the first lag whose autocorrelation is within chance, ``2 / √n``. Below
    1.5 it is taken as 1.

    >>> autocorrelation_time([0.3, 0.1, 0.9, 0.2, 0.5, 0.4])
    1.0
    """
    series = check_sample(values, "values", min_rows=3)
    n = len(series)
    centred = series - series.mean()
    spread = float(centred @ centred)
    if spread == 0:
        return 1.0
    spectrum = np.abs(np.fft.rfft(centred, 2 * n)) ** 2
    correlation = np.fft.irfft(spectrum)[: n // 2] / spread
    within_chance = np.flatnonzero(correlation < 2 / math.sqrt(n))
    stop = int(within_chance[0]) if len(within_chance) else len(correlation)
    time = 1.0 + 2.0 * float(correlation[1:stop].sum())
    return time if time >= _NONE else 1.0
