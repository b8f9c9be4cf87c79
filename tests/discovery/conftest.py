"""A model that is calibrated except in one corner, where it is confidently wrong."""

import numpy as np
import pytest

from fireassay.classifiers import as_classifier


class Corner:
    """Rows in 6 dimensions; half of the labels with a sixth feature above 1 are flipped."""

    def __init__(self, n=800, seed=0):
        rng = np.random.default_rng(seed)
        self.X = rng.standard_normal((n, 6))
        self.weights = rng.standard_normal(6)
        self.model = as_classifier(self.probabilities, classes=["a", "b"])
        chance = self.probabilities(self.X)[:, 1]
        drawn = rng.random(n) < chance
        flipped = (self.X[:, 5] > 1.0) & (rng.random(n) < 0.5)
        self.y = np.where(drawn ^ flipped, "b", "a")
        self.scores = -self.X[:, 5]

    def probabilities(self, X):
        margin = np.clip(2.0 * (X @ self.weights), -30, 30)
        positive = 1 / (1 + np.exp(-margin))
        return np.column_stack([1 - positive, positive])


@pytest.fixture(scope="session")
def corner():
    return Corner()
