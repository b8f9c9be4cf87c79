"""The forms that answers come in: arrays, dicts with logits, one column, records with names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from fireassay.core.errors import ModelError, ProbabilityError

# Names under which models wrap one array, and what is in it; the first that is there counts.
_WRAPPED: Final = (
    ("probabilities", "probabilities"),
    ("probs", "probabilities"),
    ("proba", "probabilities"),
    ("logits", "logits"),
)
_EXPECTED: Final = "A classifier must return one array with a row per input and a column per class."
_FUNCTION: Final = (
    "Pass a function that returns the array: lambda X: model(X)[…]. Object detectors and "
    "segmenters are not supported."
)


@dataclass(frozen=True)
class Form:
    """An answer, what it is, and the classes it names (None: a column has no name)."""

    array: Any
    output: str
    names: tuple[Any, ...] | None = None


def opened(raw: Any, output: str, n: int) -> Form:
    """The array in an answer, whatever it is wrapped in.

    Parameters
    ----------
    raw
        What the model returned for ``n`` rows.
    output
        What the user says it is; a dict that says "logits" is believed over the default.

    >>> opened({"logits": [[0.0, 2.0]], "hidden_states": None}, "probabilities", 1).output
    'logits'
    >>> opened([{"dog": 0.9, "cat": 0.1}], "probabilities", 1).names
    ('dog', 'cat')
    """
    if isinstance(raw, Mapping):
        return _of_mapping(raw, output, n)
    if isinstance(raw, list | tuple) and raw:
        first = raw[0]
        if isinstance(first, Mapping):
            return _of_records(raw, output)
        if isinstance(first, list | tuple) and first and isinstance(first[0], Mapping):
            return _of_records([_scores(row) for row in raw], output)
    return Form(raw, output)


def wrapped_array(raw: Mapping[Any, Any], output: str) -> Form | None:
    """The one array in a dict, if its name or its being alone gives it away."""
    named = {str(key).lower(): value for key, value in raw.items()}
    for name, kind in _WRAPPED:
        if named.get(name) is not None:
            declared = output if output == "labels" else kind
            return Form(named[name], declared)
    present = [value for value in raw.values() if value is not None]
    alone = len(present) == 1 and not any("box" in name or "mask" in name for name in named)
    return Form(present[0], output) if alone else None


def two_columns(array: NDArray[Any], output: str, n_classes: int | None) -> NDArray[Any]:
    """One column of a binary model as two: [1 - p, p], or [0, z]; others as they are.

    >>> two_columns(np.array([[0.25]]), "probabilities", None).tolist()
    [[0.75, 0.25]]
    """
    single = array.ndim == 1 or (array.ndim == 2 and array.shape[1] == 1)
    if not single or array.dtype.kind != "f" or n_classes not in (None, 2) or not len(array):
        return array
    column = array.reshape(-1)
    if output == "logits":
        return np.column_stack([np.zeros_like(column), column])
    if np.nanmin(column) < 0 or np.nanmax(column) > 1:
        raise ProbabilityError(
            "One column of a model must be the probability of the second class.",
            got=f"values from {np.nanmin(column):g} to {np.nanmax(column):g}",
            do="For one logit z pass output='logits'; a regression is not supported.",
        )
    return np.column_stack([1 - column, column])


def _of_mapping(raw: Mapping[Any, Any], output: str, n: int) -> Form:
    found = wrapped_array(raw, output)
    if found is not None:
        return found
    columns = [value for value in raw.values() if np.ndim(value) == 1 and len(value) == n]
    if len(columns) == len(raw) > 1 and all(np.asarray(c).dtype.kind == "f" for c in columns):
        return Form(np.column_stack(columns), output, tuple(raw))
    raise ProbabilityError(
        _EXPECTED,
        got=f"a dict with {', '.join(map(repr, list(raw)[:6]))}",
        do=_FUNCTION,
    )


def _of_records(rows: Sequence[Mapping[Any, Any]], output: str) -> Form:
    names = tuple(rows[0])
    numbers = all(isinstance(v, Real) for row in rows for v in row.values())
    if not numbers or len(names) < 2:
        raise ProbabilityError(
            _EXPECTED,
            got=f"a dict with {', '.join(map(repr, names[:6]))} for each row",
            do="Ask for the scores of all classes (pipelines: top_k=None). " + _FUNCTION,
        )
    if any(set(row) != set(names) for row in rows):
        raise ProbabilityError(
            "Every row must have a score for every class.",
            got="other names in some rows",
            do="Ask for the scores of all classes (pipelines: top_k=None).",
        )
    return Form(np.array([[float(row[name]) for name in names] for row in rows]), output, names)


def _scores(records: Sequence[Mapping[str, Any]]) -> dict[Any, Any]:
    """One row given as records, e.g. ``[{"label": "dog", "score": 0.9}, …]``."""
    if not all(isinstance(record, Mapping) and len(record) == 2 for record in records):
        raise ProbabilityError(_EXPECTED, got="lists of dicts for each row", do=_FUNCTION)
    found: dict[Any, Any] = {}
    for record in records:
        score = [value for value in record.values() if isinstance(value, float)]
        name = [value for value in record.values() if not isinstance(value, float)]
        if len(score) != 1 or isinstance(name[0], list | Mapping):
            raise ProbabilityError(_EXPECTED, got=f"records such as {dict(record)!r}"[:200])
        found[name[0]] = score[0]
    if len(found) != len(records):
        raise ProbabilityError("Every class must have one score.", got="a class twice in a row")
    return found


def in_order(array: NDArray[Any], names: Sequence[Any], classes: Sequence[Any]) -> NDArray[Any]:
    """Named columns in the order of the classes that were declared.

    >>> in_order(np.array([[0.9, 0.1]]), ("dog", "cat"), ("cat", "dog")).tolist()
    [[0.1, 0.9]]
    """
    place = {str(name): column for column, name in enumerate(names)}
    if len(place) != len(names) or place.keys() != {str(c) for c in classes}:
        raise ModelError(
            f"The model's answers name the classes {list(names)[:8]!r}.",
            got=f"classes={list(classes)[:8]!r}",
            do="Leave classes= out, or give these names.",
        )
    return array[:, [place[str(c)] for c in classes]]
