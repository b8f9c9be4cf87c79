"""Adam without ``torch.optim``, and one plain training loop: seeded, on one thread, timed."""

import copy
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import nn

from fireassay.core.arrays import AnyArray
from fireassay.core.errors import DataError
from fireassay.core.seeds import derived_seed, generator
from fireassay.core.threads import one_torch_thread
from fireassay.core.validation import check_features, check_integer, check_lengths, check_real

_PREDICTED_AT_ONCE = 1024


@dataclass(frozen=True)
class Training:
    """What a training run did: mean loss per epoch, validation loss per epoch, CPU seconds.

    Attributes:
        losses, validation_losses: Mean loss of each epoch; the second is empty without validation
            rows.
        best_epoch: The epoch whose weights were kept.
        cpu_seconds: Of this process.
    """

    losses: tuple[float, ...]
    validation_losses: tuple[float, ...]
    best_epoch: int
    cpu_seconds: float


def train(
    module: nn.Module,
    X: ArrayLike,
    y: ArrayLike,
    epochs: int = 5,
    *,
    batch_size: int = 128,
    learning_rate: float = 1e-3,
    weight_decay: float = 0.0,
    validation: tuple[Any, Any] | None = None,
    seed: int = 0,
    bfloat16: bool = False,
) -> Training:
    """Train a network in place by Adam on the cross-entropy; leaves it in evaluation mode.

    Args:
        X, y: Rows, and class indices 0 … k−1.
        validation: Rows and class indices: the weights of the epoch with the smallest loss on them
            are kept.
        seed: Of the order of the rows. Same seed, same weights, whatever the number of threads.
        module: The network.
        epochs, batch_size, learning_rate, weight_decay: Of Adam.
        bfloat16: Whether products are taken in 16 bits, sums and weights in 32: up to twice as fast
            for convolutions where the processor has such products.

    >>> from fireassay.networks.small_networks import Mlp
    >>> X = np.array([[0.0], [1.0]] * 32, dtype=np.float32)
    >>> done = train(Mlp((1,), 2), X, [0, 1] * 32, epochs=3)
    >>> len(done.losses), done.losses[-1] < done.losses[0]
    (3, True)
    """
    epochs = check_integer(epochs, "epochs", low=1)
    batch_size = check_integer(batch_size, "batch_size", low=1)
    check_real(learning_rate, "learning_rate", low=0.0)
    inputs, labels = _tensors(X, y)
    held_out = None if validation is None else _tensors(*validation)
    optimiser = torch.optim.Adam(module.parameters(), lr=learning_rate, weight_decay=weight_decay)
    rng = generator(seed, "training order")
    started = time.process_time()
    losses, checks = [], []
    best, best_epoch, kept = np.inf, epochs, None
    # Dropout draws from torch's global state: it is seeded here, and left as it was.
    with one_torch_thread(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(derived_seed(seed, "training noise"))
        for epoch in range(1, epochs + 1):
            losses.append(_epoch(module, inputs, labels, optimiser, batch_size, rng, bfloat16))
            if held_out is not None:
                checks.append(_loss(module, *held_out))
                if checks[-1] < best:
                    best, best_epoch = checks[-1], epoch
                    kept = copy.deepcopy(module.state_dict())
    if kept is not None:
        module.load_state_dict(kept)
    module.eval()
    seconds = time.process_time() - started
    return Training(tuple(losses), tuple(checks), best_epoch, seconds)


def _epoch(
    module: nn.Module,
    inputs: torch.Tensor,
    labels: torch.Tensor,
    optimiser: torch.optim.Optimizer,
    batch_size: int,
    rng: np.random.Generator,
    bfloat16: bool,
) -> float:
    module.train()
    order = torch.from_numpy(rng.permutation(len(inputs)))
    total = 0.0
    for start in range(0, len(order), batch_size):
        rows = order[start : start + batch_size]
        optimiser.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
            answers = module(inputs[rows])
        loss = nn.functional.cross_entropy(answers.float(), labels[rows])
        torch.autograd.backward(loss)
        optimiser.step()
        total += float(loss.detach()) * len(rows)
    return total / len(inputs)


def _loss(module: nn.Module, inputs: torch.Tensor, labels: torch.Tensor) -> float:
    module.eval()
    total = 0.0
    with torch.no_grad():
        for start in range(0, len(inputs), _PREDICTED_AT_ONCE):
            rows = slice(start, start + _PREDICTED_AT_ONCE)
            answers = module(inputs[rows])
            total += float(nn.functional.cross_entropy(answers, labels[rows], reduction="sum"))
    return total / len(inputs)


def _tensors(X: ArrayLike, y: ArrayLike) -> tuple[torch.Tensor, torch.Tensor]:
    features: AnyArray = check_features(X)
    labels = np.asarray(y)
    check_lengths(X=len(features), y=len(labels))
    if labels.dtype.kind not in "iu" or labels.ndim != 1 or labels.min() < 0:
        raise DataError(
            "y must be class indices 0 … k−1.", got=f"dtype {labels.dtype}, shape {labels.shape}"
        )
    inputs = torch.from_numpy(np.ascontiguousarray(features, dtype=np.float32))
    return inputs, torch.from_numpy(labels.astype(np.int64))


class Adam:
    """The same steps, to the byte, as ``torch.optim.Adam(..., fused=True)``, with its arguments."""

    def __init__(
        self,
        groups: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        weight_decay: float = 0.0,
    ) -> None:
        listed = list(groups)
        given = listed if isinstance(listed[0], Mapping) else [{"params": listed}]
        self.param_groups = [{"lr": lr, **group} for group in given]
        self.betas, self.weight_decay = betas, weight_decay
        self._state: dict[torch.Tensor, tuple[torch.Tensor, torch.Tensor, torch.Tensor]] = {}

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for parameter in (p for group in self.param_groups for p in group["params"]):
            parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """One step along the gradients of those parameters that have one."""
        for group in self.param_groups:
            moved = [p for p in group["params"] if p.grad is not None]
            for p in moved:
                if p not in self._state:
                    count = torch.zeros((), dtype=torch.float32)
                    self._state[p] = torch.zeros_like(p), torch.zeros_like(p), count
            if not moved:
                continue
            states = [self._state[p] for p in moved]
            firsts, seconds, counts = (list(some) for some in zip(*states, strict=True))
            torch._foreach_add_(counts, 1)
            torch._fused_adam_(
                moved, [p.grad for p in moved], firsts, seconds, [], counts, lr=group["lr"],
                beta1=self.betas[0], beta2=self.betas[1], weight_decay=self.weight_decay, eps=1e-8,
                amsgrad=False, maximize=False,
            )  # fmt: skip
