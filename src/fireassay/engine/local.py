"""Tasks on this machine: one after the other, or in worker processes."""

import contextlib
import os
import shutil
import tempfile
import threading
import time
import warnings
from collections.abc import Generator, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from fireassay.core.errors import StoreError
from fireassay.core.patience import exit_if_stuck
from fireassay.core.source_only import import_from_source, source_only_folders
from fireassay.core.threads import one_thread
from fireassay.engine.attempt import Outcome, Task, attempt
from fireassay.engine.failure import ExecutionError
from fireassay.engine.shared import Shared, read_shared, write_shared

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
    """While inside, new processes import nothing from the folder that they are started in.

    Python looks there first for ``python -m`` and ``-c``, which is how workers are started: a
    ``numpy.py`` in a received folder would run. What this process may import, they may, too.
    """
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
    """Before the first task: end with the driver, end if a task is stuck, import as it does.

    No orphan keeps a core or memory. What the driver wrote for its workers goes, too: a killed
    driver cannot remove it.
    """

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
