"""Cells of the page of the five papers, recomputed without any code of the product.

    FIREASSAY_DATA=FOLDER python tests/papers/independent/recompute.py [--seed N] [--cells 10 | all]

Draws cells at random, recomputes each from the authors' files or the stored trainings, and exits
with 1 if one is not what is stored or printed on the page. Needs numpy, pandas, scipy, sklearn
and torch.
"""

import argparse
import gzip
import json
import os
import random
import re
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats
from scipy.spatial import cKDTree
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

ROOT = Path(__file__).resolve().parents[3]
DEFAULT_CLASS = {"spo2_hr_hi": 1, "spo2_hr_lo": 1, "rr_lo": 1, "rr_hi": 1, "spo2_lo": 1,
                 "recsys": 1, "crossmodal": 0, "crowd": 0, "spam": 0}  # fmt: skip
POINTS = {"running example": "trainingdata_b.csv", "DS-1": "trainingdata_a.csv"}
NETWORKS = {"CNN": 4, "MLP": 5, "DenseNet": 6, "ResNet": 7}


@cache
def stored(name):
    return json.loads((ROOT / "studies" / "results" / f"{name}.json").read_text())


@cache
def page():
    return (ROOT / "docs" / "papers" / "tables.md").read_text(encoding="utf-8")


def data():
    return Path(os.environ["FIREASSAY_DATA"])


# Curation: Table I, and Spearman's rho of the majority vote by confidence, ties averaged.
def votes(case):
    parts = {s: data() / "nad" / f"{case}_L_{s}.npy" for s in ("train", "dev", "test")}
    return {split: np.load(path) for split, path in parts.items() if path.is_file()}


def size(case, column):
    found = votes(case)
    if column == 3:
        return next(iter(found.values())).shape[1]
    split = ("train", "dev", "test")[column]
    return len(found[split]) if split in found else None


def majority_rho(case):
    known = {s: own for s, own in votes(case).items()
             if (data() / "nad" / f"{case}_Y_{s}.npy").is_file()}  # fmt: skip
    L = np.concatenate(list(known.values()))
    y = np.concatenate([np.load(data() / "nad" / f"{case}_Y_{s}.npy") for s in known])
    ones, zeros = (L == 1).sum(1), (L == 0).sum(1)
    label = np.where(ones > zeros, 1, np.where(zeros > ones, 0, DEFAULT_CLASS[case]))
    confidence = 1 / (1 + np.exp(-np.abs(ones - zeros)))
    table = pd.DataFrame({"c": np.round(confidence, 9), "right": (label == y).astype(float)})
    table = table.sort_values("c", ascending=False, kind="stable")
    expected = table.groupby("c")["right"].transform("mean").to_numpy()
    n = len(table)
    sizes = [round(n * part / 10) for part in range(1, 11)]
    accuracy = [expected[:k].mean() for k in sizes]
    return stats.spearmanr(range(10), accuracy).statistic


def curation_cells():
    found = stored("curation_case_studies")
    for case in DEFAULT_CLASS:
        for column in range(4):
            theirs = found["sizes"][case][column]
            if theirs is not None:
                yield f"000 Table I {case} {column}", lambda c=case, k=column: size(c, k), theirs, 0
        row = next(c for c in found["cells"] if (c["case"], c["labeler"], c["approach"])
                   == (case, "majorityvote", "pl_conf_all"))  # fmt: skip
        yield f"000 rho {case}", lambda c=case: majority_rho(c), row["rho"], 1e-9


# Ambiguity: the label files, and the means of Tables 4 to 7 as the page prints them.
def one_class(part):
    labels = np.load(data() / "ambiguess" / f"mukh_y_{part}.npy")
    return int((np.count_nonzero(labels, axis=1) == 1).sum())


def mean_of_trainings(made, training, model, number):
    own = [p[made][number] for p in stored("ambiguity_table1")["parts"]
           if (p["made"], p["training"], p["model"]) == (made, training, model)]  # fmt: skip
    return round(sum(own) / len(own), 2)


def on_the_page(item, place):
    line = next(line for line in page().splitlines() if line.startswith(f"| {item} |"))
    return float(re.findall(r"\d\.\d+", line.split(" | ")[3])[place])


def ambiguity_cells():
    for part in ("test", "train"):
        theirs = stored("authors_archives")["ambiguity"][part]["one class"]
        yield f"001 Section 6.2 {part}", lambda p=part: one_class(p), theirs, 0
    for made in ("mnist", "fashion-mnist"):
        for training in ("mixed", "clean"):
            for model, table in NETWORKS.items():
                item = f"Table {table}: {made}, {training}, {model}"
                for place, number in enumerate(("top1", "top2", "top_pair", "entropy")):
                    at = (made, training, model, number)
                    yield (f"001 {item} {number}", lambda a=at: mean_of_trainings(*a),
                           on_the_page(item, place), 0.0051)  # fmt: skip


# Supervision: the means of Table 2 from the stored trainings.
def mean_auroc(data_set, supervisor, kind):
    own = [r["auroc"] for p in stored("supervision_table2")["parts"] if p["data"] == data_set
           for r in p["records"] if (r["supervisor"], r["set"], r["status"])
           == (supervisor, kind, "done")]  # fmt: skip
    return sum(own) / len(own)


def supervision_cells():
    yield "001 Tables 8-11 mean deviation", mean_deviation, 0.016, 0
    for row in stored("supervision_table2")["summary"]:
        if "mean" in row:
            at = (row["data"], row["supervisor"], row["set"])
            yield f"001 Table 2 {' '.join(at)}", lambda a=at: mean_auroc(*a), row["mean"], 1e-6


# Reliability: errors of their forest and their network, separation, and a bound.
def points(name):
    table = pd.read_csv(data() / "reasdl" / POINTS[name])
    return table[["x_i1", "x_i2"]].to_numpy(), table["l_i"].to_numpy()


def forest_error(name):
    X, y = points(name)
    learn, test, y_learn, y_test = train_test_split(X, y, test_size=0.2, random_state=1)
    forest = RandomForestClassifier(10, random_state=5).fit(learn, y_learn)
    return float((forest.predict(test) != y_test).mean())


def separation(name):
    X, y = points(name)
    near = cKDTree(X[y == y.max()]).query(X[y == y.min()], p=np.inf)[0]
    return float(near.min()) / 2


def digits(part):
    start = {"train": "train", "test": "t10k"}[part]
    with gzip.open(data() / "mnist" / f"{start}-images-idx3-ubyte.gz") as file:
        X = np.frombuffer(file.read()[16:], np.uint8).reshape(-1, 784) / 255
    with gzip.open(data() / "mnist" / f"{start}-labels-idx1-ubyte.gz") as file:
        return X, np.frombuffer(file.read()[8:], np.uint8)


def network_errors(part):
    X, y = digits(part)
    layers = np.load(data() / "reasdl" / "mnist_mlp.npz")
    hidden = ((X - 0.1307) / 0.3081) @ layers["fc1.weight"].T + layers["fc1.bias"]
    logits = np.maximum(hidden, 0) @ layers["fc2.weight"].T + layers["fc2.bias"]
    return int((logits.argmax(1) != y).sum()), len(y)


def network_error(part):
    errors, rows = network_errors(part)
    return errors / rows


def network_bound():
    errors, rows = network_errors("test")
    return float(stats.beta.ppf(0.975, errors + 1, rows - errors))


def autoencoder():
    """Their VAE as torch modules: encoder, means, projection and decoder."""
    import torch
    from torch import nn

    def conv(kind, *sizes):
        return kind(*sizes, stride=2, padding=1)

    def block(kind, *sizes):
        return nn.Sequential(conv(kind, *sizes), nn.BatchNorm2d(sizes[1]), nn.ReLU())

    flat, up = nn.Conv2d, nn.ConvTranspose2d
    model = nn.ModuleDict({
        "encoder": nn.Sequential(block(flat, 1, 8, 3), block(flat, 8, 16, 3),
                                 conv(flat, 16, 32, 3)),
        "q_mean": nn.Linear(512, 8), "q_logvar": nn.Linear(512, 8), "project": nn.Linear(8, 512),
        "decoder": nn.Sequential(block(up, 32, 16, 4), block(up, 16, 8, 4), conv(up, 8, 1, 4)),
    })  # fmt: skip
    stored_arrays = np.load(data() / "reasdl" / "vae_mnist.npz")
    model.load_state_dict({name: torch.tensor(stored_arrays[name]) for name in stored_arrays})
    return model.eval()


@cache
def latent_means(part):
    import torch
    from torch.nn.functional import interpolate

    model, (X, _) = autoencoder(), digits(part)
    found = []
    with torch.no_grad():
        for start in range(0, len(X), 2000):
            images = torch.tensor(X[start : start + 2000], dtype=torch.float32).view(-1, 1, 28, 28)
            wide = interpolate(images, size=32, mode="bilinear")
            found.append(model["q_mean"](model["encoder"](wide).flatten(1)).numpy())
    return np.concatenate(found)


def latent_separation():
    means = np.concatenate([latent_means("train"), latent_means("test")]).astype(float)
    labels = np.concatenate([digits("train")[1], digits("test")[1]])
    trees = {c: cKDTree(means[labels == c]) for c in range(10)}
    gaps = [trees[b].query(means[labels == a])[0].min() for a in range(10) for b in range(a)]
    return float(min(gaps)) / 2


def cells_with_rows():
    means = np.concatenate([latent_means("train"), latent_means("test")])
    return len({tuple(key) for key in np.floor((means + 4.5) / 0.1).astype(int)})


def wrong_after_decoding():
    import torch
    from torch.nn.functional import interpolate

    model = autoencoder()
    with torch.no_grad():
        small = model["project"](torch.tensor(latent_means("test"))).view(-1, 32, 4, 4)
        images = interpolate(torch.sigmoid(model["decoder"](small)), size=28, mode="bilinear")
    layers = np.load(data() / "reasdl" / "mnist_mlp.npz")
    X = images.flatten(1).numpy()
    hidden = ((X - 0.1307) / 0.3081) @ layers["fc1.weight"].T + layers["fc1.bias"]
    logits = np.maximum(hidden, 0) @ layers["fc2.weight"].T + layers["fc2.bias"]
    return int((logits.argmax(1) != digits("test")[1]).sum())


def reliability_cells():
    for row in stored("reliability_table1")["rows"]:
        name = row["data"]
        yield f"003 {name} test error", lambda n=name: forest_error(n), row["test error"], 1e-9
        yield f"003 {name} separation", lambda n=name: separation(n), row["r"], 1e-9
    found = stored("reliability_authors_mnist")
    for part, name in (("train", "training error"), ("test", "test error")):
        yield f"003 MNIST {name}", lambda p=part: network_error(p), found[name], 1e-9
    yield "003 MNIST separation", latent_separation, found["separation"], 1e-5
    yield "003 MNIST cells with rows", cells_with_rows, found["cells with rows"], 3
    wrong = found["wrong after decoding"]
    yield "003 MNIST wrong after decoding", wrong_after_decoding, wrong, 2
    yield "003 MNIST bound", network_bound, found["Clopper-Pearson 97.5 %"], 1e-9


# Tables 8 to 11: what is stored of the printed deviations has the mean that the page tells.
def mean_deviation():
    every = [v for rows in stored("supervision_appendix")["spreads"].values()
             for own in rows.values() for v in own if v is not None]  # fmt: skip
    return round(sum(every) / len(every), 3)


# Survival: means of the archive by attack, and coefficients of the pooled fits.
def mean_by_attack(attack, column):
    table = pd.read_csv(data() / "deckard" / "cifar100.csv")
    return float(table.loc[table["attack"] == attack, column].mean())


def coefficient(family, name):
    table = pd.read_csv(data() / "deckard" / f"published_{family}_summary.csv")
    return float(table.loc[table["covariate"] == name, "coef"].iloc[0])


def survival_cells():
    for attack, row in stored("survival_archive")["by_attack"].items():
        for column, value in row.items():
            yield (f"004 {attack} {column}", lambda a=attack, c=column: mean_by_attack(a, c),
                   value, 1e-9)  # fmt: skip
    for family, fit in stored("authors_archives")["survival"]["fits"].items():
        for name, (value, _) in fit.items():
            yield (f"004 {family} {name}", lambda f=family, n=name: coefficient(f, n), value,
                   1e-12)  # fmt: skip


# Discovery: rows and errors of the early file.
def archive_count(column):
    table = pd.read_csv(data() / "advdist" / "kaggle_cats_dogs.csv")
    wrong = (table["Prediction"] != table["True Label"]).sum()
    return {"rows": len(table), "wrong": int(wrong)}[column]


def discovery_cells():
    for column in ("rows", "wrong"):
        value = stored("authors_archives")["discovery"][column]
        yield f"002 cats and dogs {column}", lambda c=column: archive_count(c), value, 0


PAPERS = (curation_cells, ambiguity_cells, supervision_cells, reliability_cells, survival_cells,
          discovery_cells)  # fmt: skip


def draw(seed, count):
    """Cells of papers drawn first, so that a paper with many cells is not drawn more often."""
    chance = random.Random(seed)
    cells = [list(of_paper()) for of_paper in PAPERS]
    if count == "all":
        return [cell for own in cells for cell in own]
    for own in cells:
        chance.shuffle(own)
    order = [cells[chance.randrange(len(cells))] for _ in range(100 * int(count))]
    return [own.pop() for own in order if own][: int(count)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cells", default="10", help="How many, or all.")
    chosen = parser.parse_args()
    wrong = 0
    for name, again, known, tolerance in draw(chosen.seed, chosen.cells):
        value = again()
        same = abs(value - known) <= tolerance
        wrong += not same
        print(f"{'same' if same else 'OTHER'}: {name}: {value}, stored {known}")  # noqa: T201
    print(f"{wrong} differ")  # noqa: T201
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
