"""torch modules: probabilities, gradients with respect to the input, hidden layers."""

from typing import Any

from fireassay.classifiers.torch_gradients import TorchGradients
from fireassay.classifiers.torch_layers import TorchLayers


class TorchLabels(TorchLayers):
    """A torch module that returns labels: nothing to derive, but layers to read."""


class TorchClassifier(TorchGradients, TorchLayers):
    """A torch module that returns logits or probabilities: gradients and layers."""


def is_module(obj: Any) -> bool:
    """Whether an object is a torch module, told without importing torch."""
    return any(
        f"{kind.__module__}.{kind.__qualname__}" == "torch.nn.modules.module.Module"
        for kind in type(obj).__mro__
    )
