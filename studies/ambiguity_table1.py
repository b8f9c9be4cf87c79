"""Table 1 of the ambiguity paper: four architectures, clean and mixed-ambiguous training.

Run:  FIREASSAY_DATA=FOLDER python studies/ambiguity_table1.py [--only mnist] [--sets FOLDER]

Shortened for two cores: 15,000 nominal rows and 5,000 ambiguous ones (the paper: 60,000 and
20,000), three epochs, small networks (a DenseNet with two blocks of three layers, a ResNet-18 of
width 8 instead of ResNet-50). The whole test sets are used. With ``--sets`` the ambiguous sets
are read from a folder that ``benchmarks/ambiguity.py --keep FOLDER`` wrote.
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from fireassay import ambiguity
from fireassay.ambiguity.metrics import (
    entropy_bits,
    has_top_pair,
    top_columns,
    top_k_hits,
    top_pair_hits,
)
from fireassay.classifiers import as_classifier
from fireassay.core.evidence import host_size, library_versions
from fireassay.core.seeds import generator
from fireassay.data import DataSet, fashion_mnist, mnist
from fireassay.networks.cnn import Cnn
from fireassay.networks.densenet import DenseNet
from fireassay.networks.mlp import Mlp
from fireassay.networks.resnet import resnet
from fireassay.networks.training import train

SETS = {"mnist": mnist, "fashion-mnist": fashion_mnist}
SHAPE = (28, 28)
MODELS: dict[str, Callable[[], torch.nn.Module]] = {
    "CNN": lambda: Cnn(SHAPE, 10, width=16),
    "MLP": lambda: Mlp(SHAPE, 10, (128, 64)),
    "DenseNet": lambda: DenseNet(SHAPE, 10),
    "ResNet": lambda: resnet(18, 10, width=8, size=28),
}
# Table 1: (training, test) -> top-1, top-2, top-pair, entropy, averaged over four architectures
PAPER = {
    "fashion-mnist": {
        ("mixed", "ambiguous"): (0.51, 0.94, 0.87, 1.33),
        ("mixed", "nominal"): (0.88, 0.96, None, 0.35),
        ("clean", "ambiguous"): (0.32, 0.49, 0.14, 1.05),
        ("clean", "nominal"): (0.88, 0.97, None, 0.33),
    },
    "mnist": {
        ("mixed", "ambiguous"): (0.53, 0.98, 0.95, 1.22),
        ("mixed", "nominal"): (0.97, 0.99, None, 0.15),
        ("clean", "ambiguous"): (0.42, 0.64, 0.32, 0.73),
        ("clean", "nominal"): (0.97, 0.99, None, 0.10),
    },
    "baseline (mnist)": {
        ("mixed", "ambiguous"): (0.72, 0.91, None, 0.88),
        ("mixed", "nominal"): (0.97, 0.99, None, 0.12),
        ("clean", "ambiguous"): (0.65, 0.85, None, 0.68),
        ("clean", "nominal"): (0.97, 0.99, None, 0.11),
    },
}
NUMBERS = ("top1", "top2", "top_pair", "entropy")


def row(
    model: torch.nn.Module, X: NDArray[Any], labels: NDArray[Any], soft: NDArray[Any] | None
) -> dict[str, float]:
    """Top-1 and top-2 against the given label, top-pair where every soft label has one."""
    predicted = as_classifier(model, output="logits", classes=range(10)).predict_proba(X)
    found = {
        "top1": float(top_k_hits(predicted, labels, 1).mean()),
        "top2": float(top_k_hits(predicted, labels, 2).mean()),
        "top_pair": float("nan"),
        "entropy": float(entropy_bits(predicted).mean()),
    }
    if soft is not None:
        higher = top_columns(soft, 1)[:, 0]
        found["top1_higher"] = float(top_k_hits(predicted, higher, 1).mean())
        if has_top_pair(soft).all():
            found["top_pair"] = float(top_pair_hits(soft, predicted).mean())
    return found


def study(
    nominal: tuple[NDArray[Any], NDArray[Any]],
    extra: tuple[NDArray[Any], NDArray[Any]],
    ambiguous: tuple[NDArray[Any], NDArray[Any], NDArray[Any]],
    test: DataSet,
    epochs: int,
) -> dict[str, Any]:
    """Every architecture, trained on nominal and on mixed rows."""
    order = generator(0, "study mix").permutation(len(nominal[0]) + len(extra[0]))
    rows = {
        "clean": nominal,
        "mixed": tuple(np.concatenate([a, b])[order] for a, b in zip(nominal, extra, strict=True)),
    }
    found: dict[str, Any] = {}
    for name, build in MODELS.items():
        for training, (X, y) in rows.items():
            torch.manual_seed(0)
            model = build()
            done = train(model, X, y.astype(np.int64), epochs, learning_rate=2e-3)
            key = f"{training} {name}"
            found[key] = {
                "ambiguous": row(model, ambiguous[0], ambiguous[1], ambiguous[2]),
                "nominal": row(model, test.X, test.labels, None),
                "cpu_seconds": done.cpu_seconds,
            }
            shown = {n: round(found[key]["ambiguous"][n], 3) for n in NUMBERS}
            print(f"  {key}: {shown}", flush=True)
    return found


def sets_of(
    name: str, training: DataSet, folder: Path | None
) -> tuple[ambiguity.AmbiguousSet, ambiguity.AmbiguousSet]:
    """The ambiguous test and training set, from different autoencoders."""
    if folder is not None:
        return (
            ambiguity.read_set(folder / name / "test"),
            ambiguity.read_set(folder / name / "train"),
        )
    gen = ambiguity.AmbiguityGenerator(tries=2).fit(training.X, training.labels)
    return gen.sample(10_000, 0.25, "test"), gen.sample(20_000, 0.4, "train")


def averages(found: dict[str, Any], name: str) -> list[str]:
    """Markdown rows in the shape of Table 1, the paper's numbers beside ours."""
    lines = []
    for (training, test), paper in PAPER[name].items():
        cells = []
        for number, theirs in zip(NUMBERS, paper, strict=True):
            values = [found[f"{training} {model}"][test][number] for model in MODELS]
            ours = float(np.mean(values))
            cells.append(
                "n.a." if np.isnan(ours) else f"{ours:.2f} ({'–' if theirs is None else theirs})"
            )
        lines.append(f"| {name} | {training} | {test} | " + " | ".join(cells) + " |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", choices=list(SETS))
    parser.add_argument("--sets", type=Path)
    parser.add_argument("--rows", type=int, default=15_000)
    parser.add_argument("--ambiguous", type=int, default=5_000)
    parser.add_argument("--epochs", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(1)
    path = Path(__file__).parents[1] / "benchmarks" / "results" / "ambiguity_table1.json"
    path.parent.mkdir(exist_ok=True)
    results = json.loads(path.read_text()) if path.exists() else {}
    results |= {"versions": library_versions(), "host": host_size(), "settings": {
        "rows": options.rows, "ambiguous": options.ambiguous, "epochs": options.epochs,
    }}  # fmt: skip
    lines = []
    for name in [options.only] if options.only else list(SETS):
        started = time.process_time()
        training, test = SETS[name]("train"), SETS[name]("test")
        amb, for_training = sets_of(name, training, options.sets)
        chosen = generator(0, "study rows").permutation(len(training))[: options.rows]
        nominal = (training.X[chosen], training.labels[chosen])
        extra = (for_training.X[: options.ambiguous], for_training.labels[: options.ambiguous])
        print(name)
        results[name] = study(nominal, extra, (amb.X, amb.labels, amb.soft_labels), test,
                              options.epochs)  # fmt: skip
        lines += averages(results[name], name)
        if name == "mnist":
            print("baseline (mnist)")
            made = ambiguity.VaeBaseline(epochs=3).fit(*nominal)
            both = made.sample(2_000 + options.ambiguous)
            cut = options.ambiguous
            found = study(
                nominal,
                (both.X[:cut], both.labels[:cut]),
                (both.X[cut:], both.labels[cut:], both.soft_labels[cut:]),
                test,
                options.epochs,
            )
            results["baseline (mnist)"] = found | {
                "non_ambiguous": both.non_ambiguous, "without_pair": both.without_pair,
            }  # fmt: skip
            lines += averages(found, "baseline (mnist)")
            print(f"  labels that are not ambiguous: {both.non_ambiguous:.0%} (paper: 37 %)")
        results[name]["cpu_seconds"] = time.process_time() - started
        path.write_text(json.dumps(results, indent=2) + "\n")
    print("\n| data | training | test | top-1 | top-2 | top-pair | entropy (bits) |")
    print("|---|---|---|---|---|---|---|")
    print("\n".join(lines))
    print("ours (paper); averages over CNN, MLP, DenseNet, ResNet; top-1 against the drawn label")


if __name__ == "__main__":
    main()
