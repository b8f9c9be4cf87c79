"""The ambiguity paper's convolutional and fully connected networks, as its program builds them."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from torch import nn

from fireassay.core.seeds import derived_seed, generator
from fireassay.networks.small_networks import ChannelsFirst
from fireassay.networks.training import train
from fireassay.papers.ambiguity_trainings import DATA, scores
from fireassay.papers.supervision_networks import initialised

HELD_BACK = 0.1
"""Share of the training rows that their program keeps for validation, and never learns from."""


def published_cnn() -> nn.Module:
    """Convolutions of 32 and 64 channels with pooling, dropout, logits."""
    return nn.Sequential(
        ChannelsFirst(), nn.Conv2d(1, 32, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3),
        nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Dropout(0.5), nn.Linear(1600, 10),
    )  # fmt: skip


def published_mlp() -> nn.Module:
    """Layers of 512, 512 and 64 units without any activation: a linear classifier in all."""
    return nn.Sequential(
        nn.Flatten(), nn.Linear(784, 512), nn.Dropout(0.2), nn.Linear(512, 512), nn.Dropout(0.2),
        nn.Linear(512, 64), nn.Linear(64, 10),
    )  # fmt: skip


PUBLISHED_NETWORKS: dict[str, tuple[Callable[[], nn.Module], int]] = {
    "MLP": (published_mlp, 30),
    "CNN": (published_cnn, 15),
}
"""How to build each, and its epochs; batches of 128, Adam at its usual rate."""


def nominal_training(row: dict[str, Any], rows: int | None, epochs: int | None) -> dict[str, Any]:
    """Train one network on nominal rows as published and test it on all nominal test rows."""
    started, (build, usual) = time.process_time(), PUBLISHED_NETWORKS[row["model"]]
    seed = derived_seed(row["run"], "as published", row["model"], row["data"])
    learn, test = (DATA[row["data"]](part) for part in ("train", "test"))
    order = np.arange(len(learn.X))
    if row["model"] == "MLP":  # only this network's rows are shuffled before the cut
        order = generator(seed, "rows").permutation(len(order))
    order = order[: round(len(order) * (1 - HELD_BACK))][:rows]
    network = initialised(seed, build)
    labels = learn.labels[order].astype(np.int64)
    train(network, learn.X[order], labels, epochs or usual, seed=seed)
    found = scores(network, test.X, test.labels, None)
    return {"nominal": found, "cpu_seconds": time.process_time() - started}
