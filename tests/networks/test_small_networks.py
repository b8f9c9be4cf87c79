"""Small networks learn, and the same seed gives the same weights."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.extras

from fireassay.classifiers import as_classifier  # noqa: E402
from fireassay.core.errors import DataError, ParameterError  # noqa: E402
from fireassay.networks.small_networks import Cnn, Mlp  # noqa: E402
from fireassay.networks.training import train  # noqa: E402


@pytest.fixture(scope="module")
def digits():
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return (X.reshape(-1, 8, 8) / 16).astype(np.float32), y


@pytest.mark.parametrize("kind", [Mlp, Cnn])
def test_networks_learn_digits(kind, digits):
    X, y = digits
    module = kind((8, 8), 10)
    record = train(module, X[:1200], y[:1200], epochs=8, learning_rate=5e-3)
    model = as_classifier(module, output="logits")
    assert (model.predict(X[1200:]) == y[1200:]).mean() > 0.85
    assert record.losses[-1] < record.losses[0] / 2
    assert not module.training


def test_the_same_seed_gives_the_same_weights_and_leaves_global_state_alone(digits):
    X, y = digits
    torch.manual_seed(7)
    before = torch.random.get_rng_state()
    networks = [Cnn((8, 8), 10, seed=s) for s in (3, 3, 4)]
    for network in networks:
        train(network, X[:200], y[:200], epochs=1, seed=1)
    first, second, other = (torch.cat([p.flatten() for p in n.parameters()]) for n in networks)
    assert torch.equal(first, second)
    assert not torch.equal(first, other)
    assert torch.equal(before, torch.random.get_rng_state())


def test_the_best_epoch_is_kept(digits):
    X, y = digits
    module = Mlp((8, 8), 10, hidden=(64, 64))
    record = train(
        module, X[:60], y[:60], epochs=30, learning_rate=0.02, validation=(X[60:400], y[60:400])
    )
    assert record.best_epoch == 1 + int(np.argmin(record.validation_losses))
    with torch.no_grad():
        logits = module(torch.from_numpy(X[60:400]))
    loss = torch.nn.functional.cross_entropy(logits, torch.from_numpy(y[60:400]))
    assert float(loss) == pytest.approx(min(record.validation_losses), rel=1e-5)


def test_channels_last_images_are_understood():
    network = Cnn((12, 10, 3), 4)
    assert network(torch.zeros(2, 12, 10, 3)).shape == (2, 4)


def test_bad_inputs():
    with pytest.raises(DataError, match="8 × 8"):
        Cnn((4, 4), 2)
    with pytest.raises(DataError, match="class indices"):
        train(Mlp((2,), 2), np.zeros((3, 2)), np.array(["a", "b", "a"]))
    with pytest.raises(ParameterError, match="epochs"):
        train(Mlp((2,), 2), np.zeros((3, 2)), np.array([0, 1, 0]), epochs=0)
