"""Small torch networks that several questions need. Using one imports torch."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fireassay.networks.cnn import Cnn
    from fireassay.networks.dropout_cnn import DropoutCnn
    from fireassay.networks.mlp import Mlp
    from fireassay.networks.resnet import ResNet
    from fireassay.networks.training import Training, train

_HOME = {
    "Cnn": "cnn",
    "DropoutCnn": "dropout_cnn",
    "Mlp": "mlp",
    "ResNet": "resnet",
    "Training": "training",
    "train": "training",
}

__all__ = ["Cnn", "DropoutCnn", "Mlp", "ResNet", "Training", "train"]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(f"fireassay.networks.{_HOME[name]}"), name)
    raise AttributeError(f"module 'fireassay.networks' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
