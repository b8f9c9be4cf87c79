"""What does a model do between two digits? Generate, look, measure, train on it, measure again."""

import numpy as np
from sklearn.neural_network import MLPClassifier

from fireassay import ambiguity
from fireassay.data import digits, split

PAIRS = [(3, 8), (4, 9), (1, 7), (5, 6), (3, 5)]


def main() -> None:
    train, test = split(digits(), (0.7, 0.3), seed=0)
    gen = ambiguity.AmbiguityGenerator(pairs=PAIRS, tries=2, seed=0).fit(train.X, train.labels)
    print(gen.report[["first", "second", "accepted", "label_accuracy", "real_fake_accuracy"]])
    between = gen.sample(500, delta_max=0.25, split="test")
    for_training = gen.sample(500, delta_max=0.4, split="train")

    mixed = ambiguity.mix(train.X, train.labels, for_training)
    for name, X, y in (("clean", train.X, train.labels), ("mixed", mixed.X, mixed.y)):
        network = MLPClassifier((64,), max_iter=300, random_state=0, early_stopping=True)
        network.fit(X.reshape(len(X), -1), y)

        def model(rows: np.ndarray, network: MLPClassifier = network) -> np.ndarray:
            return network.predict_proba(rows.reshape(len(rows), -1))

        result = ambiguity.evaluate(model, between)
        nominal = (model(test.X).argmax(axis=1) == test.labels).mean()
        print(f"\ntrained on {name} data: accuracy {nominal:.3f} on nominal digits")
        for number in ("top1", "top2", "top_pair", "entropy", "separation"):
            print(f"  {number:<11}{result.estimates[number]}")


if __name__ == "__main__":
    main()
