"""Paper mode: the experiment-level rows of the TRASHFIRE study, as its authors analyse them."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from fireassay.core.errors import AssumptionWarning, DataError

# Columns of an archived experiment table and what they become.
_NEEDED = ("adv_fit_time", "adv_accuracy")
_NUMBERS = {
    "accuracy": "accuracy",
    "train_time": "train_time",
    "predict_time": "predict_time",
    "epochs": "epochs",
    "model_layers": "layers",
    "attack_value": "attack_value",
    "defence_value": "defence_value",
}
_LEVELS = {"attack": "attack", "defence": "defence", "dataset": "dataset"}
NOT_CENSORED = (
    "No row is censored: every experiment has at least one error (adv_accuracy < 1). "
    "This 'survival' model is then a regression of the logarithm of run time; its concordance "
    "says how well run times are ordered, not how long a model withstands an attack."
)


def paper_rows(table: pd.DataFrame | str | Path) -> pd.DataFrame:
    """Experiment-level rows as in the paper: duration = seconds of the attack, event = any error.

    Args:
        table: One row per experiment (a frame, or a CSV file), with at least ``adv_fit_time`` (CPU
            seconds of the attack on all samples) and ``adv_accuracy``.

    Returns:
        DataFrame: ``duration``, ``event`` and the paper's covariates, numbers min-max scaled where
            the paper does it (attack and defence value within each attack and defence).
            ``model_id`` names the trained model that a row attacks, where that can be told.

    Warns:
        AssumptionWarning: If no row is censored, and what that means.
    """
    frame = pd.read_csv(table) if isinstance(table, str | Path) else table
    missing = [name for name in _NEEDED if name not in frame.columns]
    if missing:
        raise DataError(
            "An experiment table needs the columns adv_fit_time and adv_accuracy.",
            got=f"no {', '.join(missing)}",
        )
    accuracy = frame["adv_accuracy"].to_numpy(dtype=np.float64)
    if ((accuracy < 0) | (accuracy > 1) | np.isnan(accuracy)).any():
        raise DataError("adv_accuracy must be in [0, 1].", got=f"{np.nanmax(accuracy):g}")
    rows = pd.DataFrame(
        {
            "duration": frame["adv_fit_time"].to_numpy(dtype=np.float64),
            "event": (accuracy < 1.0).astype(np.int64),
        }
    )
    for source, name in _NUMBERS.items():
        if source in frame.columns and frame[source].nunique() > 1:
            rows[name] = frame[source].to_numpy(dtype=np.float64)
    for source, name in _LEVELS.items():
        if source in frame.columns and frame[source].nunique() > 1:
            rows[name] = frame[source].astype(str).to_numpy()
    for value, within in (("attack_value", "attack"), ("defence_value", "defence")):
        if value in rows:
            rows[value] = _min_max(rows, value, within if within in rows else None)
    identity = [c for c in ("dataset", "model_name", "epochs", "lr", "split_seed") if c in frame]
    if identity:
        rows["model_id"] = frame[identity].astype(str).agg("/".join, axis=1).to_numpy()
    rows, notes = _usable(rows)
    rows.attrs["time_unit"] = "seconds"
    notes += _unchanged(frame, accuracy)
    if rows["event"].all():
        notes.insert(0, NOT_CENSORED)
    if notes:
        warnings.warn(" ".join(notes), AssumptionWarning, stacklevel=2)
    return rows


def _unchanged(frame: pd.DataFrame, accuracy: np.ndarray) -> list[str]:
    """A note on rows whose errors no attack has made."""
    if "adv_success" not in frame.columns:
        return []
    count = int(((frame["adv_success"] == 0) & (accuracy < 1.0)).sum())
    told = f"In {count} of {len(frame)} rows no prediction changed (adv_success is 0), "
    return [told + "yet errors are counted: they were there before the attack."] if count else []


def _usable(rows: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Complete rows, and no number that only repeats another one."""
    notes = []
    complete = rows.dropna()
    if len(complete) < len(rows):
        notes.append(f"{len(rows) - len(complete)} row(s) with missing values are left out.")
    numbers = [name for name in _NUMBERS.values() if name in complete]
    for i, name in enumerate(numbers):
        for earlier in numbers[:i]:
            if earlier in complete and name in complete:
                together = np.corrcoef(complete[earlier], complete[name])[0, 1]
                if abs(together) > 1 - 1e-9:
                    complete = complete.drop(columns=name)
                    notes.append(f"'{name}' only repeats '{earlier}' and is left out.")
    return complete.reset_index(drop=True), notes


def paper_covariates(rows: pd.DataFrame) -> list[str]:
    """The covariates of the paper that these rows have."""
    names = [*_NUMBERS.values(), *_LEVELS.values()]
    return [name for name in names if name in rows.columns]


def _min_max(rows: pd.DataFrame, value: str, within: str | None) -> Any:
    if within is None:
        return _scaled(rows[value])
    return rows.groupby(within)[value].transform(_scaled)


def _scaled(values: "pd.Series[Any]") -> "pd.Series[Any]":
    low, high = values.min(), values.max()
    return values * 0.0 if high == low else (values - low) / (high - low)


def log_time_regression(
    train: pd.DataFrame, test: pd.DataFrame, covariates: Sequence[str]
) -> tuple[float, float]:
    """Concordance of ordinary least squares on log time, on both parts: what survival adds to.

    Only for rows without censoring.
    """
    from fireassay.survival.design_matrix import design_matrix
    from fireassay.survival.fit_numbers import concordance
    from fireassay.survival.times import read_times

    design = design_matrix(train, covariates)
    matrix = np.concatenate([block for _, block in design.blocks()])
    target = np.log(train["duration"].to_numpy(dtype=np.float64))
    beta = np.linalg.lstsq(matrix, target, rcond=None)[0]
    return (
        concordance(read_times(train), matrix @ beta),
        concordance(read_times(test), design.encoding.at(test) @ beta),
    )
