"""The first rows that a model is asked about: refused as they are, they are tried in other ways."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fireassay.core.arrays import Probabilities
from fireassay.core.errors import DataError, ModelError, ParameterError, ProbabilityError
from fireassay.core.lazy import pd

if TYPE_CHECKING:
    from fireassay.classifiers.base import BaseClassifier

_TRIED: Final = 2  # rows in each way
WRONG_COUNT: Final = "rows, one per input"
WAYS: Final = {"array": "an array of texts", "frame": "a frame", "each": "one text at a time"}


def answered(model: BaseClassifier, X: Any) -> Probabilities:
    """The answers to the first rows; texts and frames are tried in each way that there is."""
    # The only way that gets valid answers is kept in ``model.rows_as``. Where none or several do,
    # the first refusal is raised.
    try:
        return model._answered(X)
    except (ModelError, DataError) as refused:
        if model.rows_as or (isinstance(refused, ProbabilityError) and not is_miscounted(refused)):
            raise
        found = {way: _tried(model, X[:_TRIED], way) for way in _ways(model, X)}
        fitting = different({way: p for way, p in found.items() if p is not None})
        if len(fitting) > 1:
            raise ParameterError(
                "Rows must be handed to the model in one way.",
                got=f"valid answers to {' and to '.join(WAYS[way] for way in fitting)}",
                do="Wrap the model in a function that takes a list of texts.",
            ) from refused
        if not fitting:
            raise
        model.rows_as = fitting[0]
    return model._answered(X)


def is_miscounted(refusal: Exception) -> bool:
    """Whether an answer had another number of rows than the question: no answer to it."""
    return WRONG_COUNT in str(refusal)


def handed(texts: list[str], rows_as: str, names: Sequence[str] = ("text",)) -> Any:
    """Texts as the model takes them; a frame has the model's own name for its column."""
    if rows_as == "array":
        return np.array(texts, dtype=object)
    return pd.DataFrame({names[0]: texts}) if rows_as == "frame" else texts


def _ways(model: BaseClassifier, X: Any) -> Iterator[str]:
    if not model.takes_objects or model.counts_requests:  # rows of a server may cost money
        return
    if isinstance(model._objects(X), list):
        yield from ("array", "frame")
        if hasattr(model, "function"):
            yield "each"
    elif hasattr(X, "iloc"):
        yield "frame"


def different(answers: Mapping[Any, Probabilities]) -> list[Any]:
    """The ways whose answers differ from those of the ways before them: others decide nothing."""
    kept: list[Any] = []
    for way, found in answers.items():
        if not any(np.array_equal(found, answers[earlier]) for earlier in kept):
            kept.append(way)
    return kept


def _tried(model: BaseClassifier, rows: Any, way: str) -> Probabilities | None:
    """Answers to a few rows handed in a way, if valid; they count as rows delivered."""
    model.rows_as = way
    try:
        objects = model._objects(rows)
        return model._sent(model._of_objects(objects), (np.arange(len(objects)),), None)[0]
    except (ModelError, DataError):
        return None
    finally:
        model.rows_as = ""
