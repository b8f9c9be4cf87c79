"""Distance-based surprise adequacy."""

import by_hand
import numpy as np
from race import Race, largest_difference, rival


def _simulated(n_train: int, n_test: int):
    """Ten classes in 128 directions with the same noise in each: nothing can be left out."""
    rng = np.random.default_rng(0)
    centres = np.maximum(rng.standard_normal((10, 128)), 0)
    classes = rng.integers(0, 10, n_train), rng.integers(0, 10, n_test)
    train, test = (
        np.maximum(centres[c] + 0.4 * rng.standard_normal((len(c), 128)), 0).astype(np.float32)
        for c in classes
    )
    return train, classes[0], test, classes[1]


def _digits(n_train: int, n_test: int):
    """The hidden layer of a small network on MNIST."""
    from sklearn.neural_network import MLPClassifier

    from fireassay.data import mnist

    seen, new = mnist("train"), mnist("test")
    seen_X, new_X = (d.X[:n].reshape(n, -1) for d, n in ((seen, n_train), (new, n_test)))
    network = MLPClassifier((128,), max_iter=6, random_state=0, batch_size=256)
    network.fit(seen_X, seen.y[:n_train])

    def hidden(X):
        return np.maximum(X @ network.coefs_[0] + network.intercepts_[0], 0).astype(np.float32)

    return hidden(seen_X), network.predict(seen_X), hidden(new_X), network.predict(new_X)


def met_rows(train, known, test, predicted):
    """The training rows that are nearest of their class to some new row."""
    met = []
    for label in np.unique(predicted):
        own = np.flatnonzero(known == label)
        squares = np.einsum("ij,ij->i", train[own], train[own])
        at = (squares - 2 * (test[predicted == label] @ train[own].T)).argmin(axis=1)
        met.append(own[np.unique(at)])
    return np.concatenate(met)


def _products(train, known, test, predicted):
    """The float32 products that both need, and nothing else."""
    met = met_rows(train, known, test, predicted)
    work = [(test[predicted == c], train[known == c].T) for c in np.unique(predicted)]
    work += [(train[met[known[met] == c]], train[known != c].T) for c in np.unique(predicted)]

    def floor():
        for left, right in work:
            for start in range(0, right.shape[1], 2048):  # what a core's cache holds
                left @ right[:, start : start + 2048]

    return floor


def _against_numpy(world) -> Race:
    from fireassay import supervision

    return Race(
        lambda: supervision.dsa_scores(*world), lambda: by_hand.dsa(*world), largest_difference,
        _products(*world),
    )  # fmt: skip


@rival("numpy float32, DSA", "supervision", "DSA, 10,000 × 18,000 × 128, noise alike everywhere",
       target=1.5,
       why="the products alone take most of either time: see below the table")  # fmt: skip
def _(quick: bool) -> Race:
    return _against_numpy(_simulated(2_000, 500) if quick else _simulated(18_000, 10_000))


@rival("numpy float32, DSA of a network", "supervision",
       "DSA, 10,000 × 18,000 × 128, activations on MNIST", target=1.5)  # fmt: skip
def _(quick: bool) -> Race:
    return _against_numpy(_digits(2_000, 500) if quick else _digits(18_000, 10_000))


@rival("dnn-tip DSA", "supervision", "DSA, 500 × 4,000 × 128")
def _(quick: bool) -> Race:
    from dnn_tip.surprise import DSA

    from fireassay import supervision

    train, known, test, predicted = _simulated(400, 50) if quick else _simulated(4_000, 500)
    theirs = DSA(train, known)
    return Race(
        lambda: supervision.dsa_scores(train, known, test, predicted),
        lambda: theirs(test, predicted), largest_difference,
    )  # fmt: skip
