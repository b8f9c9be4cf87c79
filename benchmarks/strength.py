"""How many rows stand: our default attacks beside ART and foolbox at equal budgets, nine models.

python benchmarks/strength.py [--digits 100] [--cifar10 120] [--budget 300] [--weights FOLDER]
python benchmarks/strength.py --part development --output scratch.json

Settings of the attacks were chosen on the development part (networks of another seed, other rows)
and not changed afterwards. Budgets are forward-equivalents per row: a gradient counts 2, and its
forward 1. Cases that the output holds already are not measured again: remove it for a fresh run.
"""

import argparse
import json
import os
import warnings
from pathlib import Path

import numpy as np
from figures import RESULTS
from measuring import cpu
from strength_models import SEEDS, cases, judged_wrong, networks, rows

from fireassay.statistics import share
from fireassay.survival.attacker_checks import DRAWS


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
    """Standing shares of ART and foolbox, each within the budget."""
    right = ~judged_wrong(defended, module, X, y)
    if defended is not None and hasattr(defended, "withheld"):
        right &= ~defended.withheld(defended.predict_proba(X))
    X, y = X[right], y[right]
    step = budget // 9  # a third of the budget, in gradients with their forward
    tried = {"ART Square": lambda: _art_square(module, X, y, eps, budget)}
    if gradients:
        tried |= {
            "ART AutoAttack": lambda: _art_auto(module, X, y, eps, budget),
            "foolbox PGD": lambda: _foolbox(module, X, y, eps, budget),
        }
    if gradients and defended is not None:
        # What AutoAttack takes in turn, each to its end: it does not know of the judge.
        tried |= {
            "apgd ce": lambda: _art_apgd(module, X, y, eps, step, "cross_entropy"),
            "apgd dlr": lambda: _art_apgd(module, X, y, eps, step, "difference_logits_ratio"),
            "square": lambda: _art_square(module, X, y, eps, budget // 3),
        }
    fell, shares = {}, {}
    for name, attack in tried.items():
        try:
            moved, seconds = cpu(attack)
        except ValueError as refusal:  # ART refuses logits that do not look like logits
            shares[name] = {"standing": None, "reason": str(refusal)[:100]}
            continue
        away = np.abs(moved.astype(np.float64) - X).reshape(len(X), -1).max(axis=1)
        wrong = judged_wrong(defended, module, moved, y, first=1 + DRAWS)
        fell[name] = wrong & (away <= eps + 1e-6)
        shares[name] = {"standing": float(1 - fell[name].mean()), "cpu_s": seconds}
    three = [name for name in ("apgd ce", "apgd dlr", "square") if name in fell]
    if three:
        together = np.any([fell[name] for name in three], axis=0)
        spent = sum(shares[name]["cpu_s"] for name in three)
        shares["ART, three apart"] = {"standing": float(1 - together.mean()), "cpu_s": spent}
    for name, found in shares.items():
        if found["standing"] is not None:
            stood = share(round(found["standing"] * len(y)), len(y))
            shares[name] = found | {"low": stood.low, "high": stood.high, "rows": len(y)}
    return shares


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


def _art_apgd(module, X, y, eps, steps, loss):
    attack = _apgd(_art_model(module, X), eps, steps, loss, len(X))
    return np.asarray(attack.generate(X.copy(), np.eye(10, dtype=np.float32)[y]), dtype=np.float32)


def _apgd(model, eps, steps, loss, rows):
    from art.attacks.evasion import AutoProjectedGradientDescent

    return AutoProjectedGradientDescent(
        model, norm=np.inf, eps=eps, eps_step=2 * eps, max_iter=steps, nb_random_init=1,
        batch_size=rows, loss_type=loss, verbose=False,
    )  # fmt: skip


def _art_auto(module, X, y, eps, budget):
    """ART's AutoAttack of APGD with two losses and Square, a third of the budget each."""
    from art.attacks.evasion import AutoAttack, SquareAttack

    model = _art_model(module, X)
    losses = ("cross_entropy", "difference_logits_ratio")
    attacks = [_apgd(model, eps, budget // 9, loss, len(X)) for loss in losses]
    attacks.append(SquareAttack(model, eps=eps, max_iter=budget // 3, nb_restarts=1, verbose=False))
    attack = AutoAttack(
        model, norm=np.inf, eps=eps, eps_step=2 * eps, attacks=attacks, batch_size=len(X)
    )
    return np.asarray(attack.generate(X.copy(), np.eye(10, dtype=np.float32)[y]), dtype=np.float32)


def _foolbox(module, X, y, eps, budget):
    import foolbox
    import torch

    torch.manual_seed(0)
    model = foolbox.PyTorchModel(module, (0, 1))
    attack = foolbox.attacks.LinfPGD(steps=budget // 6).repeat(2)
    goal = foolbox.criteria.Misclassification(torch.tensor(y.astype(np.int64)))
    return attack(model, torch.tensor(X), goal, epsilons=eps)[1].numpy()


def keep(path, name, given, row):
    """Add a row to the results."""
    record = json.loads(path.read_text()) if path.exists() else {}
    part = record.setdefault(name, {"rows": []})
    part |= {"samples": given.samples[name], "budget": given.budget}
    part["rows"].append(row)
    path.write_text(json.dumps(record, indent=1) + "\n")


def done(path, name):
    """Cases that an earlier run has measured."""
    record = json.loads(path.read_text()) if path.exists() else {}
    return {row["case"] for row in record.get(name, {"rows": []})["rows"]}


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--digits", type=int, default=100)
    arguments.add_argument("--cifar10", type=int, default=120)
    arguments.add_argument("--budget", type=int, default=300)
    arguments.add_argument("--weights")
    arguments.add_argument("--part", choices=list(SEEDS), default="reported")
    arguments.add_argument("--only", nargs="+")
    arguments.add_argument("--output", type=Path, default=RESULTS / "strength.json")
    given = arguments.parse_args()
    given.samples = {"digits": given.digits, "cifar10": given.cifar10}
    warnings.simplefilter("ignore")
    for name in ("digits", *(["cifar10"] if "FIREASSAY_CIFAR10" in os.environ else [])):
        _, _, X, y = rows(name, given.samples[name], given.part)
        found = networks(name, given.weights, SEEDS[given.part])
        for case, eps, model, defence, module, defended in cases(name, found):
            if case in done(given.output, name) or (given.only and case not in given.only):
                continue
            stood, seconds = cpu(lambda a=(model, defence, X, y, eps, given.budget): ours(*a))
            rivals = peers(
                module, defended, X, y, eps, given.budget, gradients=case != "probabilities only"
            )
            row = {"case": case, "eps": eps, "ours": stood, "ours_cpu_s": seconds, "peers": rivals}
            print(json.dumps({"data": name, **row}), flush=True)
            keep(given.output, name, given, row)


if __name__ == "__main__":
    main()
