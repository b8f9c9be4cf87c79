"""The share of each class in cells: ours against a loop of 10,000 draws a cell."""

import time
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.neural_network import MLPClassifier

from fireassay import as_classifier
from fireassay.data import unit_square
from fireassay.reliability.cell_shares import estimator_for
from fireassay.reliability.cells import Grid


def cells() -> list[dict[str, Any]]:
    data = unit_square(5000, seed=0)
    X, y = data.X, data.y
    forest = RandomForestClassifier(10, random_state=5).fit(X[:4000], y[:4000])
    network = MLPClassifier((64, 64), max_iter=200, random_state=0)
    network.fit(X[:4000], y[:4000])
    rows = []
    for name, model in (("forest, 10 trees", forest), ("MLP 64-64", network)):
        grid = Grid.regular(250, (0, 1), dimensions=2)
        wrapped = (
            as_classifier(model, batch_size=4096) if name == "MLP 64-64" else as_classifier(model)
        )
        predict = lambda R, w=wrapped: w.predict_proba(R).argmax(axis=1)  # noqa: E731
        estimator = estimator_for(wrapped, 10_000)
        estimator(predict, Grid.regular(5, (0, 1), dimensions=2), 2, 0)  # imports are not work
        started = time.process_time()
        shares = estimator(predict, grid, 2, 0)
        ours = (time.process_time() - started) / grid.n_cells
        rng = np.random.default_rng(0)
        border = np.flatnonzero((shares.shares > 0).all(axis=1))
        chosen = np.concatenate([rng.choice(grid.n_cells, 20), rng.choice(border, 20)])
        low, high = grid.boxes(chosen)
        started = time.process_time()
        loop = np.array(
            [
                (model.predict(a + (b - a) * rng.random((10_000, 2))) == 0).mean()
                for a, b in zip(low, high, strict=True)
            ]
        )
        theirs = (time.process_time() - started) / len(chosen)
        error = np.abs(loop - shares.shares[chosen, 0])
        rows.append(
            {
                "model": name,
                "method": shares.method,
                "µs per cell": round(1e6 * ours, 2),
                "loop of 10,000 draws, µs": round(1e6 * theirs, 1),
                "times less CPU": round(theirs / ours),
                "largest difference": round(float(error.max()), 4),
                "cells proven whole": round(float((shares.proven >= 1 - 1e-9).mean()), 4),
            }
        )
    return rows
