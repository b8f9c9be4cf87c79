"""The table of supervisors over several architectures and trainings: mean and spread of AUROCs.

    FIREASSAY_DATA=… python studies/supervision_table2.py --data mnist --runs 5 --output table.csv

Every architecture is trained ``--runs`` times on nominal and ambiguous rows; each training is
compared on ambiguous, adversarial, corrupted and invalid rows. Hours at full size;
``--rows 1000 --runs 1 --members 2`` is a quick look.
"""

import argparse
import os
from functools import partial

import numpy as np
import pandas as pd
import torch

from fireassay import ambiguity, supervision
from fireassay.classifiers import as_classifier
from fireassay.core.seeds import derived_seed, generator
from fireassay.data import corrupt, corruption_kinds, fashion_mnist, mnist
from fireassay.networks.cnn import Cnn
from fireassay.networks.densenet import DenseNet
from fireassay.networks.dropout_cnn import DropoutCnn
from fireassay.networks.mlp import Mlp
from fireassay.networks.resnet import ResNet
from fireassay.networks.training import train

ARCHITECTURES = {
    "dropout-cnn": partial(DropoutCnn, (28, 28), 10),
    "cnn": partial(Cnn, (28, 28), 10),
    "mlp": partial(Mlp, (28, 28), 10, (128, 64)),
    "densenet": partial(DenseNet, (28, 28), 10),
    "resnet": partial(ResNet, 18, (28, 28), 10),
}
PAIRS = [(3, 8), (4, 9), (1, 7), (0, 6), (2, 5), (5, 8), (2, 7), (3, 5), (7, 9), (0, 2)]


def trained(build, X, y, seed, epochs):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derived_seed(seed, "dropout"))
        network = build(seed=derived_seed(seed, "init"))
        train(network, X, y, epochs, learning_rate=2e-3, seed=seed)
    return as_classifier(network, output="logits", classes=range(10), bounds=(0, 1))


def one_run(build, data, arguments, run):
    rng = generator(run, "table2")
    order = rng.permutation(len(data["test"].X))
    n = min(arguments.rows, len(order) // 4)
    nominal = data["test"].X[order[:n]]
    corrupted = [
        corrupt(data["test"].X[part], kind, severity=3, seed=run)
        for kind, part in zip(corruption_kinds(), np.array_split(order[n : 2 * n], 15), strict=True)
    ]
    attacked = order[2 * n : 2 * n + min(n, arguments.attacked)]
    recipe = partial(trained, build, epochs=arguments.epochs)
    model = recipe(data["X"], data["y"], seed=derived_seed(run, "model"))
    members = [
        recipe(data["X"], data["y"], seed=derived_seed(run, "member", i))
        for i in range(arguments.members)
    ]
    found = supervision.adversarial_set(
        model, data["test"].X[attacked], data["test"].y[attacked], max_epsilon=0.4, steps=5
    )
    sets = {
        "ambiguous": data["ambiguous"][:n],
        "adversarial": found.X,
        "corrupted": np.concatenate(corrupted),
        "invalid": data["foreign"].X[:n],
    }
    comparison = supervision.compare(
        model, data["X"], data["y"], nominal, sets, members=members, seed=run
    )
    return comparison.frame()[["supervisor", "set", "auroc", "status", "reason"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", choices=("mnist", "fashion"), default="mnist")
    parser.add_argument("--architectures", default=",".join(ARCHITECTURES))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--attacked", type=int, default=500)
    parser.add_argument("--train-rows", type=int, default=60_000)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--members", type=int, default=20)
    parser.add_argument("--output", default="supervision_table2.csv")
    arguments = parser.parse_args()
    folder = os.environ["FIREASSAY_DATA"]
    load, other = (mnist, fashion_mnist) if arguments.data == "mnist" else (fashion_mnist, mnist)
    full = load("train", folder=folder)
    made = ambiguity.AmbiguityGenerator(pairs=PAIRS, tries=1, seed=0).fit(full.X, full.y)
    kept = generator(0, "table2", "train").permutation(len(full.X))[: arguments.train_rows]
    # From the same autoencoders, so that ambiguous rows are in distribution.
    n_learnt = max(100, len(kept) // 3)
    drawn = made.sample(n_learnt + arguments.rows, split="test")
    shuffled = generator(0, "table2", "ambiguous").permutation(len(drawn.X))
    learnt, judged = shuffled[:n_learnt], shuffled[n_learnt:]
    data = {
        "X": np.concatenate([full.X[kept], drawn.X[learnt]]).astype(np.float32),
        "y": np.concatenate([full.y[kept], drawn.labels[learnt]]),
        "test": load("test", folder=folder),
        "foreign": other("test", folder=folder),
        "ambiguous": drawn.X[judged].astype(np.float32),
    }
    frames = []
    for name in arguments.architectures.split(","):
        for run in range(arguments.runs):
            frame = one_run(ARCHITECTURES[name], data, arguments, run)
            frames.append(frame.assign(architecture=name, run=run))
            pd.concat(frames).to_csv(arguments.output, index=False)
            print(f"{name}, training {run + 1} of {arguments.runs}: done", flush=True)
    table = pd.concat(frames)
    for by in (["supervisor", "set"], ["architecture", "supervisor", "set"]):
        summary = table.groupby(by, sort=False)["auroc"].agg(["mean", "std"])
        print(summary.unstack("set").round(3).to_string(na_rep="n.a."))


if __name__ == "__main__":
    main()
