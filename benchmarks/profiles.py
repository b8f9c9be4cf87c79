"""Where the time goes: the three largest own-time costs of the demo and of each benchmark's work.

python benchmarks/profiles.py [--only demo]
"""

import argparse
import cProfile
import json
import pstats
import sys
import sysconfig
import tempfile
import time
import warnings
from pathlib import Path

from scaling import CURVES

RESULTS = Path(__file__).parent / "results" / "profiles.json"
# What was done about the largest costs, with the reason where nothing is left to do.
DONE = {
    "demo": "training in small pieces: autoencoders stacked, attacks run once for two parts",
    "curation.curate": "rows collapse to patterns of votes by one integer key each",
    "curation.curate_stream": "one key per row and block; the second pass writes as it reads",
    "survival.fit, Weibull": "analytic derivatives, blocked products; few Newton steps",
    "survival.kaplan_meier": "bands of all times at once (100,000 rows: 13 s before, 0.03 s now)",
    "discovery.loess": "fitted at nodes, interpolated between them",
    "supervision.dsa_scores": "one product per class, candidates in one dimension (before: 0.96 s)",
    "supervision, softmax entropy": "the model's own forward pass",
    "statistics.delong_interval": "sorting; nothing left",
    "reliability.assess, rectified": "the risk of all field rows in blocks",
    "binned KDE on 250,000 cells": "points binned once; two matrix products",
    "reliability.Splitting": "boxes side by side; the model is asked once per move for all",
    "attacks.pgd": "the model's own passes; a step's gradient tells the class as well",
    "engine, journalled tasks": "one transaction a result: that is the promise of the journal",
}


def demo():
    from fireassay.cli.main import app

    folder = tempfile.mkdtemp()
    app(["demo", "--output", f"{folder}/demo", "--quiet"], standalone_mode=False)


def work_of(name):
    if name == "demo":
        return demo
    curve = CURVES[name][2]()
    work = curve.work(curve.sizes[1])
    work()
    return work


def place(key):
    path, line, function = key
    if path == "~":
        return function.strip("<>").replace("built-in method ", "").replace("|", " ")
    inside = Path(path).as_posix()
    for root in (sysconfig.get_paths()["purelib"], sysconfig.get_paths()["stdlib"]):
        inside = inside.removeprefix(Path(root).as_posix() + "/")
    return f"{inside.split('/src/')[-1]}:{line} {function}"


def profile(work, top=3):
    profiler = cProfile.Profile(time.process_time)
    started = time.process_time()
    profiler.runcall(work)
    seconds = time.process_time() - started
    own = pstats.Stats(profiler).stats
    total = sum(entry[2] for entry in own.values())
    ranked = sorted(own.items(), key=lambda item: -item[1][2])[:top]
    return {
        "cpu_s": seconds,
        "largest": [{"where": place(key), "share": entry[2] / total} for key, entry in ranked],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", nargs="+", default=[""])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    stored = json.loads(RESULTS.read_text())["profiles"] if RESULTS.exists() else {}
    for name in DONE:
        if not any(part in name for part in options.only):
            continue
        stored[name] = {**profile(work_of(name)), "done": DONE[name]}
        costs = "; ".join(f"{c['where']} {c['share']:.0%}" for c in stored[name]["largest"])
        print(f"{name:32} {stored[name]['cpu_s']:6.2f} s  {costs}", flush=True, file=sys.stdout)
        kept = {key: stored[key] for key in DONE if key in stored}
        RESULTS.write_text(json.dumps({"profiles": kept}, indent=1) + "\n")


if __name__ == "__main__":
    main()
