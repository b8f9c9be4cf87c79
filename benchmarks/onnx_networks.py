"""Networks of the ResNet-18 layout as ONNX files, and image data to ask them about.

The layers below the last are random and normalised to the data; the last one is a ridge regression
on what they give. That takes seconds, and is right often enough to be tested as a trained network.
"""

import warnings
from pathlib import Path

import numpy as np
import torch

from fireassay.data import fashion_mnist
from fireassay.networks.resnet import ResNet

_RIDGE = 1.0


def images(n, first=0, *, side=32):
    """Test rows of Fashion-MNIST with a margin and three channels, and their labels."""
    data = fashion_mnist().subset(np.arange(first, first + n))
    grey = np.asarray(data.X, dtype=np.float32).reshape(n, 28, 28)
    grey = grey / max(1.0, float(grey.max()))
    margin = (side - 28) // 2
    grey = np.pad(grey, ((0, 0), (margin, margin), (margin, margin)))
    return grey[..., None] * np.array([1.0, 0.9, 0.8], dtype=np.float32), np.asarray(data.labels)


def fitted(network, X, y, classes):
    """The network with its normalisation and last layer fitted to these rows."""
    rows = torch.from_numpy(X)
    with torch.no_grad():
        network.train()(rows[:256])
        network.eval()
        read = []
        hook = network.output.register_forward_pre_hook(lambda _, given: read.append(given[0]))
        for start in range(0, len(rows), 256):
            network(rows[start : start + 256])
        hook.remove()
        seen = torch.cat(read).double()
        middle, spread = seen.mean(0), seen.std(0) + 1e-6
        design = (seen - middle) / spread
        target = torch.eye(classes, dtype=torch.float64)[torch.from_numpy(y.astype(np.int64))]
        gram = design.T @ design + _RIDGE * torch.eye(design.shape[1], dtype=torch.float64)
        weights = (
            8 * torch.linalg.solve(gram, design.T @ (target - target.mean(0))) / spread[:, None]
        )
        network.output.weight.copy_(weights.T.float())
        network.output.bias.copy_((-middle @ weights).float())
    return network


def write(network, shape, path):
    """Write the network, with probabilities at its end, for blocks of any size."""
    whole = torch.nn.Sequential(network, torch.nn.Softmax(1)).eval()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            whole,
            (torch.zeros(2, *shape),),
            str(path),
            dynamic_shapes=({0: torch.export.Dim("n")},),
            input_names=["X"],
            output_names=["p"],
            dynamo=True,
            external_data=False,
            verbose=False,
        )
    return Path(path)


def mid_size(folder, *, width=24, rows=2000):
    """A ResNet-18 of three eighths of the usual width on 32 × 32 × 3, and ``rows`` test rows."""
    train, labels = images(2000)
    network = fitted(ResNet(18, (32, 32, 3), 10, width=width), train, labels, 10)
    write(network, (32, 32, 3), folder / "model.onnx")
    X, y = images(rows, 4000)
    np.savez(folder / "test.npz", X=X, y=y)


def large(folder, *, rows=64, classes=1000):
    """ResNet-18 as published for 224 × 224 × 3 (a stem of stride 4), random weights and labels."""
    network = ResNet(18, (56, 56, 64), classes, width=64)
    stem = torch.nn.Sequential(
        torch.nn.Conv2d(3, 64, 7, stride=2, padding=3), torch.nn.ReLU(), torch.nn.MaxPool2d(3, 2, 1)
    )
    network.stem[0] = torch.nn.Conv2d(64, 64, 1, bias=False)
    rng = np.random.default_rng(0)
    X = rng.random((rows, 224, 224, 3), dtype=np.float32)

    class Whole(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.rest = stem, network

        def forward(self, x):
            return self.rest(self.first(x.movedim(-1, 1)).movedim(1, -1))

    whole = Whole()
    with torch.no_grad():
        whole.train()(torch.from_numpy(X[:32]))
    write(whole.eval(), (224, 224, 3), folder / "model.onnx")
    np.savez(folder / "test.npz", X=X, y=rng.integers(0, classes, rows))
