"""One call for many tasks: here, in processes, on a cluster; resumable with a run store."""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import FrameType
from typing import Any

from fireassay.core.clock import seconds_in_workers
from fireassay.core.errors import BudgetExceededError
from fireassay.core.validation import check_choice, check_integer, check_real
from fireassay.core.watchdog import AskedToEnd
from fireassay.engine.content_store import ContentStore
from fireassay.engine.journal_tables import function_name, task_ids
from fireassay.engine.local import (
    ExecutionError,
    Failure,
    Outcome,
    Task,
    run_in_processes,
    run_serial,
)
from fireassay.engine.progress import ProgressBar
from fireassay.engine.shared import Shared, find_models
from fireassay.engine.store import RunStore

ALL_CORES = -1
ASKED_TO_END = 128 + signal.SIGTERM
_WORTH_S = 6.0  # a process takes about two seconds to start


def cores() -> int:
    """The processors that this process may use: by affinity, and by its control group."""
    affinity = getattr(os, "sched_getaffinity", None)
    count = len(affinity(0)) if affinity else os.cpu_count() or 1
    with contextlib.suppress(OSError, ValueError):
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()
        count = min(count, max(1, int(quota) // int(period)))  # "max" is no number
    return count


@dataclass(frozen=True)
class Executor:
    """Where and how tasks run. The results never depend on it.

    Args:
        workers: Processes on this machine; 1 runs everything in this process; -1 starts as many as
            there are cores, but only where the work left would take seconds.
        cluster: The address of a Dask scheduler (``"tcp://host:8786"``) or a
            ``distributed.Client``; then ``workers`` is not used.
        store: A `RunStore`: finished tasks are journalled, and not run again by the same call.
        kept: Instead of it a `ContentStore`: finished tasks are not run again by any run.
        progress: ``None`` shows a bar on a terminal, ``False`` never; a function is called with
            ``(done, total)`` after each task.
        budget_seconds: Start no task after this time; `BudgetExceededError` tells what is left.
    """

    workers: int = 1
    cluster: Any = None
    store: RunStore | None = None
    kept: ContentStore | None = None
    progress: Callable[[int, int], None] | bool | None = None
    budget_seconds: float | None = None

    def __post_init__(self) -> None:
        check_integer(self.workers, "workers", low=1 if self.workers != ALL_CORES else ALL_CORES)
        if self.budget_seconds is not None:
            check_real(self.budget_seconds, "budget_seconds", low=0.0)

    @property
    def is_alone(self) -> bool:
        """Whether all tasks run in this process."""
        return self.processes == 1 and self.cluster is None

    @property
    def processes(self) -> int:
        """How many processes work at most."""
        return cores() if self.workers == ALL_CORES else self.workers

    def map(
        self,
        task: Task,
        rows: Iterable[Any],
        shared: Mapping[str, Any] | None = None,
        name: str = "",
        on_error: str = "raise",
        seconds: float | None = None,
    ) -> list[Any]:
        """Run ``task(row, **shared)`` for every row; results come in the order of the rows.

        Args:
            task: A pure function at the top level of a module.
            rows: Plain values or dicts, one for each task.
            shared: Large things that every task needs: sent to each worker once. What tasks ask a
                `Classifier` in there, however deep, is counted here: ``model.queries`` is right
                with any number of workers (a worker that dies takes the count of its last task with
                it).
            name: What the progress bar and the journal call this work.
            on_error: ``"raise"``: all other tasks finish, then `ExecutionError` lists the failures;
                ``"return"``: a `Failure` stands in the place of each missing result.
            seconds: What all of it will take, where that is known before the first task is done.

        Raises:
            ExecutionError: If tasks failed, or workers keep dying.
            ParameterError: If several processes would share a model's query budget: each would
                count on its own.
            BudgetExceededError: If ``budget_seconds`` ended before the tasks, or tasks failed by a
                model's budget alone.
            StoreError: If the store or the cluster cannot be used.

        >>> Executor(workers=1).map(pow, [2, 3], {"exp": 2})
        [4, 9]
        """
        check_choice(on_error, "on_error", ("raise", "return"))
        listed, shared = list(rows), dict(shared or {})
        store = self.kept or self.store
        journal = _Journal(store, task, listed, shared, name)
        waiting = self._within_budget((i, listed[i]) for i in journal.waiting)
        results, failures = dict(journal.known), list[Failure]()
        made = self._outcomes(task, waiting, shared, len(journal.waiting), seconds)
        with orderly_termination(), contextlib.closing(made) as outcomes:
            for outcome in self._watched(outcomes, len(listed), len(results), name):
                results[outcome.position] = journal.value(outcome)
                if outcome.failure is not None:
                    failures.append(outcome.failure)
        self._check_complete(results, len(set(journal.first)), failures, name, on_error)
        return [results[first] for first in journal.first]

    def _check_complete(
        self, results: Mapping[int, Any], total: int, failures: list[Failure], name: str,
        on_error: str,
    ) -> None:  # fmt: skip
        if failures and on_error == "raise":
            failures.sort(key=lambda failure: failure.position)
            listed = ExecutionError.listing(failures, total, name)
            if {failure.kind for failure in failures} == {BudgetExceededError.__name__}:
                raise BudgetExceededError(failures[0].message) from listed
            raise listed
        if len(results) < total:
            raise BudgetExceededError(
                f"The work must fit into {self.budget_seconds:g} s.",
                got=f"{len(results)} of {total} tasks done by then",
                do="Run again with a run store to go on with what is done, or allow more time.",
            )

    def _outcomes(
        self, task: Task, rows: Iterator[tuple[int, Any]], shared: Mapping[str, Any], waiting: int,
        seconds: float | None,
    ) -> Generator[Outcome, None, None]:  # fmt: skip
        if self.is_alone:
            return run_serial(task, rows, shared)
        if self.cluster is None and self.workers == ALL_CORES:
            return self._when_worth(task, rows, shared, waiting, seconds)
        found = find_models(shared)
        if self.cluster is None:
            return _counted(run_in_processes(task, rows, found, self.processes), found)
        from fireassay.engine.cluster import run_on_cluster

        return _counted(run_on_cluster(task, rows, found, self.cluster), found)

    def _when_worth(
        self, task: Task, rows: Iterator[tuple[int, Any]], shared: Mapping[str, Any], waiting: int,
        left: float | None,
    ) -> Generator[Outcome, None, None]:  # fmt: skip
        """Here, task by task, until what is left is long enough for other processes to start."""
        started = time.perf_counter()
        for done in range(waiting):
            if done:
                left = (time.perf_counter() - started) / done * (waiting - done)
            if waiting - done > 1 and left is not None and left > _WORTH_S:
                found = find_models(shared)
                yield from _counted(run_in_processes(task, rows, found, self.processes), found)
                return
            yield from run_serial(task, islice(rows, 1), shared)

    def _within_budget(self, rows: Iterable[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
        started = time.monotonic()
        for row in rows:
            spent = time.monotonic() - started
            if self.budget_seconds is not None and spent > self.budget_seconds:
                return
            yield row

    def _watched(
        self, outcomes: Iterator[Outcome], total: int, done: int, name: str
    ) -> Iterator[Outcome]:
        shown = False if self.progress is False or callable(self.progress) else None
        with ProgressBar(name or "tasks", total, done=done, shown=shown) as bar:
            for outcome in outcomes:
                yield outcome
                done += 1
                bar.advance()
                if callable(self.progress):
                    self.progress(done, total)


def _counted(
    outcomes: Generator[Outcome, None, None], shared: Shared
) -> Generator[Outcome, None, None]:
    """Adds what tasks asked copies of a model to the model itself, and what they took to a sum."""
    with contextlib.closing(outcomes):
        for outcome in outcomes:
            seconds_in_workers.add(outcome.quiet_seconds)
            for model, asked in zip(shared.models, outcome.asked, strict=False):
                model.count_elsewhere(asked)
            yield outcome


class _Journal:
    """Rows that are done are read from the store, and equal rows are run once; without one: all."""

    def __init__(
        self, store: RunStore | ContentStore | None, task: Task, rows: list[Any],
        shared: Mapping[str, Any], name: str,
    ) -> None:  # fmt: skip
        self._store = store
        self.known: Mapping[int, Any] = {}
        self.first: Sequence[int] = range(len(rows))
        self.waiting: Sequence[int] = self.first
        if store is None:
            return
        self._ids = task_ids(task, rows, shared)
        position: dict[str, int] = {}
        self.first = [position.setdefault(id_, i) for i, id_ in enumerate(self._ids)]
        done = store.finished(list(position))
        self.known = {position[id_]: value for id_, value in done.items()}
        self.waiting = [i for id_, i in position.items() if id_ not in done]
        store.expect((self._ids[i] for i in self.waiting), name, function_name(task))

    def value(self, outcome: Outcome) -> Any:
        failure = outcome.failure
        if self._store is None:
            return failure or outcome.value
        id_ = self._ids[outcome.position]
        if failure is None:
            return self._store.record(id_, outcome.value, outcome.seconds)
        self._store.record_failure(id_, failure.details, outcome.seconds)
        return failure


@contextlib.contextmanager
def orderly_termination() -> Iterator[None]:
    """While inside, SIGTERM raises `AskedToEnd` (exit 143): files are closed, workers ended."""
    # A program that handles SIGTERM itself keeps its own way, and threads are left alone.
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    ):
        yield
        return
    signal.signal(signal.SIGTERM, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextlib.contextmanager
def no_other_exit(who: str) -> Iterator[None]:
    """While inside, a ``SystemExit`` that nobody asked for by SIGTERM is an error of ``who``."""
    try:
        yield
    except AskedToEnd:
        raise
    except SystemExit as error:
        raise ExecutionError(
            "A run must come to its end.",
            got=f"{who} ended the program (SystemExit: {error.code})",
            do="Take sys.exit() out of its code: raise an error, or return an answer.",
        ) from error


def _leave(_number: int, _frame: FrameType | None) -> None:
    raise AskedToEnd(ASKED_TO_END)
