"""The examples on the page "Add your own" run as they stand there."""

import re
from pathlib import Path

import numpy as np

import fireassay as fa
from fireassay.data import two_moons

PAGE = Path(__file__).parents[2] / "docs" / "extending.md"


def test_the_examples_run():
    train, test = two_moons(200, seed=0), two_moons(240, seed=1)
    low, span = train.X.min(axis=0), np.ptp(train.X, axis=0)
    weights = np.array([[2.0, -2.0], [-4.0, 4.0]])

    def probabilities(X):
        z = np.exp((X - 0.5) @ weights)
        return z / z.sum(axis=1, keepdims=True)

    rng = np.random.default_rng(0)
    names = {
        "np": np,
        "model": fa.as_classifier(probabilities, classes=(0, 1)),
        "X_train": (train.X - low) / span,
        "y_train": train.y,
        "X_test": (test.X - low) / span,
        "y_test": test.y,
        "noise": rng.random((80, 2)),
        "votes": np.where(rng.random((80, 5)) < 0.8, test.y[:80, None], -1),
    }
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    for block in blocks:
        exec(block, names)
    assert len(blocks) == 3
    frame = names["table"].frame()
    ours = frame[frame["supervisor"] == "second-probability"]
    twin = frame[frame["supervisor"] == "max-softmax"]
    assert ours["auroc"].to_numpy() == twin["auroc"].to_numpy()  # with two classes 1 - p
    found = names["found"]
    assert 0 < found.success.mean() < 1
    assert found.distance[found.success].max() <= 0.3 + 1e-12
    assert len(names["result"].labels) == 80
