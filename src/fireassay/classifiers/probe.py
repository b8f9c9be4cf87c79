"""Does the model itself give the same answer twice?"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.classifiers.base import BaseClassifier, innermost
from fireassay.classifiers.blocks import Call
from fireassay.core.arrays import Probabilities
from fireassay.core.errors import ParameterError, ReproducibilityWarning
from fireassay.core.validation import check_integer, check_real


@dataclass(frozen=True)
class ProbeResult:
    """What a few rows, sent several times, say about a model.

    Attributes:
        deterministic: The same rows sent twice gave the same bytes.
        batch_invariant: Rows sent one by one gave the same probabilities as in one block (within
            ``tolerance``).
        order_invariant: Rows sent in reverse order gave the same probabilities (within
            ``tolerance``).
        repeat_difference, batch_difference, order_difference: The largest differences of a
            probability.
        rows: Rows of X that were used.
        queries: Rows sent in all; they are delivered, but count as nobody's ``queries``.
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

    Args:
        model: An adapter made by `as_classifier`, or anything it takes; of a wrapped classifier
            (temperature-scaled, defended) the innermost one is probed.
        X: Rows to use, at least one.
        rows: How many rows to use at most.
        tolerance: Difference of probabilities that counts as rounding.

    Warns:
        ReproducibilityWarning: If the model is not deterministic.

    >>> batch_mean = lambda X: np.tile([0.6, 0.4], (len(X), 1)) + 0.3 * X.mean() * np.array([1, -1])
    >>> found = probe(batch_mean, np.array([[0.0], [1.0]]))
    >>> found.deterministic, found.batch_invariant, found.queries  # an answer depends on its batch
    (True, False, 8)
    """
    from fireassay.classifiers.adapt import as_classifier

    inner = innermost(as_classifier(model))
    if not isinstance(inner, BaseClassifier):
        raise ParameterError(
            "Only classifiers made by as_classifier can be probed.", got=type(inner).__name__
        )
    check_integer(rows, "rows", low=1)
    check_real(tolerance, "tolerance", low=0, inclusive="low")
    call, chosen = _question(inner, _decoded(as_classifier(model), X))
    chosen = chosen[:rows]
    queries = 4 * len(chosen)
    inner._check_room(queries)
    first, repeated = _answers(inner, call, chosen), _answers(inner, call, chosen)
    backwards = _answers(inner, call, chosen[::-1])[::-1]
    alone = np.concatenate([_answers(inner, call, row[None]) for row in chosen])
    others = (repeated, alone, backwards)
    repeat, batch, order = (float(np.abs(first - other).max()) for other in others)
    same = repeat == 0.0, batch <= tolerance, order <= tolerance
    result = ProbeResult(*same, repeat, batch, order, tolerance, len(chosen), queries)
    if not result.deterministic:
        warnings.warn(
            f"The model is not deterministic: the same rows differ by up to {repeat:.2g}. Results "
            "cannot be repeated exactly; fix its random state or switch dropout off.",
            ReproducibilityWarning,
            stacklevel=2,
        )
    return result


def answers_again(model: Any, X: ArrayLike) -> Probabilities:
    """What the innermost model says about rows, which count as nobody's question."""
    # A `Classifier` that somebody wrote from scratch can only be asked as everybody asks it: there
    # the rows count as queries.
    from fireassay.classifiers.adapt import as_classifier

    given: Any = as_classifier(model)
    inner = innermost(given)
    if not isinstance(inner, BaseClassifier):
        return np.asarray(given.predict_proba(X))
    call, rows = _question(inner, _decoded(given, X))
    return _answers(inner, call, rows)


def answers_as_sent(model: Any, X: Any) -> Probabilities:
    """What a model with its codes and rules says about one block; nobody's question, too."""
    if isinstance(model, BaseClassifier):
        call, rows = _question(model, X)
        return _answers(model, call, rows)
    if hasattr(model, "_seen"):
        answers: Probabilities = model._answer(answers_as_sent(model.model, model._seen(X)), X)
        return answers
    return np.asarray(model.predict_proba(X))


def _decoded(model: Any, X: Any) -> Any:
    """Rows as the innermost classifier takes them, where a model of codes stands around it."""
    if hasattr(model, "book"):
        return model.book.decode(np.asarray(X))
    return _decoded(model.model, X) if hasattr(model, "model") else X


def _question(model: BaseClassifier, X: Any) -> tuple[Call, NDArray[Any]]:
    """How to ask about rows, and what to ask with: the rows, or positions of frames and texts."""
    objects = model._objects(X)
    if objects is None:
        return model._probabilities_of_block, model._checked_input(X)
    return model._of_objects(objects), np.arange(len(objects))


def _answers(model: BaseClassifier, call: Call, rows: NDArray[Any]) -> Probabilities:
    """Rows in one block as it is, unless they are more than one or the size is fixed."""
    size = model.batch_size
    cut = size is not None and (model.has_fixed_batch or len(rows) > size)
    return model._sent(call, (rows,), (size,) if cut and size is not None else None)[0]
