"""Attacks over blocks of samples, in several processes or on a cluster."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.attacks.registry import accepts
from fireassay.attacks.result import AttackResult
from fireassay.classifiers import as_classifier
from fireassay.core.arrays import AnyArray
from fireassay.core.errors import ParameterError
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
    mask: ArrayLike | None = None,
    seed: int = 0,
    block: int = BLOCK,
    executor: Executor | None = None,
    workers: int = 1,
    cluster: Any = None,
    progress: Any = None,
) -> dict[str, AttackResult]:
    """Run attacks on all samples, a block of rows at a time, wherever there is room.

    Args:
        attacks: Attacks by name, each as `make` returns it: ``{"pgd": make("pgd", eps=0.1)}``.
        model, X, y, mask: As in every attack.
        block: Samples in a task, whatever the workers: no result depends on these.
        executor: Where the blocks run, with a store if they are to be journalled; or
        workers, cluster, progress: what to make one of, as in `fireassay.engine.Executor`.
        seed: Of every attack.

    Raises:
        ParameterError: If several processes would share a model's query budget, or a mask is given
            to an attack that takes none.

    >>> from fireassay.attacks import make
    >>> half = lambda X: np.column_stack([1 - X[:, 0], X[:, 0]])  # the boundary is at 0.5
    >>> model = as_classifier(half, classes=[0, 1], bounds=(0, 1))
    >>> jump = {"jump": make("hopskipjump", max_queries=100)}
    >>> found = in_blocks(jump, model, np.full((5, 2), 0.4), [0] * 5, block=2)
    >>> found["jump"].distance.round(1).tolist()
    [0.1, 0.1, 0.1, 0.1, 0.1]
    """
    classifier = as_classifier(model)
    features = check_features(X)
    labels = np.asarray(y)
    check_lengths(X=len(features), y=len(labels))
    check_integer(block, "block", low=1)
    unable = [name for name, attack in attacks.items() if not accepts(attack, "mask")]
    if mask is not None and unable:
        raise ParameterError(
            "Where some features must not change, every attack must take a mask.",
            got=f"{', '.join(unable)} without one",
            do="Choose other attacks, or leave out mask=.",
        )
    shared: dict[str, Any] = {"attacks": dict(attacks), "model": classifier, "X": features}
    shared |= {"y": labels, "mask": None if mask is None else np.asarray(mask)}
    tasks = [
        {"attack": name, "start": start, "stop": min(start + block, len(features)), "seed": seed}
        for name in attacks
        for start in range(0, len(features), block)
    ]
    chosen = executor or Executor(workers=workers, cluster=cluster, progress=progress)
    if chosen.workers == 1 and chosen.cluster is None and chosen.store is None:
        # Nothing to journal, nowhere else to go: an attack's own error reaches the caller.
        parts = [attack_block(task, **shared) for task in tasks]
    else:
        parts = chosen.map(attack_block, tasks, shared=shared, name="attacks")
    return {
        name: joined([p for t, p in zip(tasks, parts, strict=True) if t["attack"] == name])
        for name in attacks
    }


def attack_block(
    row: dict[str, Any],
    attacks: Mapping[str, Callable[..., AttackResult]],
    model: Any,
    X: AnyArray,
    y: AnyArray,
    mask: AnyArray | None,
) -> AttackResult:
    """One attack on one block of samples."""
    rows = slice(row["start"], row["stop"])
    more = {} if mask is None else {"mask": mask}
    with one_thread():
        return attacks[row["attack"]](model, X[rows], y[rows], seed=row["seed"], **more)


def joined(parts: list[AttackResult]) -> AttackResult:
    """Results of consecutive blocks as one."""
    first = parts[0]
    fields: dict[str, Any] = {}
    for field in first.__dataclass_fields__:
        values = [getattr(part, field) for part in parts]
        fields[field] = np.concatenate(values) if isinstance(values[0], np.ndarray) else values[0]
    fields["shared_queries"] = sum(part.shared_queries for part in parts)
    return AttackResult(**fields)
