import numpy as np
import pytest
from sklearn.neural_network import MLPClassifier

from fireassay import as_classifier
from fireassay.data import unit_square
from fireassay.reliability.cell_shares import Certified, estimator_for
from fireassay.reliability.cells import Grid
from fireassay.reliability.provers import NetworkBounds, network_of

pytestmark = [
    pytest.mark.extras,
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]
torch = pytest.importorskip("torch")


def trained_module(classes=2):
    data = unit_square(1500, seed=0)
    y = data.y if classes == 2 else data.y + (data.X[:, 0] > 0.6)
    network = MLPClassifier((16, 16), max_iter=60, random_state=0, activation="relu")
    network.fit(data.X, y)
    layers = []
    for weight, bias in zip(network.coefs_, network.intercepts_, strict=True):
        if layers:
            layers.append(torch.nn.ReLU())
        out = max(2, len(bias))
        layer = torch.nn.Linear(*weight.shape[:1], out).double()
        with torch.no_grad():
            if len(bias) == 1:
                weight, bias = np.hstack([-weight, weight]), np.array([-bias[0], bias[0]])
            layer.weight.copy_(torch.as_tensor(weight.T))
            layer.bias.copy_(torch.as_tensor(bias))
        layers.append(layer)
    return network, torch.nn.Sequential(*layers, torch.nn.Softmax(dim=1)).double()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", ["torch", "scikit-learn"])
def test_proven_boxes_are_constant_and_shares_agree_with_many_draws(classes, kind):
    perceptron, module = trained_module(classes)
    model = as_classifier(module if kind == "torch" else perceptron, batch_size=4096)
    estimator = estimator_for(model, 10_000)
    assert isinstance(estimator, Certified)
    rng = np.random.default_rng(0)
    low = rng.random((300, 2)) * 0.95
    high = low + rng.random((300, 1)) * 0.05
    proven = estimator.prover.proven_class(low, high)
    assert (proven >= 0).mean() > 0.5
    sure = proven >= 0
    points = low[sure, None] + (high - low)[sure, None] * rng.random((sure.sum(), 40, 2))
    given = model.predict_proba(points.reshape(-1, 2)).argmax(axis=1).reshape(-1, 40)
    assert (given == proven[sure, None]).all()

    grid = Grid.regular(25, (0, 1), dimensions=2)
    predict = lambda rows: model.predict_proba(rows).argmax(axis=1)  # noqa: E731
    found = estimator(predict, grid, classes, 0)
    mixed = np.flatnonzero(found.shares.max(axis=1) < 1)[:12]
    assert len(mixed)
    below, above = grid.boxes(mixed)
    drawn = below[:, None] + (above - below)[:, None] * rng.random((len(mixed), 20_000, 2))
    answers = predict(drawn.reshape(-1, 2)).reshape(len(mixed), -1)
    error = np.abs((answers == 0).mean(axis=1) - found.shares[mixed, 0])
    assert error.max() < 0.025
    assert (found.proven <= 1 + 1e-12).all()


def test_layers_that_are_not_understood_are_only_sampled():
    odd = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.GELU(), torch.nn.Linear(4, 2))
    assert not isinstance(estimator_for(as_classifier(odd, output="logits"), 100), Certified)


def images(bound):
    """A convolutional network on flat 8 × 8 rows with every kind of layer that is understood."""
    torch.manual_seed(0)
    network = torch.nn.Sequential(
        torch.nn.Unflatten(1, (1, 8, 8)),
        torch.nn.Conv2d(1, 4, 3, padding=1, stride=1),
        torch.nn.BatchNorm2d(4),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(4, 4, 3, padding=1, groups=2, padding_mode=bound),
        torch.nn.Sigmoid(),
        torch.nn.AvgPool2d(2),
        torch.nn.Flatten(),
        torch.nn.Linear(16, 8, bias=False),
        torch.nn.BatchNorm1d(8, affine=False),
        torch.nn.Tanh(),
        torch.nn.Dropout(),
        torch.nn.Linear(8, 3),
    )
    network(torch.randn(200, 64))  # statistics of the normalisation
    with torch.no_grad():
        network[2].weight.copy_(torch.tensor([1.0, -2.0, 0.5, -0.1]))
    return network


@pytest.mark.parametrize("bound", ["zeros", "circular"])
def test_convolutions_normalisation_and_pooling_are_bounded(bound):
    network = images(bound)
    rng = np.random.default_rng(1)
    middle, half = rng.normal(size=(300, 64)), rng.choice([1e-4, 1e-3, 1e-2], (300, 1))
    prover = NetworkBounds(network_of(network))
    proven = prover.proven_class(middle - half, middle + half)
    assert network.training, "the model itself is left as it was"
    assert (proven >= 0).mean() > 0.3
    assert (proven < 0).any()
    sure = proven >= 0
    corners = middle[sure, None] + half[sure, None] * rng.choice([-1, 1], (sure.sum(), 60, 64))
    network.eval()
    with torch.no_grad():
        given = network(torch.as_tensor(corners.reshape(-1, 64)).float()).argmax(dim=1)
    assert (given.numpy().reshape(-1, 60) == proven[sure, None]).all()


def test_what_depends_on_other_rows_is_not_proven():
    layers = [torch.nn.Linear(2, 4), torch.nn.BatchNorm1d(4, track_running_stats=False)]
    assert network_of(torch.nn.Sequential(*layers, torch.nn.Linear(4, 2))) is None
    pooled = [torch.nn.Unflatten(1, (1, 4, 4)), torch.nn.MaxPool2d(2, return_indices=True)]
    assert network_of(torch.nn.Sequential(*pooled, torch.nn.Linear(4, 2))) is None
