"""A small convolutional network for images as fireassay keeps them: (n, H, W) or (n, H, W, C)."""

import torch
from torch import nn

from fireassay.core.errors import DataError
from fireassay.core.seeds import derived_seed


class Cnn(nn.Module):
    """Two blocks of convolution, ReLU and pooling, one hidden layer, logits.

    Parameters
    ----------
    shape
        Of one image, ``(height, width)`` or ``(height, width, channels)``, sides of at least 8.
    n_classes
        Number of logits.
    width
        Channels of the first block; the second has twice as many.
    hidden
        Units of the hidden layer.
    seed
        Of the initial weights; torch's global state is left as it was.

    >>> Cnn((8, 8), 10)(torch.zeros(5, 8, 8)).shape
    torch.Size([5, 10])
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        n_classes: int,
        width: int = 8,
        hidden: int = 64,
        seed: int = 0,
    ) -> None:
        super().__init__()
        if len(shape) not in (2, 3) or min(shape[:2]) < 8:
            raise DataError(
                "A convolutional network takes images of at least 8 × 8, (H, W) or (H, W, C).",
                got=f"{shape}",
            )
        channels = 1 if len(shape) == 2 else shape[2]
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derived_seed(seed, "cnn"))
            self.first = nn.Conv2d(channels, width, 3, padding=1)
            self.second = nn.Conv2d(width, 2 * width, 3, padding=1)
            self.hidden = nn.Linear(2 * width * (shape[0] // 4) * (shape[1] // 4), hidden)
            self.output = nn.Linear(hidden, n_classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Logits."""
        x = x.unsqueeze(1) if x.ndim == 3 else x.movedim(-1, 1)
        x = torch.max_pool2d(torch.relu(self.first(x)), 2)
        x = torch.max_pool2d(torch.relu(self.second(x)), 2)
        logits: torch.Tensor = self.output(torch.relu(self.hidden(x.flatten(1))))
        return logits
