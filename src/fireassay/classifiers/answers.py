"""A model's raw answer turned into checked probabilities: the only check on their way."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.classifiers import answer_forms
from fireassay.core.arrays import FloatArray, Probabilities
from fireassay.core.errors import ModelError, ProbabilityError
from fireassay.core.probabilities import softmax
from fireassay.core.validation import check_probabilities


def probabilities(
    raw: Any, *, output: str, n: int, classes: Sequence[Any] | None, first_row: int = 0
) -> Probabilities:
    """Probabilities of one block; ``first_row`` is the caller's number of its first row.

    What comes as float32 stays float32, and may be the model's own memory; all else is float64.

    Raises
    ------
    ProbabilityError
        For NaN, logits that were not declared, a wrong shape or a wrong number of classes.
    ModelError
        For answers that are not a classification at all.
    """
    return named_probabilities(raw, output=output, n=n, classes=classes, first_row=first_row)[0]


def named_probabilities(
    raw: Any,
    *,
    output: str,
    n: int,
    classes: Sequence[Any] | None,
    first_row: int = 0,
    declared: bool = True,
) -> tuple[Probabilities, tuple[Any, ...] | None]:
    """As `probabilities`, and the names of the columns if the answer has them.

    Where the classes were ``declared``, named columns are put into their order.
    """
    form = answer_forms.opened(raw, output, n)
    array, output = as_array(form.array), form.output
    if output == "labels":
        return one_hot(array, classes, n), None
    n_classes = None if classes is None else len(classes)
    array = answer_forms.two_columns(array, output, n_classes)
    names = form.names
    if names is not None and classes is not None and (declared or set(classes) == set(names)):
        array, names = answer_forms.in_order(array, names, classes), None
    return _of_array(array, output, n=n, n_classes=n_classes, first_row=first_row), names


def _of_array(
    array: NDArray[Any], output: str, *, n: int, n_classes: int | None, first_row: int
) -> Probabilities:
    if output == "logits":
        # What comes of a softmax needs no check; it is divided once more, as all answers are.
        found = softmax(checked_logits(array, n=n, n_classes=n_classes, first_row=first_row))
        return np.asarray(found / found.sum(axis=1, keepdims=True))
    return _checked(array, n=n, n_classes=n_classes, first_row=first_row)


def as_array(raw: Any) -> NDArray[Any]:
    """The answer as one array; several outputs are refused by name."""
    if _several_outputs(raw):
        raise ProbabilityError(
            "A classifier must return one array with a row per input and a column per class.",
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
    """Logits of a model that gives probabilities; exact zeros become the smallest normal float.

    >>> log_probabilities(np.array([[0.0, 1.0]], dtype=np.float32)).round().tolist()  # of float64
    [[-708.0, 0.0]]
    """
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
            do="Pass all classes the model can answer with.",
        ) from unknown
    hot = np.zeros((n, len(classes)))
    hot[np.arange(n), columns] = 1.0
    return hot


def labels_of(probabilities: Probabilities, classes: Sequence[Any]) -> NDArray[Any]:
    """The most probable class of each row, as an array of class labels."""
    kinds = {type(label) for label in classes}
    names = np.array(classes) if len(kinds) == 1 else np.array([*classes, None], dtype=object)[:-1]
    if names.ndim != 1:
        names = np.empty(len(classes), dtype=object)
        names[:] = classes
    labels: NDArray[Any] = names[probabilities.argmax(axis=1)]
    return labels


def _several_outputs(raw: Any) -> bool:
    if not isinstance(raw, list | tuple) or not raw:
        return False
    return any(getattr(part, "ndim", 0) >= 2 for part in raw)


def _checked(
    array: NDArray[Any], *, n: int, n_classes: int | None, first_row: int
) -> Probabilities:
    try:
        return check_probabilities(
            array, name="The model's probabilities", n=n, n_classes=n_classes, keep_float32=True
        )
    except ProbabilityError:
        if first_row and array.ndim == 2 and array.dtype.kind == "f" and len(array) == n:
            # Checked again behind rows that are fine, so that the message counts as the caller.
            fine = np.full((first_row, array.shape[1]), 1 / max(1, array.shape[1]))
            check_probabilities(
                np.concatenate([fine, array]),
                name="The model's probabilities",
                n_classes=n_classes,
            )
        raise
