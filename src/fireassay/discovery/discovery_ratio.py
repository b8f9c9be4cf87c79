"""Standardised discovery ratio: errors found, over errors that the confidence led one to expect."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.core.errors import DataError
from fireassay.core.validation import check_lengths
from fireassay.statistics import poisson_binomial_tail, poisson_interval

Vector = NDArray[np.float64]


class DiscoveryRatio(float):
    """A ratio (a plain float) that also knows what it is made of.

    Attributes
    ----------
    errors, expected
        Errors among the queried rows, and the sum of 1 − confidence over them.
    interval
        Exact Poisson interval of the ratio, for a set of rows that was fixed beforehand.
    p_value
        P(at least so many errors) if every confidence were right; also for a fixed set only.
    """

    errors: int
    expected: float
    interval: tuple[float, float]
    p_value: float
    n: int

    def __new__(
        cls, confidence: Vector, wrong: NDArray[np.bool_], level: float = 0.95
    ) -> "DiscoveryRatio":
        """From checked arrays."""
        errors, expected = int(wrong.sum()), float((1.0 - confidence).sum())
        self = super().__new__(cls, ratio(errors, expected))
        self.errors, self.expected, self.n = errors, expected, len(wrong)
        self.interval = poisson_ratio_interval(errors, expected, level)
        self.p_value = poisson_binomial_tail(1.0 - confidence, errors)
        return self

    def __getnewargs__(self) -> Any:
        raise TypeError("Save the search result, not its ratio.")


def sdr(confidence: ArrayLike, wrong: ArrayLike, level: float = 0.95) -> DiscoveryRatio:
    """Errors found / errors expected from the confidences of the queried rows.

    Parameters
    ----------
    confidence
        Calibrated confidence of each queried prediction, in [0, 1].
    wrong
        Whether each of them turned out wrong.
    level
        Of the interval, in (0, 1).

    Returns
    -------
    DiscoveryRatio
        A float with ``errors``, ``expected``, ``interval`` and ``p_value``. NaN without queries;
        inf if errors were found where none was expected.

    Notes
    -----
    Eq. 3 of Bennette, Maurer and Sisti 2021. Interval and p-value hold for rows chosen without
    looking at labels, at a number of queries fixed beforehand; for adaptive searches and live
    curves use `sequential_p_value` and `sequential_interval`. An expected SDR above 1 proves
    overconfidence for rows drawn independently at random only (their Theorem 3.1).

    >>> ratio = sdr([0.9, 0.9, 0.8], [True, False, True])
    >>> float(round(ratio, 6)), ratio.errors, round(ratio.expected, 6)
    (5.0, 2, 0.4)
    """
    stated, flags = check_queried(confidence, wrong)
    return DiscoveryRatio(stated, flags, level)


def check_queried(confidence: ArrayLike, wrong: ArrayLike) -> tuple[Vector, NDArray[np.bool_]]:
    """Confidences in [0, 1] and booleans of the same length."""
    stated = np.asarray(confidence, dtype=np.float64).ravel()
    flags = np.asarray(wrong).ravel()
    check_lengths(confidence=len(stated), wrong=len(flags))
    if not ((stated >= 0) & (stated <= 1)).all():
        raise DataError(
            "confidence must be in [0, 1].", got="NaN or a value outside", do="Pass probabilities."
        )
    if flags.dtype != np.bool_:
        if not np.isin(flags, (0, 1)).all():
            raise DataError("wrong must be booleans.", got=f"dtype {flags.dtype}")
        flags = flags.astype(np.bool_)
    return stated, flags


def ratio(errors: float, expected: float) -> float:
    """errors / expected; NaN for 0 / 0 and inf for a positive number over 0."""
    if expected > 0:
        return errors / expected
    return float("inf") if errors else float("nan")


def poisson_ratio_interval(errors: int, expected: float, level: float) -> tuple[float, float]:
    """Garwood's interval of the error count, over the expectation.

    The count is a sum of independent, rare, unequal events: its spread is at most Poisson's, so
    the interval is conservative.
    """
    low, high = poisson_interval(errors, level)
    return ratio(float(low), expected) if errors else 0.0, ratio(float(high), expected)
