"""Table 1 of the reliability paper, its image rows: latent cells of MNIST and CIFAR-10.

    FIREASSAY_DATA=FOLDER python studies/reliability_latent.py mnist --work FOLDER
    FIREASSAY_DATA=FOLDER python studies/reliability_latent.py cifar10 --work FOLDER

At the paper's size: 170,000 cells in 8 latent dimensions, 23,000 in 16. The network is trained to
the paper's test error or below (2.35 %, 8.53 %), with a checkpoint after each epoch; cells are
journalled in blocks. Of each cell a few decoded images and random points around them are asked:
the mean over cells has no bias from that, only noise, which the interval shows. The published
splitting runs on a random part of the same cells. Writes studies/results/reliability_NAME.json.
``--decoded`` only adds to it how the network does on test images that were encoded and decoded.
"""

import json
from dataclasses import replace

from commands import executor, options, write

from fireassay.data import cifar10, mnist
from fireassay.papers.latent_study import LatentStudy, measured_after_decoding, run_latent_study
from fireassay.papers.one_cycle import OneCycle

STUDIES = {
    "mnist": LatentStudy(
        "mnist",
        published={
            "test error": 0.0235, "r": 0.1003, "side": 0.1, "cells": 170_000, "ACU": 0.106615,
            "E": 0.036517, "s per cell": 0.43,
        },
        latent_dims=8, side=0.1, radius=0.3, cells=170_000, decoded=2, balls=5, drawn=2_000,
        split=100, width=16,
        recipe=OneCycle(epochs=4, peak=0.1, shift=2, flips=False, smoothing=0.0),
        vae_epochs=5, labels=5_000, rows=60_000,
    ),
    "cifar10": LatentStudy(
        "cifar10",
        published={
            "test error": 0.0853, "r": 0.1947, "side": 0.125, "cells": 23_000, "ACU": 0.238138,
            "E": 0.234419, "s per cell": 6.74,
        },
        latent_dims=16, side=0.125, radius=None, cells=23_000, decoded=2, balls=5, drawn=2_000,
        split=100, width=24, recipe=OneCycle(epochs=28, bfloat16=True),
        vae_epochs=8, labels=5_000, rows=50_000,
    ),
}  # fmt: skip
LOADERS = {"mnist": mnist, "cifar10": cifar10}


def quick(study: LatentStudy) -> LatentStudy:
    """The same in a minute."""
    return replace(
        study, cells=300, drawn=50, split=20, width=4, recipe=replace(study.recipe, epochs=1),
        vae_epochs=1, labels=300, rows=1_000,
    )  # fmt: skip


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("data", choices=list(STUDIES))
    parser.add_argument("--decoded", action="store_true", help="Only add this to the results.")
    chosen = parser.parse_args()
    study = quick(STUDIES[chosen.data]) if chosen.quick else STUDIES[chosen.data]
    load = LOADERS[chosen.data]
    if chosen.decoded:
        found = json.loads((chosen.results / f"reliability_{study.name}.json").read_text())
        found |= measured_after_decoding(study, load("train"), load("test"), chosen.work)
    else:
        found = run_latent_study(study, load("train"), load("test"), chosen.work, executor(chosen))
    write(chosen, f"reliability_{study.name}", found)


if __name__ == "__main__":
    main()
