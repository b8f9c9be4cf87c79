"""A real campaign: three depths × five defences × six attacks × three seeds × two epoch settings.

    python studies/survival_campaign.py STORE                    # run, kill -9 half-way, resume
    python studies/survival_campaign.py STORE --run [CONFIG]     # run (or go on) to the end
    python studies/survival_campaign.py STORE --report FOLDER    # tables, charts, page (a minute)

The campaign is survival_campaign.toml; ``--run studies/survival_campaign_art.toml`` on the same
store adds Pixel and Threshold (from ART) on ResNet-18 behind every defence. The report writes
studies/results/survival_campaign.json and, to FOLDER, charts and an offline page.
"""

import json
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from fireassay import survival
from fireassay.core.errors import AssumptionWarning, StoreError
from fireassay.engine import RunStore
from fireassay.report import Report
from fireassay.survival.campaign_config import read_config
from fireassay.survival.campaign_evidence import campaign_evidence, samples_needed

CONFIG = Path(__file__).with_suffix(".toml")
ART = CONFIG.with_name("survival_campaign_art.toml")
RESULTS = Path(__file__).parent / "results"
SIZES = (5, 10, 15, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480)


def tasks(config):
    read = read_config(config)
    return len(read.trainings()) + sum(len(read.trials(row)) for row in read.trainings())


def done(store):
    """Finished tasks in the journal and their seconds, read without disturbing the writer."""
    if not (Path(store) / "run.sqlite").exists():
        return 0, 0.0
    try:
        with RunStore(store, read_only=True) as journal:
            timings = journal.timings()
    except StoreError:  # being created at this very moment
        return 0, 0.0
    return len(timings), sum(timings.values())


def kill_and_resume(store):
    total = tasks(CONFIG)
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
    note = {"tasks": total, "killed_with": before[0], "resumed_to": after[0]}
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "survival_campaign_kill.json").write_text(json.dumps(note) + "\n")


def power(result, attack, one="none", other="conf", repeats=200, seed=0):
    """Samples per arm with 80 % power to tell two defences apart, drawn from the campaign's rows.

    Each draw takes n test samples of each arm after 30 epochs, wrong ones included. Survival
    compares those that were right by log-rank; "standing share" compares how many of those stand
    at the budget, accuracies how many of all (withheld answers are not right), by the normal test.
    """
    rng = np.random.default_rng(seed)
    arms = [arm(result, attack, name) for name in (one, other)]
    needed = {}
    for n in SIZES:
        names = ("survival", "standing share", "adversarial accuracy", "benign accuracy")
        hits = dict.fromkeys(names, 0)
        for _ in range(repeats):
            drawn = [part.iloc[rng.integers(len(part), size=n)] for part in arms]
            rows = pd.concat([p[p["right"]].assign(arm=k) for k, p in enumerate(drawn)])
            if rows["arm"].nunique() == 2 and rows["event"].any():
                hits["survival"] += survival.log_rank(rows, "arm").p <= 0.05
            for name, column, among in (
                ("standing share", "stood", "right"),
                ("adversarial accuracy", "stood", "any"),
                ("benign accuracy", "right", "any"),
            ):
                counts = [p[column].sum() for p in drawn]
                totals = [p["right"].sum() if among == "right" else n for p in drawn]
                hits[name] += two_shares(counts, totals) <= 0.05
        for name, count in hits.items():
            if count / repeats >= 0.8:
                needed.setdefault(name, n)
        if len(needed) == len(hits):
            break
    return {name: needed.get(name, f"> {SIZES[-1]}") for name in hits}


def arm(result, attack, defence):
    """One row per test sample of a defence: right before the attack, and when it fell."""
    rows, trials = (
        table[(table["attack"] == attack) & (table["defence"] == defence) & (table["epochs"] == 30)]
        for table in (result.table, result.trials)
    )
    fell = np.isfinite(rows["upper"])
    seen = np.where(fell, rows["upper"], rows["lower"])
    right = pd.DataFrame({"duration": seen, "event": fell * 1, "right": True, "stood": ~fell})
    wrong = pd.DataFrame(
        {"right": False, "stood": False}, index=range(int((trials["n"] - trials["right"]).sum()))
    )
    return pd.concat([right, wrong], ignore_index=True)


def two_shares(counts, totals):
    """p of the pooled two-sample test."""
    if min(totals) == 0:
        return 1.0
    pooled = sum(counts) / sum(totals)
    spread = np.sqrt(pooled * (1 - pooled) * (1 / totals[0] + 1 / totals[1]))
    difference = counts[0] / totals[0] - counts[1] / totals[1]
    return 2 * stats.norm.sf(abs(difference) / spread) if spread > 0 else 1.0


def report(store, folder):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore", AssumptionWarning)
    result = survival.campaign(CONFIG, store=store)
    evidence = campaign_evidence(result)
    Report([evidence], title="A campaign on digits").to_html(folder / "campaign.html")
    for name, chart in result.charts().items():
        (folder / f"campaign_{name}.svg").write_text(chart.svg(), encoding="utf-8")
    families = result.families()
    tables = {
        "families": families.frame().drop(columns="note"),
        "effects": result.fit().coefficients,
        f"effects_{families.best}": result.fit(families.best).coefficients,
        "log_rank": result.log_ranks(),
        **{
            f"mean_by_{axis}": result.mean_times(axis).frame()
            for axis in ("attack", "defence", "model", "epochs")
        },
        "accuracy": result.accuracy(),
        "cost": result.trash(),
        "benign_cost": result.benign_cost(),
        "models": result.models.groupby(["model", "epochs"])[
            ["train_seconds_per_sample", "seconds_per_query"]
        ]
        .median()
        .reset_index(),
        "benign_accuracy_by_epochs": result.trials.groupby(["model", "epochs", "defence"])[
            ["n", "right"]
        ]
        .sum()
        .reset_index(),
        "samples_planned": samples_needed(result),
        "samples_drawn": pd.DataFrame(
            {a: power(result, a) for a in ("pgd-linf", "pgd-l2", "hopskipjump")}
        ).T,
    }
    art = survival.campaign(ART, store=store)
    tables["art_mean_by_attack"] = art.mean_times("attack").frame()
    tables["art_accuracy"] = art.accuracy()
    for name, table in tables.items():
        print(f"## {name}\n{table.round(4).to_string()}\n", flush=True)
    summary = {
        "trials": len(result.trials),
        "models": int(result.table["model_id"].nunique()),
        "rows": len(result.table),
        "censored": float(1 - np.isfinite(result.table["upper"]).mean()),
        "art_trials": len(art.trials),
        "art_rows": len(art.table),
        "conclusions": [{"text": c.text, "holds": c.holds} for c in evidence.claims],
        "limits": list(evidence.limits),
        **{name: json.loads(table.to_json(orient="split")) for name, table in tables.items()},
    }
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "survival_campaign.json").write_text(json.dumps(summary, indent=1) + "\n")
    print(json.dumps({k: summary[k] for k in list(summary)[:8]}, indent=1))


if __name__ == "__main__":
    if "--report" in sys.argv:
        report(sys.argv[1], sys.argv[3])
    elif "--run" in sys.argv:
        survival.campaign(sys.argv[3] if len(sys.argv) > 3 else CONFIG, store=sys.argv[1])
    else:
        kill_and_resume(sys.argv[1])
