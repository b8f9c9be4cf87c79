"""Does the model itself give the same answer twice?"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.classifiers import declared
from fireassay.classifiers.base import BaseClassifier
from fireassay.classifiers.block_ladder import Call
from fireassay.core.arrays import FloatArray
from fireassay.core.errors import ParameterError, ReproducibilityWarning
from fireassay.core.validation import check_integer, check_real


@dataclass(frozen=True)
class ProbeResult:
    """What a few rows, sent several times, say about a model.

    Attributes
    ----------
    deterministic
        The same rows sent twice gave the same bytes.
    batch_invariant
        Rows sent one by one gave the same probabilities as in one block (within ``tolerance``).
    order_invariant
        Rows sent in reverse order gave the same probabilities (within ``tolerance``).
    repeat_difference, batch_difference, order_difference
        The largest differences of a probability.
    rows
        Rows of X that were used.
    queries
        Rows sent in all; they count as ``probe_queries``.
    """

    deterministic: bool
    batch_invariant: bool
    order_invariant: bool
    repeat_difference: float
    batch_difference: float
    order_difference: float
    tolerance: float
    rows: int
    queries: int


def probe(model: Any, X: ArrayLike, *, rows: int = 16, tolerance: float = 1e-5) -> ProbeResult:
    """Send the first rows of X four times, in different ways, and compare the answers.

    Looks at the bare model: adapters hide batch effects from the rest of fireassay by sending
    blocks of one size. A model that answers differently each time cannot be hidden.

    Parameters
    ----------
    model
        An adapter made by `as_classifier`, or anything it takes; of a wrapped classifier
        (temperature-scaled, defended) the innermost one is probed.
    X
        Rows to use, at least one.
    rows
        How many rows to use at most.
    tolerance
        Difference of probabilities that counts as rounding.

    Warns
    -----
    ReproducibilityWarning
        If the model is not deterministic.

    >>> batch_mean = lambda X: np.tile([0.6, 0.4], (len(X), 1)) + 0.3 * X.mean() * np.array([1, -1])
    >>> found = probe(batch_mean, np.array([[0.0], [1.0]]))
    >>> found.deterministic, found.batch_invariant, found.queries  # an answer depends on its batch
    (True, False, 8)
    """
    inner = _adapter(model)
    check_integer(rows, "rows", low=1)
    check_real(tolerance, "tolerance", low=0, inclusive="low")
    objects = declared.as_objects(X) if inner.takes_objects else None
    if objects is None:
        chosen, call = inner._checked_input(X)[:rows], inner._probabilities_of_block
    else:
        chosen, call = np.arange(min(rows, len(objects))), inner._of_objects(objects)
    queries = 4 * len(chosen)
    inner._reserve(queries, name="probe_queries")
    first, repeated = _answers(inner, call, chosen), _answers(inner, call, chosen)
    backwards = _answers(inner, call, chosen[::-1])[::-1]
    alone = np.concatenate([_answers(inner, call, row[None]) for row in chosen])
    repeat, batch, order = (_furthest(first, other) for other in (repeated, alone, backwards))
    result = ProbeResult(
        deterministic=repeat == 0.0,
        batch_invariant=batch <= tolerance,
        order_invariant=order <= tolerance,
        repeat_difference=repeat,
        batch_difference=batch,
        order_difference=order,
        tolerance=tolerance,
        rows=len(chosen),
        queries=queries,
    )
    if not result.deterministic:
        warnings.warn(
            f"The model is not deterministic: the same rows differ by up to {repeat:.2g}. Results "
            "cannot be repeated exactly; fix its random state or switch dropout off.",
            ReproducibilityWarning,
            stacklevel=2,
        )
    return result


def _adapter(model: Any) -> BaseClassifier:
    from fireassay.classifiers.adapt import as_classifier

    inner: Any = as_classifier(model)
    while not isinstance(inner, BaseClassifier) and hasattr(inner, "model"):
        inner = inner.model
    if not isinstance(inner, BaseClassifier):
        raise ParameterError(
            "Only classifiers made by as_classifier can be probed.", got=type(inner).__name__
        )
    return inner


def _answers(model: BaseClassifier, call: Call, rows: NDArray[Any]) -> FloatArray:
    """Rows in one block as it is, unless the model takes blocks of one size only."""
    fixed = (model.batch_size,) if model.has_fixed_batch and model.batch_size else None
    return model._sent(call, (rows,), fixed)[0]


def _furthest(first: FloatArray, other: FloatArray) -> float:
    return float(np.abs(first - other).max())
