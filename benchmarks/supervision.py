"""Supervision: oracles, speed against dnn-tip, and the table of supervisors on MNIST and Fashion.

    FIREASSAY_DATA=… python benchmarks/supervision.py [--only golden,dropout,mnist,fashion]

About ten minutes of one core. dnn-tip 0.1.1 is measured in the same run where it is importable.
"""

import argparse
import json
import os
import time
from pathlib import Path

import numpy as np

from fireassay import supervision
from fireassay.core.seeds import derived_seed

RESULTS = Path(__file__).parent / "results" / "supervision.json"
PICTURES = Path(__file__).parent.parent / "docs" / "images"
DATA = os.environ.get("FIREASSAY_DATA")
COLUMNS = [
    "supervisor", "set", "n", "auroc", "low", "high", "aupr", "fpr95", "fpr95_low", "fpr95_high",
    "worse", "caught", "caught_low", "caught_high", "cost", "note", "status", "reason",
]  # fmt: skip
INNER_LAYER = "6"  # the second pooling layer
SHOWN = ["softmax-entropy", "dsa", "mdsa"]  # whose numbers per pair and corruption are kept


def cpu(function, *arguments):
    started = time.process_time()
    value = function(*arguments)
    return value, time.process_time() - started


def golden():
    folder = Path(DATA) / "sa-golden"
    train = np.load(folder / "original_mnist_train_activation_3_ats.npy")
    train_classes = np.load(folder / "original_mnist_train_pred.npy")
    test = np.load(folder / "mnist_test_activation_3_ats.npy")
    test_classes = np.load(folder / "mnist_test_pred.npy")
    dsa, dsa_s = cpu(supervision.dsa_scores, train, train_classes, test, test_classes)
    lsa, lsa_s = cpu(supervision.lsa_scores, train, train_classes, test, test_classes)
    return {
        "n": len(test),
        "dsa_max_difference": float(
            np.abs(dsa - np.load(folder / "original_dsa_scores.npy")).max()
        ),
        "lsa_max_difference": float(
            np.abs(lsa - np.load(folder / "original_lsa_scores.npy")).max()
        ),
        "dsa_cpu_s": dsa_s,
        "lsa_cpu_s": lsa_s,
    }


def dropout_speed():
    """100 dropout samples: once through the features, against 100 whole passes."""
    from fireassay.classifiers import as_classifier
    from fireassay.networks.small_networks import DropoutCnn
    from fireassay.supervision.reading import ModelReader
    from fireassay.supervision.torch_hidden import TorchHidden

    model = as_classifier(DropoutCnn((28, 28), 10, seed=0), output="logits", classes=range(10))
    X = np.random.default_rng(0).random((512, 28, 28)).astype(np.float32)
    reader = ModelReader(model)
    model.predict_proba(X)
    quick, quick_s = cpu(lambda: list(reader.hidden.dropout_samples(X, 100, 0)))
    whole = []
    started = time.process_time()
    assert isinstance(reader.hidden, TorchHidden)
    for sample in range(10):
        with reader.hidden._thinned(sample, 0):
            whole.append(model.predict_proba(X))
    whole_s = 10 * (time.process_time() - started)
    return {
        "rows": len(X),
        "once_cpu_s": quick_s,
        "whole_passes_cpu_s_scaled": whole_s,
        "ratio": whole_s / quick_s,
        "max_difference": float(np.abs(np.array(quick[:10]) - np.array(whole)).max()),
    }


def trained(X, y, seed, epochs):
    from fireassay.classifiers import as_classifier
    from fireassay.networks.small_networks import DropoutCnn
    from fireassay.networks.training import train

    network = DropoutCnn(X.shape[1:], 10, width=8, dropout=0.3, seed=derived_seed(seed, "init"))
    train(network, X, y, epochs, learning_rate=1e-3, seed=seed)
    return as_classifier(network, output="logits", classes=range(10), bounds=(0, 1))


def sets_of(name, rng, train_rows=12_000):
    """Training rows (nominal and ambiguous), nominal test rows, and the five kinds of trouble."""
    from fireassay import ambiguity
    from fireassay.data import corrupt, corruption_kinds, fashion_mnist, mnist

    load, other = (mnist, fashion_mnist) if name == "mnist" else (fashion_mnist, mnist)
    full, test = load("train", folder=DATA), load("test", folder=DATA)
    foreign = other("test", folder=DATA)
    pairs = [(3, 8), (4, 9), (1, 7), (0, 6), (2, 5), (5, 8), (2, 7), (3, 5), (7, 9), (0, 2)]
    generator, seconds = cpu(
        lambda: ambiguity.AmbiguityGenerator(pairs=pairs, tries=1, seed=0).fit(full.X, full.y)
    )
    # Ambiguous rows for training and for testing come from the same autoencoders: then they are in
    # distribution, as the comparison of ambiguity with strangeness needs.
    drawn = generator.sample(5000, split="test")
    shuffled = rng.permutation(len(drawn.X))
    learnt, judged = shuffled[:3500], shuffled[3500:]
    rows = rng.permutation(len(full.X))[:train_rows]
    X = np.concatenate([full.X[rows], drawn.X[learnt]]).astype(np.float32)
    y = np.concatenate([full.y[rows], drawn.labels[learnt]])
    chosen = rng.permutation(len(test.X))
    nominal, attacked = (test.X[chosen[:3000]], test.y[chosen[:3000]]), chosen[4000:4120]
    corruptions = corruption_kinds()
    corrupted = [
        corrupt(test.X[part], kind, severity=3, seed=0)
        for kind, part in zip(
            corruptions, np.array_split(chosen[4400:5900], len(corruptions)), strict=True
        )
    ]
    kinds = {
        "ambiguous": np.array([f"{a}/{b}" for a, b in drawn.pairs[judged]]),
        "corrupted": np.repeat(corruptions, [len(part) for part in corrupted]),
    }
    sets = {
        "ambiguous": drawn.X[judged].astype(np.float32),
        "corrupted": np.concatenate(corrupted),
        "invalid": foreign.X[:1500],
        "control": drawn.control.X[:1000].astype(np.float32),
    }
    return X, y, nominal, (test.X[attacked], test.y[attacked]), sets, kinds, seconds


def table(name):
    rng = np.random.default_rng(0)
    X, y, (nominal, y_nominal), (X_attack, y_attack), sets, kinds, ambiguity_s = sets_of(name, rng)
    model, train_s = cpu(trained, X, y, 0, 7)
    members, members_s = cpu(lambda: [trained(X, y, seed, 3) for seed in range(1, 6)])
    minimal, attack_s = cpu(
        lambda: supervision.adversarial_set(model, X_attack, y_attack, max_epsilon=0.4, steps=5)
    )
    confident = supervision.adversarial_set(
        model, X_attack, y_attack, ("pgd", "bim"), max_epsilon=0.4, steps=3,
        min_confidence=0.99,
    )  # fmt: skip
    sets = {k: v for k, v in sets.items() if len(v)}
    sets |= {"adversarial": minimal.X, "adversarial_confident": confident.X}
    kinds["adversarial"] = minimal.attack
    accuracy = float((model.predict(nominal) == y_nominal).mean())
    comparison, compare_s = cpu(
        lambda: supervision.compare(
            model, X, y, nominal=nominal, sets=sets, members=members, kinds=kinds
        )
    )
    inner = supervision.compare(model, X, y, nominal, sets, SHOWN[1:], layer=INNER_LAYER)
    frame, by_kind = comparison.frame(), comparison.kind_frame()
    causes = {k: v for k, v in sets.items() if k in ("ambiguous", "corrupted", "invalid")}
    axes = supervision.RootCause().fit(model, X, y)
    left_out = supervision.leave_one_kind_out(axes, nominal, causes).frame()
    print(f"\n{name}: AUROC")
    print(comparison.matrix().round(2).to_string(na_rep="n.a."))
    print(left_out.round(3).to_string())
    chart = comparison.charts()["heat_map"]
    (PICTURES / f"supervision_{name}.png").write_bytes(chart.png())
    return {
        "seconds": {
            "ambiguity": ambiguity_s, "training": train_s, "members": members_s,
            "attacks": attack_s, "compare": compare_s,
        },
        "accuracy": accuracy,
        "recommended": comparison.recommended,
        "pair": comparison.pair,
        "left_out": left_out.to_dict(orient="records"),
        "rows": frame[COLUMNS].round(4).to_dict(orient="records"),
        "inner_layer": INNER_LAYER,
        "inner_rows": inner.frame()[COLUMNS].round(4).to_dict(orient="records"),
        "kinds": by_kind[by_kind["supervisor"].isin(SHOWN)].round(4).to_dict(orient="records"),
    }  # fmt: skip


def all_rows(name):
    """Ambiguity against strangeness for a network trained on all 60,000 rows."""
    X, y, (nominal, y_nominal), _, sets, _, _ = sets_of(name, np.random.default_rng(0), 60_000)
    model = trained(X, y, 0, 4)
    found = {"accuracy": float((model.predict(nominal) == y_nominal).mean())}
    for key, layer in (("rows", None), ("inner_rows", INNER_LAYER)):
        comparison = supervision.compare(model, X, y, nominal, sets, SHOWN, layer=layer)
        print(comparison.matrix().round(3).to_string())
        found[key] = comparison.frame()[COLUMNS].round(4).to_dict(orient="records")
    return found | {"inner_layer": INNER_LAYER}


PARTS = {
    "golden": golden,
    "dropout": dropout_speed,
    "mnist": lambda: table("mnist"),
    "mnist_all_rows": lambda: all_rows("mnist"),
    "fashion": lambda: table("fashion"),
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default=",".join(PARTS))
    wanted = parser.parse_args().only.split(",")
    RESULTS.parent.mkdir(exist_ok=True)
    for name in wanted:
        if DATA is None and name != "dropout":
            print(f"{name}: skipped, FIREASSAY_DATA is not set")
            continue
        found, seconds = cpu(PARTS[name])
        found["cpu_seconds_in_all"] = seconds
        short = {k: v for k, v in found.items() if not isinstance(v, list | dict)}
        print(name, json.dumps(short, indent=1), flush=True)
        results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        results[name] = found
        results = {part: results[part] for part in PARTS if part in results}
        RESULTS.write_text(json.dumps(results, indent=1, default=str) + "\n")


if __name__ == "__main__":
    main()
