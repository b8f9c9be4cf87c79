"""The bootstrap, of rows or of whole groups."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.core.arrays import IntArray
from fireassay.core.errors import DataError, NotEnoughEvidenceError
from fireassay.core.estimate import Estimate
from fireassay.core.lazy import special
from fireassay.core.seeds import generator
from fireassay.core.validation import check_integer, check_labels, check_lengths
from fireassay.statistics.samples import check_confidence

_MOST_UNDEFINED = 0.05


def bootstrap(
    statistic: Callable[..., float],
    *arrays: ArrayLike,
    n_resamples: int = 1000,
    confidence: float = 0.95,
    groups: ArrayLike | None = None,
    seed: int = 0,
) -> Estimate:
    """Bootstrap interval of any statistic of rows.

    Args:
        statistic: ``statistic(*arrays)`` as a float; NaN where a resample does not define it.
        arrays: Arrays with one length; their rows are resampled together.
        n_resamples: At least 100.
        confidence: In (0, 1).
        groups: One value per row (patient, video, author); whole groups are then resampled. Rows
            that belong together and are resampled apart make an interval that is too narrow.
        seed: Same seed, same interval.

    Returns:
        The statistic of the data; n is the number of rows, the method names the groups.

    Raises:
        DataError: For no arrays, different lengths or an undefined statistic of the data itself.
        NotEnoughEvidenceError: For fewer than two units, or over 5 % undefined resamples.

    Expanded percentile interval: percentiles widened by the t quantile and sqrt(u / (u - 1)) for u
    resampled units (Hesterberg 2015), because plain percentiles are too narrow for small samples.
    The coverage is approximate; `clopper_pearson` and `betting_interval` give bounds that hold.

    >>> print(bootstrap(np.mean, np.arange(100.0), seed=1))
    49.500 [43.591, 55.649] n=100
    """
    check_confidence(confidence)
    check_integer(n_resamples, "n_resamples", low=100)
    data = _check_rows(arrays)
    n = len(data[0])
    value = float(statistic(*data))
    if not math.isfinite(value):
        raise DataError("The statistic of the data must be finite.", got=f"{value}")
    rng = generator(seed, "bootstrap")
    resamples, units, noun = _resamples(n, groups, n_resamples, rng)
    if units < 2:
        raise NotEnoughEvidenceError(f"The bootstrap needs at least two {noun}.", got=f"{units}")
    draws = np.array([float(statistic(*(a[rows] for a in data))) for rows in resamples])
    undefined = int((~np.isfinite(draws)).sum())
    if undefined > _MOST_UNDEFINED * n_resamples:
        raise NotEnoughEvidenceError(
            "The statistic must be defined in at least 95 % of the resamples.",
            got=f"{undefined} of {n_resamples} undefined",
            do=f"Collect more {noun}: some resamples lack what the statistic needs.",
        )
    tail = expanded_tail((1.0 - confidence) / 2.0, units)
    low, high = np.quantile(draws[np.isfinite(draws)], [tail, 1.0 - tail], method="weibull")
    method = f"bootstrap, expanded percentile, {n_resamples} resamples of {units} {noun}"
    if undefined:
        method += f" ({undefined} undefined)"
    return Estimate.around(
        value, float(low), float(high), confidence=confidence, n=n, method=method
    )


def expanded_tail(tail: float, units: int) -> float:
    """The percentile that makes a bootstrap interval as wide as Student's for a mean."""
    quantile = float(special.stdtrit(units - 1, tail)) * math.sqrt(units / (units - 1))
    return float(special.ndtr(quantile))


def _check_rows(arrays: tuple[ArrayLike, ...]) -> list[NDArray[Any]]:
    data = [np.asarray(array) for array in arrays]
    if not data:
        raise DataError("The bootstrap needs at least one array of rows.", got="none")
    if any(array.ndim == 0 for array in data):
        raise DataError("The bootstrap needs arrays of rows.", got="a single number")
    check_lengths(**{f"array {i}": len(array) for i, array in enumerate(data)})
    if len(data[0]) == 0:
        raise DataError("The bootstrap needs at least two rows.", got="0 rows")
    for i, array in enumerate(data):
        if array.dtype.kind == "f" and np.isnan(array).any():
            raise DataError(f"array {i} must not have missing values.", got="NaN")
    return data


def _resamples(
    n: int, groups: ArrayLike | None, n_resamples: int, rng: np.random.Generator
) -> tuple[Iterator[IntArray], int, str]:
    """Row numbers of each resample, the number of units drawn and their name."""
    if groups is None:
        return (rng.integers(0, n, n) for _ in range(n_resamples)), n, "rows"
    labels = check_labels(groups, name="groups")
    check_lengths(arrays=n, groups=len(labels))
    _, member, counts = np.unique(labels, return_inverse=True, return_counts=True)
    members = np.split(np.argsort(member.ravel(), kind="stable"), np.cumsum(counts)[:-1])
    units = len(members)
    draws = (rng.integers(0, units, units) for _ in range(n_resamples))
    return (np.concatenate([members[unit] for unit in drawn]) for drawn in draws), units, "groups"
