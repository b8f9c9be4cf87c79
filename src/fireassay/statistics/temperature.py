"""Temperature scaling."""

import math
import warnings

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import IntArray
from fireassay.core.errors import ConvergenceWarning, DataError
from fireassay.core.probabilities import softmax
from fireassay.core.validation import check_class_indices, check_finite
from fireassay.statistics.samples import FloatVector, as_real

_FURTHEST = math.log(100.0)


def fit_temperature(logits: ArrayLike, labels: ArrayLike) -> float:
    """The temperature T for which ``softmax(logits / T)`` has the best likelihood.

    Fit it on rows that neither trained the model nor will be used to judge it.

    Parameters
    ----------
    logits
        Shape (n, k), finite. Logarithms of probabilities serve as well.
    labels
        True class as a column number, 0 … k - 1.

    Returns
    -------
    float
        Above 0; above 1 means that the model is over-confident.

    Raises
    ------
    DataError
        For no rows, one column, NaN or infinities, or labels that are not columns.

    Warns
    -----
    ConvergenceWarning
        When the likelihood has no optimum: every row is classified correctly (T would go to 0), or
        the logits do not point to the labels at all (T would go to infinity), or they are constant
        (T = 1). T is then at most a factor of 100 from the logits' own spread.

    Notes
    -----
    The negative log-likelihood is convex in 1 / T. Its slope is brought to zero by bisection
    on the scale of log T, after the logits were divided by their mean spread, so that logits of
    any size are solved equally well.

    >>> round(fit_temperature([[2.0, 0.0]] * 10, [0] * 7 + [1] * 3), 4)
    2.3604
    """
    table, truth = _check(logits, labels)
    largest = float(np.abs(table).max()) or 1.0
    table = table / largest
    spread = float(table.std(axis=1).mean())
    if spread <= 1e-14:
        _warn("every row has the same logit for all classes", 1.0)
        return 1.0
    scaled = table / spread
    spread *= largest
    scaled -= scaled.max(axis=1, keepdims=True)
    own = scaled[np.arange(len(truth)), truth]

    def slope(log_temperature: float) -> float:
        """Of the mean negative log-likelihood in 1 / T; falls as T grows."""
        shares = softmax(scaled / math.exp(log_temperature), axis=1)
        return float(((shares * scaled).sum(axis=1) - own).mean())

    low, high = -_FURTHEST, _FURTHEST
    if slope(low) <= 0.0:
        temperature = spread * math.exp(low)
        _warn("no row speaks against a temperature near 0 (all are classified right)", temperature)
        return temperature
    if slope(high) >= 0.0:
        temperature = spread * math.exp(high)
        _warn("the logits do not point to the labels", temperature)
        return temperature
    for _ in range(60):
        middle = (low + high) / 2.0
        if slope(middle) > 0.0:
            low = middle
        else:
            high = middle
    return spread * math.exp((low + high) / 2.0)


def _check(logits: ArrayLike, labels: ArrayLike) -> tuple[FloatVector, IntArray]:
    table = as_real(logits, "logits")
    if table.ndim != 2 or table.shape[0] == 0 or table.shape[1] < 2:
        raise DataError(
            "logits must have at least one row and two columns, one per class.",
            got=f"shape {table.shape}",
        )
    check_finite(table, name="logits")
    return table, check_class_indices(labels, range(table.shape[1]), name="labels", n=len(table))


def _warn(reason: str, temperature: float) -> None:
    warnings.warn(
        f"The likelihood has no optimal temperature: {reason}. T = {temperature:.3g} is the limit "
        "of the search, not an estimate; use more validation rows.",
        ConvergenceWarning,
        stacklevel=3,
    )
