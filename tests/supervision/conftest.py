from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from fireassay.data import digits
from fireassay.supervision import SUPERVISORS, Supervisor


@dataclass(kw_only=True, eq=False)
class SecondProbability(Supervisor):
    """The probability of the runner-up."""

    name: ClassVar[str] = "second-probability"
    needs: ClassVar[tuple[str, ...]] = ("probabilities",)

    def _score(self, reading):
        return np.sort(reading.probabilities, axis=1)[:, -2]


@pytest.fixture(scope="module")
def second_probability():
    """A supervisor of a user's own, in the registry for the time of a module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SUPERVISORS, "_rows", dict(SUPERVISORS._rows))
        yield SUPERVISORS.register(SecondProbability)


@pytest.fixture(scope="session")
def digit_rows():
    """Training and test rows of the digits, images of 8 × 8."""
    data = digits()
    order = np.random.default_rng(0).permutation(len(data.X))
    X, y = data.X[order], data.y[order]
    return X[:1000], y[:1000], X[1000:], y[1000:]


def small_cnn(X, y, seed, epochs=12):
    """A small network with two dropout layers, trained for a moment."""
    torch = pytest.importorskip("torch")
    nn = torch.nn
    from fireassay.networks.training import train

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = nn.Sequential(
            nn.Unflatten(1, (1, 8)),
            nn.Conv2d(1, 8, 3),
            nn.ReLU(),
            nn.Dropout2d(0.1),
            nn.Flatten(),
            nn.Linear(288, 32),
            nn.ReLU(),
            nn.Dropout(0.3),
            nn.Linear(32, 10),
        )
        # Inside: dropout draws from torch's own state.
        train(net, X, y, epochs, batch_size=64, learning_rate=5e-3, seed=seed)
    return net.eval()


@pytest.fixture(scope="session")
def torch_model(digit_rows):
    from fireassay.classifiers import as_classifier

    X, y, _, _ = digit_rows
    return as_classifier(small_cnn(X, y, 0), output="logits", classes=range(10), bounds=(0, 1))


@pytest.fixture(scope="session")
def members(digit_rows):
    from fireassay.classifiers import as_classifier

    X, y, _, _ = digit_rows
    nets = [small_cnn(X, y, seed, epochs=4) for seed in (1, 2, 3)]
    return [as_classifier(net, output="logits", classes=range(10)) for net in nets]
