"""Survival against lifelines, in CPU seconds, side by side in one run.

    python benchmarks/survival.py --peer PYTHON [--parts aft memory paper coverage]

``--peer`` is the Python of an environment with lifelines 0.30.3 (it needs pandas < 3, so it is a
process of its own; times are measured inside it, without imports). Times are medians of three
repeats with their range.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from fireassay import survival
from fireassay.core.errors import AssumptionWarning
from fireassay.papers.trashfire import paper_covariates, paper_rows

RESULTS = Path(__file__).parent / "results" / "survival.json"
FAMILIES = ("weibull", "lognormal", "loglogistic")
ROWS, COLUMNS = 100_000, 20
REPEATS = 3

PEER = """
import json, sys, time, warnings
import numpy as np, pandas as pd, lifelines
warnings.simplefilter("ignore")
folder, kinds = sys.argv[1], sys.argv[2].split(",")
fitters = {"weibull": (lifelines.WeibullAFTFitter, "lambda_"),
           "lognormal": (lifelines.LogNormalAFTFitter, "mu_"),
           "loglogistic": (lifelines.LogLogisticAFTFitter, "alpha_")}
for kind in kinds:
    frame = pd.read_csv(f"{folder}/{kind}.csv")
    for family, (fitter, location) in fitters.items():
        times = []
        try:
            for _ in range(int(sys.argv[3])):
                start = time.process_time()
                if kind == "right":
                    fit = fitter().fit(frame, "duration", "event")
                else:
                    fit = fitter().fit_interval_censoring(frame, "lower", "upper")
                times.append(time.process_time() - start)
        except Exception as failure:
            print(json.dumps({"kind": kind, "family": family, "error": type(failure).__name__}))
            continue
        print(json.dumps({"kind": kind, "family": family, "cpu_s": times,
                          "log_likelihood": float(fit.log_likelihood_),
                          "coef": fit.params_[location].to_dict(),
                          "version": lifelines.__version__}), flush=True)
"""


def timed(run, repeats=REPEATS):
    """CPU seconds of each repeat, and what the last one returned."""
    times, found = [], None
    for _ in range(repeats):
        start = time.process_time()
        found = run()
        times.append(time.process_time() - start)
    return times, found


def ratio(ours, theirs):
    """Ratio of medians, with the least and the largest ratio of any two repeats."""
    return {
        "ours_cpu_s": float(np.median(ours)),
        "theirs_cpu_s": float(np.median(theirs)),
        "speed_up": float(np.median(theirs) / np.median(ours)),
        "speed_up_low": min(theirs) / max(ours),
        "speed_up_high": max(theirs) / min(ours),
        "repeats_ours": len(ours),
        "repeats_theirs": len(theirs),
    }


def simulated(seed=0, rows=ROWS):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, COLUMNS))
    beta = 0.2 * rng.normal(size=COLUMNS)
    failed = np.exp(1.0 + X @ beta + 0.7 * np.log(rng.exponential(size=rows)))
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(COLUMNS)])
    censored = rng.exponential(8.0, rows)
    right = frame.assign(
        duration=np.minimum(failed, censored), event=(failed <= censored).astype(int)
    )
    lower = np.maximum(np.floor(2 * failed) / 2, 1e-3)
    upper = np.where(failed > 8, np.inf, np.floor(2 * failed) / 2 + 0.5)
    return {"right": right, "interval": frame.assign(lower=np.minimum(lower, 8.0), upper=upper)}


def aft(peer):
    frames = simulated()
    names = [f"x{i}" for i in range(COLUMNS)]
    rows = {}
    for kind, frame in frames.items():
        for family in FAMILIES:
            own, fit = timed(lambda f=frame, name=family: survival.fit(f, name, names))
            rows[kind, family] = {
                "kind": kind,
                "family": family,
                "ours_cpu_s": float(np.median(own)),
                "ours_log_likelihood": fit.log_likelihood,
                "fit": fit,
                "own": own,
            }
    if peer:
        with tempfile.TemporaryDirectory() as folder:
            for kind, frame in frames.items():
                frame.to_csv(f"{folder}/{kind}.csv", index=False)
            command = [peer, "-c", PEER, folder, ",".join(frames), str(REPEATS)]
            output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        for line in output.splitlines():
            theirs = json.loads(line)
            row = rows[theirs["kind"], theirs["family"]]
            if "error" in theirs:
                row["lifelines"] = theirs["error"]
                continue
            ours = row["fit"].coefficients["coef"]
            row |= {
                "lifelines": theirs["version"],
                **ratio(row["own"], theirs["cpu_s"]),
                "log_likelihood_gain": row["ours_log_likelihood"] - theirs["log_likelihood"],
                "largest_difference": max(abs(ours[k] - v) for k, v in theirs["coef"].items()),
            }
    hidden = ("fit", "own")
    return [{k: v for k, v in row.items() if k not in hidden} for row in rows.values()]


def memory_child():
    """A million rows: how much memory does a fit add to its data?"""
    frame = simulated(1, rows=1_000_000)["right"]
    found = []
    tracemalloc.start()  # numpy reports its buffers to it
    for family in FAMILIES:
        start = time.process_time()
        fit = survival.fit(frame, family, [f"x{i}" for i in range(COLUMNS)])
        found.append({"family": family, "cpu_s": time.process_time() - start, "ok": fit.converged})
    added = tracemalloc.get_traced_memory()[1] / 2**20
    size = frame.memory_usage().sum() / 2**20
    print(json.dumps({"data_mib": size, "added_peak_mib": added, "fits": found}))


def memory():
    command = [sys.executable, __file__, "--memory-child"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def paper():
    folder = os.environ.get("FIREASSAY_DATA")
    if not folder:
        return "FIREASSAY_DATA is not set"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", AssumptionWarning)
        rows = paper_rows(Path(folder) / "deckard" / "cifar100.csv")
    for warning in caught:
        print(f"Warning: {warning.message}")
    published = pd.read_csv(Path(folder) / "deckard" / "published_comparison.csv", index_col=0)
    labels = {
        "Cox": "cox",
        "Gamma": "gengamma",
        "Weibull": "weibull",
        "Exponential": "exponential",
        "Log Logistic": "loglogistic",
        "Log Normal": "lognormal",
    }
    published.index = [labels[name] for name in published.index]
    published.columns = [f"published {c.lower().replace(' ', '_')}" for c in published.columns]
    found = survival.compare(rows, covariates=paper_covariates(rows)).frame()
    table = found.drop(columns=["note", "converged"]).join(published)
    print(table.round(3).T.to_string())
    return json.loads(table.to_json(orient="index"))


def coverage():
    path = RESULTS.with_name("survival_coverage.json")
    return json.loads(path.read_text()) if path.exists() else "run studies/survival_coverage.py"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", help="Python of the environment with lifelines")
    parser.add_argument("--parts", nargs="*", default=["aft", "memory", "paper", "coverage"])
    parser.add_argument("--memory-child", action="store_true")
    options = parser.parse_args()
    if options.memory_child:
        memory_child()
        return
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for part in options.parts:
        found = aft(options.peer) if part == "aft" else globals()[part]()
        results[part] = found
        if isinstance(found, list):
            print(f"\n{part}\n{pd.DataFrame(found).round(4).to_string(index=False)}", flush=True)
        elif part != "paper":
            print(f"\n{part}\n{json.dumps(found)}", flush=True)
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
