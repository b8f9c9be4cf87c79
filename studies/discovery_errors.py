"""The comparison of "Harnessing Adversarial Distances …" rerun on Fashion-MNIST.

Three kinds of confident error, three models of each, every search:

    FIREASSAY_DATA=… python studies/discovery_errors.py --kinds bias shift overfitting

The task is "pullover or coat" (the critical class) against "T-shirt, dress or shirt".
bias: no dark shirt was in the training data. shift: test images are moved down by 3 pixels.
overfitting: 400 images, 40 epochs. Each model is calibrated on clean held-out images and judged on
its own third of the test images. Finished models are kept in --output and not run again.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
from scipy import stats

from fireassay import data, discovery
from fireassay.classifiers import as_classifier
from fireassay.core.seeds import generator
from fireassay.networks.cnn import Cnn
from fireassay.networks.training import train

CRITICAL, OTHERS = (2, 4), (0, 3, 6)
DARK_SHIRT_BELOW = 0.38
ATTACKS = {
    "hopskipjump": {"max_queries": 120, "subspace": "dct"},
    "boundary": {"max_queries": 250},
}


def task(images):
    keep = np.isin(images.y, CRITICAL + OTHERS)
    X, kind = images.X[keep], images.y[keep]
    return X, np.isin(kind, CRITICAL).astype(int), kind


def shifted(X):
    return np.roll(X, 3, axis=1)


def model_of(kind, seed, X, y, garment):
    rng = generator(seed, "study", kind)
    order = rng.permutation(len(X))
    held_out, pool = order[:1500], order[1500:]
    dark_shirts = (garment == 6) & (X.mean(axis=(1, 2)) < DARK_SHIRT_BELOW)
    epochs, rows = 6 if kind == "shift" else 3, pool[:5000]
    if kind == "bias":
        rows = pool[~dark_shirts[pool]][:5000]
        held_out = held_out[~dark_shirts[held_out]]
    if kind == "overfitting":
        epochs, rows = 40, pool[:400]
    module = Cnn(X.shape[1:], 2, width=8, seed=seed)
    train(module, X[rows], y[rows], epochs=epochs, learning_rate=2e-3, seed=seed)
    classifier = as_classifier(
        module, classes=["other", "critical"], bounds=(0, 1), output="logits", batch_size=128
    )
    names = np.array(["other", "critical"])
    return discovery.calibrate(classifier, X[held_out], names[y[held_out]]), X[rows]


def one_model(kind, seed, training, testing, arguments):
    started = time.process_time()
    X, y, garment = task(training)
    model, seen = model_of(kind, seed, X, y, garment)
    Xt, yt, _ = task(testing)
    third = np.arange(len(Xt)) % 3 == seed % 3
    Xt, yt = Xt[third], np.array(["other", "critical"])[yt[third]]
    if kind == "shift":
        Xt = shifted(Xt)
    probabilities = model.predict_proba(Xt)
    chosen = np.flatnonzero(probabilities[:, 1] > 0.65)[: arguments.images]
    Xt, yt, probabilities = Xt[chosen], yt[chosen], probabilities[chosen]
    accuracy = float((model.predict(Xt) == yt).mean())
    curves, tests = {}, {}
    for attack, parameters in ATTACKS.items():
        parameters = dict(parameters)
        if attack == "hopskipjump":
            parameters["pool"] = seen[:1000]
        logs = discovery.measure_log_mae(model, Xt, attack, seed=seed, **parameters)
        searches = "all" if attack == "hopskipjump" else ["adversarial-distance", "hybrid"]
        result = discovery.compare(
            model, Xt, yt, searches, critical_class="critical", log_mae=logs, seed=seed,
            replications=arguments.replications, workers=1, progress=False,
        )  # fmt: skip
        for i, name in enumerate(result.searches):
            label = name if attack == "hopskipjump" else f"{name} ({attack})"
            curves[label] = {
                measure: getattr(result, measure)[:, i].mean(axis=0).tolist()
                for measure in ("sdr", "errors", "spread", "utility")
            }
            test = result.one_shot[i]
            tests[label] = {"errors": test.errors, "random": test.expected_random,
                            "sdr": test.sdr, "p": test.p_value}  # fmt: skip
        not_found = float(np.isinf(logs).mean())
        print(f"  {kind} {seed} {attack}: {len(Xt)} images, {not_found:.1%} not found, "
              f"{time.process_time() - started:.0f} CPU s", flush=True)  # fmt: skip
    return {
        "kind": kind, "seed": seed, "images": len(Xt), "subset": result.subset,
        "temperature": model.temperature, "precision": accuracy,
        "expected_error": float((1 - probabilities.max(axis=1)).mean()),
        "curves": curves, "one_shot": tests, "cpu_seconds": time.process_time() - started,
    }  # fmt: skip


def report(results):
    for kind in dict.fromkeys(r["kind"] for r in results):
        group = [r for r in results if r["kind"] == kind]
        print(f"\n{kind}: error rate of the critical predictions "
              + ", ".join(f"{1 - r['precision']:.3f} (expected {r['expected_error']:.3f})"
                          for r in group))  # fmt: skip
        print(f"{'search':38s} SDR@10  SDR@20  SDR@50  errors  random  spread  p(one-shot, Fisher)")
        for name in group[0]["curves"]:
            sdr = np.mean([r["curves"][name]["sdr"] for r in group], axis=0)
            spread = np.mean([r["curves"][name]["spread"][-1] for r in group])
            found = sum(r["one_shot"][name]["errors"] for r in group)
            random = sum(r["one_shot"][name]["random"] for r in group)
            each = [max(r["one_shot"][name]["p"], 1e-12) for r in group]
            p = stats.combine_pvalues(each).pvalue
            shown = ", ".join(f"{value:.2g}" for value in each)
            print(f"{name:38s} {sdr[9]:6.2f}  {sdr[19]:6.2f}  {sdr[-1]:6.2f}  {found:6d}  "
                  f"{random:6.1f}  {spread:6.3f}   {p:.2g} ({shown})")  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kinds", nargs="+", default=["bias", "shift", "overfitting"])
    parser.add_argument("--models", type=int, default=3)
    parser.add_argument("--images", type=int, default=200)
    parser.add_argument("--replications", type=int, default=100)
    parser.add_argument("--output", type=Path, default=Path("studies/results/discovery"))
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    training, testing = data.fashion_mnist("train"), data.fashion_mnist("test")
    results = []
    for kind in arguments.kinds:
        for seed in range(arguments.models):
            path = arguments.output / f"{kind}-{seed}.json"
            if not path.exists():
                result = one_model(kind, seed, training, testing, arguments)
                path.write_text(json.dumps(result, indent=1))
            results.append(json.loads(path.read_text()))
    report(results)


if __name__ == "__main__":
    main()
