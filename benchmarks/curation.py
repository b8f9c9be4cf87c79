"""Curation at the size of the largest case study, side by side with snorkel + statsmodels.

    python benchmarks/curation.py                                  # fireassay alone
    python benchmarks/curation.py --peer /path/to/peer/bin/python  # with the peers, in one run
    python benchmarks/curation.py --parts stream --stream 100000000   # stream that many rows

The peer's Python needs snorkel==0.10.0 and statsmodels; the environment variable
``FIREASSAY_CURATION_PEER`` may name it too. By default the peer computes intervals for 20,000 rows
only, so that ``times_faster`` is a lower bound; ``--interval-rows 847486`` measures all of them.
Every measurement runs in a process of its own: CPU seconds, and peak memory beyond what the
process held before, with the votes already loaded.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import numpy as np

ROWS, ACCURACIES, COVERAGE, SEED = 847_486, (0.62, 0.67, 0.72, 0.58, 0.8), 0.45, 1234567
RESULTS = Path(__file__).parent / "results" / "curation.json"

OURS = """
import json, resource, sys, threading, time
import numpy as np
from fireassay import curation
votes = np.load(sys.argv[1])
curation.curate(votes[:1000], labeler="snorkel", prune=None, seed={seed})
before = resident()
with Peak() as peak:
    started = time.process_time()
    result = curation.curate(votes, labeler="snorkel", prune=None, seed={seed})
    sets = result.datasets
    seconds = time.process_time() - started
shared = all(np.shares_memory(d, result.order) for d in sets)
np.savez(sys.argv[2], posterior=result.table.posterior, of_row=result.patterns.of_row,
         lower=result.lower)
print(json.dumps(dict(cpu_s=seconds, bytes_per_row=(peak.most - before) / len(votes),
                      views=bool(shared))))
"""

PEER = """
import json, sys, time
import numpy as np
from snorkel.labeling.model import LabelModel
from statsmodels.stats.proportion import proportion_confint
votes = np.load(sys.argv[1])
before = resident()
with Peak() as peak:
    started = time.process_time()
    model = LabelModel(cardinality=2, verbose=False)
    model.fit(votes, seed={seed}, progress_bar=False)
    posterior = model.predict_proba(votes)
    label_model = time.process_time() - started
    n = (votes != -1).sum(axis=1)
    best = posterior.max(axis=1)
    lower = np.zeros(len(votes))
    for i in range({interval_rows}):
        if n[i]:
            lower[i] = proportion_confint(n[i] * best[i], n[i], alpha=0.05, method="beta")[0]
    intervals = time.process_time() - started - label_model
    order = np.argsort(-lower, kind="stable")
    seconds = time.process_time() - started
np.savez(sys.argv[2], posterior=posterior, lower=lower)
print(json.dumps(dict(cpu_s=seconds, label_model_s=label_model, intervals_s=intervals,
                      bytes_per_row=(peak.most - before) / len(votes))))
"""

MEMORY = """
import os, threading, time
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
class Peak:
    def __enter__(self):
        self.most, self.running = resident(), True
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()
        return self
    def watch(self):
        while self.running:
            self.most = max(self.most, resident())
            time.sleep(0.002)
    def __exit__(self, *error):
        self.running = False
        self.thread.join()
        self.most = max(self.most, resident())
"""

STREAM = """
import json, sys, time
from fireassay import curation
curation.curate_stream([[0, 1, 1], [1, 1, 0]], sys.argv[2] + "/warm", n_sets=2, labeler="snorkel")
before = resident()
found = {}
for interval in ("posterior", "paper"):
    with Peak() as peak:
        wall, started = time.perf_counter(), time.process_time()
        result = curation.curate_stream(sys.argv[1], sys.argv[2] + "/out", labeler="snorkel",
                                        interval=interval)
        cpu, wall = time.process_time() - started, time.perf_counter() - wall
    levels = len(set(result.table.score("lower_bound").tolist()))
    found[interval] = dict(rows=result.n, cpu_s=cpu, wall_s=wall, score_levels=levels,
                           patterns=len(result.patterns.counts),
                           peak_mib_beyond_import=(peak.most - before) / 2**20)
print(json.dumps(found))
"""


def run(python, code, *arguments):
    script = textwrap.dedent(MEMORY) + textwrap.dedent(code)
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [python, "-W", "ignore", "-c", script, *map(str, arguments)],
        capture_output=True, text=True, env=environment, check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    return json.loads(done.stdout.strip().splitlines()[-1])


def recsys_size(peer, interval_rows):
    from fireassay import curation

    votes, _ = curation.simulate_votes(ACCURACIES, COVERAGE, ROWS, seed=0)
    report = {"rows": ROWS, "lfs": len(ACCURACIES)}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "votes.npy"
        np.save(file, votes)
        mine = Path(folder) / "ours.npz"
        report["fireassay"] = run(sys.executable, OURS.format(seed=SEED), file, mine)
        if peer is None:
            report["snorkel + statsmodels"] = "skipped: no --peer given"
            return report
        theirs = Path(folder) / "theirs.npz"
        code = PEER.format(seed=SEED, interval_rows=interval_rows)
        report["snorkel + statsmodels"] = run(peer, code, file, theirs)
        with np.load(mine) as a, np.load(theirs) as b:
            ours = a["posterior"][a["of_row"]]
            report["largest_posterior_difference"] = float(np.abs(ours - b["posterior"]).max())
            some = slice(0, interval_rows)
            gap = np.abs(a["lower"][some] - b["lower"][some])
            report["largest_lower_bound_difference"] = float(gap.max())
        peers = report["snorkel + statsmodels"]
        peers["interval_rows"] = interval_rows
        report["times_faster"] = peers["cpu_s"] / report["fireassay"]["cpu_s"]
    return report


def verdict_quality():
    from fireassay import curation
    from fireassay.curation.order import ScoreTable, direction, order_test
    from fireassay.curation.trend import definition_2

    votes, _ = curation.simulate_votes([0.7] * 8, 0.6, 400, seed=0)
    result = curation.curate(votes, prune=None)
    rng = np.random.default_rng(1)
    counts = {"calibrated": 0, "definition_3_decreasing": 0, "definition_3_increasing": 0}
    for _ in range(1000):
        correct = rng.permutation(400) < 280
        counts["calibrated"] += order_test(result.score, correct).verdict(0.05) != "none"
        table = ScoreTable.of(result.score, correct)
        rho, p = definition_2(table.accuracies(result.sizes))
        said = direction(rho, p, 0.05)
        if said != "none":
            counts[f"definition_3_{said}"] += 1
    power = 0
    for seed in range(100):
        votes, y = curation.simulate_votes([0.7] * 8, 0.6, 400, seed=seed)
        trend = curation.curate(votes).validate(y, n_permutations=1)
        power += trend.verdict == "decreasing"
    return {"level_of_1000_random_orders": counts, "power_of_100_worlds": power}


def stream(rows):
    from fireassay import curation

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "votes.npy"
        votes = np.lib.format.open_memmap(file, "w+", np.int8, (rows, 10))
        # A million simulated rows, again and again: only the time and the memory matter here.
        block = curation.simulate_votes(np.linspace(0.55, 0.9, 10), 0.6, 1 << 20, seed=0)[0]
        for start in range(0, rows, len(block)):
            stop = min(rows, start + len(block))
            votes[start:stop] = block[: stop - start]
        votes.flush()
        del votes
        return run(sys.executable, STREAM, file, folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--peer", default=os.environ.get("FIREASSAY_CURATION_PEER"))
    parser.add_argument("--interval-rows", type=int, default=20_000)
    parser.add_argument("--stream", type=int, default=2_000_000, help="rows to stream")
    parser.add_argument("--parts", nargs="+", default=["recsys", "verdict", "stream"],
                        help="what to measure; the rest of the stored results stays")  # fmt: skip
    options = parser.parse_args()
    report = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
    if "recsys" in options.parts:
        report["recsys size"] = recsys_size(options.peer, options.interval_rows)
    if "verdict" in options.parts:
        report["verdict"] = verdict_quality()
    if "stream" in options.parts:
        report["stream"] = stream(options.stream)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(report, indent=2) + "\n")
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
