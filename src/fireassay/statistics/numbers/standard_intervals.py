"""Intervals of the standard numbers: shares exactly, bounded means, ratios by leaving out units."""

import math
from collections.abc import Callable, Iterable
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import FloatArray
from fireassay.core.estimate import Estimate
from fireassay.core.lazy import special
from fireassay.statistics.counts import clopper_pearson

Ends = tuple[float, float]
# Each scale: there, back, and its name in words.
_SCALES: Final[dict[str, tuple[Callable[..., Any], Callable[..., Any], str]]] = {
    "plain": (np.asarray, np.asarray, "plain scale"),
    "log": (np.log, np.exp, "log scale"),
    "logit": (lambda v: special.logit(v), lambda v: special.expit(v), "logit scale"),
    "fisher": (np.arctanh, np.tanh, "Fisher's scale"),
}
_RANGES: Final = {
    "plain": (-math.inf, math.inf),
    "log": (0.0, math.inf),
    "logit": (0.0, 1.0),
    "fisher": (-1.0, 1.0),
}


def not_estimable(why: str, confidence: float) -> Estimate:
    """An estimate without a value, and the sentence that says why."""
    nan = math.nan
    return Estimate(nan, nan, nan, confidence, 0, f"not estimable: {why}")


def share_ends(
    hits: ArrayLike, sizes: ArrayLike, confidence: float, largest_group: float | None = None
) -> Ends:
    """Both ends of a share: of two counts exactly, of counts per group by the groups' bound."""
    if np.ndim(sizes) == 0:
        low, high = clopper_pearson(float(np.asarray(hits)), float(np.asarray(sizes)), confidence)
        return float(low), float(high)
    return mean_ends(hits, sizes, confidence, largest_group=largest_group)


def mean_ends(
    sums: ArrayLike,
    sizes: ArrayLike,
    confidence: float,
    lowest: float = 0.0,
    highest: float = 1.0,
    largest_group: float | None = None,
) -> Ends:
    """Both ends of a mean of row values in known bounds, from sums and sizes per group or row."""
    from fireassay.statistics.groups.group_bound import group_upper

    rows = np.asarray(sizes, dtype=np.float64)
    some = rows > 0
    rows, tail = rows[some], (1.0 - confidence) / 2.0
    unit = (np.asarray(sums, dtype=np.float64)[some] - lowest * rows) / (highest - lowest)
    unit = np.clip(unit, 0.0, rows)
    cap = float(rows.max()) if largest_group is None else float(largest_group)
    low = 1.0 - group_upper(rows - unit, rows, tail, cap)
    high = group_upper(unit, rows, tail, cap)
    return lowest + (highest - lowest) * low, lowest + (highest - lowest) * high


def method_of_share(groups: int | None) -> str:
    """How `share_ends` made its ends, in words."""
    return "Clopper-Pearson" if groups is None else f"groups-any over {groups:,} groups"


def jackknife(
    value: float,
    blocks: Iterable[tuple[FloatArray, FloatArray]],
    confidence: float,
    n: int,
    units: int,
    scale: str,
    what: str,
    among: Ends | None = None,
) -> Estimate:
    """Value and Student's interval from its values without each unit in turn; approximate."""
    # The blocks hold values and how many units are alike. The spread is taken on the scale, and is
    # never below the plain one carried there. Without spread, or at the end of the scale, the whole
    # range is the interval; ``among`` are ends that it must contain where counts are few.
    there, back, words = _SCALES[scale]
    lowest, highest = _RANGES[scale]
    parts = list(blocks)
    left, times = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    how = f"jackknife over {units:,} {what}, {words}, approximate"
    known = bool(np.isfinite(left).all()) and units > 1 and lowest < value < highest
    spread = 0.0
    if known:
        plain = math.sqrt((units - 1) / units * float(times @ (left - value) ** 2))
        near = max(1e-12, 1e-3 * plain)
        inside = np.clip(left, lowest + near, highest - near) if lowest > -math.inf else left
        steps = there(inside) - float(there(value))
        slope = {"plain": 1.0, "log": 1.0 / value if value else 0.0}.get(scale)
        if slope is None:
            slope = 1.0 / (value * (1 - value)) if scale == "logit" else 1.0 / (1 - value**2)
        own = math.sqrt((units - 1) / units * float(times @ steps**2))
        spread = max(plain * slope, own)
    if spread > 1e-12:
        half = -float(special.stdtrit(units - 1, (1.0 - confidence) / 2.0)) * spread
        low, high = (float(back(float(there(value)) + step)) for step in (-half, half))
        if among is not None:
            low, high = min(low, among[0]), max(high, among[1])
            how += ", few errors: widened by exact ends"
    elif among is not None and bool(np.isfinite(left).all()):
        (low, high), how = among, "few errors: exact ends of the share of errors"
    else:
        low, high, how = lowest, highest, "no spread among the units: the whole range"
    return Estimate.around(value, low, high, confidence=confidence, n=n, method=how)
