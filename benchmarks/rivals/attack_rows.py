"""PGD and DeepFool against ART; foolbox and an early-stopping loop: benchmarks/attack_speed.py."""

import numpy as np
from race import Race, rival


def _attack(samples: int):
    from digits_network import digits_network

    module, model, X, y = digits_network()
    model.decide_block_sizes(X, gradients=True)  # as a run does, once
    right = np.flatnonzero(model.predict(X) == y)[:samples]
    return module, model, X[right], y[right]


def _art(module, X):
    import torch
    from art.estimators.classification import PyTorchClassifier

    return PyTorchClassifier(module, torch.nn.CrossEntropyLoss(), X.shape[1:], 10,
                             clip_values=(0.0, 1.0), device_type="cpu")  # fmt: skip


def _success(model, y):
    def agree(mine, theirs):
        adversarial = np.clip(np.asarray(theirs, dtype=np.float32), 0, 1)
        fell = (model.predict(adversarial) != y).mean()
        return f"success {mine.success.mean():.1%}, peer {fell:.1%}"

    return agree


@rival("ART PGD", "attacks", "PGD, ART's defaults, 900 digits", target=5)
def _(quick: bool) -> Race:
    from art.attacks.evasion import ProjectedGradientDescent

    from fireassay import attacks

    module, model, X, y = _attack(50 if quick else 900)
    theirs = ProjectedGradientDescent(_art(module, X), verbose=False)  # eps .3, 100 steps of .1
    return Race(
        lambda: attacks.pgd(model, X, y, norm="linf", eps=0.3, steps=100, step_size=0.1),
        lambda: theirs.generate(x=X, y=y), _success(model, y),
    )  # fmt: skip


@rival("ART DeepFool", "attacks", "DeepFool, ART's defaults, 100 digits", target=5)
def _(quick: bool) -> Race:
    from art.attacks.evasion import DeepFool

    from fireassay import attacks

    module, model, X, y = _attack(20 if quick else 100)
    theirs = DeepFool(_art(module, X), verbose=False)
    return Race(
        lambda: attacks.deepfool(model, X, y, steps=100, n_classes=10),
        lambda: theirs.generate(x=X), _success(model, y),
    )  # fmt: skip
