"""Decision-based attacks, LOESS and the comparison harness, beside foolbox, ART and statsmodels.

    FIREASSAY_DATA=… python benchmarks/discovery.py [--images 24] [--seeds 0 1 2] [--only attacks]

Attacks: on a small CNN for Fashion-MNIST, each seed on fresh correctly classified test images, all
in one process on one thread. A peer runs at the stated settings; then ours runs with rising query
limits until its median l2 distance is no larger, and the CPU seconds of that run are compared.
"""

import argparse
import json
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np

from fireassay import attacks, data, discovery
from fireassay.classifiers import as_classifier
from fireassay.core.lazy import is_installed

LADDER = (25, 40, 60, 90, 130, 180, 250, 320, 400, 500, 650, 850, 1200, 2000, 4000)
RESULTS = Path(__file__).parent / "results" / "discovery.json"


def cpu(function):
    started = time.process_time()
    value = function()
    return value, time.process_time() - started


def until(median, run):
    """CPU seconds, queries and median of the first limit at which ours is at least as near."""
    for limit in LADDER:
        out, seconds = cpu(lambda limit=limit: run(max_queries=limit))
        reached = float(np.median(out.distance))
        if reached <= median:
            return {"cpu_s": seconds, "queries": limit, "median_l2": reached}
    return {"cpu_s": float("nan"), "queries": limit, "median_l2": reached}


def network():
    """A trained network, the test images and a pool of other images."""
    from fireassay.networks.small_networks import Cnn
    from fireassay.networks.training import train

    training, testing = data.fashion_mnist("train"), data.fashion_mnist("test")
    module = Cnn((28, 28), 10, width=16, seed=0)
    train(module, training.X[:15000], training.y[:15000], epochs=2, learning_rate=2e-3)
    return module, testing, training.X[15000:18000]


def fresh_images(model, testing, images, seed):
    """Images that the model gets right, other ones for every seed."""
    order = np.random.default_rng(seed).permutation(len(testing.X))[:500]
    right = order[model.predict(testing.X[order]) == testing.y[order]][:images]
    return testing.X[right], testing.y[right]


def foolbox_runs(module, X, y, seed):
    import foolbox
    import torch

    def squeezed(x):
        return module(x[:, 0])

    class Wrapped(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.queries = 0

        def forward(self, x):
            self.queries += len(x)
            return squeezed(x)

    for name, attack in {
        "foolbox HopSkipJump, 12 steps": foolbox.attacks.HopSkipJumpAttack(steps=12),
        "foolbox Boundary Attack, 1000 steps": foolbox.attacks.BoundaryAttack(steps=1000),
    }.items():
        torch.manual_seed(seed)
        np.random.seed(seed)  # noqa: NPY002
        wrapped = Wrapped().eval()
        target = foolbox.PyTorchModel(wrapped, bounds=(0, 1), device="cpu")
        inputs, labels = torch.from_numpy(X)[:, None], torch.from_numpy(y)
        (found, _, ok), seconds = cpu(
            lambda attack=attack, target=target, inputs=inputs, labels=labels: attack(
                target, inputs, foolbox.criteria.Misclassification(labels), epsilons=None
            )
        )
        distance = (found - inputs).flatten(1).norm(dim=1).numpy()
        yield name, np.where(ok.numpy(), distance, np.inf), seconds, wrapped.queries / len(X)


def art_runs(module, X, seed):
    import torch
    from art.attacks.evasion import HopSkipJump
    from art.estimators.classification import PyTorchClassifier

    np.random.seed(seed)  # noqa: NPY002
    count = [0]

    class Wrapped(torch.nn.Module):
        def forward(self, x):
            count[0] += len(x)
            return module(x.float())

    wrapped = PyTorchClassifier(
        Wrapped(), torch.nn.CrossEntropyLoss(), X.shape[1:], 10, clip_values=(0, 1),
        device_type="cpu",
    )  # fmt: skip
    # ART hands float64 to torch under NumPy 2: the wrapper casts, as every ART user must.
    attack = HopSkipJump(wrapped, max_iter=10, max_eval=1000, init_eval=100, verbose=False)
    found, seconds = cpu(lambda: attack.generate(x=X.astype(np.float32)))
    distance = np.linalg.norm((found - X).reshape(len(X), -1), axis=1)
    changed = wrapped.predict(found).argmax(1) != wrapped.predict(X).argmax(1)
    name = "ART HopSkipJump, 10 iterations"
    yield name, np.where(changed, distance, np.inf), seconds, count[0] / len(X)


def benchmark_attacks(images, seeds):
    import torch

    torch.set_num_threads(1)
    rows = []
    module, testing, pool = network()
    model = as_classifier(
        module, classes=range(10), bounds=(0, 1), output="logits", batch_size=images
    )
    labels = model.predict(pool)
    for seed in seeds:
        X, y = fresh_images(model, testing, images, seed)
        runs = []
        if is_installed("foolbox"):
            runs.append(foolbox_runs(module, X, y, seed))
        if is_installed("art"):
            runs.append(art_runs(module, X, seed))
        for run in runs:
            for name, distance, seconds, queries in run:
                median = float(np.median(distance))
                boundary = "Boundary" in name
                ours = attacks.boundary if boundary else attacks.hopskipjump
                start = {"pool": (pool, labels), "subspace": "dct"}
                plain = until(median, partial(ours, model, X, seed=seed))
                fast = until(median, partial(ours, model, X, seed=seed, **start))
                row = {
                    "seed": seed, "peer": name, "peer_median_l2": median, "peer_cpu_s": seconds,
                    "peer_queries": queries, "ours": plain, "ours_pool_dct": fast,
                    "ratio": seconds / plain["cpu_s"], "ratio_pool_dct": seconds / fast["cpu_s"],
                }  # fmt: skip
                rows.append(row)
                print(
                    f"{name:36s} seed {seed}: l2 {median:.3f} in {seconds:6.1f} CPU s "
                    f"({queries:5.0f} queries); ours {plain['cpu_s']:5.2f} s ({plain['queries']}), "
                    f"x{row['ratio']:.1f}; pool + dct {fast['cpu_s']:5.2f} s "
                    f"({fast['queries']}), x{row['ratio_pool_dct']:.1f}",
                    flush=True,
                )
    return rows


def summary(rows):
    """The smallest ratio over the seeds beside its target."""
    targets = {"foolbox HopSkipJump": (8, 20), "foolbox Boundary": (5, None), "ART": (5, None)}
    for start, (plain, fast) in targets.items():
        group = [r for r in rows if r["peer"].startswith(start)]
        if group:
            worst = min(r["ratio"] for r in group)
            worst_fast = min(r["ratio_pool_dct"] for r in group)
            verdict = "reached" if worst >= plain else "NOT reached"
            extra = "" if fast is None else (
                f"; pool + dct x{worst_fast:.1f} (target {fast}: "
                f"{'reached' if worst_fast >= fast else 'NOT reached'})"
            )  # fmt: skip
            print(f"{start}: smallest ratio x{worst:.1f} (target {plain}: {verdict}){extra}")


def benchmark_loess():
    rows = []
    for n in (2000, 10000, 1_000_000):
        rng = np.random.default_rng(n)
        x = np.clip(1 - 0.35 * rng.beta(0.3, 2.0, n), 0.65, 1.0)
        y = -5 + 3 * x**4 + 0.5 * np.sin(20 * x) + 0.5 * rng.standard_normal(n)
        curve, seconds = cpu(lambda x=x, y=y: discovery.loess(x, y))
        row = {"n": n, "cpu_s": seconds}
        if n <= 10000 and is_installed("statsmodels"):
            from statsmodels.nonparametric.smoothers_lowess import lowess

            theirs, row["statsmodels_cpu_s"] = cpu(
                lambda x=x, y=y: lowess(y, x, frac=0.1, it=3, delta=0.0, return_sorted=False)
            )
            row["largest_difference"] = float(np.abs(curve(x) - theirs).max())
        rows.append(row)
        print("LOESS", row, flush=True)
    return rows


def benchmark_compare(workers):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 20))
    weights = rng.standard_normal(20)

    def model(rows):
        positive = 1 / (1 + np.exp(-np.clip(rows @ weights, -30, 30)))
        return np.column_stack([1 - positive, positive])

    classifier = as_classifier(model, classes=[0, 1])
    chance = classifier.predict_proba(X)[:, 1]
    y = (rng.random(4000) < chance).astype(int)
    logs = np.log(np.abs(X @ weights)) + 0.3 * rng.standard_normal(4000)
    names = ["adversarial-distance", "random", "low-confidence", "bansal-weld", "lakkaraju",
             "facility-location"]  # fmt: skip
    started = time.perf_counter()
    result = discovery.compare(
        classifier, X, y, names, log_mae=logs, workers=workers, subset=2000, replications=100,
        progress=False,
    )  # fmt: skip
    wall = time.perf_counter() - started
    print(f"compare: 6 searches x 100 replications x {result.subset} rows x {result.budget} labels:"
          f" {wall:.0f} s on {workers} workers (target 180)", flush=True)  # fmt: skip
    return {"seconds": wall, "workers": workers, "subset": result.subset}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=24)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", nargs="+", default=["attacks", "loess", "compare"])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    if "loess" in arguments.only:
        results["loess"] = benchmark_loess()
    if "compare" in arguments.only:
        results["compare"] = benchmark_compare(arguments.workers)
    if "attacks" in arguments.only:
        kept = [r for r in results.get("attacks", []) if r["seed"] not in arguments.seeds]
        results["attacks"] = kept + benchmark_attacks(arguments.images, arguments.seeds)
        summary(results["attacks"])
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
