"""Three kinds of confident error, made on purpose, and what a search of 30 labels shows of each.

bias: a sub-group is missing from training. shift: the field's images are darker. overfitting: few
images, many epochs. On Fashion-MNIST if FIREASSAY_DATA names its folder, on built-in digits
otherwise; needs torch. studies/discovery_errors.py is the long version with all searches.
"""

import os

import numpy as np

from fireassay import data, discovery
from fireassay.classifiers import as_classifier
from fireassay.networks import Cnn, train


def images():
    """Images, whether each is of the critical class, and whether it is of the missing sub-group."""
    if os.environ.get("FIREASSAY_DATA"):
        garments = data.fashion_mnist("test")
        kept = np.isin(garments.y, (0, 2, 3, 4, 6))
        X, y = garments.X[kept], garments.y[kept]
        return X, np.isin(y, (2, 4)), (y == 6) & (X.mean(axis=(1, 2)) < 0.38)
    digits = data.digits()
    return digits.X.astype(np.float32), np.isin(digits.y, (3, 5, 8)), digits.y == 9


def trained(X, critical, rows, epochs):
    module = Cnn(X.shape[1:], 2, width=4, hidden=32)
    labels = critical[rows].astype(int)
    train(module, X[rows], labels, epochs=epochs, batch_size=32, learning_rate=2e-3)
    return as_classifier(
        module, classes=["other", "critical"], bounds=(0, 1), output="logits", batch_size=64
    )


def main() -> None:
    X, critical, subgroup = images()
    labels = np.where(critical, "critical", "other")
    order = np.random.default_rng(1).permutation(len(X))
    third = len(X) // 3
    learn, held_out, field = order[:third], order[third : third + 400], order[third + 400 :][:500]
    for kind in ("bias", "shift", "overfitting"):
        rows, check, tested, epochs = learn, held_out, X[field], 8
        if kind == "bias":
            rows, check = rows[~subgroup[rows]], check[~subgroup[check]]
        if kind == "shift":
            tested = (0.6 * tested).astype(np.float32)
        if kind == "overfitting":
            rows, epochs = rows[:300], 40
        model = discovery.calibrate(trained(X, critical, rows, epochs), X[check], labels[check])
        search = discovery.Search(
            "adversarial-distance", model=model, X=tested, critical_class="critical", budget=30,
            max_queries=60, attack_parameters={"subspace": "dct"},
        )  # fmt: skip
        result = search.run(lambda row: labels[field[row]])
        candidates = search.state.rows
        wrong = labels[field[candidates]] != "critical"
        skill = discovery.matched_random_test(search.state.confidence, wrong, result.queried)
        low, high = result.sdr_interval
        print(f"{kind:12s} {result.errors} errors in 30 labels, {result.expected:.1f} expected: "
              f"ratio {result.sdr:.1f} [{low:.1f}, {high:.1f}]; random rows of the same confidence "
              f"would show {skill.expected_random:.1f} (p = {skill.p_value:.2g})")  # fmt: skip


if __name__ == "__main__":
    main()
