"""Table 1 of the ambiguity paper: four architectures, clean and mixed-ambiguous training.

Run:  FIREASSAY_DATA=FOLDER python studies/ambiguity_table1.py --work FOLDER [--only mnist]

Shortened for two cores: 9,000 nominal rows and 3,000 ambiguous ones (the paper: 60,000 and
20,000), three epochs of batches of 32, small networks (a DenseNet with two blocks of three layers,
a ResNet-18 of width 4 instead of a ResNet-50), 4,000 nominal and 4,000 ambiguous inputs to test
(the paper: 10,000 each). More with --rows, --ambiguous, --tested, --epochs.
Ambiguous sets are read from ``FOLDER/DATA/test`` and ``FOLDER/DATA/train``, where
``benchmarks/ambiguity.py --work FOLDER`` leaves them; missing ones are generated and kept there.
Finished trainings are journalled in ``FOLDER/journal`` and not run again.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from fireassay import ambiguity
from fireassay.ambiguity.metrics import has_top_pair, top_columns, top_k_hits, top_pair_hits
from fireassay.classifiers import as_classifier
from fireassay.core.evidence import host_size, library_versions
from fireassay.core.hashing import sha256
from fireassay.core.probabilities import entropy_bits
from fireassay.core.seeds import generator
from fireassay.data import fashion_mnist, mnist
from fireassay.engine import Executor, RunStore
from fireassay.networks.cnn import Cnn
from fireassay.networks.mlp import Mlp
from fireassay.networks.resnet import ResNet
from fireassay.networks.training import train
from fireassay.papers.densenet import DenseNet
from fireassay.papers.vae_baseline import VaeBaseline

RESULTS = Path(__file__).parent / "results" / "ambiguity_table1.json"
DATA = {"mnist": mnist, "fashion-mnist": fashion_mnist}
BASELINE = "baseline (mnist)"
SHAPE = (28, 28)
MODELS: dict[str, Callable[[], torch.nn.Module]] = {
    "CNN": lambda: Cnn(SHAPE, 10, width=16),
    "MLP": lambda: Mlp(SHAPE, 10, (128, 64)),
    "DenseNet": lambda: DenseNet(SHAPE, 10),
    "ResNet": lambda: ResNet(18, SHAPE, 10, width=4),
}
NUMBERS = ("top1", "top2", "top_pair", "entropy")
Four = tuple[float, float, float | None, float]
# Top-1, top-2, top-pair, entropy: Table 1 (the average), then Tables 4 to 7.
PUBLISHED: dict[tuple[str, str, str], dict[str, Four]] = {
    ("fashion-mnist", "mixed", "ambiguous"): {
        "average": (0.51, 0.94, 0.87, 1.33), "CNN": (0.52, 0.95, 0.89, 1.56),
        "MLP": (0.49, 0.82, 0.63, 1.78), "DenseNet": (0.52, 0.99, 0.98, 0.98),
        "ResNet": (0.51, 0.99, 0.97, 1.01),
    },
    ("fashion-mnist", "mixed", "nominal"): {
        "average": (0.88, 0.96, None, 0.35), "CNN": (0.90, 0.97, None, 0.38),
        "MLP": (0.82, 0.93, None, 0.69), "DenseNet": (0.90, 0.98, None, 0.22),
        "ResNet": (0.92, 0.98, None, 0.12),
    },
    ("fashion-mnist", "clean", "ambiguous"): {
        "average": (0.32, 0.49, 0.14, 1.05), "CNN": (0.32, 0.51, 0.17, 1.51),
        "MLP": (0.32, 0.50, 0.13, 1.23), "DenseNet": (0.28, 0.44, 0.12, 0.71),
        "ResNet": (0.36, 0.50, 0.12, 0.76),
    },
    ("fashion-mnist", "clean", "nominal"): {
        "average": (0.88, 0.97, None, 0.33), "CNN": (0.90, 0.98, None, 0.39),
        "MLP": (0.83, 0.94, None, 0.57), "DenseNet": (0.89, 0.97, None, 0.23),
        "ResNet": (0.92, 0.98, None, 0.15),
    },
    ("mnist", "mixed", "ambiguous"): {
        "average": (0.53, 0.98, 0.95, 1.22), "CNN": (0.54, 0.99, 0.98, 1.48),
        "MLP": (0.53, 0.94, 0.86, 1.45), "DenseNet": (0.53, 1.00, 1.00, 0.96),
        "ResNet": (0.53, 0.99, 0.99, 0.99),
    },
    ("mnist", "mixed", "nominal"): {
        "average": (0.97, 0.99, None, 0.15), "CNN": (0.99, 1.00, None, 0.06),
        "MLP": (0.91, 0.96, None, 0.49), "DenseNet": (0.99, 1.00, None, 0.02),
        "ResNet": (0.99, 1.00, None, 0.02),
    },
    ("mnist", "clean", "ambiguous"): {
        "average": (0.42, 0.64, 0.32, 0.73), "CNN": (0.47, 0.73, 0.46, 1.07),
        "MLP": (0.45, 0.70, 0.43, 1.10), "DenseNet": (0.35, 0.53, 0.20, 0.31),
        "ResNet": (0.42, 0.59, 0.21, 0.43),
    },
    ("mnist", "clean", "nominal"): {
        "average": (0.97, 0.99, None, 0.10), "CNN": (0.99, 1.00, None, 0.04),
        "MLP": (0.92, 0.97, None, 0.34), "DenseNet": (0.99, 1.00, None, 0.03),
        "ResNet": (0.99, 1.00, None, 0.02),
    },
    (BASELINE, "mixed", "ambiguous"): {
        "average": (0.72, 0.91, None, 0.88), "CNN": (0.77, 0.93, None, 0.87),
        "MLP": (0.63, 0.86, None, 1.31), "DenseNet": (0.75, 0.93, None, 0.67),
        "ResNet": (0.76, 0.92, None, 0.67),
    },
    (BASELINE, "mixed", "nominal"): {
        "average": (0.97, 0.99, None, 0.12), "CNN": (0.99, 1.00, None, 0.04),
        "MLP": (0.92, 0.97, None, 0.37), "DenseNet": (0.99, 1.00, None, 0.03),
        "ResNet": (0.99, 1.00, None, 0.03),
    },
    (BASELINE, "clean", "ambiguous"): {
        "average": (0.65, 0.85, None, 0.68), "CNN": (0.77, 0.93, None, 0.81),
        "MLP": (0.56, 0.80, None, 1.16), "DenseNet": (0.58, 0.83, None, 0.34),
        "ResNet": (0.67, 0.83, None, 0.41),
    },
    (BASELINE, "clean", "nominal"): {
        "average": (0.97, 0.99, None, 0.11), "CNN": (0.99, 1.00, None, 0.03),
        "MLP": (0.92, 0.97, None, 0.36), "DenseNet": (0.98, 1.00, None, 0.04),
        "ResNet": (0.99, 1.00, None, 0.02),
    },
}  # fmt: skip


def one_training(
    row: dict[str, str], work: str, sets: dict[str, str], settings: dict[str, int]
) -> dict[str, Any]:
    """Train one architecture on one kind of rows, and test it on everything it is asked about."""
    del sets  # Hashes of the sets: another set is another task.
    made, folder = row["made"], Path(work)
    name = "mnist" if made == BASELINE else made
    X, y = nominal_rows(name, settings["rows"])
    if row["training"] == "mixed":
        extra = _set(folder, made, "train", settings["ambiguous"])
        order = generator(0, "study mix").permutation(len(X) + len(extra[0]))
        X, y = np.concatenate([X, extra[0]])[order], np.concatenate([y, extra[1]])[order]
    model = MODELS[row["model"]]()
    epochs, batch = settings["epochs"], settings["batch"]
    done = train(model, X, y.astype(np.int64), epochs, batch_size=batch, learning_rate=2e-3)
    test, most = DATA[name]("test"), settings["tested"]
    tests = [made, BASELINE] if made == "mnist" and row["training"] == "clean" else [made]
    return {
        "cpu_seconds": done.cpu_seconds,
        "nominal": scores(model, test.X[:most], test.labels[:most], None),
        **{other: scores(model, *_set(folder, other, "test", most)) for other in tests},
    }


def scores(
    model: torch.nn.Module, X: NDArray[Any], labels: NDArray[Any], soft: NDArray[Any] | None
) -> dict[str, float | None]:
    """Top-1 and top-2 against the given label, top-pair where every soft label has one."""
    predicted = as_classifier(model, output="logits", classes=range(10)).predict_proba(X)
    found: dict[str, float | None] = {
        "top1": float(top_k_hits(predicted, labels, 1).mean()),
        "top2": float(top_k_hits(predicted, labels, 2).mean()),
        "top_pair": None,
        "entropy": float(entropy_bits(predicted).mean()),
    }
    if soft is not None:
        higher = top_columns(soft, 1)[:, 0]
        found["top1_higher"] = float(top_k_hits(predicted, higher, 1).mean())
        if has_top_pair(soft).all():
            found["top_pair"] = float(top_pair_hits(soft, predicted).mean())
    return found


def nominal_rows(name: str, n: int) -> tuple[NDArray[Any], NDArray[Any]]:
    training = DATA[name]("train")
    chosen = generator(0, "study rows").permutation(len(training))[:n]
    return training.X[chosen], training.labels[chosen]


def _set(
    folder: Path, name: str, split: str, most: int | None = None
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Inputs, drawn labels and soft labels of a set."""
    path = folder / ("baseline" if name == BASELINE else name) / split / "ambiguous.npz"
    with np.load(path, allow_pickle=False) as arrays:
        return arrays["X"][:most], arrays["y"][:most], arrays["soft_labels"][:most]


def make_sets(name: str, work: Path) -> dict[str, Any]:
    """The ambiguous test and training set, from different autoencoders, unless they are there."""
    if not (work / name / "train" / "manifest.json").exists():
        training = DATA[name]("train")
        gen = ambiguity.AmbiguityGenerator(tries=2).fit(training.X, training.labels)
        gen.sample(10_000, 0.25, "test").export(work / name / "test")
        gen.sample(20_000, 0.4, "train").export(work / name / "train")
    return {split: ambiguity.read_set(work / name / split).sha256 for split in ("test", "train")}


def make_baseline(work: Path, settings: dict[str, int]) -> dict[str, Any]:
    """Sets by one VAE and a filter; of its samples the first ones are for training."""
    note = work / "baseline" / "made.json"
    made_for = [settings[name] for name in ("rows", "ambiguous", "tested")]
    if not note.exists() or json.loads(note.read_text())["made_for"] != made_for:
        fitted = VaeBaseline(epochs=3).fit(*nominal_rows("mnist", settings["rows"]))
        cut = settings["ambiguous"]
        both = fitted.sample(cut + settings["tested"])
        for split, part in (("train", slice(cut)), ("test", slice(cut, None))):
            (work / "baseline" / split).mkdir(parents=True, exist_ok=True)
            np.savez(
                work / "baseline" / split / "ambiguous.npz",
                X=both.X[part], y=both.labels[part], soft_labels=both.soft_labels[part],
            )  # fmt: skip
        made = {
            "made_for": made_for,
            "non_ambiguous": both.non_ambiguous,
            "without_pair": both.without_pair,
            "kept": both.kept,
            "sha256": sha256(both.X, both.soft_labels, both.labels),
        }
        note.write_text(json.dumps(made))
    return dict(json.loads(note.read_text()))


def answers(parts: list[dict[str, Any]], made: str, training: str) -> dict[str, Any]:
    """By architecture: what a training gave on the ambiguous set ``made`` and on nominal rows."""
    source = "mnist" if made == BASELINE and training == "clean" else made
    return {
        part["model"]: {"ambiguous": part[made], "nominal": part["nominal"]}
        for part in parts
        if (part["made"], part["training"]) == (source, training)
    }


def markdown(results: dict[str, Any], each: bool) -> str:
    """Table 1 (averages), or Tables 4 to 7 (each architecture): ours, *the paper's*."""
    lines = [
        f"| data | training | test |{' model |' if each else ''} top-1 | top-2 | top-pair | bits |",
        "|---" * (7 + each) + "|",
    ]
    for (made, training, test), published in PUBLISHED.items():
        found = answers(results["parts"], made, training)
        if len(found) < len(MODELS) or (each and test == "nominal"):
            continue
        for model in MODELS if each else ["average"]:
            cells = []
            for number, theirs in zip(NUMBERS, published[model], strict=True):
                own = [found[m][test][number] for m in (MODELS if model == "average" else [model])]
                ours = "n.a." if None in own else f"{np.mean(own):.2f}"
                cells.append(ours if theirs is None else f"{ours} *{theirs:.2f}*")
            which = f"{made} | {training} | {test} |" + (f" {model} |" if each else "")
            lines.append(f"| {which} " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=False, help="Sets and journal are kept here.")
    parser.add_argument("--only", choices=list(DATA))
    parser.add_argument("--table", action="store_true", help="Only print the results as Markdown.")
    parser.add_argument("--rows", type=int, default=9_000)
    parser.add_argument("--ambiguous", type=int, default=3_000)
    parser.add_argument("--tested", type=int, default=4_000)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch", type=int, default=32)
    options = parser.parse_args()
    if not options.table:
        if options.work is None:
            parser.error("--work is needed to run the study")
        run(options)
    results = json.loads(RESULTS.read_text())
    print(markdown(results, each=False), markdown(results, each=True), sep="\n\n")
    print("\nours, *the paper's*; top-1 and top-2 against the drawn label")
    if "baseline" in results:
        share = results["baseline"]["non_ambiguous"]
        print(f"labels of the baseline that are not ambiguous: {share:.0%} (paper: 37 %)")


def run(options: argparse.Namespace) -> None:
    torch.set_num_threads(1)
    names = ("rows", "ambiguous", "tested", "epochs", "batch")
    settings = {name: int(getattr(options, name)) for name in names}
    results: dict[str, Any] = {
        "versions": library_versions(), "host": host_size(), "settings": settings, "parts": [],
    }  # fmt: skip
    for name in [options.only] if options.only else list(DATA):
        sets = make_sets(name, options.work)
        kinds = [(name, "clean"), (name, "mixed")]
        if name == "mnist":
            results["baseline"] = make_baseline(options.work, settings)
            sets["baseline"] = results["baseline"]["sha256"]
            kinds.append((BASELINE, "mixed"))
        rows = [
            {"made": made, "training": training, "model": model}
            for model in MODELS
            for made, training in kinds
        ]
        shared = {"work": str(options.work), "sets": sets, "settings": settings}
        with RunStore(options.work / "journal") as store:
            executor = Executor(store=store, progress=lambda i, n: print(i, "of", n, flush=True))
            found = executor.map(one_training, rows, shared, name=name)
        results["parts"] += [row | part for row, part in zip(rows, found, strict=True)]
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
