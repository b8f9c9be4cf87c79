"""Ambiguity on MNIST and Fashion-MNIST: speed, acceptance, labels, and a model trained on both.

Run:  FIREASSAY_DATA=FOLDER python benchmarks/ambiguity.py [--only mnist] [--work FOLDER]
      [--pictures docs/images]

1. CPU seconds of the stacked training of 45 pairs against the paper's loop (one pair after the
   other, batch 1,000, 80 epochs), which is timed here on one epoch of two pairs, the fastest of
   three times, and scaled.
2. Pairs accepted at the first try; how different samples are, drawn by weight and uniformly.
3. Soft labels against an independent CNN trained on nominal data alone: over the confined latent
   space, and on the ambiguous test set.
4. The same small CNN trained on nominal and on mixed data: top-1, top-2, top-pair, entropy.
Test and training samples come from generators with different seeds, so from different
autoencoders.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import nn

from fireassay import ambiguity
from fireassay.ambiguity.export import tiles
from fireassay.ambiguity.sampling import decoded
from fireassay.ambiguity.stacked_networks import confined_anchors
from fireassay.classifiers import as_classifier
from fireassay.core.evidence import host_size, library_versions
from fireassay.data import DataSet, fashion_mnist, mnist
from fireassay.networks.small_networks import Cnn
from fireassay.networks.training import train

SETS = {"mnist": mnist, "fashion-mnist": fashion_mnist}
PAPER_EPOCHS = 80
PICTURES = 20
SHOWN = {
    "mnist": [(3, 8), (4, 9), (1, 7), (0, 1), (5, 6), (2, 5)],
    "fashion-mnist": [(0, 6), (2, 4), (5, 7), (1, 3), (7, 9), (5, 8)],
}


def paper_loop_seconds(data: DataSet, pairs: list[tuple[int, int]], epochs: int) -> float:
    """CPU seconds per pair and epoch of one rAAE as the paper trains it, one pair at a time."""

    def network(*sizes: int) -> nn.Sequential:
        layers: list[nn.Module] = []
        for i in range(len(sizes) - 1):
            layers.append(nn.Linear(sizes[i], sizes[i + 1]))
            if i < len(sizes) - 2:
                layers += [nn.LeakyReLU(0.3), nn.Dropout(0.1)]
        return nn.Sequential(*layers)

    flat = torch.from_numpy(data.X.reshape(len(data), -1).astype(np.float32))
    labels = torch.from_numpy(data.labels)
    started = time.process_time()
    for first, second in pairs:
        rows = torch.nonzero((labels == first) | (labels == second))[:, 0]
        x, side = flat[rows], (labels[rows] == second).float()
        encoder, decoder = network(784, 128, 128, 2), network(2, 128, 128, 784)
        judge = network(4, 128, 128, 1)
        adams = [
            torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], 1e-3),
            torch.optim.Adam(judge.parameters(), 1e-3),
            torch.optim.Adam(encoder.parameters(), 1e-3),
        ]
        cross_entropy = nn.functional.binary_cross_entropy_with_logits

        def step(adam: torch.optim.Adam, loss: torch.Tensor) -> None:
            adam.zero_grad()
            loss.backward()
            adam.step()

        for _ in range(epochs):
            for batch in torch.randperm(len(x)).split(1000):
                one_hot = torch.stack([1 - side[batch], side[batch]], 1)
                codes = encoder(x[batch])
                step(adams[0], nn.functional.mse_loss(torch.sigmoid(decoder(codes)), x[batch]))
                prior = torch.randn_like(codes) + torch.stack(
                    [6 * side[batch] - 3, torch.zeros(len(batch))], 1
                )
                real = judge(torch.cat([prior, one_hot], 1))
                fake = judge(torch.cat([encoder(x[batch]).detach(), one_hot], 1))
                step(
                    adams[1],
                    cross_entropy(real, torch.ones_like(real))
                    + cross_entropy(fake, torch.zeros_like(fake)),
                )
                fooled = judge(torch.cat([encoder(x[batch]), one_hot], 1))
                step(adams[2], cross_entropy(fooled, torch.ones_like(fooled)))
    return (time.process_time() - started) / (len(pairs) * epochs)


def second_class_share(model: Any, X: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """P(second class) given that it is one of the two, by a classifier of all classes."""
    probabilities = as_classifier(model, output="logits").predict_proba(X)
    rows = np.arange(len(X))
    two = np.stack([probabilities[rows, pairs[:, 0]], probabilities[rows, pairs[:, 1]]])
    return two[1] / np.maximum(two.sum(axis=0), 1e-12)


def label_errors(
    gen: ambiguity.AmbiguityGenerator, amb: ambiguity.AmbiguousSet, model: Any
) -> dict[str, float]:
    """Mean absolute difference of soft labels and the independent model."""
    fitted, gaps, analytic = gen.fitted_, [], []
    anchors, _ = confined_anchors(fitted.preset.latent_sd)
    points = anchors[::5]
    for member in fitted.members("test"):
        net = fitted.net(member)
        with torch.no_grad():
            codes = torch.from_numpy(points.astype(np.float32))[None]
            label = net.second_class_probability(codes)[0].numpy()
        images = gen.scaling_.restored(decoded(net, points))
        judged = second_class_share(model, images, np.tile(fitted.pairs[member], (len(points), 1)))
        gaps.append(np.abs(label - judged).mean())
        analytic.append(np.abs(1 / (1 + np.exp(-6 * points[:, 0])) - judged).mean())
    soft = amb.soft_labels[np.arange(len(amb)), amb.pair_positions[:, 1]]
    judged = second_class_share(model, amb.X, amb.pair_positions)
    return {
        "latent_space": float(np.mean(gaps)),
        "latent_space_analytic": float(np.mean(analytic)),
        "ambiguous_set": float(np.abs(soft - judged).mean()),
    }


def small_cnn(X: np.ndarray, y: np.ndarray, epochs: int, seed: int) -> nn.Module:
    model = Cnn(X.shape[1:], 10, width=16, hidden=64, seed=seed)
    train(model, X, y, epochs, batch_size=128, learning_rate=2e-3, seed=seed)
    return model


def measures(model: nn.Module, amb: ambiguity.AmbiguousSet, nominal: DataSet) -> dict[str, Any]:
    classifier = as_classifier(model, output="logits", classes=range(10))
    result = ambiguity.evaluate(classifier, amb)
    right = classifier.predict(nominal.X) == nominal.labels
    return {
        **{name: estimate.to_dict() for name, estimate in result.estimates.items()},
        "nominal_accuracy": float(right.mean()),
    }


def train_clean(name: str, epochs: int, work: Path) -> dict[str, Any]:
    training = SETS[name]("train")
    model = small_cnn(training.X, training.labels, epochs, seed=0)
    torch.save(model.state_dict(), work / "clean.pt")
    return {"epochs": epochs}


def generate(name: str, epochs: int, work: Path) -> dict[str, Any]:
    del epochs
    training = SETS[name]("train")
    started = time.process_time()
    gen = ambiguity.AmbiguityGenerator(tries=1, seed=0).fit(training.X, training.labels)
    stacked = time.process_time() - started
    started = time.process_time()
    test = gen.sample(10_000, delta_max=0.25)
    sampling = time.process_time() - started
    test.export(work / "test")
    rejected = gen.report["accepted"] == 0
    return {
        "stacked_seconds_45_pairs": stacked,
        "sampling_seconds_10000": sampling,
        "accepted_of_45": int((~rejected).sum()),
        "rejected": gen.report.loc[rejected, ["first", "second", "reason"]].values.tolist(),
        "hardest_pairs": gen.report.nsmallest(4, "reference_accuracy").to_dict(orient="records"),
        "label_error": label_errors(gen, test, saved_cnn(work / "clean.pt")),
        "nearest_neighbour": {
            name: float(ambiguity.diversity(amb)["nearest"].mean())
            for name, amb in (("weighted", test), ("uniform", gen.sample(10_000, weighted=False)))
        },
    }


def time_loop(name: str, epochs: int, work: Path) -> dict[str, Any]:
    del epochs
    training = SETS[name]("train")
    torch.manual_seed(0)
    per_epoch = min(paper_loop_seconds(training, [(3, 8), (4, 9)], 1) for _ in range(3))
    loop = per_epoch * 45 * PAPER_EPOCHS
    stacked = json.loads((work / "generate.json").read_text())["stacked_seconds_45_pairs"]
    return {
        "loop_seconds_per_pair_and_epoch": per_epoch,
        "loop_seconds_45_pairs_scaled": loop,
        "times_faster": loop / stacked,
    }


def generate_training(name: str, epochs: int, work: Path) -> dict[str, Any]:
    del epochs
    training = SETS[name]("train")
    gen = ambiguity.AmbiguityGenerator(tries=1, seed=1).fit(training.X, training.labels)
    gen.sample(20_000, delta_max=0.4).export(work / "train")
    return {"accepted_of_45_other_seed": int((gen.report["accepted"] > 0).sum())}


def train_mixed(name: str, epochs: int, work: Path) -> dict[str, Any]:
    training, nominal = SETS[name]("train"), SETS[name]("test")
    mixed = ambiguity.mix(training.X, training.labels, ambiguity.read_set(work / "train"))
    model = small_cnn(mixed.X, mixed.y.astype(np.int64), epochs, seed=0)
    test = ambiguity.read_set(work / "test")
    return {
        "clean": measures(saved_cnn(work / "clean.pt"), test, nominal),
        "mixed": measures(model, test, nominal),
    }


STAGES = (train_clean, generate, time_loop, generate_training, train_mixed)


def saved_cnn(path: Path) -> nn.Module:
    model = Cnn((28, 28), 10, width=16, hidden=64)
    model.load_state_dict(torch.load(path, weights_only=True))
    return model.eval()


def run(name: str, epochs: int, work: Path, most_stages: int) -> dict[str, Any] | None:
    """All stages, or as many new ones as asked: what is done is not done again."""
    work.mkdir(parents=True, exist_ok=True)
    found: dict[str, Any] = {}
    for stage in STAGES:
        path = work / f"{stage.__name__}.json"
        if not path.exists():
            if most_stages == 0:
                return None
            most_stages -= 1
            path.write_text(json.dumps(stage(name, epochs, work), default=float))
            print(f"{name}: {stage.__name__} done", flush=True)
        found |= json.loads(path.read_text())
    return found


def show(name: str, found: dict[str, Any]) -> None:
    print(f"\n{name}")
    print(
        f"  45 pairs: {found['stacked_seconds_45_pairs']:.0f} CPU s; one after the other "
        f"{found['loop_seconds_45_pairs_scaled']:.0f} s (scaled): "
        f"{found['times_faster']:.0f} times faster"
    )
    print(f"  accepted: {found['accepted_of_45']} of 45; label error: {found['label_error']}")
    print(f"  distance to the nearest neighbour: {found['nearest_neighbour']}")
    print(f"  {'training':<8}{'top-1':>8}{'drawn':>8}{'top-2':>8}{'top-pair':>10}{'bits':>7}"
          f"{'nominal':>10}{'AUROC':>8}")  # fmt: skip
    for kind in ("clean", "mixed"):
        numbers = found[kind]
        print(
            f"  {kind:<8}"
            + "".join(
                f"{numbers[key]['value']:>{width}.3f}"
                for key, width in (
                    ("top1", 8), ("top1_drawn", 8), ("top2", 8), ("top_pair", 10), ("entropy", 7),
                )
            )
            + f"{numbers['nominal_accuracy']:>10.4f}{numbers['separation']['value']:>8.3f}"
        )  # fmt: skip


def draw(name: str, work: Path, folder: Path) -> None:
    """A row of the first samples of each of some pairs, as the documentation shows them."""
    amb = ambiguity.read_set(work / "test")
    rows = [amb.X[amb.of_pair(*pair)[:PICTURES]] for pair in SHOWN[name]]
    pixels = np.kron(tiles(np.concatenate(rows), PICTURES), np.ones((2, 2), dtype=np.uint8))
    Image.fromarray(pixels).save(folder / f"ambiguity_{name}.png")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", choices=list(SETS))
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--work", type=Path, help="Keep sets and models here, and go on from them.")
    parser.add_argument("--pictures", type=Path, help="Folder to draw samples to.")
    parser.add_argument("--stages", type=int, default=99, help="Stop after so many new stages.")
    options = parser.parse_args()
    torch.set_num_threads(1)
    path = Path(__file__).parent / "results" / "ambiguity.json"
    path.parent.mkdir(exist_ok=True)
    results = json.loads(path.read_text()) if path.exists() else {}
    results |= {"versions": library_versions(), "host": host_size()}
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or Path(temporary)
        for name in [options.only] if options.only else list(SETS):
            found = run(name, options.epochs, work / name, options.stages)
            if found is None:
                continue
            results[name] = found
            show(name, found)
            if options.pictures is not None:
                draw(name, work / name, options.pictures)
            path.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
