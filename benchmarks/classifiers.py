"""What the classifier wrapper costs on top of the bare model, and what small blocks save.

Run with ``python benchmarks/classifiers.py``; prints a table and writes
``benchmarks/results/classifiers.json``. Bare and wrapped calls alternate, each ratio is of two
neighbouring calls, the figure is the median ratio in CPU time. Small blocks: PGD on 64 rows with
every call filled up to 256 rows, with the sizes decided before, and found out on the way.
"""

import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import fireassay as fa
from fireassay import attacks

REPEATS = 101


def compare(bare: Callable[[], Any], wrapped: Callable[[], Any]) -> dict[str, float]:
    """Median seconds of both, and the ratio of neighbouring calls with its quartiles."""
    for call in (bare, wrapped):
        call()
    pairs = []
    for repeat in range(REPEATS):
        order = (bare, wrapped) if repeat % 2 else (wrapped, bare)
        times = {}
        for call in order:
            started = time.process_time()
            call()
            times[call] = time.process_time() - started
        pairs.append((times[bare], times[wrapped]))
    ratios = [w / b for b, w in pairs]
    low, middle, high = quantiles(ratios, n=4)
    return {
        "bare_ms": 1000 * median(b for b, _ in pairs),
        "wrapped_ms": 1000 * median(w for _, w in pairs),
        "ratio": middle,
        "ratio_q1": low,
        "ratio_q3": high,
    }


def small_cnn(torch: Any) -> Any:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 16, 3, padding=1),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(16, 32, 3, padding=1),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Flatten(),
        torch.nn.Linear(32 * 49, 10),
    ).eval()


def small_blocks() -> dict[str, dict[str, Any]]:
    """PGD on 64 rows: CPU seconds, rows asked and sent; the adversarial bytes must be equal."""
    try:
        import torch
    except ImportError:
        return {}
    cnn = small_cnn(torch)
    rows = np.random.default_rng(0).random((600, 1, 28, 28)).astype(np.float32)
    attack = attacks.make("pgd", norm="linf", eps=0.02, steps=40)
    results, adversarial = {}, set()
    for name in ("filled up", "decided before", "found out on the way"):
        budget = 10**9 if name == "filled up" else None  # a model with a budget is not probed
        model: Any = fa.as_classifier(cnn, output="logits", bounds=(0, 1), max_queries=budget)
        labels = model.predict(rows[:256])[:64]
        if name == "decided before":
            model.decide_block_sizes(rows, gradients=True)
        asked, sent = model.queries, model.rows_delivered
        started = time.process_time()
        found = attack(model, rows[:64], labels, seed=0)
        results[f"PGD, 64 rows, blocks {name}"] = {
            "seconds": time.process_time() - started,
            "asked": model.queries - asked,
            "sent": model.rows_delivered - sent,
        }
        adversarial.add(found.adversarial.tobytes())
    assert len(adversarial) == 1, "small blocks changed the result"
    return results


def torch_cases() -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    try:
        import torch
    except ImportError:
        return {}
    cnn = small_cnn(torch)
    rows = np.random.default_rng(0).random((256, 1, 28, 28)).astype(np.float32)
    labels = np.arange(256) % 10
    model: Any = fa.as_classifier(cnn, output="logits")

    def bare() -> Any:
        with torch.no_grad():
            return torch.softmax(cnn(torch.from_numpy(rows)), 1).numpy()

    def bare_gradient() -> Any:
        inputs = torch.from_numpy(rows).requires_grad_()
        loss = torch.nn.functional.cross_entropy(
            cnn(inputs), torch.from_numpy(labels), reduction="sum"
        )
        return torch.autograd.grad(loss, inputs)[0].numpy()

    return {
        "small CNN, 256 × 28 × 28, probabilities": (bare, lambda: model.predict_proba(rows)),
        "small CNN, 256 × 28 × 28, loss gradient": (
            bare_gradient,
            lambda: model.loss_gradient(rows, labels),
        ),
    }


def sklearn_cases() -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    generator = np.random.default_rng(0)
    rows, labels = generator.random((2560, 64)), generator.integers(0, 10, 2560)
    logistic = LogisticRegression(max_iter=20, tol=1.0).fit(rows, labels)
    forest = RandomForestClassifier(100, random_state=0).fit(rows, labels)
    cases: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {}
    for name, bare in (("logistic regression", logistic), ("random forest of 100", forest)):
        wrapped = fa.as_classifier(bare)
        for size in (256, 2560):
            cases[f"{name}, {size} rows"] = (
                partial(bare.predict_proba, rows[:size]),
                partial(wrapped.predict_proba, rows[:size]),
            )
    return cases


def main() -> None:
    results = {name: compare(*pair) for name, pair in {**torch_cases(), **sklearn_cases()}.items()}
    print(f"{'case':45s} {'bare ms':>9s} {'wrapped ms':>11s} {'ratio':>7s}  quartiles")
    for name, r in results.items():
        print(
            f"{name:45s} {r['bare_ms']:9.2f} {r['wrapped_ms']:11.2f} {r['ratio']:7.3f}  "
            f"{r['ratio_q1']:.3f}–{r['ratio_q3']:.3f}"
        )
    blocks = small_blocks()
    for name, r in blocks.items():
        print(f"{name:45s} {r['seconds']:.2f} s, {r['asked']} rows asked, {r['sent']} sent")
    target = Path(__file__).parent / "results" / "classifiers.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps({**results, **blocks}, indent=1) + "\n")


if __name__ == "__main__":
    main()
