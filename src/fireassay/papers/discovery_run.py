"""Runner of the discovery paper's comparison: one classifier, every search, both attacks."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay import discovery
from fireassay.classifiers import as_classifier
from fireassay.core.hashing import sha256
from fireassay.engine import RunStore
from fireassay.papers.error_mechanisms import MECHANISMS, Task
from fireassay.papers.one_cycle import OneCycle, train_one_cycle
from fireassay.statistics.loess import loess

NAMES = np.array(["other", "critical"])
MEASURES = ("sdr", "errors", "spread", "utility")
_SHOWN = 400
_KNOWN = 200  # calibration rows that searches by a second model, as twin trees, learn from
_PART = 512  # rows attacked at once


@dataclass(frozen=True)
class Searched:
    """A trained and calibrated model with the rows that are searched for its errors.

    Attributes:
        folder: Where its weights, distances and replications are kept.
        task, model, weights: The mechanism's images, the calibrated model, its weights.
        X, y, confidence: Rows predicted critical above .65, their true names, and the model's
            confidence.
        trained: CPU seconds of the training, with those before a stop.
    """

    folder: Path
    task: Task
    model: Any
    weights: list[NDArray[Any]]
    X: NDArray[Any]
    y: NDArray[Any]
    confidence: NDArray[np.float64]
    trained: float

    def log_mae(self, attack: str, queries: int, seed: int) -> tuple[NDArray[np.float64], float]:
        """Logarithms of the perturbations that an attack needs, measured once, and CPU seconds.

        Kept in parts, so that a kill loses one of them; a row's attack does not depend on others.
        """
        extra: dict[str, Any] = {}
        if attack == "hopskipjump":
            extra = {"pool": self.task.learn[0][:1000], "subspace": "dct"}
        logs, seconds = [], 0.0
        for first in range(0, len(self.X), _PART):
            X = self.X[first : first + _PART]
            asked = sha256(attack, queries, seed, X, *self.weights)
            path = self.folder / f"{attack}-{asked[:16]}.npz"
            if not path.exists():
                started, unfinished = time.process_time(), path.with_suffix(".partial.npz")
                found = discovery.measure_log_mae(
                    self.model, X, attack, max_queries=queries, seed=seed, **extra
                )
                np.savez(unfinished, logs=found, seconds=time.process_time() - started)
                unfinished.replace(path)
            with np.load(path, allow_pickle=False) as kept:
                logs.append(kept["logs"])
                seconds += float(kept["seconds"])
        return np.concatenate(logs), seconds


def searched(row: dict[str, Any], work: str, settings: dict[str, int]) -> Searched:
    """Train and calibrate, or take the kept weights; then choose the candidates."""
    from fireassay.papers.eight_convolutions import EightConvolutions

    kind, seed = row["kind"], row["seed"]
    folder = Path(work) / f"{kind}-{seed}"
    task = MECHANISMS[kind](seed)
    X, y = (part[: settings["rows"]] for part in task.learn)
    module = EightConvolutions(X.shape[1:], 2, width=settings["width"], seed=seed)
    recipe = OneCycle(
        epochs=min(task.epochs, settings["epochs"]), peak=0.05, shift=0, flips=False,
        smoothing=0.0, seed=seed, bfloat16=True,
    )  # fmt: skip
    trained = train_one_cycle(module, X, y, recipe, folder / "network.pt")
    weights = [value.numpy() for value in module.state_dict().values()]
    plain = as_classifier(
        module, classes=NAMES.tolist(), bounds=(0, 1), output="logits", batch_size=128
    )
    model = discovery.calibrate(plain, task.calibrate[0], NAMES[task.calibrate[1]])
    probabilities = model.predict_proba(task.search[0])
    chosen = np.flatnonzero(probabilities[:, 1] > 0.65)[: settings["candidates"]]
    Xs, ys = task.search[0][chosen], NAMES[task.search[1][chosen]]
    return Searched(folder, task, model, weights, Xs, ys, probabilities[chosen, 1], trained)


def one_classifier(row: dict[str, Any], work: str, settings: dict[str, int]) -> dict[str, Any]:
    """Train, calibrate, attack the candidates twice, and let every search ask for labels.

    Weights and distances are kept and the replications journalled in ``work``, so that a kill
    loses an epoch, one attack or a few replications.
    """
    kind, seed = row["kind"], row["seed"]
    own = searched(row, work, settings)
    task, model, Xs, ys, confidence = own.task, own.model, own.X, own.y, own.confidence
    curves: dict[str, Any] = {}
    tests: dict[str, Any] = {}
    missed, logs, spent = {}, np.zeros(0), own.trained
    for attack, queries in (
        ("boundary", settings["boundary"]), ("hopskipjump", settings["hopskipjump"]),
    ):  # fmt: skip
        logs, attacked = own.log_mae(attack, queries, seed)
        started = time.process_time()
        missed[attack] = float(np.isinf(logs).mean())
        searches: Any = "all" if attack == "hopskipjump" else ["adversarial-distance"]
        with RunStore(own.folder / attack) as store:
            found = discovery.compare(
                model, Xs, ys, searches, critical_class="critical", log_mae=logs, seed=seed,
                replications=settings["replications"], workers=1, store=store, progress=False,
                calibration=(task.calibrate[0][:_KNOWN], NAMES[task.calibrate[1][:_KNOWN]]),
            )  # fmt: skip
        spent += attacked + time.process_time() - started
        for i, name in enumerate(found.searches):
            label = name if attack == "hopskipjump" else f"{name} ({attack})"
            curves[label] = {m: getattr(found, m)[:, i].mean(axis=0).tolist() for m in MEASURES}
            test = found.one_shot[i]
            tests[label] = {
                "errors": test.errors, "asked": test.n, "expected": test.expected,
                "random": test.expected_random, "sdr": test.sdr, "p": test.p_value,
            }  # fmt: skip
    wrong = ys != "critical"
    return {
        "kind": kind, "seed": seed, "data": task.data, "images": len(Xs),
        "subset": found.subset, "replications": settings["replications"],
        "queries": {"boundary": settings["boundary"], "hopskipjump": settings["hopskipjump"]},
        "not found": missed, "temperature": model.temperature,
        "validation accuracy": _accuracy(model, *task.calibrate),
        "test accuracy": _accuracy(model, *task.search),
        "precision": float(1 - wrong.mean()), "expected_error": float((1 - confidence).mean()),
        "bins": reliability_bins(confidence, wrong), "curves": curves, "one_shot": tests,
        "cloud": cloud(confidence, logs),
        "cpu_seconds": spent,
    }  # fmt: skip


def _accuracy(model: Any, X: NDArray[Any], y: NDArray[Any]) -> float:
    return float((model.predict(X) == NAMES[y]).mean())


def reliability_bins(
    confidence: NDArray[np.float64], wrong: NDArray[np.bool_], bins: int = 7
) -> list[dict[str, float]]:
    """Mean confidence and accuracy of equal steps of confidence from .65 on (Fig. 2).

    >>> reliability_bins(np.array([0.7, 0.7]), np.array([True, False]), bins=1)
    [{'confidence': 0.7, 'accuracy': 0.5, 'n': 2}]
    """
    edges = np.linspace(0.65, 1.0, bins + 1)
    where = np.clip(np.searchsorted(edges, confidence, side="right") - 1, 0, bins - 1)
    return [
        {
            "confidence": float(confidence[where == i].mean()),
            "accuracy": float(1 - wrong[where == i].mean()),
            "n": int((where == i).sum()),
        }
        for i in range(bins)
        if (where == i).any()
    ]


def cloud(confidence: NDArray[np.float64], logs: NDArray[np.float64]) -> dict[str, list[float]]:
    """Perturbation against confidence with its curve, at most 400 rows (Fig. 1)."""
    known = np.isfinite(logs)
    if known.sum() < 20:
        return {"confidence": [], "log_mae": [], "curve": []}
    fitted = loess(confidence[known], logs[known])(confidence[known])
    step = -(-int(known.sum()) // _SHOWN)
    return {
        "confidence": confidence[known][::step].tolist(),
        "log_mae": logs[known][::step].tolist(),
        "curve": np.asarray(fitted)[::step].tolist(),
    }
