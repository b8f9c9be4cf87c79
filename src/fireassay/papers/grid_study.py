"""Runner of the two-dimensional rows of the reliability paper's Table 1, and its Figs. 1 to 3."""

import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fireassay.core.chart import Chart
from fireassay.core.drawing import axis, field, points

# Test error, ACU, E, V, Ub of Table 1. DS-2 is not public.
PUBLISHED: dict[str, tuple[float, ...]] = {
    "running example": (0.0180, 0.002982, 0.004891, 0.000004, 0.004899),
    "DS-1": (0.0800, 0.008025, 0.008290, 0.000014, 0.008319),
    "DS-2": (0.0079, 0.004739, 0.005249, 0.000002, 0.005252),
}
_MOST_POINTS = 1000
FILES = {"running example": "trainingdata_b.csv", "DS-1": "trainingdata_a.csv"}


def read_points(folder: str | Path, name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """The authors' points and labels, from ``reasdl`` in a data folder."""
    frame = pd.read_csv(Path(folder) / "reasdl" / FILES[name])
    return frame[["x_i1", "x_i2"]].to_numpy(), frame["l_i"].to_numpy()


def grid_row(row: dict[str, Any], folder: str) -> dict[str, Any]:
    """One row of Table 1 in the published way, beside a bound that holds."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import train_test_split

    from fireassay import reliability

    X, y = read_points(folder, row["data"])
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=1)
    forest = RandomForestClassifier(10, random_state=5).fit(X_train, y_train)
    started = time.process_time()
    method = reliability.Ram(cells=row["cells"], bandwidth=0.2, held_out=(X_test, y_test))
    found = reliability.assess(forest, X, y, method=method)
    seconds = time.process_time() - started
    default = reliability.assess(forest, X_test, y_test)
    details: Any = found.details
    return {
        "data": row["data"],
        "training error": float((forest.predict(X_train) != y_train).mean()),
        "test error": found.n_errors / found.n_labels,
        "errors": found.n_errors,
        "labels": found.n_labels,
        "r": reliability.r_separation(X, y).r,
        "ACU": details.acu,
        "E": details.pmi,
        "sd": details.std,
        "Ub": details.pmi_upper,
        "P(errors seen | Ub)": details.contradiction_p,
        "bound that holds": default.pmi_upper,
        "cpu_seconds": seconds,
    }


def figures(folder: str | Path) -> dict[str, Chart]:
    """Fig. 1 (separation), Fig. 2 (points and profile), Fig. 3 (DS-1; DS-2 is not public)."""
    X, y = read_points(folder, "running example")
    other_X, other_y = read_points(folder, "DS-1")
    return {
        "fig_1": separation_chart(X, y),
        "fig_2": Chart(
            {"hconcat": [cloud(X, y), profile_map(X)]},
            "The running example (every fifth point), and its profile (kernel width 0.2).",
            "A cloud of points of two classes, and a map.",
        ),
        "fig_3": Chart(
            cloud(other_X, other_y),
            "DS-1: sparse training data. DS-2 is not public.",
            "A cloud of points of two classes.",
        ),
    }


def separation_chart(X: NDArray[Any], y: NDArray[Any]) -> Chart:
    """The two nearest points of different classes, with their neighbours."""
    from scipy.spatial import cKDTree

    first, second = X[y == y.min()], X[y != y.min()]
    found = cKDTree(second).query(first, p=np.inf)
    distance, nearest = np.asarray(found[0]), np.asarray(found[1])
    at = int(distance.argmin())
    centre = (first[at] + second[nearest[at]]) / 2
    shown = np.abs(X - centre).max(axis=1) < 20 * distance[at]
    return Chart(
        cloud(X[shown], y[shown]),
        f"Around the two nearest points of different classes: {distance[at]:.4f} apart (L∞), so "
        f"cells with a side below that hold one class; half of it is r = {distance[at] / 2:.4f}.",
        "A few points of two classes around the place where these come nearest.",
    )


def cloud(X: NDArray[Any], y: NDArray[Any]) -> dict[str, Any]:
    """Points by class, at most a thousand of them."""
    step = -(-len(X) // _MOST_POINTS)
    X, y = X[::step], y[::step]
    return points(
        X[:, 0], X[:, 1], {"axis": axis("x1"), "scale": {"zero": False}},
        {"axis": axis("x2"), "scale": {"zero": False}},
        kinds=[f"class {label}" for label in y], width=300, height=300,
    )  # fmt: skip


def profile_map(X: NDArray[Any], cells: int = 40) -> dict[str, Any]:
    """Mass of the published profile by cell."""
    from fireassay.reliability.cells import Grid
    from fireassay.reliability.weighted_cells import CentreDensity

    grid = Grid.regular(cells, [(0.0, 1.0), (0.0, 1.0)], dimensions=2)
    mass = CentreDensity(X, 0.2).cell_mass(grid).reshape(cells, cells)
    return field(mass, (0, 1, 0, 1), title="share of inputs", across="x1", up="x2", total=True)
