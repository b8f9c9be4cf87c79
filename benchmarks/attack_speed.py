"""Distances and CPU seconds of attacks beside foolbox, ART and a plain torch loop.

python benchmarks/attack_speed.py [--weights FOLDER] [--rows 64 200 1000]

Digits and, with FIREASSAY_CIFAR10, CIFAR-10 (see strength_models). Default settings on our side. A
first call also finds out which block sizes give the same bytes: it stands beside later ones. Rows
that results/attack_speed.json holds already are not measured again: remove it for a fresh run.
"""

import argparse
import json
import os
import warnings

import numpy as np
from figures import RESULTS
from measuring import cpu
from strength_models import SIZES, networks, rows

HSJ_ROWS = 16
PATH = RESULTS / "attack_speed.json"


def classifier(module):
    from fireassay import as_classifier

    return as_classifier(module, output="logits", classes=range(10), bounds=(0, 1))


def foolbox_run(attack, module, X, y, eps=None):
    """What foolbox returns: points, and which are misclassified."""
    import foolbox
    import torch

    torch.manual_seed(0)
    model = foolbox.PyTorchModel(module, (0, 1))
    goal = foolbox.criteria.Misclassification(torch.tensor(y.astype(np.int64)))
    _, moved, fell = attack(model, torch.tensor(X), goal, epsilons=eps)
    return moved.numpy(), fell.numpy()


def early_stopping(module, X, y, eps, steps=10):
    """Twenty lines of torch: PGD that leaves fallen rows alone."""
    import torch

    torch.manual_seed(0)
    x, t = torch.tensor(X), torch.tensor(y.astype(np.int64))
    points = (x + eps * (2 * torch.rand_like(x) - 1)).clamp(0, 1)
    going = torch.arange(len(x))
    for _ in range(steps):
        here = points[going].requires_grad_(True)
        scores = module(here)
        loss = torch.nn.functional.cross_entropy(scores, t[going], reduction="sum")
        (slope,) = torch.autograd.grad(loss, here)
        right = scores.argmax(1) == t[going]
        moved = here.detach() + eps / 4 * slope.sign()
        moved = torch.minimum(torch.maximum(moved, x[going] - eps), x[going] + eps).clamp(0, 1)
        points[going[right]] = moved[right]
        going = going[right]
        if not len(going):
            break
    with torch.no_grad():
        return points.numpy(), module(points).argmax(1).numpy() != y


def measured(points, fell, X, norm):
    moves = (points.astype(np.float64) - X).reshape(len(X), -1)
    from fireassay.attacks.norms import length

    return np.where(fell, length(moves, norm), np.inf)


def best_of(call, times):
    found = [cpu(call) for _ in range(times)]
    return found[0][0], min(seconds for _, seconds in found)


def kept(part, **key):
    """The row that an earlier run has measured, or None."""
    found = json.loads(PATH.read_text())[part] if PATH.exists() else []
    return next((row for row in found if row.items() >= key.items()), None)


def keep(part, row):
    """Add a row to the results, and show it."""
    record = json.loads(PATH.read_text()) if PATH.exists() else {"distances": [], "speeds": []}
    record[part].append(row)
    PATH.write_text(json.dumps(record, indent=1) + "\n")
    print(json.dumps(row), flush=True)


def speeds(name, module, counts):
    """CPU seconds at each number of rows; shares that fell beside them."""
    import foolbox

    from fireassay import attacks

    eps = SIZES[name]["plain"]
    kinds = {
        "pgd": (lambda m, X, y: attacks.pgd(m, X, y, eps=eps, steps=10),
                foolbox.attacks.LinfPGD(steps=10), eps),
        "deepfool": (lambda m, X, y: attacks.deepfool(m, X, y),
                     foolbox.attacks.L2DeepFoolAttack(), None),
    }  # fmt: skip
    for kind, (call, peer, size) in kinds.items():
        for n in counts:
            if kept("speeds", data=name, attack=kind, rows=n):
                continue
            _, _, X, y = rows(name, n)
            times = 3 if n < 1000 else 2
            model = classifier(module)
            _, first = cpu(lambda a=(model, X, y), c=call: c(*a))
            found, later = best_of(lambda a=(model, X, y), c=call: c(*a), times)
            (moved, fell), theirs = best_of(
                lambda a=(peer, module, X, y, size): foolbox_run(*a), times
            )
            row = {"data": name, "attack": kind, "rows": n, "ours_first": first, "ours": later,
                   "foolbox": theirs, "ours_fell": float(found.success.mean()),
                   "foolbox_fell": float(fell.mean())}  # fmt: skip
            if kind == "pgd":
                (_, fell), row["loop"] = best_of(
                    lambda a=(module, X, y, eps): early_stopping(*a), times
                )
                row["loop_fell"] = float(fell.mean())
            else:
                row["ours_median"] = float(np.median(found.distance))
                row["foolbox_median"] = float(np.median(measured(moved, fell, X, "l2")))
            keep("speeds", row)


def distances(name, module, n):
    """Median distance of attacks that look for the nearest failure, with CPU seconds."""
    from foolbox import attacks as fb

    from fireassay import attacks

    _, _, X, y = rows(name, n)
    right = module_right(module, X, y)
    X, y = X[right], y[right]
    model = classifier(module)
    tried = [
        ("deepfool", "l2", {}, fb.L2DeepFoolAttack()),
        ("deepfool", "linf", {}, fb.LinfDeepFoolAttack()),
        ("fmn", "l0", {}, fb.L0FMNAttack(steps=100)),
        ("fmn", "l1", {}, fb.L1FMNAttack(steps=100)),
        ("fmn", "l2", {}, fb.L2FMNAttack(steps=100)),
        ("fmn", "linf", {}, fb.LInfFMNAttack(steps=100)),
    ]
    for attack, norm, settings, peer in tried:
        if kept("distances", data=name, attack=attack, norm=norm):
            continue
        found, seconds = cpu(
            lambda a=attack, o=norm, s=settings: attacks.make(a, norm=o, **s)(model, X, y)
        )
        (moved, fell), theirs = cpu(lambda p=peer: foolbox_run(p, module, X, y))
        keep("distances", _row(name, attack, norm, found, seconds, moved, fell, theirs, X))
    X, y = X[:HSJ_ROWS], y[:HSJ_ROWS]
    for attack, peer, limits in (
        ("hopskipjump", fb.HopSkipJumpAttack(steps=12), (40, 90, 150, 250, 400, 650, 1000)),
        ("boundary", fb.BoundaryAttack(steps=1000), (25, 60, 120, 250, 500, 1000)),
    ):
        if kept("distances", data=name, attack=attack, norm="l2"):
            continue
        (moved, fell), theirs = cpu(lambda p=peer: foolbox_run(p, module, X, y))
        aim = float(np.median(measured(moved, fell, X, "l2")))
        for limit in limits:
            found, seconds = cpu(
                lambda a=attack, q=limit: attacks.make(a, max_queries=q)(model, X, y)
            )
            if np.median(found.distance) <= aim:
                break
        row = _row(name, attack, "l2", found, seconds, moved, fell, theirs, X)
        keep("distances", row | {"limit": limit})


def module_right(module, X, y):
    import torch

    with torch.no_grad():
        return module(torch.tensor(X)).argmax(1).numpy() == y


def _row(name, attack, norm, found, seconds, moved, fell, theirs, X):
    return {"data": name, "attack": attack, "norm": norm, "rows": len(X),
           "ours": float(np.median(found.distance)), "ours_cpu_s": seconds,
           "foolbox": float(np.median(measured(moved, fell, X, norm))),
           "foolbox_cpu_s": theirs}  # fmt: skip


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--weights")
    arguments.add_argument("--rows", type=int, nargs="+", default=[64, 200, 1000])
    arguments.add_argument("--samples", type=int, default=60)
    given = arguments.parse_args()
    warnings.simplefilter("ignore")
    names = ["digits", *(["cifar10"] if "FIREASSAY_CIFAR10" in os.environ else [])]
    for name in names:
        module = networks(name, given.weights)["plain"]
        distances(name, module, given.samples)
        speeds(name, module, given.rows)


if __name__ == "__main__":
    main()
