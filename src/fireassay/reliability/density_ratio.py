"""Weights from the data where none are known: how much likelier a row is in operation."""

import numpy as np

from fireassay.core.arrays import FloatArray
from fireassay.core.errors import NotEnoughEvidenceError


def estimated_weights(labelled: FloatArray, operational: FloatArray, seed: int) -> FloatArray:
    """Density ratios of labelled rows by a classifier that tells the two samples apart.

    Each row is scored by models that have not seen it. Ratios are capped at their 99.5 % quantile
    and scaled to mean one. They are estimates: what is built on them is no finite-sample claim.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler

    if min(len(labelled), len(operational)) < 20:
        raise NotEnoughEvidenceError(
            "Estimating weights needs at least 20 labelled and 20 operational rows.",
            got=f"{len(labelled)} and {len(operational)}",
            do="Pass the weights, or draw the labels from the profile.",
        )
    rows = np.vstack([labelled, operational])
    side = np.repeat([0, 1], [len(labelled), len(operational)])
    degree = 2 if rows.shape[1] <= 20 else 1
    model = make_pipeline(
        StandardScaler(), PolynomialFeatures(degree), LogisticRegression(max_iter=2000)
    )
    folds = StratifiedKFold(5, shuffle=True, random_state=seed % 2**32)
    p = cross_val_predict(model, rows, side, cv=folds, method="predict_proba")[: len(labelled), 1]
    odds = p / np.maximum(1 - p, 1e-6) * len(labelled) / len(operational)
    odds = np.minimum(odds, np.quantile(odds, 0.995))
    return np.asarray(odds / odds.mean(), dtype=np.float64)
