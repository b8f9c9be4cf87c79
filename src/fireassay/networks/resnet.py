"""Residual networks for small images: ResNet-18, -34, -50, -101 and -152, without pretraining."""

import torch
from torch import nn

from fireassay.core.errors import ParameterError
from fireassay.core.seeds import derived_seed

# depth -> (uses bottleneck blocks, blocks per stage), He et al. 2016, Table 1
LAYOUTS: dict[int, tuple[bool, tuple[int, int, int, int]]] = {
    18: (False, (2, 2, 2, 2)),
    34: (False, (3, 4, 6, 3)),
    50: (True, (3, 4, 6, 3)),
    101: (True, (3, 4, 23, 3)),
    152: (True, (3, 8, 36, 3)),
}
_EXPANSION = 4


class ResNet(nn.Module):
    """Stem, four stages of residual blocks, mean over pixels, logits.

    Args:
        depth: 18, 34, 50, 101 or 152.
        shape: Of one image, ``(height, width)`` or ``(height, width, channels)``.
        n_classes: Number of logits.
        width: Channels of the first stage (64 in the paper); smaller is faster.
        seed: Of the initial weights; torch's global state is left as it was.

    The stem is a 3 × 3 convolution of stride 1 without pooling, as usual for images of 32 pixels
    and below; a stage halves the image only while at least 4 pixels are left.

    >>> ResNet(18, (8, 8), 10, width=4)(torch.zeros(5, 8, 8)).shape
    torch.Size([5, 10])
    """

    def __init__(
        self, depth: int, shape: tuple[int, ...], n_classes: int, width: int = 64, seed: int = 0
    ) -> None:
        super().__init__()
        if depth not in LAYOUTS:
            raise ParameterError(
                f"The 'depth' of a ResNet must be one of {', '.join(map(str, LAYOUTS))}.",
                got=repr(depth),
            )
        bottleneck, counts = LAYOUTS[depth]
        channels = 1 if len(shape) == 2 else shape[2]
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derived_seed(seed, "resnet", depth))
            self.stem = nn.Sequential(*_convolution(channels, width, 3, 1), nn.ReLU())
            blocks: list[nn.Module] = []
            inputs, left = width, min(shape[:2])
            for stage, count in enumerate(counts):
                inner = width * 2**stage
                halve = stage > 0 and left >= 8
                left = left // 2 if halve else left
                for i in range(count):
                    block = _Block(inputs, inner, 2 if halve and i == 0 else 1, bottleneck)
                    inputs = block.outputs
                    blocks.append(block)
            self.blocks = nn.Sequential(*blocks)
            self.output = nn.Linear(inputs, n_classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Logits."""
        x = x.unsqueeze(1) if x.ndim == 3 else x.movedim(-1, 1)
        logits: torch.Tensor = self.output(self.blocks(self.stem(x)).mean(dim=(2, 3)))
        return logits


class _Block(nn.Module):
    """Two 3 × 3 convolutions, or 1 × 1, 3 × 3 and 1 × 1, beside a shortcut."""

    def __init__(self, inputs: int, inner: int, stride: int, bottleneck: bool) -> None:
        super().__init__()
        self.outputs = inner * _EXPANSION if bottleneck else inner
        parts = (
            [(inputs, inner, 1, 1), (inner, inner, 3, stride), (inner, self.outputs, 1, 1)]
            if bottleneck
            else [(inputs, inner, 3, stride), (inner, inner, 3, 1)]
        )
        layers = [layer for part in parts for layer in (*_convolution(*part), nn.ReLU())]
        self.body = nn.Sequential(*layers[:-1])
        is_same = inputs == self.outputs and stride == 1
        projection = [] if is_same else _convolution(inputs, self.outputs, 1, stride)
        self.shortcut = nn.Sequential(*projection)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Body plus shortcut."""
        return torch.relu(self.body(x) + self.shortcut(x))


def _convolution(inputs: int, outputs: int, kernel: int, stride: int) -> list[nn.Module]:
    convolution = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False)
    return [convolution, nn.BatchNorm2d(outputs)]
