"""What the page of the five papers needs of a survival campaign, as plain values."""

import json
from typing import Any

import numpy as np
import pandas as pd

from fireassay.survival.campaign_evidence import campaign_evidence
from fireassay.survival.campaign_result import CampaignResult


def campaign_summary(result: CampaignResult, data: str, task_seconds: float) -> dict[str, Any]:
    """Trials, rows, effects, cost ratios and conclusions.

    Args:
        result: A finished campaign.
        data: Which images, in words.
        task_seconds: Of all its tasks, by the clock: a busy machine makes them longer.
    """
    evidence = campaign_evidence(result)
    models = result.models.groupby(["model", "epochs"])[
        ["train_seconds_per_sample", "seconds_per_query"]
    ]
    tables = {
        "families": result.families().frame().drop(columns="note"),
        "effects": result.fit().coefficients,
        "accuracy": result.accuracy(),
        "cost": result.trash(),
        "models": models.median().reset_index(),
    }
    return {
        "data": data,
        "trials": len(result.trials),
        "rows": len(result.table),
        "censored": float(1 - np.isfinite(result.table["upper"]).mean()),
        "conclusions": [{"text": c.text, "holds": c.holds} for c in evidence.claims],
        "task_seconds": task_seconds,
        **{name: split(table) for name, table in tables.items()},
    }


def split(table: pd.DataFrame) -> dict[str, Any]:
    """A table as columns, index and rows of plain values."""
    return dict(json.loads(table.to_json(orient="split")))
