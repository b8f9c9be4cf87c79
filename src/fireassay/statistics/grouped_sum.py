"""A weighted sum of shares where rows belong together: a mean recall, a mean cost."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import BoolArray, FloatArray
from fireassay.core.lazy_modules import special
from fireassay.core.validation import check_labels
from fireassay.statistics.grouped_share import grouped_share


def grouped_sum(
    weights: Sequence[float],
    hits: Sequence[BoolArray],
    members: Sequence[BoolArray],
    groups: ArrayLike,
    confidence: float,
) -> tuple[float, float, float]:
    """The sum of weight × share of hits among the members, with an approximate interval.

    Returns
    -------
    (value, low, high)

    Notes
    -----
    The wider of two intervals on each side. One combines the shares' own (`grouped_share`) by
    their squared widths, as if the shares were unrelated: right where errors are rare. The other is
    Student's t with the jackknife over groups, which knows how the shares move together.

    >>> right, all_rows = np.array([1, 1, 0, 1, 1, 0], dtype=bool), np.ones(6, dtype=bool)
    >>> value, low, high = grouped_sum([1.0], [right], [all_rows], [0, 0, 1, 1, 2, 2], 0.95)
    >>> round(value, 3), low < value < high
    (0.667, True)
    """
    who = check_labels(groups, name="groups", n=len(hits[0]))
    member = np.unique(who, return_inverse=True)[1].ravel()
    many = int(member.max()) + 1
    down = up = value = 0.0
    without: FloatArray = np.zeros(many)
    known = True
    for weight, hit, inside in zip(weights, hits, members, strict=True):
        share = grouped_share(hit[inside], who[inside], confidence)[0]
        below, above = weight * (share.value - share.low), weight * (share.high - share.value)
        down, up = math.hypot(down, max(below, -above)), math.hypot(up, max(above, -below))
        value += weight * share.value
        rows = np.bincount(member[inside], minlength=many)
        found = np.bincount(member[inside], weights=hit[inside], minlength=many)
        left = rows.sum() - rows
        # One group has all of them: without it nothing is known.
        known = known and bool(left.all())
        without += weight * (found.sum() - found) / np.maximum(left, 1)
    if not known:
        return value, -math.inf, math.inf
    error = math.sqrt((many - 1) / many * float(np.square(without - without.mean()).sum()))
    reach = -float(special.stdtrit(many - 1, (1.0 - confidence) / 2.0)) * error
    return value, value - max(down, reach), value + max(up, reach)
