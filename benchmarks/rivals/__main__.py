"""The best alternatives beside fireassay, in one process and thread: CPU seconds and ratios.

    python benchmarks/rivals [--only lifelines] [--repeats 3] [--quick]

Ours runs with default settings, and whatever is compared was done whole by both. Started with a
Python that lacks the peers, it starts itself again in their own environment (benchmarks/peers.py
makes it). Add a rival: one decorated function in a file here that makes a race.
"""

import argparse
import json
import os
import subprocess
import sys
import warnings
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
RESULTS = HERE.parent / "results" / "rivals.json"
PEERS = ("snorkel", "crowd-kit", "adversarial-robustness-toolbox", "lifelines", "dnn-tip",
         "diskcache", "joblib", "scikit-learn", "statsmodels", "scipy", "torch", "numpy",
         "fireassay")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", nargs="+", default=[""], help="parts of the peers' names")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="small sizes; nothing is written")
    options = parser.parse_args()
    if find_spec("snorkel") is None or find_spec("lifelines") is None:
        from peers import python_with_peers

        words = [python_with_peers(), str(HERE), *sys.argv[1:]]
        raise SystemExit(subprocess.run(words, check=False).returncode)
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "TQDM_DISABLE": "1"}
    warnings.simplefilter("ignore")
    import attack_rows  # noqa: F401
    import journal_rows  # noqa: F401
    import smoothing_rows  # noqa: F401
    import supervision_rows  # noqa: F401
    import survival_rows  # noqa: F401
    import vote_rows  # noqa: F401
    from measuring import cpu, side_by_side, stamp
    from race import RIVALS

    stored = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"rows": []}
    rows = {row["peer"]: row for row in stored["rows"]}
    for name, entry in RIVALS.items():
        if not any(part.lower() in name.lower() for part in options.only):
            continue
        race = entry.make(options.quick)
        mine, theirs, record = side_by_side(race.ours, race.peer, options.repeats)
        row = rows[name] = {
            "peer": name, "package": entry.package, "work": entry.work, **record,
            "target": entry.target, "why": entry.why, "agreement": race.agree(mine, theirs),
            "date": datetime.now(UTC).date().isoformat(), "load": round(os.getloadavg()[0], 1),
        }  # fmt: skip
        if race.floor is not None:
            row["floor_cpu_s"] = min(cpu(race.floor)[1] for _ in range(1 + options.repeats))
        print(f"{name:34} ×{row['ratio']:9.2f} [{row['low']:.2f}, {row['high']:.2f}]  ours "
              f"{row['ours_cpu_s']:.4f} s, peer {row['peer_cpu_s']:.4f} s; {row['agreement']}",
              flush=True)  # fmt: skip
        if not options.quick:
            kept = {**stamp(PEERS), "rows": [rows[key] for key in RIVALS if key in rows]}
            RESULTS.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
