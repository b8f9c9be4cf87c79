"""Supervisors over four architectures and several trainings: mean AUROC, spread, interval.

    FIREASSAY_DATA=… python studies/supervision_table2.py --store /tmp/table2
    python studies/supervision_table2.py --table      # the results that are there, as Markdown

A smaller version of the published experiment: 16 supervisors × (ambiguous, adversarial, corrupted,
invalid) × 4 architectures × 5 trainings on 60,000 rows each, ensembles of 20. Here: fewer rows,
shorter training, ``--runs`` trainings, ensembles of 5, narrow networks; the later supervisors and
the control set beside. Of ``members + 1`` trainings of an architecture the first ``runs`` are
supervised in turn, each with the others as its ensemble: ensembles of different runs share members,
so that their spread over runs is too small.

Finished parts are kept in ``--store`` and not computed again (for other networks or epochs take
another folder). Writes studies/results/supervision_table2.json.
"""

import argparse
import json
import os
import time
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import t as student
from torch import nn

from fireassay import ambiguity, supervision
from fireassay.classifiers import as_classifier
from fireassay.core.seeds import derived_seed, generator
from fireassay.data import corrupt, corruption_kinds, fashion_mnist, mnist
from fireassay.engine import Executor, RunStore
from fireassay.networks import training
from fireassay.networks.dropout_cnn import ChannelsFirst
from fireassay.networks.resnet import ResNet
from fireassay.papers.densenet import DenseNet

RESULTS = Path(__file__).parent / "results" / "supervision_table2.json"
LOADERS = {"mnist": (mnist, fashion_mnist), "fashion": (fashion_mnist, mnist)}
PAIRS = [(3, 8), (4, 9), (1, 7), (0, 6), (2, 5), (5, 8), (2, 7), (3, 5), (7, 9), (0, 2)]
KINDS = ("ambiguous", "adversarial", "corrupted", "invalid")
# Weiss and Tonella, Table 2: MNIST, then Fashion-MNIST, in the order of KINDS.
PUBLISHED = {
    "max-softmax": (0.96, 0.79, 0.78, 0.79, 0.91, 0.61, 0.71, 0.73),
    "pcs": (0.96, 0.79, 0.78, 0.79, 0.91, 0.61, 0.70, 0.72),
    "softmax-entropy": (0.97, 0.79, 0.78, 0.79, 0.92, 0.61, 0.72, 0.74),
    "deep-gini": (0.96, 0.79, 0.78, 0.79, 0.92, 0.61, 0.71, 0.73),
    "mc-dropout-variation-ratio": (0.79, 0.69, 0.65, 0.72, 0.76, 0.62, 0.66, 0.72),
    "mc-dropout-mean-softmax": (0.96, 0.79, 0.80, 0.80, 0.91, 0.61, 0.73, 0.77),
    "mc-dropout-mutual-information": (0.87, 0.78, 0.81, 0.83, 0.73, 0.61, 0.78, 0.86),
    "mc-dropout-predictive-entropy": (0.96, 0.79, 0.80, 0.80, 0.91, 0.61, 0.74, 0.79),
    "ensemble-mean-softmax": (0.97, None, 0.84, 0.85, 0.90, None, 0.75, 0.64),
    "ensemble-mutual-information": (0.84, None, 0.84, 0.88, 0.57, None, 0.76, 0.70),
    "ensemble-predictive-entropy": (0.97, None, 0.83, 0.84, 0.89, None, 0.77, 0.66),
    "dissector": (0.95, 0.79, 0.76, 0.79, 0.88, 0.68, 0.72, 0.75),
    "dsa": (0.48, 0.93, 0.87, 0.98, 0.31, 0.85, 0.85, 0.90),
    "lsa": (0.17, 0.78, 0.73, 0.77, 0.16, 0.75, 0.74, 0.86),
    "mdsa": (0.31, 0.94, 0.87, 0.98, 0.32, 0.86, 0.83, 0.95),
    "autoencoder": (0.62, 0.95, 0.84, 1.00, 0.53, 0.80, 0.77, 0.49),
}


def simple_cnn(seed):
    """Two convolutions with pooling, dropout, logits: no hidden layer, as in the experiment."""
    return _initialised(
        seed, lambda: nn.Sequential(
            ChannelsFirst(), nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3),
            nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Dropout(0.5), nn.Linear(400, 10),
        )
    )  # fmt: skip


def fully_connected(seed):
    return _initialised(
        seed, lambda: nn.Sequential(
            nn.Flatten(), nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(),
            nn.Dropout(0.2), nn.Linear(64, 10),
        )
    )  # fmt: skip


def densenet(seed):
    network = DenseNet((28, 28), 10, seed=seed)
    network.output = nn.Sequential(nn.Dropout(0.2), network.output)
    return network


class _Halved(nn.Module):
    """Means of 2 × 2 pixels: a quarter of the work."""

    def forward(self, x):
        return nn.functional.avg_pool2d(x.unsqueeze(1), 2).squeeze(1)


def resnet(seed):
    network = ResNet(18, (14, 14), 10, width=4, seed=seed)
    network.output = nn.Sequential(nn.Dropout(0.2), network.output)
    return nn.Sequential(_Halved(), network)


def _initialised(seed, build):
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return build()


ARCHITECTURES = {  # and epochs
    "simple-cnn": (simple_cnn, 6),
    "fully-connected": (fully_connected, 8),
    "densenet": (densenet, 3),
    "resnet": (resnet, 2),
}


def train(network, X, y, epochs, learning_rate, seed):
    """Batch normalisation needs a last, slow epoch: its running means follow the weights."""
    training.train(network, X, y, epochs, learning_rate=learning_rate, seed=seed)
    if any(isinstance(part, nn.BatchNorm2d) for part in network.modules()):
        training.train(network, X, y, 1, learning_rate=0.1 * learning_rate, seed=seed)


def ambiguous_rows(row, folder, n):
    """Ambiguous rows for training and testing from the same autoencoders, and control rows.

    So they are in distribution, as the comparison of ambiguity with strangeness needs.
    """
    full = LOADERS[row["data"]][0]("train", folder=folder)
    made = ambiguity.AmbiguityGenerator(pairs=PAIRS, tries=1, seed=0).fit(full.X, full.y)
    drawn = made.sample(n, split="test")
    order = generator(0, "table2", "ambiguous").permutation(len(drawn.X))
    return {
        "X": drawn.X[order].astype(np.float32),
        "y": np.asarray(drawn.labels)[order],
        "control": drawn.control.X.astype(np.float32),
    }


def architecture_runs(row, folder, made, settings):
    """Train one architecture ``members + 1`` times and supervise the first ``runs`` of them."""
    started = time.process_time()
    name, rows = row["data"], settings["rows"]
    full, test, foreign = _data(name, folder)
    kept = generator(0, "table2", "train").permutation(len(full.X))[: settings["train_rows"]]
    learnt = settings["ambiguous_rows"]
    X = np.concatenate([full.X[kept].astype(np.float32), made[name]["X"][:learnt]])
    y = np.concatenate([full.y[kept], made[name]["y"][:learnt]])
    build, epochs = ARCHITECTURES[row["architecture"]]
    models = []
    for i in range(settings["members"] + 1):
        network = build(derived_seed(i, "table2", row["architecture"]))
        train(network, X, y, epochs, learning_rate=2e-3, seed=derived_seed(i, "table2", "order"))
        models.append(_classifier(network))
    trained = time.process_time() - started
    records, accuracies, attack_seconds = [], [], 0.0
    for run in range(settings["runs"]):
        order = generator(run, "table2", name).permutation(len(test.X))
        parts = np.split(order, np.cumsum([2 * rows, rows, settings["attacked"]]))
        nominal, damaged, attacked, _ = parts
        corrupted = [
            corrupt(test.X[part], kind, severity=3, seed=run)
            for kind, part in zip(corruption_kinds(), np.array_split(damaged, 15), strict=True)
        ]
        before = time.process_time()
        adversarial = supervision.adversarial_set(
            _classifier(models[run].module, settings["attacked"]), test.X[attacked],
            test.y[attacked], max_epsilon=0.4, steps=4, seed=run,
        )  # fmt: skip
        attack_seconds += time.process_time() - before
        judged = generator(run, "table2", "judged").permutation(len(made[name]["X"]) - learnt)
        strangers = generator(run, "table2", "invalid").permutation(len(foreign.X))[:rows]
        sets = {
            "ambiguous": made[name]["X"][learnt:][judged[:rows]],
            "adversarial": adversarial.X,
            "corrupted": np.concatenate(corrupted),
            "invalid": foreign.X[strangers],
            "control": made[name]["control"][:rows],
        }
        found = supervision.compare(
            models[run], X, y, test.X[nominal], sets,
            members=[m for i, m in enumerate(models) if i != run], seed=run, n_resamples=2,
        )  # fmt: skip
        columns = ["supervisor", "set", "n", "auroc", "low", "high", "status", "reason", "note"]
        frame = found.frame()[columns].round(5).assign(run=run).astype(object)
        records += frame.where(frame.notna(), None).to_dict("records")
        accuracies.append(float((models[run].predict(test.X[nominal]) == test.y[nominal]).mean()))
    return {
        "records": records,
        "accuracy": accuracies,
        "cpu_seconds": {
            "training": trained,
            "attacks": attack_seconds,
            "in_all": time.process_time() - started,
        },
    }


def _classifier(network, batch_size=256):
    """Blocks are filled up: attacks on few rows take small ones."""
    return as_classifier(
        network, output="logits", classes=range(10), bounds=(0, 1), batch_size=batch_size
    )


def _data(name, folder):
    load, other = LOADERS[name]
    return load("train", folder=folder), load("test", folder=folder), other("test", folder=folder)


def summary(parts, confidence=0.95):
    """Mean over architectures and runs; its interval is about new trainings of these architectures.

    The spread is the standard deviation over runs, pooled over architectures; ``between`` that of
    the architectures' means.
    """
    table = pd.concat(
        pd.DataFrame(part["records"]).assign(data=row["data"], architecture=row["architecture"])
        for row, part in parts
    )
    rows = []
    for (data, supervisor, kind), own in table.groupby(["data", "supervisor", "set"], sort=False):
        done = own[own["status"] == "done"].astype({"auroc": float})
        done = done.groupby("architecture", sort=False)["auroc"]
        counts, means, variances = done.count(), done.mean(), done.var(ddof=1)
        row = {"data": data, "supervisor": supervisor, "set": kind, "architectures": len(means)}
        row["runs"] = int(counts.sum())
        row["note"] = str(own["note"].iloc[0])
        if len(means):
            freedom = int((counts - 1).sum())
            row |= {"mean": float(means.mean()), "between": float(means.std(ddof=1))}
            if freedom:
                spread = float(np.sqrt((variances * (counts - 1)).sum() / freedom))
                error = spread * float(np.sqrt((1 / counts).sum())) / len(means)
                arm = error * float(student.ppf((1 + confidence) / 2, freedom))
                row |= {"spread": spread, "arm": arm}
        else:
            row["reason"] = str(own["reason"].iloc[0])
        if supervisor in PUBLISHED and kind in KINDS:
            at = KINDS.index(kind) + (0 if data == "mnist" else 4)
            row["published"] = PUBLISHED[supervisor][at]
        rows.append(row)
    return rows


def markdown(results):
    """The summary as tables: mean ± half the interval's width, spread over runs, published."""
    frame = pd.DataFrame(results["summary"])
    lines = []
    for data, own in frame.groupby("data", sort=False):
        kinds = list(own["set"].drop_duplicates())
        lines += [f"**{data}**", "", f"| supervisor | {' | '.join(kinds)} |"]
        lines.append("|---" * (len(kinds) + 1) + "|")
        for supervisor, cells in own.groupby("supervisor", sort=False):
            shown = [_cell(cells[cells["set"] == kind].iloc[0]) for kind in kinds]
            lines.append(f"| {supervisor} | {' | '.join(shown)} |")
        lines.append("")
    return "\n".join(lines)


def _cell(row):
    if pd.isna(row["mean"]):
        return "n.a."
    text = f"{row['mean']:.2f} ± {row['arm']:.2f} ({row['spread']:.2f})"
    return text if pd.isna(row["published"]) else f"{text} *{row['published']:.2f}*"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", type=Path, help="Folder in which finished parts are kept.")
    parser.add_argument("--table", action="store_true", help="Only print the results as Markdown.")
    parser.add_argument("--data", default=",".join(LOADERS))
    parser.add_argument("--architectures", default=",".join(ARCHITECTURES))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--members", type=int, default=5)
    parser.add_argument("--rows", type=int, default=1000, help="Of each set.")
    parser.add_argument("--attacked", type=int, default=60)
    parser.add_argument("--train-rows", type=int, default=8000)
    parser.add_argument("--ambiguous-rows", type=int, default=2400, help="Among training rows.")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--output", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    if arguments.table:
        print(markdown(json.loads(arguments.output.read_text())))
        return
    names = ("runs", "members", "rows", "attacked", "train_rows", "ambiguous_rows")
    settings = {name: getattr(arguments, name) for name in names}
    folder = os.environ["FIREASSAY_DATA"]
    store = None if arguments.store is None else RunStore(arguments.store)
    executor = Executor(workers=arguments.workers, store=store)
    wanted = arguments.data.split(",")
    drawn = executor.map(
        ambiguous_rows, [{"data": name} for name in wanted], name="ambiguous rows",
        shared={"folder": folder, "n": settings["ambiguous_rows"] + 2 * settings["rows"]},
    )  # fmt: skip
    print("ambiguous rows: done", flush=True)
    rows = [
        {"data": data, "architecture": architecture}
        for architecture in arguments.architectures.split(",")
        for data in wanted
    ]
    made = dict(zip(wanted, drawn, strict=True))
    say = partial(print, "parts done:", flush=True)
    found = Executor(workers=arguments.workers, store=store, progress=say).map(
        architecture_runs, rows, name="architectures",
        shared={"folder": folder, "made": made, "settings": settings},
    )  # fmt: skip
    parts = list(zip(rows, found, strict=True))
    results = {
        "settings": settings,
        "summary": summary(parts),
        "parts": [row | part for row, part in parts],
    }
    arguments.output.parent.mkdir(exist_ok=True)
    arguments.output.write_text(json.dumps(results) + "\n")
    print(markdown(results))


if __name__ == "__main__":
    main()
