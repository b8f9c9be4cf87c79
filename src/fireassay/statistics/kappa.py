"""Agreement of people beyond chance: Cohen's and Fleiss' kappa with an interval."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.core.errors import DataError, NotEnoughEvidenceError
from fireassay.core.estimate import Estimate
from fireassay.core.validation import check_labels, check_lengths
from fireassay.statistics.betting import betting_interval
from fireassay.statistics.counts import clopper_pearson
from fireassay.statistics.samples import check_confidence


def cohen_kappa(first: ArrayLike, second: ArrayLike, confidence: float = 0.95) -> Estimate:
    """Agreement of two annotators on the same items: 1 is perfect, 0 what chance gives.

    Args:
        first, second: One label per item and annotator; "cannot tell" is a label like any other.
        confidence: In (0, 1).

    Raises:
        NotEnoughEvidenceError: Without items, or if all have one and the same label (0/0).

    κ = (p_o − p_e) / (1 − p_e) with the observed agreement p_o and the chance agreement p_e of the
    two annotators' own label shares. The interval is Clopper and Pearson's of p_o, taken through
    the formula with p_e as observed: unlike the normal one it has a width when all items agree.

    >>> print(cohen_kappa([0, 0, 1, 1], [0, 0, 1, 0]))
    0.500 [-0.612, 0.987] n=4
    """
    check_confidence(confidence)
    one, two = check_labels(first, name="first"), check_labels(second, name="second")
    check_lengths(first=len(one), second=len(two))
    if not len(one):
        raise NotEnoughEvidenceError("Agreement needs items that both have labelled.", got="none")
    labels = np.unique(np.concatenate([one, two]))
    shares = [(given[:, None] == labels).mean(axis=0) for given in (one, two)]
    chance = float(shares[0] @ shares[1])
    agreed = int((one == two).sum())
    low, high = clopper_pearson(agreed, len(one), confidence)
    method = "Cohen's kappa, Clopper-Pearson interval of the observed agreement"
    return _estimate(
        agreed / len(one), float(low), float(high), chance, len(one), confidence, method
    )


def fleiss_kappa(counts: ArrayLike, confidence: float = 0.95) -> Estimate:
    """Agreement of many annotators, who may be different people for each item.

    Args:
        counts: (items, labels): how many annotators gave which label. The number of annotators may
            differ between items; those with fewer than two say nothing and are left out.
        confidence: Of the interval, in (0, 1).

    κ = (P − P_e) / (1 − P_e), P the mean over items of the share of agreeing pairs of annotators,
    P_e = Σ (share of a label)². The interval is that of P by betting (it holds for any number of
    items), taken through the formula with P_e as observed.

    >>> round(fleiss_kappa([[3, 0], [0, 3], [3, 0], [2, 1]]).value, 3)
    0.625
    """
    check_confidence(confidence)
    table = np.asarray(counts)
    if table.ndim != 2 or table.dtype.kind not in "iu" or (table < 0).any():
        raise DataError(
            "counts must be whole numbers, shape (items, labels).",
            got=f"{table.dtype} of shape {table.shape}",
        )
    raters = table.sum(axis=1)
    table, raters = table[raters >= 2], raters[raters >= 2]
    if not len(table):
        raise NotEnoughEvidenceError("Agreement needs items with two or more labels.", got="none")
    pairs: NDArray[np.float64] = (table * (table - 1)).sum(axis=1) / (raters * (raters - 1))
    shares = table.sum(axis=0) / table.sum()
    low, high = betting_interval(pairs, confidence)
    method = "Fleiss' kappa, betting interval of the observed agreement"
    return _estimate(
        float(pairs.mean()), low, high, float(shares @ shares), len(table), confidence, method
    )


def _estimate(
    observed: float, low: float, high: float, chance: float, n: int, confidence: float, method: str
) -> Estimate:
    if chance >= 1.0:
        raise NotEnoughEvidenceError(
            "Agreement beyond chance needs at least two different labels.",
            got="one and the same label for every item",
        )
    value, below, above = ((p - chance) / (1.0 - chance) for p in (observed, low, high))
    return Estimate.around(value, below, above, confidence=confidence, n=n, method=method)
