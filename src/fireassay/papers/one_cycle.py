"""Training of the papers' quality: Nesterov, one cycle, crops and flips, a checkpoint per epoch."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.core.hashing import sha256
from fireassay.core.seeds import derived_seed, generator
from fireassay.core.threads import one_torch_thread

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class OneCycle:
    """Settings of a training run.

    Attributes:
        epochs, batch_size: Passes over the rows, rows per step.
        peak: The largest learning rate, reached after a quarter of the steps, then down to none.
        momentum, weight_decay, smoothing: Of Nesterov's method and of the labels.
        shift: Images are moved by up to so many pixels.
        flips: Whether half of them are mirrored.
        seed: Of the order of rows and of what is done to them.
        bfloat16: Whether products are taken in 16 bits, sums and weights in 32: half the time where
            the processor has such products, as measured on CIFAR-10.
    """

    epochs: int = 10
    batch_size: int = 128
    peak: float = 0.25
    momentum: float = 0.9
    weight_decay: float = 5e-4
    smoothing: float = 0.1
    shift: int = 4
    flips: bool = True
    seed: int = 0
    bfloat16: bool = False


def train_one_cycle(
    module: Any,
    X: NDArray[Any],
    y: NDArray[Any],
    settings: OneCycle,
    checkpoint: Path | None = None,
    say: Callable[[str], object] = logger.info,
) -> float:
    """Train in place; returns CPU seconds, with those before a stop.

    With ``checkpoint`` the state is kept after each epoch, and a killed run goes on from it: the
    random numbers of an epoch depend on the seed and the epoch alone, so the weights are the same.
    A checkpoint of other rows or settings is not used. ``say`` is told the loss of each epoch.

    >>> from fireassay.networks.small_networks import Mlp
    >>> X = np.array([[[0.0]], [[1.0]]] * 32, dtype=np.float32)
    >>> y, net = np.array([0, 1] * 32), Mlp((1, 1), 2)
    >>> done = train_one_cycle(net, X, y, OneCycle(epochs=9, batch_size=8, shift=0))
    >>> import torch
    >>> bool((net(torch.from_numpy(X)).argmax(1).numpy() == y).all())
    True
    """
    import torch

    made_for = sha256(settings, np.asarray(X), np.asarray(y))
    rate, per_epoch = settings.peak, -(-len(X) // settings.batch_size)
    optimiser = torch.optim.SGD(
        module.parameters(), rate, settings.momentum, weight_decay=settings.weight_decay,
        nesterov=True,
    )  # fmt: skip
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, rate, epochs=settings.epochs, steps_per_epoch=per_epoch,
        pct_start=max(0.25, 2 / (settings.epochs * per_epoch)), anneal_strategy="linear",
    )  # fmt: skip
    first, spent = 0, 0.0
    if checkpoint is not None and checkpoint.exists():
        kept = torch.load(checkpoint, weights_only=True)
        if kept["made_for"] == made_for:
            module.load_state_dict(kept["module"])
            optimiser.load_state_dict(kept["optimiser"])
            schedule.load_state_dict(kept["schedule"])
            first, spent = kept["epoch"], kept["spent"]
    inputs, labels = torch.from_numpy(np.asarray(X, np.float32)), torch.from_numpy(np.asarray(y))
    with one_torch_thread(), torch.random.fork_rng(devices=[]):
        for epoch in range(first, settings.epochs):
            started = time.process_time()
            torch.manual_seed(derived_seed(settings.seed, "one cycle", epoch))
            loss = _epoch(module, inputs, labels, settings, optimiser, schedule, epoch)
            spent += time.process_time() - started
            say(f"epoch {epoch + 1} of {settings.epochs}: loss {loss:.4f}, {spent:.0f} CPU s")
            if checkpoint is not None:
                _keep(checkpoint, {
                    "module": module.state_dict(), "optimiser": optimiser.state_dict(),
                    "schedule": schedule.state_dict(), "epoch": epoch + 1, "spent": spent,
                    "made_for": made_for,
                })  # fmt: skip
    module.eval()
    return float(spent)


def _epoch(
    module: Any, inputs: Any, labels: Any, settings: OneCycle, optimiser: Any, schedule: Any,
    epoch: int,
) -> float:  # fmt: skip
    import torch
    from torch.nn.functional import cross_entropy

    module.train()
    rng = generator(settings.seed, "one cycle rows", epoch)
    total, order = 0.0, rng.permutation(len(inputs))
    for start in range(0, len(order), settings.batch_size):
        rows = order[start : start + settings.batch_size]
        optimiser.zero_grad()
        images = moved(inputs[rows], rng, settings.shift, settings.flips)
        with torch.autocast("cpu", torch.bfloat16, enabled=settings.bfloat16):
            answers = module(images)
        loss = cross_entropy(answers.float(), labels[rows], label_smoothing=settings.smoothing)
        torch.autograd.backward(loss)
        optimiser.step()
        schedule.step()
        total += float(loss.detach()) * len(rows)
    return total / len(inputs)


def moved(images: Any, rng: np.random.Generator, shift: int, flips: bool) -> Any:
    """Images (n, H, W[, C]) each moved by a random number of pixels and perhaps mirrored."""
    import torch

    if flips:
        mirrored = torch.from_numpy(rng.random(len(images)) < 0.5)
        shape = (len(images), *[1] * (images.ndim - 1))
        images = torch.where(mirrored.reshape(shape), images.flip(2), images)
    if not shift:
        return images
    height, width = images.shape[1:3]
    around = (0, 0) * (images.ndim - 3) + (shift,) * 4
    padded = torch.nn.functional.pad(images, around)
    top, left = rng.integers(0, 2 * shift + 1, (2, len(images)))
    down = torch.from_numpy(top[:, None] + np.arange(height))[:, :, None]
    across = torch.from_numpy(left[:, None] + np.arange(width))[:, None, :]
    return padded[torch.arange(len(images))[:, None, None], down, across]


def _keep(path: Path, state: dict[str, Any]) -> None:
    import torch

    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    torch.save(state, partial)
    partial.replace(path)
