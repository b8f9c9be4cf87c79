"""Logistic regression by Newton's method, for calibration lines."""

import numpy as np

from fireassay.core.arrays import BoolArray, FloatArray
from fireassay.core.lazy import special


def newton(
    columns: list[FloatArray], offset: FloatArray, y: BoolArray, beta: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """Coefficients, fitted probabilities and curvature; None where the rows are separated."""
    for _ in range(60):
        mu = special.expit(offset + sum(b * x for b, x in zip(beta, columns, strict=True)))
        left, weight = y - mu, mu * (1.0 - mu)
        curve = np.array([[a @ b for b in columns] for a in (x * weight for x in columns)])
        if np.linalg.det(curve) < 1e-12 * len(y) or np.abs(beta).max() > 50:
            return None
        step = np.linalg.solve(curve, np.array([x @ left for x in columns]))
        beta = beta + np.clip(step, -2.0, 2.0)
        if np.abs(step).max() < 1e-10:
            break
    return beta, mu, curve
