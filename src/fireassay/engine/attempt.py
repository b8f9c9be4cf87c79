"""One task, run where it is: in this process, in a worker, or on another machine."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fireassay.engine.failure import Failure

Task = Callable[..., Any]


@dataclass(frozen=True)
class Outcome:
    """The value of one task, or its failure, and the seconds it took."""

    position: int
    value: Any
    failure: Failure | None
    seconds: float


def attempt(task: Task, position: int, row: Any, shared: Mapping[str, Any]) -> Outcome:
    """Run one task; an error becomes a `Failure`, so that the others go on."""
    started = time.perf_counter()
    value, failure = None, None
    try:
        value = task(row, **shared)
    except Exception as error:  # noqa: BLE001 - recorded with its traceback, and raised at the end
        failure = Failure.of(position, error)
    return Outcome(position, value, failure, time.perf_counter() - started)
