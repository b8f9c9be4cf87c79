"""A multilayer perceptron for rows of any shape."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch
from torch import nn

from fireassay.core.seeds import derived_seed


class Mlp(nn.Module):
    """Flatten, hidden layers with ReLU, logits.

    Parameters
    ----------
    shape
        Of one row, ``(d,)`` or an image's.
    n_classes
        Number of logits.
    hidden
        Units of each hidden layer.
    seed
        Of the initial weights; torch's global state is left as it was.

    >>> Mlp((8, 8), 10)(torch.zeros(5, 8, 8)).shape
    torch.Size([5, 10])
    """

    def __init__(
        self, shape: tuple[int, ...], n_classes: int, hidden: Sequence[int] = (64,), seed: int = 0
    ) -> None:
        super().__init__()
        sizes = [int(np.prod(shape)), *hidden]
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derived_seed(seed, "mlp"))
            self.hidden = nn.ModuleList(nn.Linear(a, b) for a, b in pairwise(sizes))
            self.output = nn.Linear(sizes[-1], n_classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Logits."""
        x = x.flatten(1)
        for layer in self.hidden:
            x = torch.relu(layer(x))
        logits: torch.Tensor = self.output(x)
        return logits
