"""Do intervals between groups hold what they promise with 6, 12 and 40 models?

Samples of one model share a random shift of their log time. The effect of a covariate of the
model (half of the models have it) is estimated from interval- and right-censored times; each
row of the table says in which share of simulated data sets its nominal 95 % interval held the
true effect.

    python studies/survival_coverage.py [simulations]
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from fireassay.survival.aft import solve_aft
from fireassay.survival.design_matrix import design_matrix
from fireassay.survival.fit_numbers import group_variance
from fireassay.survival.times import Times

EFFECT, SAMPLES, BUDGET = 0.4, 40, 12.0
METHODS = ("naive z", "sandwich (CR0) z", "CR2 t", "CR3 t")


def simulate(rng, n_models, law, spread):
    model = np.repeat(np.arange(n_models), SAMPLES)
    treated = (np.arange(n_models) % 2)[model]
    easy = rng.normal(size=len(model))
    noise = (
        rng.normal(size=len(model))
        if law == "lognormal"
        else np.log(rng.exponential(size=len(model)))
    )
    shift = spread * rng.normal(size=n_models)[model]
    time = np.exp(1.0 + EFFECT * treated + 0.3 * easy + shift + 0.6 * noise)
    lower = np.floor(time * 2) / 2
    upper = np.where(time > BUDGET, np.inf, lower + 0.5)
    lower = np.minimum(lower, BUDGET)
    frame = pd.DataFrame({"treated": treated, "easy": easy})
    return frame, Times(lower, upper), model


def intervals_cover(rng, n_models, law, spread):
    frame, times, model = simulate(rng, n_models, law, spread)
    design = design_matrix(frame, ["treated", "easy"])
    solution = solve_aft(law, times, design, groups=model)
    contrast = np.zeros(len(solution.theta))
    contrast[1] = 1.0 / design.encoding.spread[0]
    value = contrast @ solution.theta
    normal = stats.norm.ppf(0.975)
    naive = np.sqrt(contrast @ np.linalg.inv(solution.information) @ contrast)
    reach = [normal * naive]
    for correction, quantile in (("cr0", normal), ("cr2", None), ("cr3", None)):
        robust = group_variance(
            solution.information,
            solution.group_scores,
            solution.group_information,
            correction=correction,
        )
        t = (
            stats.t.ppf(0.975, robust.degrees_of_freedom(contrast))
            if quantile is None
            else quantile
        )
        reach.append(t * robust.standard_error(contrast))
    return np.abs(value - EFFECT) <= np.array(reach), np.array(reach)


def main(simulations=1000):
    rows = []
    for law in ("lognormal", "weibull"):
        for n_models in (6, 12, 40):
            rng = np.random.default_rng([n_models, law == "weibull"])
            start = time.process_time()
            runs = [intervals_cover(rng, n_models, law, 0.5) for _ in range(simulations)]
            covered = np.mean([run[0] for run in runs], axis=0)
            width = np.median([run[1] for run in runs], axis=0)
            rows.append(
                {"family": law, "models": n_models, "simulations": simulations}
                | dict(zip(METHODS, covered.tolist(), strict=True))
                | {"half-width CR3": float(width[3]), "cpu_s": time.process_time() - start}
            )
            print(pd.DataFrame(rows).round(3).to_string(index=False), flush=True)
    path = Path(__file__).parents[1] / "benchmarks" / "results" / "survival_coverage.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
