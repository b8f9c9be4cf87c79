"""How many rows stand: our default attacks beside ART and foolbox at equal budgets, nine models.

python benchmarks/strength.py [--samples 50] [--budget 300] [--weights FOLDER] [--data digits]

Settings of the attacks were chosen on other rows (digits 1,500 to 1,400 from the end) and not
changed afterwards. Budgets are forward-equivalents per row: a gradient counts 2, and its forward 1.
"""

import argparse
import json
import os
import warnings

import numpy as np
from figures import RESULTS
from measuring import cpu
from strength_models import cases, judged_wrong, networks, rows


def ours(model, defence, X, y, eps, budget):
    """Standing share of what `fireassay run` tries."""
    from fireassay import attacks, survival

    found = survival.observe(
        model, X, y, attacks.suite(model, eps), budget=budget, defence=defence, seed=0
    )
    standing = found.standing()
    table = found.frame()
    total = table["queries"] + 2 * table["gradient_queries"]
    masked = [a.status for a in found.evidence().assumptions if a.id == "gradients-not-masked"]
    return {"standing": standing.value, "low": standing.low, "high": standing.high,
            "rows": standing.n, "most_spent": float(total.max()), "not_masked": masked,
            "broken_by": table["made_by"].value_counts().to_dict()}  # fmt: skip


def peers(module, defended, X, y, eps, budget, *, gradients):
    """Standing shares of ART's Square and AutoAttack and foolbox's PGD, about at the budget."""
    right = ~judged_wrong(defended, module, X, y)
    if defended is not None and hasattr(defended, "withheld"):
        right &= ~defended.withheld(defended.predict_proba(X))
    X, y = X[right], y[right]
    square, apgd = "ART Square", "ART AutoAttack"
    tried = {square: lambda: _art_square(module, X, y, eps, budget)}
    if gradients:
        for loss in ("cross_entropy", "difference_logits_ratio"):
            tried[loss] = lambda kind=loss: _art_apgd(module, X, y, eps, budget, kind)
        tried["foolbox PGD"] = lambda: _foolbox(module, X, y, eps, budget)
    fell, seconds, refused = {}, {}, {}
    for name, attack in tried.items():
        try:
            moved, seconds[name] = cpu(attack)
        except ValueError as refusal:  # ART refuses logits that do not look like logits
            refused[name] = str(refusal)[:100]
            continue
        away = np.abs(moved.astype(np.float64) - X).reshape(len(X), -1).max(axis=1)
        fell[name] = judged_wrong(defended, module, moved, y) & (away <= eps + 1e-6)
    shares = {
        name: {"standing": float(1 - found.mean()), "cpu_s": seconds[name]}
        for name, found in fell.items() if name in (square, "foolbox PGD")
    }  # fmt: skip
    losses = [name for name in fell if name not in shares]
    if losses:
        # Its AutoAttack is these in turn, each on the rows that stand.
        together = np.any([fell[name] for name in (*losses, square)], axis=0)
        spent = sum(seconds[name] for name in (*losses, square))
        shares[apgd] = {"standing": float(1 - together.mean()), "cpu_s": spent}
    return shares | {name: {"standing": None, "reason": why} for name, why in refused.items()}


def _art_model(module, X):
    import torch
    from art.estimators.classification import PyTorchClassifier

    np.random.seed(0)  # noqa: NPY002  ART draws from it
    return PyTorchClassifier(
        module, torch.nn.CrossEntropyLoss(), X.shape[1:], 10, clip_values=(0.0, 1.0)
    )


def _art_square(module, X, y, eps, budget):
    from art.attacks.evasion import SquareAttack

    attack = SquareAttack(
        _art_model(module, X), eps=eps, max_iter=budget, nb_restarts=1, verbose=False
    )
    return np.asarray(attack.generate(X.copy(), np.eye(10, dtype=np.float32)[y]), dtype=np.float32)


def _art_apgd(module, X, y, eps, budget, loss):
    from art.attacks.evasion import AutoProjectedGradientDescent

    attack = AutoProjectedGradientDescent(
        _art_model(module, X), norm=np.inf, eps=eps, eps_step=2 * eps, max_iter=budget // 9,
        nb_random_init=1, batch_size=len(X), loss_type=loss, verbose=False,
    )  # fmt: skip
    return np.asarray(attack.generate(X.copy(), np.eye(10, dtype=np.float32)[y]), dtype=np.float32)


def _foolbox(module, X, y, eps, budget):
    import foolbox
    import torch

    torch.manual_seed(0)
    model = foolbox.PyTorchModel(module, (0, 1))
    attack = foolbox.attacks.LinfPGD(steps=40).repeat(max(1, budget // 120))
    goal = foolbox.criteria.Misclassification(torch.tensor(y.astype(np.int64)))
    return attack(model, torch.tensor(X), goal, epsilons=eps)[1].numpy()


def keep(path, name, given, row):
    """Put a row in the place of the one of the same case."""
    record = json.loads(path.read_text()) if path.exists() else {}
    part = record.setdefault(name, {"rows": []})
    part |= {"samples": given.samples, "budget": given.budget}
    part["rows"] = [old for old in part["rows"] if old["case"] != row["case"]] + [row]
    path.write_text(json.dumps(record, indent=1) + "\n")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--samples", type=int, default=50)
    arguments.add_argument("--budget", type=int, default=300)
    arguments.add_argument("--weights")
    arguments.add_argument("--data", choices=["digits", "cifar10"])
    arguments.add_argument("--only", nargs="+")
    given = arguments.parse_args()
    warnings.simplefilter("ignore")
    names = [given.data] if given.data else ["digits"]
    if not given.data and "FIREASSAY_CIFAR10" in os.environ:
        names.append("cifar10")
    path = RESULTS / "strength.json"
    for name in names:
        _, _, X, y = rows(name, given.samples)
        for case, eps, model, defence, module, defended in cases(
            name, networks(name, given.weights)
        ):
            if given.only and case not in given.only:
                continue
            found, seconds = cpu(lambda a=(model, defence, X, y, eps, given.budget): ours(*a))
            black = case in ("probabilities only", "float32 saturated")
            row = {"case": case, "eps": eps, "ours": found, "ours_cpu_s": seconds,
                   "peers": peers(module, defended, X, y, eps, given.budget,
                                  gradients=not black)}  # fmt: skip
            print(json.dumps({"data": name, **row}), flush=True)
            keep(path, name, given, row)


if __name__ == "__main__":
    main()
