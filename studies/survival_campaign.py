"""A real campaign: three depths × five defences × six attacks × three seeds × two epoch settings.

    python studies/survival_campaign.py STORE          # run, kill -9 half-way, resume
    python studies/survival_campaign.py STORE --run    # run (or go on) to the end
    python studies/survival_campaign.py STORE --report FOLDER   # tables and figures (minutes)

Each trial attacks ten test digits, one of each class, with a budget of 40 forward-equivalents each.
"""

import json
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from fireassay import survival
from fireassay.core.errors import AssumptionWarning, StoreError
from fireassay.engine import RunStore
from fireassay.survival.campaign_config import read_config

CONFIG = Path(__file__).with_suffix(".toml")


def count_trials():
    config = read_config(CONFIG)
    return sum(len(config.trials(row)) for row in config.trainings())


def done(store):
    """Finished trials in the journal, read without disturbing the writer."""
    if not (Path(store) / "run.sqlite").exists():
        return 0, 0.0
    try:
        with RunStore(store, read_only=True) as journal:
            timings = journal.timings()
    except StoreError:  # being created at this very moment
        return 0, 0.0
    return len(timings), sum(timings.values())


def kill_and_resume(store):
    total = count_trials() + len(read_config(CONFIG).trainings())
    command = [sys.executable, __file__, store, "--run"]
    child = subprocess.Popen(command)
    while done(store)[0] < total // 2 and child.poll() is None:
        time.sleep(2)
    child.kill()  # SIGKILL: nothing is cleaned up
    child.wait()
    before = done(store)
    print(f"killed with {before[0]} of {total} tasks done ({before[1]:.0f} s of work)", flush=True)
    subprocess.run(command, check=True)
    after = done(store)
    print(f"resumed to {after[0]} of {total} ({after[1] - before[1]:.0f} s of work)", flush=True)


def samples_for_power(result):
    """Samples per arm for 80 % power to tell two seeds of models apart, by what is compared."""
    table = result.table
    rows = []
    for attack, part in table.groupby("attack"):
        share = float(np.isfinite(part["upper"]).mean())
        fit = survival.fit(part, "weibull", cluster="model_id")
        if not 0.02 < share < 0.98:
            continue
        plan = survival.plan(
            1.2, 0.8, failure_share=share, scale=float(fit.scale), benign_accuracies=(0.95, 0.94)
        )
        rows.append(
            {
                "attack": attack,
                "failed within budget": share,
                "scale": float(fit.scale),
                "survival": plan.samples,
                "adversarial accuracy": plan.samples_by_adversarial_accuracy,
                "saving": plan.saving,
            }
        )
    return pd.DataFrame(rows)


def report(store, folder):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    result = survival.campaign(CONFIG, store=store)
    warnings.simplefilter("ignore", AssumptionWarning)
    families = survival.compare(
        result.table,
        covariates=["layers", "epochs", "attack", "defence"],
        test_share=0.25,
    )
    weibull = result.fit()
    best = result.fit(families.best)
    tables = {
        "families": families.frame().drop(columns="note"),
        "effects": weibull.coefficients,
        f"effects_{families.best}": best.coefficients,
        "mean_queries_by_defence": result.mean_times("defence").frame(),
        "mean_queries_by_model": result.mean_times("model").frame(),
        "mean_queries_by_epochs": result.mean_times("epochs").frame(),
        "accuracy": result.accuracy(),
        "cost": result.trash(),
        "benign_cost": result.benign_cost(),
        "models": result.models.groupby(["model", "epochs"])[
            ["train_seconds_per_sample", "seconds_per_query"]
        ].median(),
        "log_rank": pd.DataFrame(
            {
                by: {"p": survival.log_rank(result.table, by, cluster="model_id").p}
                for by in ("model", "epochs", "defence")
            }
        ),
        "samples": samples_for_power(result),
    }
    text = []
    for name, table in tables.items():
        text.append(f"## {name}\n{table.round(4).to_string()}\n")
    (folder / "campaign.txt").write_text("\n".join(text))
    print("\n".join(text))
    for name, figure in result.figures().items():
        figure.savefig(folder / f"campaign_{name}.svg", metadata={"Date": None})
    summary = {
        "trials": len(result.trials),
        "models": int(result.models["model_id"].nunique()),
        "rows": len(result.table),
        "censored": float(1 - np.isfinite(result.table["upper"]).mean()),
    }
    print(json.dumps(summary))


if __name__ == "__main__":
    if "--report" in sys.argv:
        report(sys.argv[1], sys.argv[3])
    elif "--run" in sys.argv:
        survival.campaign(CONFIG, store=sys.argv[1])
    else:
        kill_and_resume(sys.argv[1])
