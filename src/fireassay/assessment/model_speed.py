"""What a model's answers cost, measured with a few rows in blocks as a run sends them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np

from fireassay.assessment.context import Context, Cost
from fireassay.assessment.first_answers import keep_first_answers
from fireassay.assessment.machine_speed import slowness
from fireassay.assessment.memory_use import ROWS_HELD, held_mb
from fireassay.classifiers import GradientClassifier, block_ladder
from fireassay.classifiers.base import BLOCK_ROWS, BaseClassifier, innermost
from fireassay.classifiers.probe import answers_again
from fireassay.core.arrays import IntArray
from fireassay.core.quiet_clock import quiet_seconds

# A block that takes longer is measured by a smaller one: a slow model's rows cost the same in both.
_MOST_S: Final = 2.0
_SLOW_ROWS: Final = 32
_GOLDEN: Final = 0.618033988749895  # its multiples lie evenly in [0, 1), however many are taken
_SMALL_CALLS: Final = 3  # the quickest counts: a call with few rows is soon disturbed


@dataclass(frozen=True)
class Speed:
    """Measured seconds: of one row among many, of a call besides its rows, of one gradient.

    Attributes
    ----------
    per_query, per_call, per_gradient
        The seconds.
    probed
        Rows that were sent to measure this.
    block
        Rows of the blocks that calls are filled up to; 1 where nothing is filled up.
    choosing
        Seconds of probing until few rows go in small blocks.
    slowness
        Seconds that this machine takes for one of a part's own.
    unseen_mb
        What a slow model will hold for a whole block, beyond what it holds for the few rows sent.

    >>> Speed(0.001, 0.01, 0.0, 4, block=256).seconds(Cost(queries=300, data_rows=300))
    0.512
    """

    per_query: float
    per_call: float
    per_gradient: float
    probed: int
    block: int = 1
    choosing: float = 0.0
    slowness: float = 1.0
    unseen_mb: float = 0.0

    def seconds(self, cost: Cost, known: int = 0) -> float:
        """How long a part of this cost will take, if ``known`` rows were asked before."""
        fresh = max(0, cost.data_rows - known)
        sent = float(self.block * -(-fresh // self.block))
        sent += (1.0 - cost.spared) * (cost.queries - cost.data_rows)
        slopes = (1.0 - cost.spared) * cost.gradient_queries
        model = self.per_query * sent + self.per_gradient * slopes
        return model + self.per_call * cost.calls + self.slowness * cost.own_seconds


def measure_speed(context: Context) -> Speed:
    """Send the model a few rows: four of them, many at once, and some for gradients.

    They come from all over the set, which may be sorted by class: what it says is remembered.
    """
    model, slow = context.model, slowness()
    rows = spread_rows(len(context.test), BLOCK_ROWS)
    many = context.test.X[rows]
    few, some = many[: block_ladder.FEW], many[:_SLOW_ROWS]
    answers_again(model, few)  # the first call also loads and compiles
    small = min(_seconds(lambda: answers_again(model, few))[0] for _ in range(_SMALL_CALLS))
    before = held_mb()
    middle, answers = _seconds(lambda: answers_again(model, some))
    grown = max(0.0, held_mb() - before) / max(1, len(some) - len(few))
    seen, held = context.known.get(ROWS_HELD, (0, 0.0))
    grown = max(grown, held / max(1, seen))
    per_query, probed = middle / len(some), (1 + _SMALL_CALLS) * len(few) + len(some)
    block, choosing = _blocks(model)
    unseen = grown * max(0, block - max(len(some), seen))
    if (middle - small) / _SLOW_ROWS * BLOCK_ROWS <= _MOST_S:
        unseen = 0.0
        large, answers = _seconds(lambda: answers_again(model, many))
        probed += len(many)
        if large / len(many) > per_query:  # a row among many is not dearer: it was disturbed
            large = min(large, _seconds(lambda: answers_again(model, many))[0])
            probed += len(many)
        per_query = large / len(many)
        if _goes_whole(model) and len(many) > len(few):  # a large call is one call
            per_query = max(0.0, large - small) / (len(many) - len(few))
    keep_first_answers(context, rows[: len(answers)], answers)
    per_gradient = 0.0
    if isinstance(model, GradientClassifier):
        slopes = _gradients(model, some)
        slopes()
        per_gradient, probed = _seconds(slopes)[0] / len(some), probed + 2 * len(some)
    per_call = max(0.0, small - per_query * len(few) / 2)  # half of a small block is filled up
    slow = min(slow, slowness())  # others may be at work at one of the two moments
    choosing_s = choosing * per_query
    return Speed(per_query, per_call, per_gradient, probed, block, choosing_s, slow, unseen)


def spread_rows(n: int, most: int) -> IntArray:
    """At most so many of n rows: every k-th, the first ones of any length from all over the set.

    >>> spread_rows(9, 4).tolist()
    [0, 4, 2, 6]
    """
    rows = np.arange(min(n, most)) * n // min(n, most)
    return rows[np.argsort(np.arange(len(rows)) * _GOLDEN % 1.0, kind="stable")]


def _gradients(model: Any, rows: Any) -> Callable[[], Any]:
    """Gradients of these rows, not filled up to a block where the adapter lets us."""
    adapter = innermost(model)
    if isinstance(adapter, BaseClassifier):
        for kind, call, arrays in adapter._questions(adapter._checked_input(rows), True):
            if kind == "loss gradient":
                return partial(adapter._sent, call, arrays, None)
    return partial(model.loss_gradient, rows, np.zeros(len(rows), dtype=np.int64))


def _goes_whole(model: Any) -> bool:
    """Whether a call is sent as it is, however many rows it has, as with trees."""
    adapter = innermost(model)
    return isinstance(adapter, BaseClassifier) and adapter.batch_size is None


def _blocks(model: Any) -> tuple[int, int]:
    """Rows of a block that is filled up, and rows that the choice of smaller ones costs."""
    adapter = innermost(model)
    if not isinstance(adapter, BaseClassifier) or adapter.batch_size is None:
        return 1, 0
    if not adapter.pads_blocks:
        return 1, 0
    # Gradients are other questions, of which a part asks some: each has its own decision.
    decisions = 2 if isinstance(model, GradientClassifier) else 1
    price = decisions * block_ladder.price(adapter.batch_size)
    return adapter.batch_size, price * adapter.may_choose


def _seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    """How long a call takes, and what it gives."""
    start = quiet_seconds()
    given = call()
    return quiet_seconds() - start, given
