"""One task, run where it is: in this process, in a worker, or on another machine."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fireassay.core.counted import Counted
from fireassay.core.quiet_clock import quiet_seconds
from fireassay.engine.failure import Failure

Task = Callable[..., Any]


@dataclass(frozen=True)
class Outcome:
    """The value of one task, or its failure; the seconds it took, and what it asked each model.

    ``quiet_seconds`` are those that it would have taken with a processor to itself.
    """

    position: int
    value: Any
    failure: Failure | None
    seconds: float
    asked: tuple[Mapping[str, int], ...] = ()
    quiet_seconds: float = 0.0


def attempt(
    task: Task,
    position: int,
    row: Any,
    shared: Mapping[str, Any],
    models: Sequence[Counted] = (),
) -> Outcome:
    """Run one task; an error becomes a `Failure`, so that the others go on.

    What the task asks ``models`` is in the outcome, for the driver, which has the originals.
    """
    before = [model.asked_here() for model in models]
    started, began = time.perf_counter(), quiet_seconds()
    value, failure = None, None
    try:
        value = task(row, **shared)
    except Exception as error:  # noqa: BLE001 - recorded with its traceback, and raised at the end
        failure = Failure.of(position, error)
    seconds = time.perf_counter() - started
    asked = tuple(
        {kind: n - earlier[kind] for kind, n in model.asked_here().items()}
        for model, earlier in zip(models, before, strict=True)
    )
    return Outcome(position, value, failure, seconds, asked, quiet_seconds() - began)
