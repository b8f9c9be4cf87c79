"""A small densely connected network for images: each layer sees all layers before it."""

import torch
from torch import nn

from fireassay.core.errors import DataError
from fireassay.core.seeds import derived_seed


class DenseNet(nn.Module):
    """Dense blocks with pooled transitions between them, mean over pixels, logits.

    Args:
        shape: Of one image, ``(height, width)`` or ``(height, width, channels)``, sides of at least
            8.
        n_classes: Number of logits.
        layers: Layers of each dense block.
        growth: Channels that each layer adds.
        seed: Of the initial weights; torch's global state is left as it was.

    Huang et al. (2017), without bottlenecks; transitions halve channels, height and width. The
    first convolution has stride 2.

    >>> DenseNet((8, 8), 10)(torch.zeros(5, 8, 8)).shape
    torch.Size([5, 10])
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        n_classes: int,
        layers: tuple[int, ...] = (3, 3),
        growth: int = 8,
        seed: int = 0,
    ) -> None:
        super().__init__()
        if len(shape) not in (2, 3) or min(shape[:2]) < 8:
            raise DataError(
                "A DenseNet takes images of at least 8 × 8, (H, W) or (H, W, C).", got=f"{shape}"
            )
        channels = 2 * growth
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derived_seed(seed, "densenet"))
            colours = 1 if len(shape) == 2 else shape[2]
            self.stem = nn.Conv2d(colours, channels, 3, stride=2, padding=1, bias=False)
            blocks: list[nn.Module] = []
            for i, count in enumerate(layers):
                for _ in range(count):
                    blocks.append(_DenseLayer(channels, growth))
                    channels += growth
                if i < len(layers) - 1:
                    blocks.append(_transition(channels))
                    channels //= 2
            self.blocks = nn.Sequential(*blocks)
            self.norm = nn.BatchNorm2d(channels)
            self.output = nn.Linear(channels, n_classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Logits."""
        x = x.unsqueeze(1) if x.ndim == 3 else x.movedim(-1, 1)
        x = torch.relu(self.norm(self.blocks(self.stem(x))))
        logits: torch.Tensor = self.output(x.mean(dim=(2, 3)))
        return logits


class _DenseLayer(nn.Module):
    def __init__(self, channels: int, growth: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm2d(channels)
        self.convolution = nn.Conv2d(channels, growth, 3, padding=1, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        added = self.convolution(torch.relu(self.norm(x)))
        return torch.cat([x, added], dim=1)


def _transition(channels: int) -> nn.Sequential:
    return nn.Sequential(
        nn.BatchNorm2d(channels),
        nn.ReLU(),
        nn.Conv2d(channels, channels // 2, 1, bias=False),
        nn.AvgPool2d(2),
    )
