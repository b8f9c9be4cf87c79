"""A ridge logistic regression small enough to refit after every label."""

import numpy as np

from fireassay.core.arrays import FloatArray, IntArray

_STEPS = 25


def logistic_chances(
    features: FloatArray, rows: IntArray, wrong: FloatArray, penalty: float = 1.0
) -> FloatArray:
    """Chance of an error for every row, learnt from the labelled ``rows`` by Newton's method.

    Features are standardised over all rows; the intercept is not penalised.
    """
    spread = features.std(axis=0)
    standard = (features - features.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    design = np.column_stack([np.ones(len(features)), standard])
    seen = design[rows]
    ridge = penalty * np.eye(design.shape[1])
    ridge[0, 0] = 1e-6
    weights = np.zeros(design.shape[1])
    for _ in range(_STEPS):
        chance = _sigmoid(seen @ weights)
        slope = seen.T @ (wrong - chance) - ridge @ weights
        curvature = (seen * (chance * (1 - chance))[:, None]).T @ seen + ridge
        step = np.linalg.solve(curvature, slope)
        weights += np.clip(step, -4.0, 4.0)
        if np.abs(step).max() < 1e-8:
            break
    return _sigmoid(design @ weights)


def _sigmoid(values: FloatArray) -> FloatArray:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(values, -40.0, 40.0))))
