"""One call for many tasks: here, in processes, on a cluster; resumable with a run store."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fireassay.core.errors import BudgetExceededError
from fireassay.core.validation import check_choice, check_integer, check_real
from fireassay.engine.attempt import Outcome, Task
from fireassay.engine.failure import ExecutionError
from fireassay.engine.local import run_in_processes, run_serial
from fireassay.engine.progress import ProgressBar


@dataclass(frozen=True)
class Executor:
    """Where and how tasks run. The results never depend on it.

    Parameters
    ----------
    workers
        Processes on this machine; 1 runs everything in this process.
    cluster
        The address of a Dask scheduler (``"tcp://host:8786"``) or a ``distributed.Client``; then
        ``workers`` is not used.
    store
        A `RunStore`: finished tasks are journalled, and not run again by the same call.
    progress
        ``None`` shows a bar on a terminal, ``False`` never; a function is called with
        ``(done, total)`` after each task.
    budget_seconds
        Start no task after this time; `BudgetExceededError` tells what is left.
    """

    workers: int = 1
    cluster: Any = None
    store: Any = None
    progress: Callable[[int, int], None] | bool | None = None
    budget_seconds: float | None = None

    def __post_init__(self) -> None:
        check_integer(self.workers, "workers", low=1)
        if self.budget_seconds is not None:
            check_real(self.budget_seconds, "budget_seconds", low=0.0)

    def map(
        self,
        task: Task,
        rows: Iterable[Any],
        shared: Mapping[str, Any] | None = None,
        name: str = "",
        on_error: str = "raise",
    ) -> list[Any]:
        """Run ``task(row, **shared)`` for every row; results come in the order of the rows.

        Parameters
        ----------
        task
            A pure function at the top level of a module.
        rows
            Plain values or dicts, one for each task.
        shared
            Large things that every task needs: sent to each worker once.
        name
            What the progress bar and the journal call this work.
        on_error
            ``"raise"``: all other tasks finish, then `ExecutionError` lists the failures;
            ``"return"``: a `Failure` stands in the place of each missing result.
        """
        check_choice(on_error, "on_error", ("raise", "return"))
        listed, shared = list(rows), dict(shared or {})
        deadline = _Deadline(self.budget_seconds)
        results: dict[int, Any] = {}
        failures = []
        waiting = list(enumerate(listed))
        for outcome in self._watched(
            self._outcomes(task, deadline.until(waiting), shared), len(listed), 0, name
        ):
            if outcome.failure is not None:
                failures.append(outcome.failure)
                results[outcome.position] = outcome.failure
            else:
                results[outcome.position] = outcome.value
        if len(results) < len(listed):
            raise BudgetExceededError(
                f"The work must fit into {self.budget_seconds:g} s.",
                got=f"{len(results)} of {len(listed)} tasks done by then",
                do="Run again with a run store to go on with what is done, or allow more time.",
            )
        if failures and on_error == "raise":
            failures.sort(key=lambda failure: failure.position)
            raise ExecutionError.listing(failures, len(listed), name)
        return [results[position] for position in range(len(listed))]

    def _outcomes(
        self, task: Task, rows: Iterator[tuple[int, Any]], shared: Mapping[str, Any]
    ) -> Iterator[Outcome]:
        if self.workers == 1:
            return run_serial(task, rows, shared)
        return run_in_processes(task, rows, shared, self.workers)

    def _watched(
        self, outcomes: Iterator[Outcome], total: int, done: int, name: str
    ) -> Iterator[Outcome]:
        shown = False if self.progress is False or callable(self.progress) else None
        with ProgressBar(name or "tasks", total, shown=shown) as bar:
            for outcome in outcomes:
                yield outcome
                done += 1
                bar.advance()
                if callable(self.progress):
                    self.progress(done, total)


class _Deadline:
    """Lets rows through until the time is up."""

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds

    def until(self, rows: Iterable[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
        for row in rows:
            if self._end is not None and time.monotonic() > self._end:
                return
            yield row
