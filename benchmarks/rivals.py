"""Every peer beside fireassay in one process, on one thread: CPU seconds, ratios with intervals.

    python benchmarks/rivals.py [--only lifelines] [--repeats 3] [--quick]

Started with a Python that lacks the peers, it starts itself again in their own environment
(benchmarks/peers.py makes it). A row is one function below: it returns what ours does, what the
peer does, by how much the peer's share of the work is to be multiplied, and how far the two
answers may differ. Add a rival: one function, one row in ROWS.
"""

import argparse
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "results" / "rivals.json"
PEERS = ("snorkel", "crowd-kit", "foolbox", "adversarial-robustness-toolbox", "lifelines",
         "dnn-tip", "scikit-learn", "statsmodels", "torch", "numpy", "fireassay")  # fmt: skip


@dataclass(frozen=True)
class Race:
    """The same work twice: by us, by the peer (``scale`` times what it was given to do)."""

    ours: Callable[[], Any]
    peer: Callable[[], Any]
    agree: Callable[[Any, Any], str]
    scale: float = 1.0
    target: float | None = None


def _votes(rows: int, lfs: int = 5):
    from fireassay import curation

    return curation.simulate_votes(np.linspace(0.58, 0.8, lfs), 0.45, rows, seed=0)[0]


def snorkel_label_model(quick: bool) -> Race:
    from snorkel.labeling.model import LabelModel

    from fireassay.curation.labelers import Snorkel
    from fireassay.curation.votes import unique_patterns

    votes = _votes(20_000 if quick else 847_486)

    def ours():
        patterns = unique_patterns(votes, 2)
        return Snorkel().fit(patterns, seed=1).posterior(patterns.votes)[patterns.of_row]

    def peer():
        model = LabelModel(cardinality=2, verbose=False)
        model.fit(votes, seed=1, progress_bar=False)
        return model.predict_proba(votes)

    return Race(ours, peer, _largest_difference)


def snorkel_with_intervals(quick: bool) -> Race:
    from snorkel.labeling.model import LabelModel
    from statsmodels.stats.proportion import proportion_confint

    from fireassay import curation

    votes = _votes(2_000 if quick else 20_000)

    def ours():
        result = curation.curate(votes, labeler="snorkel", prune=None, seed=1)
        return result.lower

    def peer():
        model = LabelModel(cardinality=2, verbose=False)
        model.fit(votes, seed=1, progress_bar=False)
        best = model.predict_proba(votes).max(axis=1)
        n = (votes != -1).sum(axis=1)
        lower = np.zeros(len(votes))
        for i in np.flatnonzero(n):
            lower[i] = proportion_confint(n[i] * best[i], n[i], alpha=0.05, method="beta")[0]
        np.argsort(-lower, kind="stable")
        return lower

    return Race(ours, peer, _largest_difference)


def crowdkit_dawid_skene(quick: bool) -> Race:
    import pandas as pd
    from crowdkit.aggregation import DawidSkene as Theirs

    from fireassay.curation.labelers import DawidSkene
    from fireassay.curation.votes import unique_patterns

    votes = _votes(2_000 if quick else 100_000, 10)
    row, lf = np.nonzero(votes != -1)
    frame = pd.DataFrame({"task": row, "worker": lf, "label": votes[row, lf]})

    def ours():
        patterns = unique_patterns(votes, 2)
        return (
            DawidSkene(max_steps=100, tolerance=0.0)
            .fit(patterns)
            .posterior(patterns.votes)[patterns.of_row]
        )

    def peer():
        found = Theirs(n_iter=100, tol=0.0).fit_predict_proba(frame)
        return found.sort_index().to_numpy(), found.sort_index().index.to_numpy()

    def agree(mine, theirs):
        same = (mine[theirs[1]].argmax(1) == theirs[0].argmax(1)).mean()
        return f"same class in {same:.1%} of rows"

    return Race(ours, peer, agree)


def _attack(samples: int):
    from digits_network import digits_network

    module, model, X, y = digits_network()
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


def art_pgd(quick: bool) -> Race:
    from art.attacks.evasion import ProjectedGradientDescent

    from fireassay import attacks

    module, model, X, y = _attack(50 if quick else 900)
    theirs = ProjectedGradientDescent(_art(module, X), verbose=False)  # eps .3, 100 steps of .1
    return Race(
        lambda: attacks.pgd(model, X, y, norm="linf", eps=0.3, steps=100, step_size=0.1),
        lambda: theirs.generate(x=X, y=y), _success(model, y), target=5,
    )  # fmt: skip


def art_deepfool(quick: bool) -> Race:
    from art.attacks.evasion import DeepFool

    from fireassay import attacks

    module, model, X, y = _attack(20 if quick else 100)
    theirs = DeepFool(_art(module, X), verbose=False)
    return Race(
        lambda: attacks.deepfool(model, X, y, steps=100, n_classes=10),
        lambda: theirs.generate(x=X), _success(model, y), target=5,
    )  # fmt: skip


def foolbox_pgd(quick: bool) -> Race:
    import foolbox
    import torch

    from fireassay import attacks

    module, model, X, y = _attack(50 if quick else 900)

    class Channelled(torch.nn.Module):
        def forward(self, x):
            return module(x[:, 0])

    target = foolbox.PyTorchModel(Channelled().eval(), bounds=(0, 1), device="cpu")
    theirs = foolbox.attacks.LinfPGD(rel_stepsize=None, abs_stepsize=0.01, steps=40,
                                     random_start=False)  # fmt: skip
    inputs, labels = torch.from_numpy(X)[:, None], torch.from_numpy(np.asarray(y))

    def peer():
        found = theirs(target, inputs, foolbox.criteria.Misclassification(labels), epsilons=0.1)
        return found[1].numpy()[:, 0]

    return Race(
        lambda: attacks.pgd(model, X, y, norm="linf", eps=0.1, steps=40, step_size=0.01),
        peer, _success(model, y),
    )  # fmt: skip


def _aft(family: str, kind: str):
    def race(quick: bool) -> Race:
        import lifelines

        from fireassay import survival
        from survival import COLUMNS, simulated

        frame = simulated(rows=5_000 if quick else 100_000)[kind]
        names = [f"x{i}" for i in range(COLUMNS)]
        fitter, location = {
            "weibull": (lifelines.WeibullAFTFitter, "lambda_"),
            "lognormal": (lifelines.LogNormalAFTFitter, "mu_"),
            "loglogistic": (lifelines.LogLogisticAFTFitter, "alpha_"),
        }[family]

        def peer():
            if kind == "right":
                return fitter().fit(frame, "duration", "event")
            return fitter().fit_interval_censoring(frame, "lower", "upper")

        def agree(mine, theirs):
            other = theirs.params_[location]
            gap = max(abs(mine.coefficients["coef"][name] - other[name]) for name in names)
            gain = mine.log_likelihood - theirs.log_likelihood_
            return f"coefficients within {gap:.1e}, log-likelihood {gain:+.1e}"

        return Race(lambda: survival.fit(frame, family, names), peer, agree, target=10)

    return race


def dnn_tip_dsa(quick: bool) -> Race:
    from dnn_tip.surprise import DSA

    from fireassay import supervision

    n_train, n_test, some = (2_000, 500, 20) if quick else (18_000, 10_000, 100)
    rng = np.random.default_rng(0)
    centres = np.maximum(rng.standard_normal((10, 128)), 0)
    train_classes, test_classes = rng.integers(0, 10, n_train), rng.integers(0, 10, n_test)

    def activations(classes):
        noise = 0.4 * rng.standard_normal((len(classes), 128))
        return np.maximum(centres[classes] + noise, 0).astype(np.float32)

    train, test = activations(train_classes), activations(test_classes)
    theirs = DSA(train, train_classes)
    return Race(
        lambda: supervision.dsa_scores(train, train_classes, test, test_classes),
        lambda: theirs(test[:some], test_classes[:some]),
        lambda a, b: _largest_difference(a[:some], b),
        scale=n_test / some, target=300,
    )  # fmt: skip


def scikit_learn_kde(quick: bool) -> Race:
    from sklearn.neighbors import KernelDensity

    from fireassay.data import unit_square
    from fireassay.reliability.cells import Grid
    from fireassay.statistics.kde import BinnedKde

    X = unit_square(5_000 if quick else 100_000, seed=1).X
    grid = Grid.regular(500, (0, 1), dimensions=2)
    some = np.random.default_rng(0).choice(grid.n_cells, 100, replace=False)
    low, high = grid.boxes(some)
    theirs = KernelDensity(bandwidth=0.04).fit(X)

    def agree(mine, other):
        heavy = other > 1e-3 * other.max()
        return f"within {np.abs(mine.ravel()[some] / other - 1)[heavy].max():.1e}"

    return Race(
        lambda: BinnedKde(X, 0.04).density(grid.centres),
        lambda: np.exp(theirs.score_samples((low + high) / 2)),
        agree, scale=grid.n_cells / len(some), target=1000,
    )  # fmt: skip


def statsmodels_lowess(quick: bool) -> Race:
    from statsmodels.nonparametric.smoothers_lowess import lowess

    from fireassay import discovery

    n = 1_000 if quick else 10_000
    rng = np.random.default_rng(0)
    x = np.clip(1 - 0.35 * rng.beta(0.3, 2.0, n), 0.65, 1.0)
    y = -5 + 3 * x**4 + 0.5 * np.sin(20 * x) + 0.5 * rng.standard_normal(n)
    return Race(
        lambda: discovery.loess(x, y)(x),
        lambda: lowess(y, x, frac=0.1, it=3, delta=0.0, return_sorted=False),
        _largest_difference,
    )  # fmt: skip


def joblib_memory(quick: bool) -> Race:
    import tempfile

    import joblib

    from fireassay.engine import Executor, RunStore

    n = 200 if quick else 3_000

    def ours():
        with tempfile.TemporaryDirectory() as folder, RunStore(f"{folder}/run") as store:
            return Executor(1, store=store, progress=False).map(abs, range(n))

    def peer():
        with tempfile.TemporaryDirectory() as folder:
            kept = joblib.Memory(folder, verbose=0).cache(abs)
            return [kept(i) for i in range(n)]

    return Race(ours, peer, lambda a, b: "same results" if a == b else "DIFFERENT")


def _largest_difference(mine, theirs) -> str:
    return f"within {np.abs(np.asarray(mine) - np.asarray(theirs)).max():.1e}"


# package, what is done, peer, race
ROWS: dict[str, tuple[str, str, Callable[[bool], Race]]] = {
    "snorkel label model": ("curation", "label model, 847,486 × 5 votes", snorkel_label_model),
    "snorkel + statsmodels": (
        "curation", "label model, exact intervals and order, 20,000 × 5", snorkel_with_intervals
    ),
    "crowd-kit Dawid–Skene": (
        "curation", "Dawid–Skene, 100 steps, 100,000 × 10", crowdkit_dawid_skene
    ),
    "foolbox LinfPGD": ("attacks", "PGD, 40 steps, 900 digits", foolbox_pgd),
    "ART PGD": ("attacks", "PGD, ART's defaults, 900 digits", art_pgd),
    "ART DeepFool": ("attacks", "DeepFool, ART's defaults, 100 digits", art_deepfool),
    "lifelines Weibull": ("survival", "100,000 × 20, right-censored", _aft("weibull", "right")),
    "lifelines log-normal": (
        "survival", "100,000 × 20, right-censored", _aft("lognormal", "right")
    ),
    "lifelines log-logistic": (
        "survival", "100,000 × 20, right-censored", _aft("loglogistic", "right")
    ),
    "lifelines Weibull, intervals": (
        "survival", "100,000 × 20, interval-censored", _aft("weibull", "interval")
    ),
    "dnn-tip DSA": ("supervision", "DSA, 10,000 × 18,000 × 128", dnn_tip_dsa),
    "scikit-learn KernelDensity": (
        "reliability", "KDE, 100,000 points on 250,000 cells", scikit_learn_kde
    ),
    "statsmodels lowess": ("discovery", "LOESS, 10,000 points", statsmodels_lowess),
    "joblib.Memory": ("engine", "3,000 journalled tasks", joblib_memory),
}  # fmt: skip


def race(name: str, repeats: int, quick: bool) -> dict[str, Any]:
    from measuring import side_by_side

    package, work, make = ROWS[name]
    entry = make(quick)
    mine, theirs, record = side_by_side(entry.ours, entry.peer, repeats)
    for key in ("peer_cpu_s", "ratio", "low", "high"):
        record[key] *= entry.scale
    return {"peer": name, "package": package, "work": work, **record, "target": entry.target,
            "scaled": entry.scale, "agreement": entry.agree(mine, theirs)}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", nargs="+", default=[""], help="parts of the peers' names")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="small sizes; nothing is written")
    options = parser.parse_args()
    if find_spec("snorkel") is None or find_spec("lifelines") is None:
        from peers import python_with_peers

        raise SystemExit(subprocess.run([python_with_peers(), *sys.argv], check=False).returncode)
    from measuring import stamp

    os.environ["TQDM_DISABLE"] = "1"
    warnings.simplefilter("ignore")
    stored = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"rows": []}
    rows = {row["peer"]: row for row in stored["rows"]}
    for name in ROWS:
        if not any(part.lower() in name.lower() for part in options.only):
            continue
        row = rows[name] = race(name, options.repeats, options.quick)
        print(f"{name:30} ×{row['ratio']:9.1f} [{row['low']:.1f}, {row['high']:.1f}]  ours "
              f"{row['ours_cpu_s']:.3f} s, peer {row['peer_cpu_s']:.3f} s; {row['agreement']}",
              flush=True)  # fmt: skip
        if not options.quick:
            record = {**stamp(PEERS), "rows": [rows[key] for key in ROWS if key in rows]}
            RESULTS.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
