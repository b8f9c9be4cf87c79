"""Attacks over blocks of samples, in several processes or on a cluster."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.attacks.result import AttackResult
from fireassay.classifiers import as_classifier
from fireassay.core.threads import one_thread
from fireassay.core.validation import check_features, check_integer, check_lengths
from fireassay.engine import Executor

BLOCK = 64


def in_blocks(
    attacks: Mapping[str, Callable[..., AttackResult]],
    model: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    seed: int = 0,
    block: int = BLOCK,
    workers: int = 1,
    cluster: Any = None,
    progress: Any = None,
) -> dict[str, AttackResult]:
    """Run attacks on all samples, a block of rows at a time, wherever there is room.

    Parameters
    ----------
    attacks
        Attacks by name, each as `make` returns it: ``{"pgd": make("pgd", eps=0.1)}``.
    model, X, y
        As in every attack.
    block
        Samples in a task. Blocks do not depend on the workers, and so neither does any result.
    workers, cluster, progress
        As in `fireassay.engine.Executor`.

    Raises
    ------
    ParameterError
        If several processes would share a model's query budget: each would count on its own.
    """
    classifier = as_classifier(model)
    features = check_features(X)
    labels = np.asarray(y)
    check_lengths(X=len(features), y=len(labels))
    check_integer(block, "block", low=1)
    shared: dict[str, Any] = {
        "attacks": dict(attacks),
        "model": classifier,
        "X": features,
        "y": labels,
    }
    tasks = [
        {"attack": name, "start": start, "stop": min(start + block, len(features)), "seed": seed}
        for name in attacks
        for start in range(0, len(features), block)
    ]
    if workers == 1 and cluster is None:
        parts = [attack_block(task, **shared) for task in tasks]
    else:
        executor = Executor(workers=workers, cluster=cluster, progress=progress)
        parts = executor.map(attack_block, tasks, shared=shared, name="attacks")
    return {
        name: joined([p for t, p in zip(tasks, parts, strict=True) if t["attack"] == name])
        for name in attacks
    }


def attack_block(
    row: dict[str, Any],
    attacks: Mapping[str, Callable[..., AttackResult]],
    model: Any,
    X: NDArray[Any],
    y: NDArray[Any],
) -> AttackResult:
    """One attack on one block of samples."""
    rows = slice(row["start"], row["stop"])
    with one_thread():
        return attacks[row["attack"]](model, X[rows], y[rows], seed=row["seed"])


def joined(parts: list[AttackResult]) -> AttackResult:
    """Results of consecutive blocks as one."""
    first = parts[0]
    fields: dict[str, Any] = {}
    for field in first.__dataclass_fields__:
        values = [getattr(part, field) for part in parts]
        fields[field] = np.concatenate(values) if isinstance(values[0], np.ndarray) else values[0]
    fields["shared_queries"] = sum(part.shared_queries for part in parts)
    return AttackResult(**fields)
