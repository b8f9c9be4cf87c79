"""MNIST in a VAE latent, end to end: the published assessment beside bounds that hold.

    FIREASSAY_DATA=/path/to/data python studies/reliability_mnist.py [--quick] [--weights FILE]

Trains a small CNN and an 8-dimensional convolutional VAE, evaluates the heaviest latent cells as
the paper does, and prints its row of Table 1 next to ours, to Clopper-Pearson on the same labels
and to the default bound. Writes studies/results/reliability_mnist.json.
"""

import argparse
import json
import os
import time
from pathlib import Path

import numpy as np
import torch

from fireassay import as_classifier, reliability
from fireassay.data import load_idx
from fireassay.networks.cnn import Cnn
from fireassay.networks.training import train
from fireassay.networks.vae import ConvVae

PUBLISHED = {"test error": 0.0235, "r": 0.1003, "side": 0.1, "cells": 170_000,
             "ACU": 0.106615, "E": 0.036517, "s per cell": 0.43}  # fmt: skip
RADIUS = 0.3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="A tenth of the work.")
    parser.add_argument(
        "--weights", type=Path, help="Train only, or go on with weights that are there."
    )
    options = parser.parse_args()
    quick = options.quick
    folder = Path(os.environ["FIREASSAY_DATA"]) / "mnist"
    started, cpu = time.perf_counter(), time.process_time()
    learn = load_idx(folder / "train-images-idx3-ubyte.gz")
    test = load_idx(folder / "t10k-images-idx3-ubyte.gz")
    rows = 6000 if quick else 30_000
    X, y = learn.X[:rows], learn.y[:rows]
    network, latent = Cnn(X.shape[1:], 10, seed=0), reliability.VaeLatent(8, epochs=5)
    kept = options.weights
    if kept is not None and kept.exists():
        weights = torch.load(kept, weights_only=True)
        network.load_state_dict(weights["network"])
        network.eval()
        latent.vae_ = ConvVae(X.shape[1:], 8)
        latent.vae_.load_state_dict(weights["vae"])
        latent.vae_.eval()
        started, cpu = started - weights["seconds"], cpu - weights["cpu"]
    else:
        train(network, X, y, epochs=1 if quick else 3, seed=0)
        say("classifier trained", started)
        latent.fit(X)
        say("VAE trained", started)
    if kept is not None and not kept.exists():
        spent = {"seconds": time.perf_counter() - started, "cpu": time.process_time() - cpu}
        weights = {"network": network.state_dict(), "vae": latent.vae_.state_dict()}
        torch.save({**weights, **spent}, kept)
        return
    model = as_classifier(
        network, output="logits", classes=range(10), bounds=(0, 1), batch_size=1000
    )
    # The first half of the test images is harder than the second: labels must be drawn from all.
    order = np.random.default_rng(0).permutation(len(test.X))
    labelled, field = order[:5000], order[5000:]
    codes = latent.encode(test.X[labelled])
    separation = reliability.r_separation(codes, test.y[labelled])
    found = {}
    for side, top_k in ((0.1, 1000 if quick else 6000), (1.0, 1000 if quick else 6000)):
        before = time.perf_counter()
        result = reliability.assess(
            model,
            test.X[labelled],
            test.y[labelled],
            operational=test.X[field],
            mode="ram",
            latent=latent,
            top=reliability.TopCells(side=side, top_k=top_k, decoded=4),
            radius=RADIUS,
        )
        seconds = time.perf_counter() - before
        kinds = result.cells["kind"].value_counts().to_dict()
        mean = float(result.comparison["pmi"].iloc[0])
        found[side] = {
            "side": side, "cells": len(result.cells), "ACU": result.acu,
            "E (evaluated cells)": mean, "E (rest always wrong)": result.pmi,
            "evaluated mass": result.evaluated_mass,
            "normal cells": kinds.get("normal", 0), "s per cell": seconds / len(result.cells),
        }  # fmt: skip
        say(f"latent cells of side {side}: {found[side]}", started)
    default = reliability.assess(
        model, test.X[labelled], test.y[labelled], operational=test.X[field]
    )
    say(default.headline, started)
    rare = [
        reliability.splitting(
            model, test.X[i], int(test.y[i]), RADIUS, particles=100, smallest=-15, seed=i
        )
        for i in range(2)
    ]
    exact = default.comparison.set_index("method")["pmi_upper"]["Clopper-Pearson"]
    summary = {
        "published": PUBLISHED,
        "test error": default.n_errors / default.n_labels,
        "r in the latent": separation.r,
        "latent cells": list(found.values()),
        "Clopper-Pearson 97.5 %": float(exact),
        "default bound 97.5 %": default.pmi_upper,
        "ln p of two balls": [[r.log_p, r.low, r.high] for r in rare],
        "minutes": (time.perf_counter() - started) / 60,
        "cpu seconds": time.process_time() - cpu,
    }
    out = Path(__file__).parent / "results" / "reliability_mnist.json"
    out.parent.mkdir(exist_ok=True)
    text = json.dumps(summary, indent=1, default=float).replace("-Infinity", '"-inf"')
    out.write_text(text + "\n")
    print(text)


def say(text: str, started: float) -> None:
    print(f"[{time.perf_counter() - started:6.1f} s] {text}", flush=True)


if __name__ == "__main__":
    np.seterr(all="raise", under="ignore")
    main()
