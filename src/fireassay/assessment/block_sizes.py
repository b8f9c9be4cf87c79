"""Block sizes of a run's models: decided once, kept in the journal, never probed again."""

from typing import Any

from fireassay.assessment.context import Context, Cost
from fireassay.classifiers import BlockSizes
from fireassay.engine import RunStore

_KEPT = "block sizes by model"


def recall(store: RunStore | None, model: Any) -> None:
    """Give a model what an earlier start of this run has decided about it."""
    kept = {} if store is None else store.meta(_KEPT, {})
    if kept and hasattr(model, "block_sizes") and model.sha256 in kept:
        model.block_sizes = BlockSizes.from_dict(kept[model.sha256])


def keep(store: RunStore | None, model: Any) -> None:
    """Write down what is decided about a model."""
    decided = getattr(model, "block_sizes", BlockSizes()).to_dict()
    if store is not None and decided:
        kept = store.meta(_KEPT, {})
        if kept.get(model.sha256) != decided:
            store.set_meta(_KEPT, {**kept, model.sha256: decided})


def decide_before(context: Context, cost: Cost) -> None:
    """Decide now for a part that asks about few rows at a time.

    It will ask often enough to be worth the probe; left to itself a model would first fill up as
    many rows as a probe sends, each worker would find out by itself, a model with a budget could
    not, and of tables and texts a model keeps no rows to decide with.
    """
    costs = (cost, *context.lacking(cost))
    if any(each.calls for each in costs) and hasattr(context.model, "decide_block_sizes"):
        gradients = any(each.gradient_queries for each in costs)
        context.model.decide_block_sizes(context.test.X, gradients=gradients)
        keep(context.executor.store, context.model)
