"""The supervision paper's adversarial rows: four attacks at fixed budgets, to the last step.

Attacks of `fireassay.attacks` stop where a row is overturned, on the decision boundary, where
softmax is low by construction. An attack with a fixed budget goes on, and its rows are confident.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.core.threads import one_torch_thread

EPSILON, STEP, STEPS = 0.3, 0.1, 20
"""Of the usual toolbox on images in [0, 1]; the paper prints none (its toolbox takes 100 steps)."""


def fixed_budget_rows(module: Any, model: Any, X: NDArray[Any], y: NDArray[Any], seed: int) -> Any:
    """Rows of FGSM, BIM, PGD and DeepFool in turn that the model gets wrong, with their attack.

    Args:
        module, model: The network, and the same as a classifier.
        X, y: Rows in [0, 1] that the model gets right, a quarter of them for each attack.
        seed: Of PGD's starts.

    >>> import torch
    >>> from fireassay import as_classifier
    >>> net = torch.nn.Linear(1, 2)
    >>> cut = {"weight": torch.tensor([[-9.0], [9.0]]), "bias": torch.tensor([4.5, -4.5])}
    >>> _ = net.load_state_dict(cut)
    >>> model = as_classifier(net, output="logits", classes=[0, 1], bounds=(0, 1))
    >>> X = np.full((4, 1), 0.4, dtype=np.float32)
    >>> rows, names = fixed_budget_rows(net, model, X, np.zeros(4, dtype=int), seed=0)
    >>> sorted(names.tolist())
    ['bim', 'deepfool', 'fgsm', 'pgd']
    >>> np.allclose(rows[:2], 0.7)  # far over the boundary at 0.5
    True
    """
    from fireassay.attacks import make

    rows, names = [], []
    parts = np.array_split(np.arange(len(X)), 4)
    for name, part in zip(("fgsm", "bim", "pgd", "deepfool"), parts, strict=True):
        if not len(part):
            continue
        if name == "deepfool":
            found = make("deepfool", seed=seed)(model, X[part], y[part]).adversarial
        else:
            steps, step = (1, EPSILON) if name == "fgsm" else (STEPS, STEP)
            found = climbed(module, X[part], y[part], steps, step, seed if name == "pgd" else None)
        wrong = model.predict_proba(found).argmax(axis=1) != y[part]
        rows.append(np.asarray(found, dtype=np.float32)[wrong])
        names += [name] * int(wrong.sum())
    return np.concatenate(rows), np.array(names)


def climbed(
    module: Any, X: NDArray[Any], y: NDArray[Any], steps: int, step: float, seed: int | None
) -> NDArray[np.float32]:
    """Signed gradient steps within ``EPSILON`` (L∞) and [0, 1], all of them; None: from the row."""
    import torch

    from fireassay.core.seeds import generator

    with one_torch_thread():
        rows = torch.from_numpy(np.asarray(X, dtype=np.float32))
        labels = torch.from_numpy(np.asarray(y, dtype=np.int64))
        at = rows.clone()
        if seed is not None:
            noise = generator(seed, "pgd start").uniform(-EPSILON, EPSILON, rows.shape)
            at = (at + torch.from_numpy(noise.astype(np.float32))).clamp(0, 1)
        for _ in range(steps):
            at.requires_grad_(True)
            loss = torch.nn.functional.cross_entropy(module(at), labels, reduction="sum")
            (slope,) = torch.autograd.grad(loss, at)
            at = at.detach() + step * slope.sign()
            at = torch.minimum(torch.maximum(at, rows - EPSILON), rows + EPSILON).clamp(0, 1)
    return np.asarray(at.numpy())
