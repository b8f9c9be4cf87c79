"""The MNIST row of the reliability paper's Table 1 on the authors' own network and autoencoder."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from fireassay.core.seeds import generator
from fireassay.engine import Executor
from fireassay.papers.intervals import mean_interval
from fireassay.statistics.counts import clopper_pearson

Floats = NDArray[np.float32]
PUBLISHED = {"training error": 0.0051, "test error": 0.0235, "r": 0.1003, "cells": 170_000,
             "ACU": 0.106615, "E": 0.036517}  # fmt: skip
"""The printed row."""
SIDE, LOW, RADIUS, BANDWIDTH = 0.1, -4.5, 0.3, 0.26366508987303583
"""Of a cell, where the first begins, of the pixel ball, and of the profile's kernel."""
PROFILE_DRAWS, POINTS = 100_000, 1_000
_BASE_TEN = float(np.log(10.0))  # 10**ln p = p**ln 10
_BATCH, _TASK = 1_000, 250


class AuthorsMnist:
    """Network and autoencoder as published: arrays by layer name in two files of ``folder``."""

    def __init__(self, folder: Path) -> None:
        import torch

        arrays = [np.load(folder / f"{name}.npz") for name in ("mnist_mlp", "vae_mnist")]
        self.mlp, self.vae = (
            {name: torch.from_numpy(stored[name]) for name in stored} for stored in arrays
        )

    def logits(self, pixels: Any) -> Any:
        """Of rows of 784 pixels in 0 … 1."""
        import torch

        hidden = torch.relu(
            (pixels - 0.1307) / 0.3081 @ self.mlp["fc1.weight"].T + self.mlp["fc1.bias"]
        )
        return hidden @ self.mlp["fc2.weight"].T + self.mlp["fc2.bias"]

    def predict(self, pixels: Floats) -> NDArray[np.int64]:
        """Classes of rows of 784 pixels."""
        import torch

        found: NDArray[np.int64] = self._batches(
            lambda part: self.logits(torch.from_numpy(part)).argmax(1), pixels
        )
        return found

    def encode(self, pixels: Floats) -> Floats:
        """Latent means of rows of 784 pixels."""
        found: Floats = self._batches(self._means, pixels)
        return found

    def decode(self, points: Floats) -> Floats:
        """Rows of 784 pixels of latent points."""
        found: Floats = self._batches(self._images, points)
        return found

    def _means(self, part: Floats) -> Any:
        import torch
        from torch.nn import functional

        images = self._resized(torch.from_numpy(part).view(-1, 1, 28, 28), 32)
        for block in ("encoder.0", "encoder.1"):
            images = self._block(functional.conv2d, block, images)
        images = self._convolved(functional.conv2d, "encoder.2", images)
        return images.flatten(1) @ self.vae["q_mean.weight"].T + self.vae["q_mean.bias"]

    def _images(self, part: Floats) -> Any:
        import torch
        from torch.nn import functional

        flat = torch.from_numpy(part) @ self.vae["project.weight"].T + self.vae["project.bias"]
        images = flat.view(-1, 32, 4, 4)
        for block in ("decoder.0", "decoder.1"):
            images = self._block(functional.conv_transpose2d, block, images)
        images = self._convolved(functional.conv_transpose2d, "decoder.2", images)
        return self._resized(torch.sigmoid(images), 28).flatten(1)

    def _block(self, convolve: Callable[..., Any], name: str, images: Any) -> Any:
        import torch
        from torch.nn import functional

        mean, variance, weight, bias = (
            self.vae[f"{name}.1.{key}"] for key in ("running_mean", "running_var", "weight", "bias")
        )
        images = self._convolved(convolve, f"{name}.0", images)
        return torch.relu(functional.batch_norm(images, mean, variance, weight, bias))

    def _convolved(self, convolve: Callable[..., Any], name: str, images: Any) -> Any:
        weight, bias = self.vae[f"{name}.weight"], self.vae[f"{name}.bias"]
        return convolve(images, weight, bias, stride=2, padding=1)

    @staticmethod
    def _resized(images: Any, side: int) -> Any:
        from torch.nn import functional

        return functional.interpolate(images, (side, side), mode="bilinear", align_corners=False)

    @staticmethod
    def _batches(answer: Callable[[Any], Any], rows: NDArray[Any]) -> Any:
        import torch

        with torch.no_grad():
            parts = [answer(rows[i : i + _BATCH]).numpy() for i in range(0, len(rows), _BATCH)]
        return np.concatenate(parts)


def log_density(points: Floats, rows: Floats) -> NDArray[np.float64]:
    """Gaussian kernel density of ``rows`` at ``points``."""
    import torch

    centres = torch.from_numpy(rows) / BANDWIDTH
    half = (centres**2).sum(1) / 2
    scale = np.log(len(rows)) + rows.shape[1] * np.log(BANDWIDTH * np.sqrt(2 * np.pi))
    found = []
    for start in range(0, len(points), _BATCH):
        part = torch.from_numpy(points[start : start + _BATCH]) / BANDWIDTH
        exponent = part @ centres.T - half
        found.append((torch.logsumexp(exponent, 1) - (part**2).sum(1) / 2).double().numpy())
    return np.asarray(np.concatenate(found) - scale)


def separation(points: Floats, labels: NDArray[Any]) -> float:
    """Half the smallest Euclidean distance between two points of different classes."""
    least = np.inf
    for label in np.unique(labels)[:-1]:
        own, others = points[labels == label], points[labels > label]
        near = cKDTree(own).query(others, distance_upper_bound=least)[0]
        least = min(least, float(np.min(near)))
    return least / 2


def cells_of(latent: Floats, labels: NDArray[Any], seed: int = 0) -> dict[str, NDArray[Any]]:
    """Cells with a row or a draw of the profile: corner, label (-1 empty, -2 of several classes).

    The corner stands for the cell, as published: its density, and the image that is decoded.
    """
    random = generator(seed, "draws of the profile")
    near = latent[random.integers(len(latent), size=PROFILE_DRAWS)]
    drawn = near + BANDWIDTH * random.standard_normal(near.shape).astype(np.float32)
    both = np.concatenate([latent, drawn.astype(np.float32)])
    keys, cell = np.unique(
        np.floor((both - LOW) / SIDE).astype(np.int64), axis=0, return_inverse=True
    )
    own = cell.ravel()[: len(latent)]
    least, most = np.full(len(keys), 99), np.full(len(keys), -1)
    np.minimum.at(least, own, labels)
    np.maximum.at(most, own, labels)
    label = np.where(most < 0, -1, np.where(least == most, most, -2))
    return {"corner": (keys * SIDE + LOW).astype(np.float32), "label": label}


def wrong_in_balls(
    task: dict[str, int], folder: str, images: Floats, labels: NDArray[Any]
) -> dict[str, Any]:
    """Share of uniform points in each pixel ball that the network takes for another class."""
    import torch

    started = time.process_time()
    network = AuthorsMnist(Path(folder))
    chosen = slice(task["start"], task["end"])
    random = torch.Generator().manual_seed(task["start"])
    found = []
    with torch.no_grad():
        for image, label in zip(images[chosen], labels[chosen], strict=True):
            low = torch.from_numpy(np.maximum(image - RADIUS, 0.0))
            high = torch.from_numpy(np.minimum(image + RADIUS, 1.0))
            points = low + (high - low) * torch.rand((POINTS, len(image)), generator=random)
            found.append(float((network.logits(points).argmax(1) != int(label)).float().mean()))
    return {"wrong": found, "cpu_seconds": time.process_time() - started}


def run(
    folder: Path,
    learn: tuple[Floats, NDArray[Any]],
    test: tuple[Floats, NDArray[Any]],
    executor: Executor,
    sampled: int,
) -> dict[str, Any]:
    """Errors, cells, ACU and E with both logarithms, and what the labelled test rows bound.

    Cells with λ = 1 by the published rule are counted exactly. Of the others ``sampled`` are drawn
    with equal chances for ACU and as many by density for E; intervals are for those draws.
    """
    started = time.process_time()
    network = AuthorsMnist(folder)
    errors = {
        name: int((network.predict(X) != y).sum())
        for name, (X, y) in (("training", learn), ("test", test))
    }
    X, y = np.concatenate([learn[0], test[0]]), np.concatenate([learn[1], test[1]])
    latent = network.encode(X)
    cells = cells_of(latent, y)
    log_p = log_density(cells["corner"], latent)
    density = np.exp(log_p)
    images = network.decode(cells["corner"])
    answer = network.predict(images)
    label = np.where(cells["label"] == -1, answer, cells["label"])
    certain = label != answer  # of several classes, or misread once decoded: λ = 1 as published
    weight = density / density.sum()
    rest = np.flatnonzero(~certain)
    random = generator(1, "cells of the published row")
    by_mass = weight[rest] / weight[rest].sum()
    plain = random.choice(rest, size=sampled, replace=False)
    heavy = random.choice(rest, size=sampled, replace=True, p=by_mass)
    chosen = np.concatenate([plain, heavy])
    tasks = [{"start": i, "end": min(i + _TASK, len(chosen))} for i in range(0, len(chosen), _TASK)]
    shared = {"folder": str(folder), "images": images[chosen], "labels": answer[chosen]}
    before = time.process_time() - started
    parts = executor.map(wrong_in_balls, tasks, shared, name="cells of the authors' network")
    p = np.array([value for part in parts for value in part["wrong"]])
    certain_share = {"ACU": float(certain.mean()), "E": float(weight[certain].sum())}
    estimates = {
        f"{name}, {base}": _with(certain_share[name], values**power)
        for name, values in (("ACU", p[:sampled]), ("E", p[sampled:]))
        for base, power in (("10**ln p", _BASE_TEN), ("exp", 1.0))
    }
    decoded = int((network.predict(network.decode(network.encode(test[0]))) != test[1]).sum())
    return {
        "published": PUBLISHED,
        "training error": errors["training"] / len(learn[1]),
        "test error": errors["test"] / len(test[1]),
        "test rows": len(test[1]),
        "separation": separation(latent, y),
        "cells": len(label),
        "cells with rows": int((cells["label"] != -1).sum()),
        "cells of several classes": int((cells["label"] == -2).sum()),
        "cells always wrong": int(certain.sum()),
        "cells sampled": sampled,
        "points per cell": POINTS,
        **estimates,
        "their mass": float(density.sum() * SIDE ** latent.shape[1]),
        "wrong after decoding": decoded,
        "Clopper-Pearson 97.5 %": clopper_pearson(errors["test"], len(test[1]))[1],
        "cpu_seconds": before + sum(part["cpu_seconds"] for part in parts),
    }


def _with(certain: float, values: NDArray[np.float64]) -> list[float]:
    """Value and interval of the mean over all cells: the certain ones are 1, the rest sampled."""
    ends = (float(values.mean()), *mean_interval(values))
    return [certain + (1 - certain) * end for end in ends]
