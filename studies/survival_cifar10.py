"""A campaign on CIFAR-10 over all five depths: 1,500 trials of 100 samples.

    FIREASSAY_DATA=FOLDER python studies/survival_cifar10.py --work FOLDER [--sample 0.1]

The grid is survival_cifar10.toml. Trainings and trials are journalled: killed, the same command
goes on. Writes studies/results/survival_cifar10.json. ``--quick``: a few trials on digits.
"""

import tomllib
import warnings
from pathlib import Path

from commands import executor, options, write

from fireassay import survival
from fireassay.core.errors import AssumptionWarning, ConvergenceWarning
from fireassay.papers.campaign_summary import campaign_summary

CONFIG = Path(__file__).with_suffix(".toml")
QUICK = {"data": ["digits"], "models": ["mlp", "logistic"], "epochs": [2, 6], "seeds": [0, 1, 2],
         "width": 2, "samples": 20, "budget": 20, "max_train": 400,
         "defences": [{"name": "none"}, {"name": "conf", "values": [0.9]}],
         "attacks": [{"name": "fgm", "norm": "linf", "eps": [0.5]},
                     {"name": "pgd", "norm": "linf", "eps": [0.5]}]}  # fmt: skip


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--sample", type=float, help="Share of the trials to run.")
    chosen = parser.parse_args()
    source = tomllib.loads(CONFIG.read_text()) | (QUICK if chosen.quick else {})
    where = executor(chosen)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        result = survival.campaign(
            source, where.store, chosen.workers, chosen.cluster, sample=chosen.sample,
            progress=where.progress,
        )  # fmt: skip
        seconds = sum(where.store.timings().values())
        data = "digits" if chosen.quick else f"CIFAR-10, width {source['width']}"
        write(chosen, "survival_cifar10", campaign_summary(result, data, seconds))


if __name__ == "__main__":
    main()
