"""Labels that a claim needs, and where the heavy loops run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fireassay.classifiers.protocol import Classifier
from fireassay.core.lazy import pd
from fireassay.core.result import Result
from fireassay.core.threads import one_thread
from fireassay.core.validation import check_integer, check_real
from fireassay.core.words import percent
from fireassay.engine import Executor
from fireassay.statistics.labels_needed import fewest_labels, labels_allowing


@dataclass(frozen=True)
class LabelPlan(Result):
    """Labels needed to claim that the pmi is at most ``target``.

    Attributes:
        labels: The least that can do: this many labels, all of them without an error.
        table: For assumed true error rates: labels, errors allowed, and chance of success.
    """

    target: float
    confidence: float
    labels: int
    labels_with_operational: int
    table: pd.DataFrame

    def frame(self) -> pd.DataFrame:
        """The table."""
        return self.table

    def summary(self) -> str:
        """What the claim costs at the least."""
        return (
            f"pmi ≤ {self.target:g} at {percent(self.confidence, 1)} confidence takes at least "
            f"{self.labels} labels, none of them an error."
        )

    def __int__(self) -> int:
        return self.labels


def plan(target: float = 1e-3, confidence: float = 0.975, *, power: float = 0.8) -> LabelPlan:
    """How many labels it takes to claim ``pmi <= target`` with this confidence.

    Args:
        target: The largest acceptable probability of a misclassification, in (0, 1).
        confidence: One-sided, in (0, 1).
        power: The chance that the claim succeeds, for the rows of the table.

    >>> plan(target=1e-3, confidence=0.975).labels
    3688
    """
    check_real(target, "target", low=0, high=1)
    alpha = 1 - check_real(confidence, "confidence", low=0, high=1)
    check_real(power, "power", low=0, high=1)
    rates = [target * share for share in (0.0, 0.01, 0.1, 0.25, 0.5, 0.75)]
    rows = [(rate, *fewest_labels(target, rate, alpha, power)) for rate in rates]
    table = pd.DataFrame(rows, columns=["true_pmi", "labels", "errors_allowed", "power"])
    least, with_field = (labels_allowing(0, target, part * alpha) for part in (1.0, 0.9))
    return LabelPlan(target, confidence, least, with_field, table)


class Workers:
    """Runs tasks that ask one model."""

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
        self, task: Callable[..., Any], rows: Iterable[Any], shared: Mapping[str, Any], name: str
    ) -> list[Any]:
        """``task(row, **shared)`` for every row, in order; here errors keep their type."""
        if self.executor is None and self.workers == 1 and self.cluster is None:
            with one_thread():  # as in a worker: the same rounding
                return [task(row, **shared) for row in rows]
        executor = self.executor or Executor(workers=self.workers, cluster=self.cluster)
        return executor.map(task, rows, shared, name=name)

    def __getstate__(self) -> dict[str, Any]:
        # What travels to a worker does its own work there, alone.
        return {"model": self.model, "workers": 1, "cluster": None, "executor": None}
