"""Tasks on a Dask cluster (extra "cluster"): the same call, other machines."""

import contextlib
from collections.abc import Generator, Iterable, Iterator, Mapping
from typing import Any

from fireassay.core.errors import StoreError
from fireassay.core.extras import require
from fireassay.engine.attempt import Outcome, Task, attempt
from fireassay.engine.failure import ExecutionError, Failure

_RETRIES = 3
_TASKS_PER_THREAD = 4
_PATIENCE_S = 30
_one_thread_each = False


def run_on_cluster(
    task: Task, rows: Iterable[tuple[int, Any]], shared: Mapping[str, Any], cluster: Any
) -> Generator[Outcome, None, None]:
    """Run tasks on the workers of a cluster; outcomes come as they finish, in any order.

    ``shared`` is sent to the cluster once. A bounded number of rows is under way at any time. The
    rows of a worker that dies go to another one, three times at most; then the task fails.
    """
    distributed = require("distributed", "cluster", "A cluster")
    with _client(distributed, cluster) as client:
        # In a list: a bare dict would be taken apart into its values.
        (scattered,) = client.scatter([dict(shared)], hash=False)
        window = _TASKS_PER_THREAD * max(1, sum(client.ncores().values()))
        waiting = iter(rows)
        position: dict[str, int] = {}
        running = distributed.as_completed(loop=client.loop)

        def submit() -> bool:
            for i, row in waiting:
                future = client.submit(
                    _on_worker, task, i, row, scattered, pure=False, retries=_RETRIES
                )
                position[future.key] = i
                running.add(future)
                return True
            return False

        try:
            while len(position) < window and submit():
                pass
            for future in running:
                i = position.pop(future.key)
                yield _outcome(future, i)
                submit()
        finally:
            client.cancel(list(running.futures), force=True)


def _on_worker(task: Task, position: int, row: Any, shared: Mapping[str, Any]) -> Outcome:
    global _one_thread_each
    if not _one_thread_each:
        from threadpoolctl import threadpool_limits

        threadpool_limits(limits=1)
        _one_thread_each = True
    return attempt(task, position, row, shared)


def _outcome(future: Any, position: int) -> Outcome:
    if future.status == "finished":
        outcome: Outcome = future.result()
        return outcome
    error = future.exception() if future.status == "error" else None
    failure = (
        Failure(position, "Cancelled", f"the cluster gave the task up ({future.status})")
        if error is None
        else Failure.of(position, error)
    )
    return Outcome(position, None, failure, 0.0)


@contextlib.contextmanager
def _client(distributed: Any, cluster: Any) -> Iterator[Any]:
    if isinstance(cluster, distributed.Client):
        yield cluster
        return
    try:
        client = distributed.Client(cluster, timeout=_PATIENCE_S, set_as_default=False)
    except (OSError, ValueError) as error:
        raise StoreError(
            "The cluster must be the address of a running Dask scheduler, tcp://host:port.",
            got=f"{cluster!r}: {error}",
            do="Start one with 'dask scheduler' and workers with 'dask worker tcp://host:port'.",
        ) from error
    with client:
        if not client.ncores():
            try:
                client.wait_for_workers(1, timeout=_PATIENCE_S)
            except TimeoutError as error:
                raise ExecutionError(
                    "The cluster must have workers.",
                    got=f"none at {cluster} after {_PATIENCE_S} s",
                    do="Start some with 'dask worker'.",
                ) from error
        yield client
