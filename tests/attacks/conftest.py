"""Small real models: a torch network on images and a linear model with known distances."""

import numpy as np
import pytest


@pytest.fixture(scope="session")
def images():
    """8 × 8 digits: (train X, train y, test X, test y), float32 in [0, 1]."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    X = (X.reshape(-1, 8, 8) / 16).astype(np.float32)
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order], y[order]
    return X[:1200], y[:1200], X[1200:], y[1200:]


@pytest.fixture(scope="session")
def network(images):
    """A small torch MLP behind the protocol, about 95 % accurate, with bounds [0, 1]."""
    torch = pytest.importorskip("torch")
    from fireassay.classifiers import as_classifier

    X, y, _, _ = images
    torch.manual_seed(0)
    module = torch.nn.Sequential(
        torch.nn.Flatten(), torch.nn.Linear(64, 32), torch.nn.Tanh(), torch.nn.Linear(32, 10)
    )
    optimiser = torch.optim.Adam(module.parameters(), lr=0.02)
    inputs, labels = torch.tensor(X), torch.tensor(y)
    for _ in range(40):
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(module(inputs), labels).backward()
        optimiser.step()
    return as_classifier(
        module.eval(), classes=range(10), bounds=(0, 1), output="logits", batch_size=64
    )


@pytest.fixture(scope="session")
def plane():
    """Two classes on either side of a hyperplane: the distance to it is known in closed form."""
    from fireassay.classifiers import as_classifier

    normal = np.random.default_rng(1).standard_normal(20)
    normal /= np.linalg.norm(normal)

    def probabilities(X):
        margin = np.clip(20 * (X @ normal - 0.1), -50, 50)
        positive = 1 / (1 + np.exp(-margin))
        return np.column_stack([1 - positive, positive])

    return as_classifier(probabilities, classes=["left", "right"], bounds=(-3, 3)), normal
