"""What the studies on images share: training, latent cells, and bounds that hold beside them."""

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from fireassay import as_classifier, reliability
from fireassay.data import DataSet
from fireassay.networks.cnn import Cnn
from fireassay.networks.training import train
from fireassay.networks.vae import ConvVae

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Study:
    """Sizes of one study; ``published`` is the paper's row of Table 1."""

    name: str
    published: dict[str, float]
    latent_dims: int
    sides: tuple[float, ...]
    radius: float | None
    rows: int
    width: int
    epochs: int
    vae_epochs: int
    labels: int
    top_k: int
    draws: int


class Clock:
    """Wall and CPU time since the start, with what an earlier run has spent."""

    def __init__(self) -> None:
        self.started, self.cpu = time.perf_counter(), time.process_time()

    def spent(self) -> dict[str, float]:
        return {
            "seconds": time.perf_counter() - self.started,
            "cpu": time.process_time() - self.cpu,
        }

    def add(self, spent: dict[str, float]) -> None:
        self.started -= spent["seconds"]
        self.cpu -= spent["cpu"]

    def say(self, text: str) -> None:
        print(f"[{self.spent()['seconds']:6.1f} s] {text}", flush=True)


def run(study: Study, learn: DataSet, test: DataSet, kept: Path | None = None) -> None:
    """Train (or take what ``kept`` holds), assess, print and write the results."""
    clock = Clock()
    X, y = learn.X[: study.rows], learn.y[: study.rows]
    trained = trained_networks(study, X, y, clock, kept)
    if trained is None:
        return
    network, latent = trained
    model = as_classifier(
        network, output="logits", classes=range(10), bounds=(0, 1), batch_size=1000
    )
    # The first test images need not be like the last ones: labels must be drawn from all.
    order = np.random.default_rng(0).permutation(len(test.X))
    labelled, field = order[: study.labels], order[study.labels :]
    separation = reliability.r_separation(latent.encode(test.X[labelled]), test.y[labelled])
    rows = [
        latent_row(study, side, model, latent, test, labelled, field, clock) for side in study.sides
    ]
    default = reliability.assess(
        model, test.X[labelled], test.y[labelled], operational=test.X[field]
    )
    clock.say(default.headline)
    exact = default.comparison.set_index("method")["pmi_upper"]["Clopper-Pearson"]
    rare = [
        reliability.splitting(
            model, test.X[i], test.y[i].item(), 0.3, particles=100, smallest=-15, seed=i
        )
        for i in range(2)
    ]
    summary = {
        "published": study.published,
        "test error": default.n_errors / default.n_labels,
        "labels": default.n_labels,
        "r in the latent": separation.r,
        "latent cells": rows,
        "Clopper-Pearson 97.5 %": float(exact),
        "default bound 97.5 %": default.pmi_upper,
        "ln p of two balls": [[r.log_p, r.low, r.high] for r in rare],
        "minutes": clock.spent()["seconds"] / 60,
        "cpu seconds": clock.spent()["cpu"],
    }
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps(summary, indent=1, default=float).replace("-Infinity", '"-inf"')
    (RESULTS / f"reliability_{study.name}.json").write_text(text + "\n")
    print(text)


def latent_row(
    study: Study,
    side: float,
    model: Any,
    latent: reliability.VaeLatent,
    test: DataSet,
    labelled: np.ndarray,
    field: np.ndarray,
    clock: Clock,
) -> dict[str, float]:
    """One assessment by latent cells, as a row of the table."""
    before = time.perf_counter()
    result = reliability.assess(
        model,
        test.X[labelled],
        test.y[labelled],
        operational=test.X[field],
        method=reliability.Ram(
            latent=latent,
            top=reliability.TopCells(side=side, top_k=study.top_k, draws=study.draws, decoded=4),
            radius=study.radius,
        ),
    )
    found = result.details
    for note in result.notes:
        clock.say(note)
    row = {
        "side": side,
        "cells": len(found.cells),
        "ACU": found.acu,
        "E (these cells)": found.mean,
        "their mass": found.evaluated_mass,
        "E (rest always wrong)": found.pmi,
        "E (cells drawn from the profile)": found.drawn,
        "its normal upper limit": found.drawn_upper,
        "normal cells": int((found.cells["kind"] == "normal").sum()),
        "s per cell": (time.perf_counter() - before) / (study.top_k + study.draws),
    }
    clock.say(f"latent cells: {row}")
    return row


def trained_networks(
    study: Study, X: np.ndarray, y: np.ndarray, clock: Clock, kept: Path | None
) -> tuple[torch.nn.Module, reliability.VaeLatent] | None:
    """The classifier and the latent space; None once ``kept`` has been written for another run."""
    network = Cnn(X.shape[1:], 10, width=study.width, seed=0)
    latent = reliability.VaeLatent(study.latent_dims, epochs=study.vae_epochs)
    if kept is not None and kept.exists():
        weights = torch.load(kept, weights_only=True)
        network.load_state_dict(weights["network"])
        latent.vae_ = ConvVae(X.shape[1:], study.latent_dims)
        latent.vae_.load_state_dict(weights["vae"])
        network.eval()
        latent.vae_.eval()
        clock.add(weights["spent"])
        return network, latent
    train(network, X, y, epochs=study.epochs, seed=0)
    clock.say("classifier trained")
    latent.fit(X)
    clock.say("VAE trained")
    if kept is None:
        return network, latent
    weights = {"network": network.state_dict(), "vae": latent.vae_.state_dict()}
    torch.save({**weights, "spent": clock.spent()}, kept)
    return None
