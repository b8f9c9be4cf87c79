"""Many small networks of one shape, trained and run as one batched network."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch
from torch.nn import functional

_LEAK = 0.3


class StackedMlp(torch.nn.Module):
    """A stack of multilayer perceptrons: weights ``[stack, in, out]``, no weight is shared.

    Parameters
    ----------
    sizes
        Units from the input to the output.
    generators
        One per network of the stack: a network's first weights do not depend on its neighbours.
    dropout
        Share of hidden units dropped in training mode.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        generators: Sequence[np.random.Generator],
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.sizes = tuple(sizes)
        self.dropout = dropout
        self.weights = torch.nn.ParameterList()
        self.biases = torch.nn.ParameterList()
        for fan_in, fan_out in pairwise(sizes):
            limit = np.sqrt(6.0 / (fan_in + fan_out))
            first = np.empty((len(generators), fan_in, fan_out), dtype=np.float32)
            for i, rng in enumerate(generators):
                first[i] = rng.uniform(-limit, limit, (fan_in, fan_out))
            self.weights.append(torch.nn.Parameter(torch.from_numpy(first)))
            self.biases.append(torch.nn.Parameter(torch.zeros(len(generators), 1, fan_out)))

    def forward(self, x: torch.Tensor, noise: torch.Generator | None = None) -> torch.Tensor:
        """Outputs ``[stack, rows, out]`` of inputs ``[stack, rows, in]``; no final activation."""
        last = len(self.weights) - 1
        for i, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            x = torch.baddbmm(bias, x, weight)
            if i < last:
                x = functional.leaky_relu(x, _LEAK)
                if self.training and self.dropout:
                    kept = torch.rand(x.shape, generator=noise) >= self.dropout
                    x = x * kept / (1.0 - self.dropout)
        return x

    def push_forward(
        self, x: torch.Tensor, direction: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Outputs, and their derivative along a direction of the inputs (forward mode)."""
        last = len(self.weights) - 1
        for i, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            x, direction = torch.baddbmm(bias, x, weight), torch.bmm(direction, weight)
            if i < last:
                direction = torch.where(x > 0.0, direction, _LEAK * direction)
                x = functional.leaky_relu(x, _LEAK)
        return x, direction

    def subset(self, members: Sequence[int]) -> "StackedMlp":
        """The chosen networks as a stack of their own."""
        chosen = torch.as_tensor(list(members))
        smaller = StackedMlp(self.sizes, [], self.dropout)
        with torch.no_grad():
            smaller.weights = torch.nn.ParameterList(w[chosen].clone() for w in self.weights)
            smaller.biases = torch.nn.ParameterList(b[chosen].clone() for b in self.biases)
        return smaller.eval()
