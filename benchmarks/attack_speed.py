"""Distances and CPU seconds of attacks beside foolbox, ART and a plain torch loop.

python benchmarks/attack_speed.py [--weights FOLDER] [--rows 64 200 1000] [--only decisions]

Digits and, with FIREASSAY_CIFAR10, CIFAR-10 (see strength_models). Default settings on our side. A
first call also finds out which block sizes give the same bytes: it stands beside later ones. Rows
that results/attack_speed.json holds already are not measured again: remove it for a fresh run.
"""

import argparse
import contextlib
import json
import os
import warnings
from datetime import date

import numpy as np
from figures import RESULTS
from measuring import cpu, side_by_side
from strength_models import SIZES, networks, rows

LIMITS = (10, 15, 20, 25, 30, 40, 50, 60, 75, 90, 110, 130, 160, 200, 250, 300, 400, 500, 700, 1000)
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


def kept(part, **key):
    """The row that an earlier run has measured, or None."""
    found = json.loads(PATH.read_text())[part] if PATH.exists() else []
    return next((row for row in found if row.items() >= key.items()), None)


def keep(part, row):
    """Add a row to the results, and show it."""
    record = (
        json.loads(PATH.read_text())
        if PATH.exists()
        else {"speeds": [], "decisions": [], "distances": []}
    )
    record[part].append({key: None if value != value else value for key, value in row.items()})
    PATH.write_text(json.dumps(record, indent=1) + "\n")
    print(json.dumps(row), flush=True)


def timed(call, rivals, repeats):
    """CPU seconds of our later calls and of rivals, in turn; ratios with intervals."""
    found, row = {}, {"repeats": repeats}
    for rival, other in rivals.items():
        found["ours"], found[rival], both = side_by_side(call, other, repeats)
        row["ours"] = both["ours_cpu_s"]
        row[rival] = both["peer_cpu_s"]
        row |= {f"{rival}_{key}": both[key] for key in ("ratio", "low", "high")}
    return found, row


def speeds(name, module, counts, chosen):
    """CPU seconds at each number of rows; shares that fell beside them."""
    import foolbox

    from fireassay import attacks

    eps = SIZES[name]["plain"]
    kinds = {
        "fgm": (lambda m, X, y: attacks.fgm(m, X, y, eps=eps),
                foolbox.attacks.LinfFastGradientAttack(), eps, (21, 21, 9)),
        "pgd": (lambda m, X, y: attacks.pgd(m, X, y, eps=eps, steps=10),
                foolbox.attacks.LinfPGD(steps=10), eps, (9, 5, 3)),
        "deepfool": (lambda m, X, y: attacks.deepfool(m, X, y),
                     foolbox.attacks.L2DeepFoolAttack(), None, (2, 1, 1)),
    }  # fmt: skip
    for kind in chosen:
        call, peer, size, repeats = kinds[kind]
        for n, times in zip(counts, repeats, strict=True):
            if kept("speeds", data=name, attack=kind, rows=n):
                continue
            _, _, X, y = rows(name, n)
            model = classifier(module)
            rivals = {"foolbox": lambda a=(peer, module, X, y, size): foolbox_run(*a)}
            if kind == "pgd":
                rivals["loop"] = lambda a=(module, X, y, eps): early_stopping(*a)
            own = lambda a=(model, X, y), c=call: c(*a)  # noqa: E731
            _, first = cpu(own)
            model.decide_block_sizes(rows(name, 300)[2], gradients=True)  # as a run does, once
            found, row = timed(own, rivals, times)
            row["ours_first"] = first
            before = model.queries, model.gradient_queries, model.rows_delivered
            own()
            after = model.queries, model.gradient_queries, model.rows_delivered
            spent = np.subtract(after, before)
            row = {"data": name, "attack": kind, "rows": n, "date": date.today().isoformat(),
                   **row, "asked": spent.tolist(),
                   "ours_fell": float(found["ours"].success.mean())}  # fmt: skip
            row |= {f"{rival}_fell": float(found[rival][1].mean()) for rival in rivals}
            if kind == "deepfool":
                row["ours_median"] = float(np.median(found["ours"].distance))
                theirs = measured(*found["foolbox"], X, "l2")
                row["foolbox_median"] = float(np.median(theirs))
            keep("speeds", row)


def distances(name, module, n):
    """Median distance of attacks that look for the nearest failure, with CPU seconds."""
    from foolbox import attacks as fb

    from fireassay import attacks

    X, y = right_rows(name, module, n, n)
    model = classifier(module)
    model.decide_block_sizes(rows(name, 300)[2], gradients=True)
    tried = [
        ("deepfool", "l2", fb.L2DeepFoolAttack()),
        ("deepfool", "linf", fb.LinfDeepFoolAttack()),
        ("fmn", "l0", fb.L0FMNAttack(steps=100)),
        ("fmn", "l1", fb.L1FMNAttack(steps=100)),
        ("fmn", "l2", fb.L2FMNAttack(steps=100)),
        ("fmn", "linf", fb.LInfFMNAttack(steps=100)),
    ]
    for attack, norm, peer in tried:
        if kept("distances", data=name, attack=attack, norm=norm):
            continue
        found, (moved, fell), both = side_by_side(
            lambda a=attack, o=norm: attacks.make(a, norm=o)(model, X, y),
            lambda p=peer: foolbox_run(p, module, X, y),
            2,
        )
        keep("distances", {
            "data": name, "attack": attack, "norm": norm, "rows": len(X),
            "ours": float(np.median(found.distance)), "ours_cpu_s": both["ours_cpu_s"],
            "foolbox": float(np.median(measured(moved, fell, X, norm))),
            "foolbox_cpu_s": both["peer_cpu_s"], "ratio": both["ratio"],
        })  # fmt: skip


def by_decisions(name, module, n):
    """HopSkipJump and Boundary on n rows at the distance that a peer reached, near and far."""
    from foolbox import attacks as fb

    X, y = right_rows(name, module, 1400, n)
    model = classifier(module)
    model.decide_block_sizes(rows(name, 300)[2])  # a first call is measured elsewhere
    peers = [("hopskipjump", f"foolbox, {steps} steps",
              lambda s=steps: foolbox_run(fb.HopSkipJumpAttack(steps=s), module, X, y))
             for steps in (1, 4, 12)]  # fmt: skip
    peers += [("hopskipjump", f"ART, {steps} steps",
               lambda s=steps: art_hopskipjump(module, X, y, s))
              for steps in (1, 4, 10)]  # fmt: skip
    peers.append(("boundary", "foolbox, 1000 steps",
                  lambda: foolbox_run(fb.BoundaryAttack(steps=1000), module, X, y)))  # fmt: skip
    for attack, peer, run in peers:
        if kept("decisions", data=name, attack=attack, peer=peer, rows=n):
            continue
        with counted(module) as theirs_sent:
            (moved, fell), theirs = cpu(run)
        aim = float(np.median(measured(moved, fell, X, "l2")))
        for limit in LIMITS:
            own = lambda a=attack, q=limit: attack_within(a, q, model, X, y)  # noqa: E731
            found, seconds = cpu(own)
            if np.median(found.distance) <= aim:
                break
        with counted(module) as ours_sent:
            own()
        seconds = float(np.median([seconds, cpu(own)[1], cpu(own)[1]]))
        floor = cpu(lambda sizes=ours_sent: replay(module, sizes, X.shape[1:]))[1]
        keep("decisions", {
            "data": name, "attack": attack, "peer": peer, "rows": n, "limit": limit,
            "ours": float(np.median(found.distance)), "ours_cpu_s": seconds, "theirs": aim,
            "theirs_cpu_s": theirs, "ratio": theirs / seconds, "module_cpu_s": floor,
            "ours_sent": [len(ours_sent), sum(ours_sent)],
            "theirs_sent": [len(theirs_sent), sum(theirs_sent)],
        })  # fmt: skip


def attack_within(attack, limit, model, X, y):
    """Our attack at its default settings with this many queries per row."""
    from fireassay import attacks

    return attacks.make(attack, max_queries=limit)(model, X, y)


@contextlib.contextmanager
def counted(module):
    """Meanwhile, the sizes of all batches that the module gets (ART calls its layers itself)."""
    sizes = []
    last = list(module.modules())[-1]
    hook = last.register_forward_hook(lambda _module, _given, out: sizes.append(len(out)))
    yield sizes
    hook.remove()


def replay(module, sizes, shape):
    """The bare module on batches of these sizes: what no attack that asks so can do without."""
    import torch

    with torch.no_grad():
        for size in sizes:
            module(torch.zeros(size, *shape))


def art_hopskipjump(module, X, y, steps):
    """ART's HopSkipJump as it is: every sample by itself."""
    import torch
    from art.attacks.evasion import HopSkipJump
    from art.estimators.classification import PyTorchClassifier

    class Float32(PyTorchClassifier):
        """ART feeds float64 to torch under numpy 2."""

        def predict(self, x, **options):
            return super().predict(np.asarray(x, dtype=np.float32), **options)

    np.random.seed(0)  # noqa: NPY002  ART draws from it
    model = Float32(module, torch.nn.CrossEntropyLoss(), X.shape[1:], 10, clip_values=(0.0, 1.0))
    attack = HopSkipJump(model, max_iter=steps, verbose=False)
    moved = np.asarray(attack.generate(X.copy(), np.eye(10, dtype=np.float32)[y]), np.float32)
    return moved, ~module_right(module, moved, y)


def right_rows(name, module, last, n):
    """The first n rows that the module gets right, of this many last ones."""
    _, _, X, y = rows(name, last)
    right = np.flatnonzero(module_right(module, X, y))[:n]
    return X[right], y[right]


def module_right(module, X, y):
    import torch

    with torch.no_grad():
        return module(torch.tensor(X)).argmax(1).numpy() == y


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--weights")
    arguments.add_argument("--rows", type=int, nargs="+", default=[64, 200, 1000])
    arguments.add_argument("--samples", type=int, default=60)
    arguments.add_argument("--decision-rows", type=int, nargs="+", default=[12, 60])
    arguments.add_argument("--data", nargs="+", default=["digits", "cifar10"])
    arguments.add_argument("--only", nargs="+", default=list(PARTS))
    given = arguments.parse_args()
    warnings.simplefilter("ignore")
    for name in given.data:
        if name == "cifar10" and "FIREASSAY_CIFAR10" not in os.environ:
            continue
        module = networks(name, given.weights)["plain"]
        for part in given.only:
            PARTS[part](name, module, given)


PARTS = {
    "steps": lambda name, module, given: speeds(name, module, given.rows, ("fgm", "pgd")),
    "decisions": lambda name, module, given: [
        by_decisions(name, module, n) for n in given.decision_rows
    ],
    "distances": lambda name, module, given: distances(name, module, given.samples),
    "deepfool": lambda name, module, given: speeds(name, module, given.rows, ("deepfool",)),
}


if __name__ == "__main__":
    main()
