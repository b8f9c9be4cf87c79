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

    For parts whose workers could not share what each of them would find out, whose budget of
    queries is no model's to spend on probes, and for tables and texts, of which a model keeps no
    rows to decide with. Elsewhere the model decides when it is worth it.
    """
    if cost.calls and hasattr(context.model, "decide_block_sizes"):
        context.model.decide_block_sizes(context.test.X, gradients=cost.gradient_queries > 0)
        keep(context.executor.store, context.model)
