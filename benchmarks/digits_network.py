"""A small trained network on the built-in digits: what the attacks of several benchmarks face."""

import numpy as np


def digits_network():
    """The torch module, its classifier, and the rows and labels that it was not trained on."""
    import torch

    from fireassay import as_classifier, data
    from fireassay.networks.small_networks import Cnn
    from fireassay.networks.training import train

    torch.set_num_threads(1)
    digits = data.digits()
    X = digits.X.astype(np.float32)
    module = Cnn((8, 8), 10, width=8, seed=0)
    train(module, X[:797], digits.y[:797], epochs=15)
    module.eval()
    model = as_classifier(module, classes=range(10), bounds=(0, 1), output="logits")
    return module, model, X[797:], digits.y[797:]
