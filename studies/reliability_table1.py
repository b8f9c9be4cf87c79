"""The paper's Table 1, its two-dimensional rows, beside bounds that hold.

    FIREASSAY_DATA=/path/to/data python studies/reliability_table1.py

The running example and DS-1 are the authors' data. DS-2 is not public: a dense generated set with
the same number of cells stands in its place, and there the true pmi is known.
"""

import os
import time
from pathlib import Path

import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from fireassay import reliability
from fireassay.data import unit_square
from fireassay.data.unit_square import unit_square_pmi

PUBLISHED = {
    "running example": (0.0180, 0.002982, 0.004891, 0.000004, 0.004899),
    "DS-1": (0.0800, 0.008025, 0.008290, 0.000014, 0.008319),
    "dense, generated": (None,) * 5,
}


def row(name: str, X, y, cells: int) -> dict[str, object]:
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=1)
    forest = RandomForestClassifier(10, random_state=5).fit(X_train, y_train)
    started = time.process_time()
    method = reliability.Ram(cells=cells, bandwidth=0.2, held_out=(X_test, y_test))
    found = reliability.assess(forest, X, y, method=method)
    published = found.details
    seconds = time.process_time() - started
    default = reliability.assess(forest, X_test, y_test)
    separation = reliability.r_separation(X, y)
    theirs = PUBLISHED[name]
    return {
        "data": name,
        "test error": found.n_errors / found.n_labels,
        "r": separation.r,
        "r above the side": separation.above(1 / cells),
        "ACU": published.acu,
        "E": published.pmi,
        "sd": published.std,
        "Ub": published.pmi_upper,
        "published ACU / E / V / Ub": " / ".join(map(str, theirs[1:])),
        "P(errors seen | Ub)": published.contradiction_p,
        "bound that holds": default.pmi_upper,
        "true pmi": unit_square_pmi(forest.predict) if theirs[0] is None else None,
        "CPU s": seconds,
    }


def main() -> None:
    folder = Path(os.environ["FIREASSAY_DATA"]) / "reasdl"
    rows = []
    for name, letter in (("running example", "b"), ("DS-1", "a")):
        frame = pd.read_csv(folder / f"trainingdata_{letter}.csv")
        rows.append(row(name, frame[["x_i1", "x_i2"]].to_numpy(), frame["l_i"].to_numpy(), 250))
    dense = unit_square(20_000, seed=0)
    rows.append(row("dense, generated", dense.X, dense.y, 500))
    print(pd.DataFrame(rows).set_index("data").T.to_string())


if __name__ == "__main__":
    main()
