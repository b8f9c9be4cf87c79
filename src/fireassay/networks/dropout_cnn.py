"""A small convolutional network with dropout, all of whose layers can be read."""

import torch
from torch import nn

from fireassay.core.errors import DataError
from fireassay.core.seeds import derived_seed


class DropoutCnn(nn.Sequential):
    """Two convolutions with pooling, one hidden layer, dropout, logits.

    Every step is a submodule, so that hooks see it; dropout comes right before the last layer.

    Parameters
    ----------
    shape
        Of one image, ``(height, width)`` or ``(height, width, channels)``, sides of at least 8.
    n_classes
        Number of logits.
    width
        Channels of the first convolution; the second has twice as many.
    hidden
        Units of the hidden layer.
    dropout
        Probability of dropping a hidden unit, in [0, 1).
    seed
        Of the initial weights; torch's global state is left as it was.

    >>> DropoutCnn((8, 8), 10)(torch.zeros(5, 8, 8)).shape
    torch.Size([5, 10])
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        n_classes: int,
        width: int = 16,
        hidden: int = 128,
        dropout: float = 0.5,
        seed: int = 0,
    ) -> None:
        if len(shape) not in (2, 3) or min(shape[:2]) < 8:
            raise DataError(
                "A convolutional network takes images of at least 8 × 8, (H, W) or (H, W, C).",
                got=f"{shape}",
            )
        channels = 1 if len(shape) == 2 else shape[2]
        flat = 2 * width * (shape[0] // 4) * (shape[1] // 4)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derived_seed(seed, "dropout-cnn"))
            super().__init__(
                ChannelsFirst(),
                nn.Conv2d(channels, width, 3, padding=1),
                nn.ReLU(),
                nn.MaxPool2d(2),
                nn.Conv2d(width, 2 * width, 3, padding=1),
                nn.ReLU(),
                nn.MaxPool2d(2),
                nn.Flatten(),
                nn.Linear(flat, hidden),
                nn.ReLU(),
                nn.Dropout(dropout),
                nn.Linear(hidden, n_classes),
            )


class ChannelsFirst(nn.Module):
    """(n, H, W) or (n, H, W, C) to (n, C, H, W)."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The same pixels in another order."""
        return x.unsqueeze(1) if x.ndim == 3 else x.movedim(-1, 1)
