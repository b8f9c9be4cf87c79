"""Tasks in this process or in worker processes, with their failures."""

import contextlib
import os
import shutil
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fireassay.core.clock import quiet_seconds
from fireassay.core.counted import Counted
from fireassay.core.errors import FireassayError, StoreError
from fireassay.core.source_only import import_from_source, source_only_folders
from fireassay.core.threads import one_thread
from fireassay.core.watchdog import exit_if_stuck
from fireassay.engine.shared import Shared, read_shared, write_shared

_MOST_LISTED = 5


@dataclass(frozen=True)
class Failure:
    """One failed task: the position of its row, the kind of error, its text and its traceback.

    Attributes:
        position, kind, message: Which row, and the error's class and text.
        details: Its traceback.

    >>> print(Failure.of(3, RuntimeError("no answer")))
    row 3: RuntimeError: no answer
    """

    position: int
    kind: str
    message: str
    details: str = ""

    @classmethod
    def of(cls, position: int, error: BaseException) -> "Failure":
        """Describe an exception as plain text, which survives any pickling or storing."""
        details = "".join(traceback.format_exception(error))
        return cls(position, type(error).__name__, str(error), details)

    def __str__(self) -> str:
        return f"row {self.position}: {self.kind}: {self.message}"


class ExecutionError(FireassayError):
    """Some tasks of a run failed; the others are finished (and journalled, with a store).

    Attributes:
        failures: One `Failure` for each failed task, in the order of the rows.
    """

    def __init__(self, expected: str, *, failures: Sequence[Failure] = (), **more: Any) -> None:
        super().__init__(expected, **more)
        self.failures = tuple(failures)

    @classmethod
    def listing(cls, failures: Sequence[Failure], total: int, name: str) -> "ExecutionError":
        """The error for ``failures`` among ``total`` tasks."""
        shown = "; ".join(str(failure) for failure in failures[:_MOST_LISTED])
        more = len(failures) - _MOST_LISTED
        return cls(
            f"All {total} tasks{f' of {name}' if name else ''} must finish.",
            got=f"{len(failures)} failed ({shown}{f'; and {more} more' if more > 0 else ''})",
            do="Mend the cause and run again: with a run store, finished tasks are kept.",
            failures=failures,
        )


Task = Callable[..., Any]


@dataclass(frozen=True)
class Outcome:
    """Value or failure of a task, its seconds (also on an idle processor), and its queries."""

    position: int
    value: Any
    failure: Failure | None
    seconds: float
    asked: tuple[Mapping[str, int], ...] = ()
    quiet_seconds: float = 0.0


def attempt(
    task: Task, position: int, row: Any, shared: Mapping[str, Any], models: Sequence[Counted] = ()
) -> Outcome:
    """Run one task; an error becomes a `Failure`, so that the others go on."""
    # What the task asks ``models`` is in the outcome, for the driver, which has the originals.
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


Rows = Iterable[tuple[int, Any]]
Outcomes = Generator[Outcome, None, None]
_MOST_DEATHS = 3


def run_serial(task: Task, rows: Rows, shared: Mapping[str, Any]) -> Outcomes:
    """Run tasks in this process, with one thread each as in a worker: the same rounding."""
    with one_thread():
        for position, row in rows:
            yield attempt(task, position, row, shared)


def run_in_processes(task: Task, rows: Rows, shared: Shared, workers: int) -> Outcomes:
    """Run tasks in ``workers`` processes; outcomes come as they finish, in any order."""
    with tempfile.TemporaryDirectory(prefix="fireassay-") as folder:
        try:
            path = str(write_shared(shared, Path(folder)))
        except OSError as error:
            raise StoreError(
                "The shared data must fit into the temporary folder.",
                got=str(error),
                do="Free space there, or set TMPDIR to a larger disk.",
            ) from error
        yield from _survive_deaths(task, iter(rows), path, workers)


def _survive_deaths(
    task: Task, rows: Iterator[tuple[int, Any]], path: str, workers: int
) -> Outcomes:
    """Give the rows of a worker that died to others; give up when workers keep dying."""
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    sent: dict[int, Any] = {}
    deaths = 0
    while True:
        retried = list(sent.items())
        try:
            for outcome in _parallel(task, _noted(retried, rows, sent), path, workers):
                del sent[outcome.position]
                yield outcome
            return
        except TerminatedWorkerError as error:
            deaths += 1
            if deaths >= _MOST_DEATHS:
                raise ExecutionError(
                    "Worker processes must live until their tasks are done.",
                    got=f"{deaths} workers that died (often for lack of memory) near the rows "
                    f"{sorted(sent)[:8]}",
                    do="Use fewer workers, or find the row that kills its process.",
                ) from error


def _noted(
    retried: list[tuple[int, Any]], rows: Iterator[tuple[int, Any]], sent: dict[int, Any]
) -> Iterator[tuple[int, Any]]:
    yield from retried
    for position, row in rows:
        sent[position] = row
        yield position, row


def _parallel(task: Task, rows: Rows, path: str, workers: int) -> Outcomes:
    from joblib import Parallel, delayed, parallel_config

    # A worker that has grown is replaced, with a warning in the thread that hands out the tasks:
    # where warnings are errors it would end that thread, and the run would wait for ever.
    warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
    # The driver says who it is: a worker whose driver was killed at once has another parent.
    given = (os.getpid(), *source_only_folders())
    begin = {"initializer": _begin_worker, "initargs": given}
    with _nothing_beside():
        with parallel_config(backend="loky", inner_max_num_threads=1, **begin):
            parallel = Parallel(n_jobs=workers, return_as="generator_unordered", max_nbytes=None)
            outcomes = parallel(delayed(_in_worker)(task, i, row, path) for i, row in rows)
        with contextlib.closing(outcomes):
            yield from outcomes


@contextlib.contextmanager
def _nothing_beside() -> Iterator[None]:
    """While inside, new processes import nothing from the folder that they are started in."""
    # Python looks there first for ``python -m`` and ``-c``, which is how workers are started: a
    # ``numpy.py`` in a received folder would run.
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before


_written_for_workers: dict[str, str] = {}


def _begin_worker(driver: int, *folders: str) -> None:
    """Before the first task: end with the driver, end if a task is stuck, import as it does."""
    # No orphan keeps a core, memory, or the files that a killed driver wrote for its workers.

    def watch() -> None:
        while os.getppid() == driver:
            time.sleep(1.0)
        if "path" in _written_for_workers:
            shutil.rmtree(Path(_written_for_workers["path"]).parent, ignore_errors=True)
        os._exit(1)

    exit_if_stuck()
    import_from_source(*folders)
    threading.Thread(target=watch, daemon=True, name="fireassay-parent-watch").start()


def _in_worker(task: Task, position: int, row: Any, path: str) -> Outcome:
    _written_for_workers["path"] = path
    shared = read_shared(path)
    return attempt(task, position, row, shared.given, shared.models)
