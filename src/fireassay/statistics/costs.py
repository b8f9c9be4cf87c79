"""Mean cost of decisions with its interval, and the threshold with the lowest cost."""

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.errors import ParameterError
from fireassay.core.estimate import Estimate
from fireassay.core.seeds import generator
from fireassay.core.validation import check_lengths
from fireassay.statistics.betting import betting_interval
from fireassay.statistics.groups.group_bound import group_mean
from fireassay.statistics.samples import check_confidence, check_sample


def mean_cost(
    costs: ArrayLike,
    bounds: tuple[float, float],
    confidence: float = 0.95,
    *,
    groups: ArrayLike | None = None,
    seed: int = 0,
    rests_on: tuple[str, ...] = (),
) -> Estimate:
    """The mean of bounded costs, or of differences of costs, with a betting interval.

    Rare and expensive mistakes make costs skew: a normal interval would be too short there.

    Args:
        costs: One per row.
        bounds: (lowest, highest) possible cost, known beforehand.
        confidence: In (0, 1).
        groups: For each row the patient, device or document it belongs to: then groups are bet on.
        seed: Rows are taken in a random order, so that the order of a file does not matter.
        rests_on: Ids of the assumptions that the estimate carries.

    `betting_interval`, which holds for any distribution on the bounds; with groups `group_mean`.

    >>> print(mean_cost([0.0] * 95 + [50.0] * 1 + [1.0] * 4, bounds=(0, 50)))
    0.540 [0.000, 2.921] n=100
    """
    values = check_sample(costs, "costs")
    check_confidence(confidence)
    lowest, highest = (float(end) for end in bounds)
    if not lowest < highest:
        raise ParameterError("The 'bounds' must be (low, high) with low < high.", got=repr(bounds))
    if groups is not None:
        return group_mean(
            values, groups, confidence, lowest=lowest, highest=highest, rests_on=rests_on
        )
    order = generator(seed, "order of costs").permutation(len(values))
    low, high = betting_interval(values[order], confidence, (lowest, highest))
    ends, method = (float(values.mean()), low, high), "betting on a bounded mean"
    return Estimate.around(
        *ends, confidence=confidence, n=len(values), method=method, rests_on=rests_on
    )


def cheapest_threshold(
    probability: ArrayLike, cost_above: ArrayLike, cost_below: ArrayLike
) -> float:
    """From which probability on to answer a class, so that the rows cost least in all.

    It is fitted to these rows: what it costs is measured on others.

    Args:
        probability: Of the class, for each row.
        cost_above: For each row what it costs to answer the class.
        cost_below: For each row what it costs to answer what would be answered otherwise.

    Returns:
        In (0, 1), half way between the probabilities of two rows; the largest of equal ones.

    >>> cheapest_threshold([0.1, 0.3, 0.4, 0.9], [1, 0, 1, 0], [0, 50, 0, 50])
    0.2
    """
    p = check_sample(probability, "probability")
    above, below = check_sample(cost_above, "cost_above"), check_sample(cost_below, "cost_below")
    check_lengths(probability=len(p), cost_above=len(above), cost_below=len(below))
    values, place = np.unique(p, return_inverse=True)
    # From the k-th value on the class is answered: costs below of earlier ones, above of the rest.
    gain = np.bincount(place.ravel(), weights=below - above, minlength=len(values))
    totals = above.sum() + np.concatenate([[0.0], np.cumsum(gain)])
    edges = np.concatenate([[0.0], values, [1.0]])
    candidates = (edges[1:] + edges[:-1]) / 2.0
    inside = (candidates > 0.0) & (candidates < 1.0)
    best = totals[inside].min()
    cheap = np.flatnonzero(inside & (totals <= best + 1e-9 * max(1.0, abs(best))))
    return float(candidates[cheap[-1]])
