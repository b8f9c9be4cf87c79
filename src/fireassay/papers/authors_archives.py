"""What three of the papers' own public files say: label file, search archive, pooled fits."""

import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fireassay.core.seeds import generator
from fireassay.discovery import adversarial_distance
from fireassay.statistics.temperature import fit_temperature

Vector = NDArray[np.float64]
FAMILIES = ("weibull", "log_logistic", "log_normal", "cox")
"""Pooled fits of one equation with standard errors; the hazard of ``cox`` has the other sign."""
EFFECTS = ("model_layers", "predict_time", "Epochs", "accuracy", "train_time",
           "Def: Control", "Def: Gauss-out", "Def: Gauss-in", "Def: Conf", "Def: FSQ")  # fmt: skip
_LABELS, _CRITICAL, _SUBSET, _REPLICATIONS = 50, 0.65, 2_000, 1_000


def baseline_labels(folder: Path) -> dict[str, Any]:
    """Share of the baseline's soft labels that name one class alone, by file."""
    found = {}
    for part in ("test", "train"):
        labels = np.load(folder / f"mukh_y_{part}.npy")
        found[part] = {"rows": len(labels), "one class": int(((labels > 0).sum(axis=1) == 1).sum())}
    return found


def cats_and_dogs(path: Path, seed: int = 0) -> dict[str, Any]:
    """SDR at 50 labels of three searches on the archived rows, raw and temperature scaled.

    The temperature is fitted on a random half of the rows; the searches run on the other half, all
    at once and on 1,000 random subsets of 2,000 rows (all, where there are fewer).
    """
    started = time.process_time()
    table = pd.read_csv(path)
    wrong = table["Misclassified"].to_numpy(dtype=bool)
    stated = table["Confidence"].to_numpy(dtype=np.float64)
    log_mae = np.log(table["MAE"].to_numpy(dtype=np.float64))
    order = generator(seed, "halves of the archive").permutation(len(table))
    first, second = np.array_split(order, 2)
    logits = np.log(stated) - np.log1p(-stated)
    both = np.column_stack([np.zeros(len(logits)), logits])
    temperature = fit_temperature(both[first], (~wrong[first]).astype(np.int64))
    scaled = 1 / (1 + np.exp(-logits / temperature))
    return {
        "rows": len(table),
        "wrong": int(wrong.sum()),
        "temperature": temperature,
        "raw": searched(stated[second], log_mae[second], wrong[second], seed),
        "scaled": searched(scaled[second], log_mae[second], wrong[second], seed),
        "cpu_seconds": time.process_time() - started,
    }


def searched(confidence: Vector, log_mae: Vector, wrong: NDArray[Any], seed: int) -> dict[str, Any]:
    """Candidates, their errors, and the SDR of each search: on all rows, and over subsets."""
    kept = confidence > _CRITICAL
    confidence, log_mae, wrong = confidence[kept], log_mae[kept], wrong[kept]
    expected = 1 - confidence
    scores = {
        "adversarial distance": adversarial_distance(log_mae=log_mae, confidence=confidence),
        "low confidence": confidence,
    }
    random = generator(seed, "subsets of the archive")
    ratios: dict[str, list[float]] = {name: [] for name in (*scores, "random")}
    for _ in range(_REPLICATIONS):
        rows = random.permutation(len(confidence))[:_SUBSET]
        orders = {name: rows[np.argsort(own[rows], kind="stable")] for name, own in scores.items()}
        for name, order in (orders | {"random": rows}).items():
            asked = order[:_LABELS]
            ratios[name].append(float(wrong[asked].sum() / expected[asked].sum()))
    firsts = {name: np.argsort(own, kind="stable")[:_LABELS] for name, own in scores.items()}
    return {
        "candidates": len(confidence),
        "wrong": int(wrong.sum()),
        "expected": float(expected.sum()),
        "sdr": {name: float(np.mean(own)) for name, own in ratios.items()},
        "errors of 50": {name: int(wrong[asked].sum()) for name, asked in firsts.items()},
        "expected of 50": {name: float(expected[asked].sum()) for name, asked in firsts.items()},
    }


def pooled_fits(folder: Path) -> dict[str, Any]:
    """Coefficients with their standard errors, and the authors' own table of scores."""
    fits: dict[str, Any] = {}
    for family in FAMILIES:
        table = pd.read_csv(folder / f"published_{family}_summary.csv").set_index("covariate")
        fits[family] = {
            name: [float(value) for value in table.loc[name, ["coef", "se(coef)"]].to_numpy()]
            for name in EFFECTS
        }
    scores = pd.read_csv(folder / "published_comparison.csv", index_col=0)
    pieces = pd.read_csv(folder / "published_exponential_summary.csv")["param"].unique()
    return {
        "fits": fits,
        "rates of the exponential": len(pieces),
        "scores": {
            str(name).lower(): {key: None if np.isnan(v) else float(v) for key, v in row.items()}
            for name, row in scores.iterrows()
        },
    }
