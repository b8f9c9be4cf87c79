"""Runner of Tables 1 and 4 to 7 of the ambiguity paper: networks, clean and mixed training."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.ambiguity.metrics import has_top_pair, top_columns, top_k_hits, top_pair_hits
from fireassay.classifiers import as_classifier
from fireassay.core.arrays import entropy_bits
from fireassay.core.hashing import sha256
from fireassay.core.seeds import derived_seed, generator
from fireassay.data import fashion_mnist, mnist
from fireassay.papers.ambiguity_published import BASELINE

DATA = {"mnist": mnist, "fashion-mnist": fashion_mnist}
KINDS = (
    ("mnist", "mixed"),
    ("mnist", "clean"),
    ("fashion-mnist", "mixed"),
    ("fashion-mnist", "clean"),
    (BASELINE, "mixed"),
)
SHORT = {"DenseNet": 4, "ResNet": 3}
"""Epochs of the deep networks, before one at a tenth of the rate: hours instead of a day."""
_SHAPE = (28, 28)


def networks() -> dict[str, Callable[[int], Any]]:
    """By architecture: an untrained network from a seed. CNN, DenseNet and ResNet are narrower."""
    from fireassay.networks.resnet import ResNet
    from fireassay.networks.small_networks import Cnn, Mlp
    from fireassay.papers.densenet import DenseNet

    return {
        "CNN": lambda seed: Cnn(_SHAPE, 10, width=16, seed=seed),
        "MLP": lambda seed: Mlp(_SHAPE, 10, (128, 64), seed=seed),
        "DenseNet": lambda seed: DenseNet(_SHAPE, 10, seed=seed),
        "ResNet": lambda seed: ResNet(18, _SHAPE, 10, width=4, seed=seed),
    }


def one_training(
    row: dict[str, Any], work: str, sets: dict[str, list[str]], settings: dict[str, Any]
) -> dict[str, Any]:
    """Train one architecture on one kind of rows, and test it on everything it is asked about.

    ``sets`` are hashes of the ambiguous sets in ``work``: another set is another task.
    """
    from fireassay.networks.training import train
    from fireassay.papers.supervision_networks import trained

    made, folder = row["made"], Path(work)
    name = "mnist" if made == BASELINE else made
    X, y = nominal_rows(name, settings["rows"])
    if row["training"] == "mixed":
        extra = ambiguous_set(folder, made, "train", settings["ambiguous"])
        order = generator(row["run"], "study mix").permutation(len(X) + len(extra[0]))
        X, y = np.concatenate([X, extra[0]])[order], np.concatenate([y, extra[1]])[order]
    model = networks()[row["model"]](derived_seed(row["run"], "table 1", row["model"]))
    started, seed = time.process_time(), derived_seed(row["run"], "table 1 order")
    if row["model"] in SHORT:
        trained(model, X, y.astype(np.int64), min(settings["epochs"], SHORT[row["model"]]), seed)
    else:
        train(
            model, X, y.astype(np.int64), settings["epochs"], batch_size=settings["batch"],
            learning_rate=2e-3, seed=seed,
        )  # fmt: skip
    seconds = time.process_time() - started
    test, most = DATA[name]("test"), settings["tested"]
    tests = [made, BASELINE] if made == "mnist" and row["training"] == "clean" else [made]
    tests = [other for other in tests if other in sets]
    return {
        "cpu_seconds": seconds,
        "nominal": scores(model, test.X[:most], test.labels[:most], None),
        **{other: scores(model, *ambiguous_set(folder, other, "test", most)) for other in tests},
    }


def scores(
    model: Any, X: NDArray[Any], labels: NDArray[Any], soft: NDArray[Any] | None
) -> dict[str, float | None]:
    """Top-1 and top-2 against the given label, top-pair where every soft label has one."""
    predicted = as_classifier(model, output="logits", classes=range(10)).predict_proba(X)
    found: dict[str, float | None] = {
        "top1": float(top_k_hits(predicted, labels, 1).mean()),
        "top2": float(top_k_hits(predicted, labels, 2).mean()),
        "top_pair": None,
        "entropy": float(entropy_bits(predicted).mean()),
        "rows": len(X),
    }
    if soft is not None:
        higher = top_columns(soft, 1)[:, 0]
        found["top1_higher"] = float(top_k_hits(predicted, higher, 1).mean())
        if has_top_pair(soft).all():
            found["top_pair"] = float(top_pair_hits(soft, predicted).mean())
    return found


def nominal_rows(name: str, n: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The first ``n`` training rows of a fixed random order."""
    training = DATA[name]("train")
    chosen = generator(0, "study rows").permutation(len(training))[:n]
    return training.X[chosen], training.labels[chosen]


def ambiguous_set(
    folder: Path, name: str, split: str, most: int | None = None
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Inputs, drawn labels and soft labels of a set."""
    path = folder / ("baseline" if name == BASELINE else name) / split / "ambiguous.npz"
    with np.load(path, allow_pickle=False) as arrays:
        return arrays["X"][:most], arrays["y"][:most], arrays["soft_labels"][:most]


def make_sets(row: dict[str, str], work: str, settings: dict[str, Any]) -> dict[str, Any]:
    """The ambiguous test and training set of ``row["made"]`` in ``work``; its hashes and CPU time.

    As published, both are drawn from all accepted autoencoders; only the draws differ.
    """
    started, made = time.process_time(), row["made"]
    make = _make_baseline if made == BASELINE else _make_ambiguous
    found = make(made, Path(work), settings)
    return found | {"cpu_seconds": time.process_time() - started}


def _make_ambiguous(name: str, work: Path, settings: dict[str, Any]) -> dict[str, Any]:
    from fireassay import ambiguity

    training = DATA[name]("train")
    made = ambiguity.AmbiguityGenerator(
        settings.get("pairs", "all"), settings["tries"], settings["preset"]
    ).fit(training.X[: settings["rows"]], training.labels[: settings["rows"]])
    made.sample(settings["tested"], 0.25, "any").export(work / name / "test")
    made.sample(settings["ambiguous"], 0.4, "any").export(work / name / "train")
    tried = made.autoencoders
    hashes = [ambiguity.read_set(work / name / split).sha256 for split in ("test", "train")]
    return {
        "sha256": hashes,
        "autoencoders": len(tried),
        "accepted": int((tried["split"] != "").sum()),
    }


def _make_baseline(_: str, work: Path, settings: dict[str, Any]) -> dict[str, Any]:
    """Sets by one VAE and a filter; of its samples the first ones are for training."""
    from fireassay.papers.vae_baseline import VaeBaseline

    fitted = VaeBaseline(epochs=3).fit(*nominal_rows("mnist", settings["rows"]))
    cut = settings["ambiguous"]
    both = fitted.sample(cut + settings["tested"])
    for split, part in (("train", slice(cut)), ("test", slice(cut, None))):
        (work / "baseline" / split).mkdir(parents=True, exist_ok=True)
        np.savez(
            work / "baseline" / split / "ambiguous.npz",
            X=both.X[part],
            y=both.labels[part],
            soft_labels=both.soft_labels[part],
        )
    return {
        "non_ambiguous": both.non_ambiguous,
        "without_pair": both.without_pair,
        "kept": both.kept,
        "sha256": [sha256(both.X, both.soft_labels, both.labels)],
    }
