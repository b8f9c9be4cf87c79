"""Adversarial distance: is a prediction easier to overturn than others of the same confidence?"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay import attacks
from fireassay.classifiers import as_classifier
from fireassay.core.arrays import FloatArray
from fireassay.core.errors import DataError
from fireassay.core.probabilities import largest
from fireassay.core.validation import check_lengths
from fireassay.statistics.loess import loess


class FewDistancesError(DataError):
    """The attack overturned too few predictions to compare their distances."""


def adversarial_distance(
    *, log_mae: ArrayLike, confidence: ArrayLike, span: float = 0.1, iterations: int = 3
) -> FloatArray:
    """How much smaller or larger a perturbation is than usual at this confidence; low = suspicious.

    Parameters
    ----------
    log_mae
        Logarithm of the mean absolute perturbation that changes the prediction; inf where none was
        found.
    confidence
        (Calibrated) confidence of each prediction.
    span, iterations
        Of the LOESS curve of ``log_mae`` on ``confidence``.

    Returns
    -------
    array of shape (n,)
        ``log_mae`` minus the curve; inf where no perturbation was found, so that those come last.

    Notes
    -----
    Bennette, Maurer and Sisti 2021, Eq. 5, on the logarithm, as in their Figure 1.

    >>> same = adversarial_distance(log_mae=[-2.0] * 20, confidence=np.linspace(0.7, 0.9, 20))
    >>> bool(np.allclose(same, 0))  # nobody is easier to overturn than usual
    True
    """
    logs = np.asarray(log_mae, dtype=np.float64).ravel()
    stated = np.asarray(confidence, dtype=np.float64).ravel()
    check_lengths(log_mae=len(logs), confidence=len(stated))
    if np.isnan(logs).any() or np.isneginf(logs).any():
        raise DataError(
            "log_mae must be numbers, or +inf where no perturbation was found.",
            got="NaN or -inf (a perturbation of length 0)",
            do="Attack away from the predicted class: then no distance is 0.",
        )
    found = np.isfinite(logs)
    scores = np.full(len(logs), np.inf)
    if found.sum() < 3:
        raise FewDistancesError(
            "At least 3 predictions must have been overturned to compare distances.",
            got=f"{int(found.sum())} of {len(logs)}",
            do="Raise max_queries, or give a pool to start from.",
        )
    curve = loess(stated[found], logs[found], span=span, iterations=iterations)
    scores[found] = logs[found] - curve.predict(stated[found])
    return scores


def log_mae(X: ArrayLike, adversarial: ArrayLike, bounds: tuple[float, float]) -> Any:
    """Logarithm of the mean absolute difference of each pair, as a share of the input range.

    Parameters
    ----------
    X, adversarial
        Rows, and what an attack made of them.
    bounds
        Smallest and largest input value.

    >>> float(log_mae([[0.0, 0.0]], [[1.0, 1.0]], bounds=(0, 1))[0])
    0.0
    """
    before = np.asarray(X, dtype=np.float64)
    difference = np.abs(np.asarray(adversarial, dtype=np.float64) - before)
    flat = difference.reshape(len(before), math.prod(before.shape[1:]))  # also of no rows
    mean = flat.mean(axis=1) / (bounds[1] - bounds[0])
    with np.errstate(divide="ignore"):
        return np.log(mean)


def measure_log_mae(
    model: Any,
    X: ArrayLike,
    attack: str = "hopskipjump",
    max_queries: int = 500,
    seed: int = 0,
    **parameters: Any,
) -> FloatArray:
    """Attack each row away from its predicted class and measure the perturbation; inf: none found.

    ``parameters`` go to the attack, ``pool`` and ``subspace`` for example.

    Parameters
    ----------
    model, X
        A model with bounds, and rows.
    attack
        A name of `fireassay.attacks.ATTACKS`.
    max_queries
        Hard limit per row.
    seed
        Of the attack.
    parameters
        Further ones of the attack, ``pool`` and ``subspace`` for example.

    >>> model = as_classifier(lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), bounds=(0, 1))
    >>> found = measure_log_mae(model, np.array([[0.9], [0.6]]), max_queries=100)
    >>> bool(found[0] > found[1])  # 0.9 is farther from the boundary at 0.5
    True
    """
    classifier = as_classifier(model)
    out = attacks.make(attack, max_queries=max_queries, seed=seed, **parameters)(classifier, X)
    bounds = classifier.bounds or (float(np.min(X)), float(np.max(X)))
    found = np.full(len(out.distance), np.inf)
    ok = out.status == "found"
    found[ok] = log_mae(np.asarray(X)[ok], out.adversarial[ok], bounds)
    return found


def measure_adversarial_distance(
    model: Any,
    X: ArrayLike,
    attack: str = "hopskipjump",
    max_queries: int = 500,
    seed: int = 0,
    *,
    span: float = 0.1,
    **parameters: Any,
) -> FloatArray:
    """Attack first, then compare each distance with those of similar confidence.

    Calibrate the model first (`calibrate`): the curve is drawn over its confidence.

    Parameters
    ----------
    model, X, attack, max_queries, seed, parameters
        As in `measure_log_mae`.
    span
        Share of the rows that the curve looks at around each confidence.

    Returns
    -------
    array of shape (n,)
        See `adversarial_distance`; costs up to ``max_queries`` + 1 queries per row.

    >>> model = as_classifier(lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), bounds=(0, 1))
    >>> measure_adversarial_distance(model, np.linspace(0.6, 0.9, 9)[:, None], max_queries=50).shape
    (9,)
    """
    classifier = as_classifier(model)
    logs = measure_log_mae(classifier, X, attack, max_queries, seed, **parameters)
    confidence = largest(classifier.predict_proba(X))
    return adversarial_distance(log_mae=logs, confidence=confidence, span=span)
