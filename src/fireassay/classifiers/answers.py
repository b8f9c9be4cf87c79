"""Turns raw answers (arrays, logits, records, named outputs) into checked probabilities."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from fireassay.classifiers.declared import SUPPORTED
from fireassay.core.arrays import FloatArray, Probabilities, softmax
from fireassay.core.errors import ModelError, ProbabilityError
from fireassay.core.validation import check_probabilities

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
_ALL_SCORES: Final = "Ask for the scores of all classes (pipelines: top_k=None)."


@dataclass(frozen=True)
class Form:
    """An answer, what it is, and the classes it names (None: a column has no name)."""

    array: Any
    output: str
    names: tuple[Any, ...] | None = None


def opened(raw: Any, output: str, n: int, classes: Sequence[Any] | None = None) -> Form:
    """The array in an answer, unwrapped from mappings, records, tuples and result objects."""
    # With ``classes``, those that a row does not name have no probability.
    if isinstance(raw, Mapping):
        return _of_mapping(raw, output, n)
    if isinstance(raw, list | tuple) and raw:
        first = raw[0]
        if isinstance(first, Mapping):
            return _of_records(raw, output, classes)
        if isinstance(first, list | tuple) and first and _pair(first[0]) is not None:
            return _of_records([_scores(row) for row in raw], output, classes)
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
    """One column of a binary model as two, [1 - p, p] or [0, z]; other arrays unchanged."""
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
    listed = ", ".join(map(repr, list(raw)[:6]))
    raise ProbabilityError(_EXPECTED, got=f"a dict with {listed}", do=_FUNCTION)


def _of_records(
    rows: Sequence[Mapping[Any, Any]], output: str, classes: Sequence[Any] | None
) -> Form:
    names = tuple(rows[0])
    apart = any(set(row) != set(names) for row in rows)
    if classes is not None and output == "probabilities" and apart:
        nothing = {str(name): 0.0 for name in classes}
        if all(str(name) in nothing for row in rows for name in row):
            names = tuple(map(str, classes))
            rows = [nothing | {str(k): v for k, v in row.items()} for row in rows]
    numbers = all(isinstance(v, Real) for row in rows for v in row.values())
    if not numbers or len(names) < 2:
        listed = ", ".join(map(repr, names[:6]))
        got, do = f"a dict with {listed} for each row", f"{_ALL_SCORES} {_FUNCTION}"
        raise ProbabilityError(_EXPECTED, got=got, do=do)
    if any(set(row) != set(names) for row in rows):
        raise ProbabilityError(
            "Every row must have a score for every class.", got="other names in some rows",
            do=_ALL_SCORES,
        )  # fmt: skip
    return Form(np.array([[float(row[name]) for name in names] for row in rows]), output, names)


def _pair(record: Any) -> list[Any] | None:
    """The two values of a record, a tuple or an object with two attributes; None of others."""
    if isinstance(record, Mapping):
        return list(record.values())
    if isinstance(record, tuple) and len(record) == 2 and isinstance(record[0], str):
        return list(record)
    held = list(getattr(record, "__dict__", {}).values())
    return held if len(held) == 2 and any(isinstance(value, str) for value in held) else None


def _scores(records: Sequence[Any]) -> dict[Any, Any]:
    """One row given as records, e.g. ``[{"label": "dog", "score": 0.9}, …]``, or as pairs."""
    found: dict[Any, Any] = {}
    for record in records:
        pair = _pair(record)
        if pair is None or len(pair) != 2:
            raise ProbabilityError(_EXPECTED, got="lists of dicts for each row", do=_FUNCTION)
        score = [float(value) for value in pair if isinstance(value, float | np.floating)]
        name = [value for value in pair if not isinstance(value, float | np.floating)]
        if len(score) != 1 or isinstance(name[0], list | Mapping):
            raise ProbabilityError(_EXPECTED, got=f"records such as {record!r}"[:200])
        found[name[0]] = score[0]
    if len(found) != len(records):
        raise ProbabilityError("Every class must have one score.", got="a class twice in a row")
    return found


def in_order(array: NDArray[Any], names: Sequence[Any], classes: Sequence[Any]) -> NDArray[Any]:
    """Named columns in the order of the classes that were declared."""
    place = {str(name): column for column, name in enumerate(names)}
    if len(place) != len(names) or place.keys() != {str(c) for c in classes}:
        raise ModelError(
            f"The model's answers name the classes {list(names)[:8]!r}.",
            got=f"classes={list(classes)[:8]!r}",
            do="Leave classes= out, or give these names.",
        )
    return array[:, [place[str(c)] for c in classes]]


_PROBABILITY_NAMES = ("prob", "softmax", "logit", "score")


def choose_output(shapes: Mapping[str, Sequence[Any] | None], *, labels: bool, source: str) -> str:
    """The output to read among ``shapes`` (None: shape unknown), by dimensions, then by name."""
    names = list(shapes)
    if len(names) == 1:
        return names[0]
    wanted = 1 if labels else 2
    candidates = [n for n in names if shapes[n] is None or len(shapes[n] or ()) == wanted]
    if len(candidates) > 1:
        words = ("label", "class") if labels else _PROBABILITY_NAMES
        named = [n for n in candidates if any(word in n.lower() for word in words)]
        candidates = named or candidates
    boxes = any("box" in name.lower() for name in names)
    if len(candidates) != 1 or boxes:
        listed = (", ".join(names[:8]) or "none") + (" (an object detector?)" if boxes else "")
        raise ModelError(
            SUPPORTED,
            got=f"{source!r} with the outputs {listed}",
            do="Export the model with the probabilities or logits as its only output.",
        )
    return candidates[0]


def probabilities(
    raw: Any, *, output: str, n: int, classes: Sequence[Any] | None, first_row: int = 0
) -> Probabilities:
    """Probabilities of one block; ``first_row`` is the caller's number of its first row."""
    # What comes as float32 stays float32, and may be the model's own memory; all else is float64.
    return named_probabilities(raw, output=output, n=n, classes=classes, first_row=first_row)[0]


def named_probabilities(
    raw: Any, *, output: str, n: int, classes: Sequence[Any] | None, first_row: int = 0,
    declared: bool = True,
) -> tuple[Probabilities, tuple[Any, ...] | None]:  # fmt: skip
    """As `probabilities`, with the column names, if any; ordered by the ``declared`` classes."""
    form = opened(raw, output, n, classes)
    array, output = as_array(form.array), form.output
    if output == "labels":
        return one_hot(array, classes, n), None
    n_classes = None if classes is None else len(classes)
    array = two_columns(array, output, n_classes)
    names = form.names
    if names is not None and classes is not None and (declared or set(classes) == set(names)):
        array, names = in_order(array, names, classes), None
    if output != "logits":
        return _checked(array, n=n, n_classes=n_classes, first_row=first_row), names
    # What comes of a softmax needs no check; it is divided once more, as all answers are.
    found = softmax(checked_logits(array, n=n, n_classes=n_classes, first_row=first_row))
    return np.asarray(found / found.sum(axis=1, keepdims=True)), names


def as_array(raw: Any) -> NDArray[Any]:
    """The answer as one array; several outputs are refused by name."""
    parts = raw if isinstance(raw, list | tuple) else ()
    if any(getattr(part, "ndim", 0) >= 2 for part in parts):
        raise ProbabilityError(
            _EXPECTED,
            got=f"{len(raw)} outputs, the first of shape {np.shape(raw[0])}",
            do="Multi-output models and detectors are not supported; pass a function that "
            "returns the probabilities of one output.",
        )
    if np.ma.isMaskedArray(raw):
        raise ProbabilityError(
            "The model's answer must be a plain array.",
            got="a masked array, whose hidden values are no answers",
        )
    if raw is None:
        raise ModelError("A model must return its answer.", got="nothing (None)")
    if hasattr(raw, "detach"):
        raw = raw.detach().cpu().numpy()
    try:
        return np.asarray(raw)
    except ValueError as ragged:
        raise ProbabilityError(
            "The model's answer must be a rectangular array.", got="ragged rows"
        ) from ragged


def checked_logits(
    array: NDArray[Any], *, n: int, n_classes: int | None, first_row: int = 0
) -> FloatArray:
    """Logits as float64 of shape ``(n, k)`` without NaN and +infinity."""
    if array.ndim != 2 or len(array) != n or array.shape[1] < 2 or array.dtype.kind not in "fiu":
        raise ProbabilityError(
            f"The model's logits must be numbers of shape ({n}, number of classes >= 2).",
            got=f"{array.dtype} of shape {array.shape}",
            do="For one logit z of a binary model return the columns [0, z].",
        )
    if n_classes is not None and array.shape[1] != n_classes:
        raise ProbabilityError(
            f"The model's logits must have {n_classes} columns, one per class.",
            got=f"{array.shape[1]}",
        )
    logits = array.astype(np.float64)
    bad = np.isnan(logits).any(axis=1) | np.isposinf(logits).any(axis=1)
    bad |= np.isneginf(logits).all(axis=1)
    if bad.any():
        raise ProbabilityError(
            "The model's logits must be finite (or -inf for an impossible class).",
            got=f"NaN or infinity in row {first_row + int(bad.argmax())}",
        )
    return logits


def log_probabilities(probabilities: Probabilities) -> FloatArray:
    """Logits of a model that gives probabilities; zero counts as the smallest normal float."""
    result: FloatArray = np.maximum(probabilities, np.finfo(np.float64).tiny, dtype=np.float64)
    return np.log(result, out=result)


def one_hot(array: NDArray[Any], classes: Sequence[Any] | None, n: int) -> FloatArray:
    """Labels as rows with a single one."""
    if classes is None:
        raise ModelError(
            "A model that returns labels needs its classes.",
            do="Pass classes=[…] to as_classifier, in any order you like.",
        )
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.shape != (n,):
        raise ProbabilityError(
            f"With output='labels' the model must return one label per row, shape ({n},).",
            got=f"shape {array.shape}",
            do="If it returns a column per class, use output='probabilities' or 'logits'.",
        )
    position = {label: column for column, label in enumerate(classes)}
    try:
        columns = [position[label] for label in array.tolist()]
    except KeyError as unknown:
        raise ProbabilityError(
            f"The model's labels must be among its classes {list(classes)[:8]!r}.",
            got=f"{unknown.args[0]!r}",
            do="Pass all classes the model can answer with (--classes a,b,c).",
        ) from unknown
    hot = np.zeros((n, len(classes)))
    hot[np.arange(n), columns] = 1.0
    return hot


def labels_of(probabilities: Probabilities, classes: Sequence[Any]) -> NDArray[Any]:
    """The most probable class of each row, as an array of class labels."""
    names = np.empty(len(classes), dtype=object)
    names[:] = classes
    if len({type(label) for label in classes}) == 1 and np.array(classes).ndim == 1:
        names = np.array(classes)
    labels: NDArray[Any] = names[probabilities.argmax(axis=1)]
    return labels


def _checked(
    array: NDArray[Any], *, n: int, n_classes: int | None, first_row: int
) -> Probabilities:
    what = "The model's probabilities"
    try:
        return check_probabilities(array, name=what, n=n, n_classes=n_classes, keep_float32=True)
    except ProbabilityError:
        if first_row and array.ndim == 2 and array.dtype.kind == "f" and len(array) == n:
            # Checked again behind rows that are fine, so that the message counts as the caller.
            fine = np.full((first_row, array.shape[1]), 1 / max(1, array.shape[1]))
            check_probabilities(np.concatenate([fine, array]), name=what, n_classes=n_classes)
        raise
