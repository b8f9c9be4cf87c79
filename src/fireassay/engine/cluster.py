"""Tasks on a Dask cluster (extra "cluster"): the same call, other machines."""

import contextlib
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, cast

from fireassay.core.errors import StoreError
from fireassay.core.lazy import require
from fireassay.core.threads import one_thread
from fireassay.engine.local import ExecutionError, Failure, Outcome, Task, attempt
from fireassay.engine.shared import Shared

_RETRIES = 3
_PARCELS_PER_THREAD = 4
_PARCEL_S = 0.25
_PARCELS_PER_S = 100  # what a scheduler hands out with ease (benchmarks/engine.py)
_MOST_ROWS = 256
_PATIENCE_S = 30
_POLL_S = 0.005
Parcel = list[tuple[int, Any]]


def run_on_cluster(
    task: Task, rows: Iterable[tuple[int, Any]], shared: Shared, cluster: Any
) -> Generator[Outcome, None, None]:
    """Run tasks on the workers of a cluster; outcomes come as they finish, in any order."""
    # Short tasks travel in parcels of a quarter of a second (longer on more than 25 cores), because
    # a scheduler's own work is milliseconds each. The parcels of a worker that dies go to another
    # one, three times at most; then row by row, so that only the fatal row fails.
    distributed = require("distributed", "cluster", "A cluster")
    with _client(distributed, cluster) as client:
        held = _send(client, shared)
        threads = max(1, sum(client.ncores().values()))
        window, parcel_s = _PARCELS_PER_THREAD * threads, max(_PARCEL_S, threads / _PARCELS_PER_S)
        waiting = iter(rows)
        under_way: dict[str, Parcel] = {}
        suspects: list[tuple[int, Any]] = []
        running = distributed.as_completed(loop=client.loop)
        size = 1

        def submit(parcel: Parcel) -> Any:
            return client.submit(_on_worker, task, parcel, held, pure=False, retries=_RETRIES)

        def fill() -> None:
            while len(under_way) < window and (parcel := list(islice(waiting, size))):
                future = submit(parcel)
                under_way[future.key] = parcel
                running.add(future)

        try:
            fill()
            for future in _finished(running, client):
                parcel = under_way.pop(future.key)
                if future.status == "finished":
                    outcomes: list[Outcome] = _result(future, client)
                    yield from outcomes
                    size = _next_size(size, outcomes, parcel_s)
                else:
                    suspects += parcel
                fill()
            # One of them killed its workers, the others were only near it: each goes alone.
            for row in suspects:
                running.add(submit([row]))
                yield _outcome(next(_finished(running, client)), row[0], client)
        finally:
            client.cancel(list(running.futures), force=True)


def _send(client: Any, shared: Shared) -> Any:
    """What every task needs, as the value of a task of its own."""
    # Scattered data would be gone with the last worker that holds it; a task's value is made again.
    import dask

    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 PB"}):
        return client.submit(_hold, shared, pure=False)


def _hold(shared: Shared) -> Shared:
    return shared


def _finished(running: Any, client: Any) -> Iterator[Any]:
    """Futures as they finish; a cluster without workers is an error, not a wait for ever."""
    last_seen = time.monotonic()
    while not running.is_empty():
        while not running.has_ready():
            time.sleep(_POLL_S)
            if time.monotonic() - last_seen > _PATIENCE_S:
                if not client.ncores():
                    raise _without_workers(client.scheduler.address)
                last_seen = time.monotonic()
        last_seen = time.monotonic()
        yield next(running)


def _result(future: Any, client: Any) -> Any:
    """What a task gave; if that is gone with its worker, wait until another one has made it."""
    while True:
        try:
            return future.result(timeout=_PATIENCE_S)
        except TimeoutError:
            if not client.ncores():
                raise _without_workers(client.scheduler.address) from None


def _without_workers(address: Any) -> ExecutionError:
    return ExecutionError(
        "The cluster must have workers.",
        got=f"none at {address} after {_PATIENCE_S} s",
        do="Start some with 'dask worker'; with a run store, finished tasks are kept.",
    )


def _next_size(size: int, outcomes: Sequence[Outcome], parcel_s: float = _PARCEL_S) -> int:
    """Rows of the next parcel: as many as fill its seconds, growing fourfold at most."""
    each = sum(outcome.seconds for outcome in outcomes) / len(outcomes)
    return max(1, min(_MOST_ROWS, 4 * size, int(parcel_s / max(each, 1e-6))))


def _on_worker(task: Task, parcel: Parcel, shared: Shared) -> list[Outcome]:
    with one_thread():
        return [attempt(task, i, row, shared.given, shared.models) for i, row in parcel]


def _outcome(future: Any, position: int, client: Any) -> Outcome:
    if future.status == "finished":
        (outcome,) = _result(future, client)
        return cast(Outcome, outcome)
    failure = Failure(position, "Cancelled", f"the cluster gave the task up ({future.status})")
    if future.status == "error":
        failure = Failure.of(position, future.exception())
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
                raise _without_workers(cluster) from error
        yield client
