"""What each part will cost, from the measured cost of a few queries to this very model."""

import time
from dataclasses import asdict, dataclass
from typing import Any

from fireassay.assessment.config import Config
from fireassay.assessment.context import Context
from fireassay.assessment.inputs import load_context
from fireassay.assessment.parts import part_module

PROBED_ROWS = 256


@dataclass(frozen=True)
class PlanRow:
    """One part: its expected cost, or the reason why it cannot run."""

    part: str
    reason: str | None = None
    queries: int = 0
    labels: int = 0
    seconds: float = 0.0
    megabytes: float = 0.0


@dataclass(frozen=True)
class Plan:
    """The expected cost of an assessment."""

    rows: tuple[PlanRow, ...]
    seconds_per_query: float
    probed: int

    @property
    def queries(self) -> int:
        """Rows sent to the model in all."""
        return sum(row.queries for row in self.rows)

    @property
    def labels(self) -> int:
        """Labels used in all (parts share labels: the largest counts)."""
        return max((row.labels for row in self.rows), default=0)

    @property
    def seconds(self) -> float:
        """Expected wall-clock time on one core."""
        return sum(row.seconds for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Plain types for JSON."""
        return {
            "parts": {row.part: asdict(row) for row in self.rows},
            "seconds_per_query": self.seconds_per_query,
            "queries": self.queries,
            "labels": self.labels,
            "seconds": self.seconds,
        }


def make_plan(config: Config) -> Plan:
    """Measure the model on a few rows and price every part of the configuration."""
    return price(load_context(config), config.run.parts, config.settings)


def price(context: Context, parts: tuple[str, ...], settings: dict[str, Any]) -> Plan:
    """Price some parts in a context."""
    rows = context.test.X[:PROBED_ROWS]
    context.model.predict_proba(rows)  # the first call also loads and compiles
    start = time.perf_counter()
    context.model.predict_proba(rows)
    per_query = (time.perf_counter() - start) / len(rows)
    planned = []
    for name in parts:
        module = part_module(name)
        reason = module.missing(context)
        if reason is not None:
            planned.append(PlanRow(name, reason))
            continue
        cost = module.cost(context, settings[name])
        # A backward pass costs about two forward passes.
        seconds = per_query * (cost.queries + 2 * cost.gradient_queries) + cost.extra_seconds
        planned.append(PlanRow(name, None, cost.queries, cost.labels, seconds, cost.megabytes))
    return Plan(tuple(planned), per_query, len(rows))
