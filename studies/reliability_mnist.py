"""MNIST in a VAE latent, end to end: the published assessment beside bounds that hold.

    FIREASSAY_DATA=/path/to/data python studies/reliability_mnist.py [--quick] [--weights FILE]

Trains a small CNN and an 8-dimensional convolutional VAE, evaluates the heaviest latent cells as
the paper does and cells drawn from the latent profile, and prints its row of Table 1 next to ours,
to Clopper-Pearson on the same labels and to the default bound. Writes
studies/results/reliability_mnist.json.
"""

import argparse
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
from reliability_images import Study, run

from fireassay.data import load_idx

MNIST = Study(
    "mnist",
    published={
        "test error": 0.0235, "r": 0.1003, "side": 0.1, "cells": 170_000, "ACU": 0.106615,
        "E": 0.036517, "s per cell": 0.43,
    },
    latent_dims=8,
    sides=(0.1, 1.0),
    radius=0.3,
    rows=30_000,
    width=8,
    epochs=3,
    vae_epochs=5,
    labels=5000,
    top_k=4000,
    draws=2000,
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="A tenth of the work.")
    parser.add_argument(
        "--weights", type=Path, help="Train only, or go on with weights that are there."
    )
    options = parser.parse_args()
    folder = Path(os.environ["FIREASSAY_DATA"]) / "mnist"
    study = replace(MNIST, rows=6000, epochs=1, top_k=500, draws=300) if options.quick else MNIST
    learn = load_idx(folder / "train-images-idx3-ubyte.gz")
    test = load_idx(folder / "t10k-images-idx3-ubyte.gz")
    run(study, learn, test, options.weights)


if __name__ == "__main__":
    np.seterr(all="raise", under="ignore")
    main()
