"""Table 2 from its runs: mean AUROCs over architectures and trainings, with intervals."""

from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t as student

from fireassay.papers.supervision_published import KINDS, PUBLISHED


def summary(
    parts: list[tuple[dict[str, Any], dict[str, Any]]], networks: int, confidence: float = 0.95
) -> list[dict[str, Any]]:
    """Mean over architectures and runs; its interval is about new trainings of these architectures.

    The spread is the standard deviation over runs, pooled over architectures; ``between`` that of
    the architectures' means. The ensemble of a run are all ``networks`` of its architecture but
    one, so ensembles of two runs hardly differ: their interval is the jackknife's.
    """
    table = pd.concat(
        pd.DataFrame(part["records"]).assign(data=row["data"], architecture=row["architecture"])
        for row, part in parts
    )
    rows: list[dict[str, Any]] = []
    for (data, supervisor, kind), own in table.groupby(["data", "supervisor", "set"], sort=False):
        row: dict[str, Any] = {"data": data, "supervisor": supervisor, "set": kind}
        left_one_out = networks if str(supervisor).startswith("ensemble-") else None
        row |= {"note": str(own["note"].iloc[0])} | _pooled(own, left_one_out, confidence)
        if supervisor in PUBLISHED and kind in KINDS:
            at = KINDS.index(str(kind)) + (0 if data == "mnist" else len(KINDS))
            row["published"] = PUBLISHED[str(supervisor)][at]
        rows.append(row)
    return rows


def _pooled(own: pd.DataFrame, left_one_out: int | None, confidence: float) -> dict[str, Any]:
    done = own[own["status"] == "done"].astype({"auroc": float})
    grouped = done.groupby("architecture", sort=False)["auroc"]
    counts, means, variances = grouped.count(), grouped.mean(), grouped.var(ddof=1)
    row: dict[str, Any] = {"architectures": len(means), "runs": int(counts.sum())}
    if not len(means):
        return row | {"reason": str(own["reason"].iloc[0])}
    row["mean"] = float(means.mean())
    if len(means) > 1:
        row["between"] = float(means.std(ddof=1))
    freedom = int((counts - 1).sum())
    if freedom:
        spread = float(np.sqrt((variances.fillna(0) * (counts - 1)).sum() / freedom))
        row |= {
            "spread": spread,
            "arm": _error(spread, counts.to_numpy(), left_one_out)
            * float(student.ppf((1 + confidence) / 2, freedom)),
        }
    return row


def _error(spread: float, counts: Any, left_one_out: int | None) -> float:
    """Standard error of the mean over architectures, from the spread over runs of one."""
    if left_one_out is None:
        return spread * float(np.sqrt((1 / counts).sum())) / len(counts)
    n = left_one_out
    return spread * (n - 1) / float(np.sqrt(n * len(counts)))
