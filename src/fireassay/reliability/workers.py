"""Where the heavy loops run: here, in processes, or on a cluster; every query is counted."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from fireassay.classifiers.protocol import Classifier
from fireassay.core.errors import ParameterError
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

    Raises
    ------
    ParameterError
        If several processes would share a query budget: each would count on its own.
    """

    def __init__(self, model: Classifier, workers: int = 1, cluster: Any = None) -> None:
        self.model = model
        self.workers = check_integer(workers, "workers", low=1)
        self.cluster = cluster
        self.queries_elsewhere = 0
        inner: Any = None if self._here else model
        while inner is not None:
            budget = getattr(inner, "max_queries", None)
            if budget is not None:
                raise ParameterError(
                    "A model with a query budget must be assessed in one process.",
                    got=f"max_queries={budget} and several workers",
                    do="Use workers=1.",
                )
            inner = getattr(inner, "model", None)

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
        everything = {"task": task, "model": self.model, "shared": dict(shared)}
        executor = Executor(workers=self.workers, cluster=self.cluster)
        found = executor.map(counted, rows, everything, name=name)
        self.queries_elsewhere += sum(queries for _, queries in found)
        return [value for value, _ in found]

    @property
    def _here(self) -> bool:
        return self.workers == 1 and self.cluster is None

    def __getstate__(self) -> dict[str, Any]:
        # What travels to a worker does its own work there, alone.
        return {"model": self.model, "workers": 1, "cluster": None, "queries_elsewhere": 0}


def counted(
    row: Any, task: Callable[..., Any], model: Classifier, shared: Mapping[str, Any]
) -> tuple[Any, int]:
    """What a task returns, and how often it asked the model."""
    before = model.queries
    value = task(row, **shared)
    return value, model.queries - before
