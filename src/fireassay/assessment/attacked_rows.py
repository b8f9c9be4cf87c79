"""Test rows under attack, once for all parts: when each fell, and what it had become."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fireassay import attacks
from fireassay.assessment.attack_space import AttackSpace
from fireassay.assessment.context import Context
from fireassay.attacks.blocks import joined
from fireassay.attacks.result import FOUND, AttackResult
from fireassay.classifiers import GradientClassifier
from fireassay.core import Estimate, NotEnoughEvidenceError, Result, generator, sha256
from fireassay.core.threads import one_thread
from fireassay.core.validation import check_class_indices
from fireassay.statistics import clopper_pearson
from fireassay.survival import Observations

GRADIENT_COST = 2.0  # forward-equivalents of a backward pass
CONFIDENCE = 0.95
_CHUNK_ROWS = 50
_PGD_STEPS = 40


@dataclass(frozen=True, eq=False)
class AttackedRows(Result):
    """What each attack did to a random sample of the test rows.

    Attributes
    ----------
    rows
        Positions in the test set of the sampled rows that the model gets right.
    sampled
        How many rows were sampled, right or wrong.
    found
        The outcome of each attack on ``rows``, by name, in the attack's space.
    """

    rows: NDArray[np.int64]
    sampled: int
    found: dict[str, AttackResult]
    eps: float
    budget: int
    seed: int
    model_sha256: str
    data_sha256: str

    def frame(self) -> pd.DataFrame:
        """One row per sample and attack: between which queries it fell."""
        parts = [_times(self, name, result) for name, result in self.found.items()]
        return pd.concat(parts, ignore_index=True)

    def observations(self) -> Observations:
        """The times to failure, as survival analysis takes them."""
        table = self.frame()
        table["model_id"] = self.model_sha256[:12]
        table["defence"] = "none"
        table["defence_value"] = 0.0
        table.attrs["time_unit"] = "queries"
        return Observations(
            table=table,
            budget=self.budget,
            gradient_cost=GRADIENT_COST,
            benign_accuracy=_share(len(self.rows), self.sampled),
            benign_rejection_rate=_share(0, self.sampled),
            confidence=CONFIDENCE,
            seed=self.seed,
            model_sha256=self.model_sha256,
            data_sha256=self.data_sha256,
        )

    def adversarial(self, space: AttackSpace) -> tuple[NDArray[Any], NDArray[np.str_]]:
        """The inputs that fooled the model, as the model takes them, and which attack made each."""
        X, made_by = [], []
        for name, result in self.found.items():
            fell = result.status == FOUND
            X.append(space.outside(result.adversarial[fell]))
            made_by += [name] * int(fell.sum())
        return np.concatenate(X), np.array(made_by, dtype=np.str_)


def attacked_rows(
    context: Context, space: AttackSpace, samples: int, budget: int, eps: float | None
) -> AttackedRows:
    """Attack a random sample of the test rows, unless that has been done in this run.

    Rows go in chunks of a fixed size, each of them journalled and free to go to another worker.
    """
    chosen = attack_parameters(space, budget, eps)
    inputs = (samples, budget, chosen, context.test.sha256, space.model.sha256)
    attacked: AttackedRows = context.once(
        "attacked rows", inputs, lambda: _attack_all(context, space, samples, budget, chosen)
    )
    return attacked


def attack_parameters(
    space: AttackSpace, budget: int, eps: float | None
) -> dict[str, dict[str, Any]]:
    """Decisions alone are enough for one attack; gradients, where there are any, allow more."""
    low, high = space.bounds
    limit: dict[str, Any] = {"norm": "linf", "eps": eps or 0.1 * (high - low)}
    chosen: dict[str, dict[str, Any]] = {"hopskipjump": {**limit, "max_queries": budget}}
    if isinstance(space.model, GradientClassifier):
        limit["max_queries"] = int(np.ceil(budget / (1 + GRADIENT_COST))) + 2
        steps = min(_PGD_STEPS, max(1, int(budget / (1 + GRADIENT_COST))))
        restarts = max(1, int(np.ceil(budget / (steps * (1 + GRADIENT_COST)))))
        chosen["fgm"] = dict(limit)
        chosen["pgd"] = {**limit, "steps": steps, "restarts": restarts}
        chosen["deepfool"] = dict(limit)
    return chosen


def _attack_all(
    context: Context,
    space: AttackSpace,
    samples: int,
    budget: int,
    chosen: Mapping[str, Mapping[str, Any]],
) -> AttackedRows:
    order = generator(context.seed, "attacked rows").permutation(len(context.test))[:samples]
    X = space.inside(context.test.X[order])
    goal = check_class_indices(context.test.labels[order], space.model.classes)
    with one_thread():
        right = np.flatnonzero(space.model.predict_proba(X).argmax(axis=1) == goal)
    if not len(right):
        raise NotEnoughEvidenceError(
            "At least one sampled row must be classified correctly before the attack.",
            got=f"0 of {len(order)}",
        )
    X, y = X[right], context.test.labels[order][right]
    tasks = [
        {"attack": name, "parameters": dict(parameters), "start": start}
        for name, parameters in chosen.items()
        for start in range(0, len(right), _CHUNK_ROWS)
    ]
    shared = {"model": space.model, "X": X, "y": y, "mask": space.mask, "seed": context.seed}
    done = context.executor.map(_attack_chunk, tasks, shared, name="attacks")
    found = {
        name: joined(
            [result for task, result in zip(tasks, done, strict=True) if task["attack"] == name]
        )
        for name in chosen
    }
    return AttackedRows(
        rows=order[right].astype(np.int64),
        sampled=len(order),
        found=found,
        eps=float(next(iter(chosen.values()))["eps"]),
        budget=budget,
        seed=context.seed,
        model_sha256=space.model.sha256,
        data_sha256=sha256(np.ascontiguousarray(X), y),
    )


def _attack_chunk(row: dict[str, Any], model: Any, X: Any, y: Any, mask: Any, seed: int) -> Any:
    run = attacks.make(row["attack"], **row["parameters"])
    chunk = slice(row["start"], row["start"] + _CHUNK_ROWS)
    with one_thread():
        return run(model, X[chunk], y[chunk], mask=mask, seed=seed)


def _times(attacked: AttackedRows, name: str, found: AttackResult) -> pd.DataFrame:
    """Forward-equivalents between which each row fell; those that stand are right-censored."""
    reached = np.isfinite(found.queries_to_failure)
    backward = np.where(reached, found.gradient_queries_to_failure, 0.0)
    failed = found.queries_to_failure + GRADIENT_COST * backward
    before = found.queries_before_failure + GRADIENT_COST * found.gradient_queries_before_failure
    fell = (found.status == FOUND) & (failed <= attacked.budget)
    return pd.DataFrame(
        {
            "sample": attacked.rows,
            "attack": name,
            "norm": found.norm,
            "eps": attacked.eps,
            "lower": np.where(fell, before, float(attacked.budget)),
            "upper": np.where(fell, failed, np.inf),
            "success": fell,
            "distance": np.where(fell, found.distance, np.inf),
            "queries": found.queries,
            "gradient_queries": found.gradient_queries,
        }
    )


def _share(count: int, n: int) -> Estimate:
    low, high = clopper_pearson(count, n, CONFIDENCE)
    return Estimate(count / n, float(low), float(high), CONFIDENCE, n, "Clopper-Pearson")
