"""Type-I error of the clustered log-rank test: how often does it see what is not there?

    python studies/survival_log_rank.py [SIMULATIONS]     # 800 take about three minutes

Models differ among themselves (standard deviation .8 of the log time), groups do not. Designs:
"between" every model in one group; "crossed" every model in all; "interaction" crossed, with a
random effect of each model in each group; "partial" half of the models in one group alone;
"unequal" 2 to 29 rows per model and group; "one crossed" all models but one in one group alone.
Writes studies/results/survival_log_rank.json.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

from fireassay import survival

RESULTS = Path(__file__).parent / "results" / "survival_log_rank.json"
DESIGNS = ("between", "crossed", "interaction", "partial", "unequal", "one crossed")
SIZES = ((6, 2), (18, 6))


def sizes(design, model, groups, rng):
    alone = [16 if model % groups == k else 0 for k in range(groups)]
    if design == "between":
        return alone
    if design == "partial":
        return (
            [8] * groups
            if model % 2
            else [16 if model // 2 % groups == k else 0 for k in range(groups)]
        )
    if design == "unequal":
        return rng.integers(2, 30, groups)
    if design == "one crossed":
        return [8] * groups if model == 0 else alone
    return [8] * groups


def simulated(design, models, groups, rng):
    parts = []
    for model in range(models):
        for group, size in enumerate(sizes(design, model, groups, rng)):
            parts.append(pd.DataFrame({"model_id": model, "group": group}, index=range(size)))
    frame = pd.concat(parts, ignore_index=True)
    effect = 0.8 * rng.normal(size=models)[frame["model_id"]]
    if design == "interaction":
        effect += 0.4 * rng.normal(size=(models, groups))[frame["model_id"], frame["group"]]
    seconds = np.ceil(5 * np.exp(effect + 0.7 * np.log(rng.exponential(size=len(frame))))) / 5
    limit = np.quantile(seconds, 0.7)
    return frame.assign(duration=np.minimum(seconds, limit), event=(seconds <= limit) * 1)


def main(simulations):
    rows = []
    for design in DESIGNS:
        for models, groups in SIZES:
            rng = np.random.default_rng([models, groups, DESIGNS.index(design)])
            p = []
            for _ in range(simulations):
                frame = simulated(design, models, groups, rng)
                found = survival.log_rank(frame, "group", groups="model_id", n_permutations=99)
                naive = survival.log_rank(frame, "group")
                p.append((found.p <= 0.05, naive.p <= 0.05))
            rates = np.mean(p, axis=0)
            row = {"design": design, "models": models, "groups": groups}
            rows.append(
                {**row, "clustered": rates[0], "naive": rates[1], "simulations": simulations}
            )
            print(rows[-1], flush=True)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps({"cpu_s": time.process_time(), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 800)
