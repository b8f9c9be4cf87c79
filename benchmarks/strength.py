"""How many digits stand: our default attacks beside ART's Square and AutoAttack, equal budgets.

python benchmarks/strength.py [--samples 80] [--budget 300]
"""

import argparse
import json
from pathlib import Path

import numpy as np
from figures import RESULTS
from measuring import cpu

EPS = {"plain": 0.1, "trained": 0.25}
ROWS, EPOCHS = 5000, 6


def digits(samples):
    """Rows of MNIST for training, and rows kept apart from them."""
    from fireassay.data import mnist

    found = mnist("train")
    X = np.asarray(found.X, dtype=np.float32).reshape(-1, 1, 28, 28)
    X /= X.max()
    return X[:ROWS], found.y[:ROWS], X[-samples:], found.y[-samples:]


def network(X, y, eps, seed=0):
    """A small CNN; with ``eps`` > 0 trained on points of four gradient steps inside that ball."""
    import torch
    from torch import nn
    from torch.nn.functional import cross_entropy

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    module = nn.Sequential(
        nn.Conv2d(1, 16, 4, 2, 1), nn.ReLU(), nn.Conv2d(16, 32, 4, 2, 1), nn.ReLU(), nn.Flatten(),
        nn.Linear(1568, 100), nn.ReLU(), nn.Linear(100, 10),
    )  # fmt: skip
    optimiser = torch.optim.Adam(module.parameters(), 2e-3)
    inputs, labels = torch.tensor(X), torch.tensor(y.astype(np.int64))
    for epoch in range(EPOCHS):
        radius = eps * min(1.0, (epoch + 1) / 4)
        for batch in torch.randperm(len(inputs)).split(100):
            x, t = inputs[batch], labels[batch]
            if eps:
                moved = (x + radius * (2 * torch.rand_like(x) - 1)).clamp(0, 1)
                for _ in range(4):
                    moved.requires_grad_(True)
                    (slope,) = torch.autograd.grad(cross_entropy(module(moved), t), moved)
                    moved = moved.detach() + radius / 2 * slope.sign()
                    moved = x + (moved - x).clamp(-radius, radius)
                    moved = moved.clamp(0, 1)
                x = moved
            optimiser.zero_grad()
            cross_entropy(module(x), t).backward()
            optimiser.step()
    return module.eval()


def scaled(module, factor):
    """The same decisions with logits so many times as large."""
    import torch

    class Scaled(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = module

        def forward(self, x):
            return factor * self.inner(x)

    return Scaled().eval()


def softmaxed(module):
    """The same decisions as float32 probabilities."""
    import torch

    return torch.nn.Sequential(module, torch.nn.Softmax(dim=1)).eval()


def classifiers(modules):
    """Name, eps, classifier and module of every case."""
    from fireassay import as_classifier

    shared = {"classes": range(10), "bounds": (0, 1)}
    for kind, module in modules.items():
        for factor in (1, 50, 100):
            model = as_classifier(scaled(module, factor), output="logits", **shared)
            yield f"{kind}, logits × {factor}", EPS[kind], model, scaled(module, factor)
        model = as_classifier(softmaxed(scaled(module, 50)), output="probabilities", **shared)
        yield f"{kind}, float32 saturated", EPS[kind], model, softmaxed(scaled(module, 50))
        inner = as_classifier(module, output="logits", **shared)
        model = as_classifier(inner.predict_proba, **shared)
        yield f"{kind}, probabilities only", EPS[kind], model, module


def ours(model, X, y, eps, budget):
    """Standing share of what `fireassay run` tries."""
    from fireassay import attacks, survival

    found = survival.observe(model, X, y, attacks.suite(model, eps), budget=budget)
    standing = found.standing()
    spent = found.frame().groupby("sample")[["queries", "gradient_queries"]].sum()
    total = spent["queries"] + 2 * spent["gradient_queries"]
    return {"standing": standing.value, "low": standing.low, "high": standing.high,
            "most_spent": float(total.max())}  # fmt: skip


def art_standing(module, X, y, eps, budget, *, gradients):
    """Standing shares of ART's Square and AutoAttack at about the budget, in float32."""
    import torch
    from art.attacks.evasion import AutoAttack, AutoProjectedGradientDescent, SquareAttack
    from art.estimators.classification import PyTorchClassifier

    wrapped = PyTorchClassifier(
        module, torch.nn.CrossEntropyLoss(), X.shape[1:], 10, clip_values=(0.0, 1.0)
    )
    right = wrapped.predict(X).argmax(axis=1) == y
    X, y = X[right], y[right]
    hot = np.eye(10, dtype=np.float32)[y]
    square = SquareAttack(wrapped, eps=eps, max_iter=budget, nb_restarts=1, verbose=False)
    tried = {"ART Square": [square]}
    if gradients:
        steps = budget // 3
        common = {"norm": np.inf, "eps": eps, "eps_step": 2 * eps, "max_iter": steps // 3,
                  "nb_random_init": 1, "batch_size": len(X), "verbose": False}  # fmt: skip
        parts = [
            AutoProjectedGradientDescent(wrapped, loss_type=loss, **common)
            for loss in ("cross_entropy", "difference_logits_ratio")
        ]
        tried["ART AutoAttack"] = [
            AutoAttack(wrapped, eps=eps, eps_step=2 * eps, batch_size=len(X),
                       attacks=[*parts, square])
        ]  # fmt: skip
    shares = {}
    for name, (attack,) in tried.items():
        np.random.seed(0)  # noqa: NPY002  ART draws from it
        moved = np.asarray(attack.generate(X.copy(), hot), dtype=np.float32)
        inside = np.abs(moved.astype(np.float64) - X).reshape(len(X), -1).max(axis=1)
        fell = (wrapped.predict(moved).argmax(axis=1) != y) & (inside <= eps + 1e-6)
        shares[name] = float(1 - fell.mean())
    return shares


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--samples", type=int, default=80)
    arguments.add_argument("--budget", type=int, default=300)
    arguments.add_argument("--weights", type=Path)
    arguments.add_argument("--no-peer", action="store_true")
    arguments.add_argument("--only")
    given = arguments.parse_args()
    import torch

    train_X, train_y, X, y = digits(given.samples)
    modules = {}
    for kind, eps in (("plain", 0.0), ("trained", 0.2)):
        if given.weights and (stored := given.weights / f"{kind}.pt").exists():
            modules[kind] = torch.load(stored, weights_only=False)
        else:
            modules[kind], seconds = cpu(lambda eps=eps: network(train_X, train_y, eps))
            print(f"{kind} network: {seconds:.0f} CPU s")
            if given.weights:
                torch.save(modules[kind], stored)
    rows = []
    for name, eps, model, module in classifiers(modules):
        if given.only and given.only not in name:
            continue
        found, seconds = cpu(lambda m=model, e=eps: ours(m, X, y, e, given.budget))
        row = {"case": name, "eps": eps, "ours": found, "ours_cpu_s": seconds}
        if not given.no_peer:
            black = "logits" not in name  # ART refuses gradients of probabilities
            peer, seconds = cpu(
                lambda m=module, e=eps, b=black: art_standing(
                    m, X, y, e, given.budget, gradients=not b
                )
            )
            row |= {"peers": peer, "peer_cpu_s": seconds}
        rows.append(row)
        print(json.dumps(row), flush=True)
    if not given.only and not given.no_peer:
        record = {"samples": given.samples, "budget": given.budget, "rows": rows}
        (RESULTS / "strength.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
