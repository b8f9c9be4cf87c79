"""Where the heavy loops run: here, in processes, or on a cluster; every query is counted."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from fireassay.classifiers.protocol import Classifier
from fireassay.core.threads import one_thread
from fireassay.core.validation import check_integer
from fireassay.engine import Executor


class Workers:
    """Runs tasks that ask one model.

    Parameters
    ----------
    model
        The model that tasks ask.
    workers, cluster
        As in `fireassay.engine.Executor`.
    executor
        One with a journal, in place of these two: a killed assessment goes on where it was.

    Raises
    ------
    ParameterError
        If several processes would share a query budget: each would count on its own.
    """

    def __init__(
        self,
        model: Classifier,
        workers: int = 1,
        cluster: Any = None,
        executor: Executor | None = None,
    ) -> None:
        self.model = model
        self.workers = check_integer(workers, "workers", low=1)
        self.cluster = cluster
        self.executor = executor

    @property
    def sha256(self) -> str:
        """What a journal knows tasks by: the model, not where they run."""
        return str(self.model.sha256)

    def run(
        self,
        task: Callable[..., Any],
        rows: Iterable[Any],
        shared: Mapping[str, Any],
        name: str,
    ) -> list[Any]:
        """``task(row, **shared)`` for every row, in order; in one process errors keep their type.

        The answers must not depend on how rows are shared out, so rows are fixed by the caller.
        """
        if self._here:
            with one_thread():  # as in a worker: the same rounding
                return [task(row, **shared) for row in rows]
        executor = self.executor or Executor(workers=self.workers, cluster=self.cluster)
        return executor.map(task, rows, shared, name=name)

    @property
    def _here(self) -> bool:
        return self.executor is None and self.workers == 1 and self.cluster is None

    def __getstate__(self) -> dict[str, Any]:
        # What travels to a worker does its own work there, alone.
        return {"model": self.model, "workers": 1, "cluster": None, "executor": None}
