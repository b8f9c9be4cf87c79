"""The smallest model with gradients and a known boundary: what examples of attacks are shown on."""

from typing import Any

from fireassay.classifiers import as_classifier
from fireassay.core.extras import require


def line_model(boundary: float, features: int = 1) -> Any:
    """Class 1 where the first feature, in [0, 1], lies above the boundary; logits and gradients.

    >>> line_model(0.5).predict([[0.45], [0.55]]).tolist()
    [0, 1]
    """
    torch = require("torch", "torch", "A model with gradients")
    net = torch.nn.Linear(features, 2)
    with torch.no_grad():
        net.weight.zero_()
        net.weight[:, 0] = torch.tensor([-1.0, 1.0])
        net.bias.copy_(torch.tensor([boundary, -boundary]))
    return as_classifier(net, output="logits", classes=[0, 1], bounds=(0, 1))
