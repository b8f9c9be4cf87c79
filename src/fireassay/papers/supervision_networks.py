"""The four architectures of the supervision paper, all but the fully connected one narrower."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from fireassay.networks.resnet import ResNet
from fireassay.networks.small_networks import ChannelsFirst
from fireassay.networks.training import train
from fireassay.papers.densenet import DenseNet


def simple_cnn(seed: int) -> nn.Module:
    """Two convolutions with pooling, dropout, logits: no hidden layer, half as wide as theirs."""
    return initialised(
        seed, lambda: nn.Sequential(
            ChannelsFirst(), nn.Conv2d(1, 16, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3),
            nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Dropout(0.5), nn.Linear(800, 10),
        )
    )  # fmt: skip


def fully_connected(seed: int) -> nn.Module:
    """Two hidden layers and dropout."""
    return initialised(
        seed, lambda: nn.Sequential(
            nn.Flatten(), nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(),
            nn.Dropout(0.2), nn.Linear(64, 10),
        )
    )  # fmt: skip


def densenet(seed: int) -> nn.Module:
    """Two blocks of three layers."""
    network: Any = DenseNet((28, 28), 10, seed=seed)
    network.output = nn.Sequential(nn.Dropout(0.2), network.output)
    return _module(network)


class _Halved(nn.Module):
    """Means of 2 × 2 pixels: a quarter of the work."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Images of half the height and width."""
        return nn.functional.avg_pool2d(x.unsqueeze(1), 2).squeeze(1)


def resnet(seed: int) -> nn.Module:
    """A ResNet-18 of width 4 on halved images."""
    network: Any = ResNet(18, (14, 14), 10, width=4, seed=seed)
    network.output = nn.Sequential(nn.Dropout(0.2), network.output)
    return nn.Sequential(_Halved(), network)


ARCHITECTURES: dict[str, tuple[Callable[[int], nn.Module], int]] = {
    "simple-cnn": (simple_cnn, 6),
    "fully-connected": (fully_connected, 8),
    "densenet": (densenet, 3),
    "resnet": (resnet, 2),
}
"""How to build each, and its epochs."""


def trained(network: nn.Module, X: Any, y: Any, epochs: int, seed: int) -> nn.Module:
    """Batch normalisation needs a last, slow epoch: its running means follow the weights."""
    network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    train(network, X, y, epochs, learning_rate=2e-3, seed=seed, bfloat16=True)
    if any(isinstance(part, nn.BatchNorm2d) for part in network.modules()):
        train(network, X, y, 1, learning_rate=2e-4, seed=seed, bfloat16=True)
    return network


def initialised(seed: int, build: Callable[[], nn.Module]) -> nn.Module:
    """A network whose weights come from the seed, with torch's global state left as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return build()


def _module(network: Any) -> nn.Module:
    module: nn.Module = network
    return module
