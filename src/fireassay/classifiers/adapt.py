"""`as_classifier`: one function for every kind of model."""

import inspect
from collections.abc import Sequence
from typing import Any, Literal

from fireassay.classifiers.adapters import ADAPTERS, ALL_OPTIONS, Adapter, every_kind
from fireassay.classifiers.asking import HANG_S, read_in_time
from fireassay.classifiers.base import BaseClassifier
from fireassay.classifiers.declared import SUPPORTED
from fireassay.classifiers.protocol import Classifier
from fireassay.core.errors import ModelError, ParameterError
from fireassay.core.validation import check_real


def as_classifier(
    obj: Any,
    classes: Sequence[Any] | None = None,
    bounds: tuple[float, float] | None = None,
    output: str = "probabilities",
    *,
    device: str | None = None,
    batch_size: int | Literal["auto"] | None = "auto",
    max_queries: int | None = None,
    trust: bool = False,
    token_env: str | None = None,
    timeout_s: float = 30.0,
    retries: int = 4,
    ca_file: str | None = None,
    request: str | None = None,
    answer: str | None = None,
    concurrency: int = 1,
    hang_minutes: float = HANG_S / 60,
) -> Classifier:
    """Any model as a `Classifier`: counted, checked, within a budget. Sends no query itself.

    Args:
        obj: A fitted scikit-learn estimator, a torch module, a function ``f(X) -> probabilities``,
            a MAITE image-classification model, a file (``.onnx``, ``.skops``), a URL (``http://…``:
            "POST JSON", or KServe v2 if it ends in ``/infer``), an import path
            ``"package.module:name"`` (a model, a function, or a function without arguments that
            loads one), or a `Classifier`, which is returned as it is. All kinds are rows of
            ``fireassay.classifiers.adapters``.
        classes: Class labels in column order. Default: the estimator's own, else 0 … k-1 from the
            first answer.
        bounds: ``(low, high)``: inputs outside are refused, attacks stay inside.
        output: What the model returns: "probabilities", "logits" (the softmax is applied) or
            "labels" (become one-hot rows; needs ``classes``, unless the estimator knows them).
        device: For torch and ONNX: where to run, e.g. "cuda"; a module itself stays where it is.
        batch_size: Rows in the largest block. "auto": 256, filled up so that answers do not depend
            on how calls are cut, with smaller blocks where they give the same bytes; tree-based
            estimators get each call whole, servers at most 256 rows and no filling. None sends each
            call as it is.
        max_queries: Hard budget of rows: the call that would pass it raises `BudgetExceededError`
            unsent.
        trust: Allow files that can run code when read (pickle, joblib, torch, unknown types in
            skops). Files that ``fireassay init --trust`` or ``run --trust`` has written into your
            own settings need it no more.
        token_env, timeout_s, retries, ca_file: For URLs: the name of the environment variable with
            the bearer token, seconds for one request in all, how often to try again after 429, 5xx
            and timeouts, and a file of certificates (PEM) for a server that has signed its own.
        request, answer, concurrency: For URLs: the request as JSON with ``{rows}`` in it, e.g.
            ``'{"inputs": {rows}}'``, the path of the scores in the answer, e.g.
            ``"outputs[0].scores"``, and how many requests may be under way at a time.
        hang_minutes: Most minutes for reading the model, and for its answer to one block of rows; a
            model that takes longer is interrupted, and `ModelError` says so.

    Raises:
        ModelError: For anything that is not a classifier of numeric features or images.
        UntrustedFileError: For a file that could run code, without ``trust``.
        ParameterError: For options that do not apply to this model.

    >>> import numpy as np
    >>> model = as_classifier(lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), bounds=(0, 1))
    >>> model.predict_proba([[0.25], [1.0]])
    array([[0.75, 0.25],
           [0.  , 1.  ]])
    >>> model.queries, model.classes
    (2, (0, 1))
    """
    if isinstance(obj, type):
        raise ModelError(
            "A model must be an object, not a class.", got=obj.__name__, do="Create it first."
        )
    if isinstance(obj, Classifier):
        return _unchanged(obj, classes, bounds, output, batch_size, max_queries)
    hang_s = 60 * check_real(hang_minutes, "hang_minutes", low=0)
    given = {
        "classes": classes, "bounds": bounds, "output": output, "batch_size": batch_size,
        "max_queries": max_queries, "device": device, "trust": trust, "token_env": token_env,
        "timeout_s": timeout_s, "retries": retries, "ca_file": ca_file, "request": request,
        "answer": answer, "concurrency": concurrency,
    }  # fmt: skip
    for row in reversed(list(ADAPTERS.values())):
        if row.accepts(obj):
            with read_in_time(hang_s):
                made = made_by(row, obj, given)
            if isinstance(made, BaseClassifier):
                made.hang_s = hang_s
            return made
    kinds = [row.summary for row in every_kind() if not getattr(row, "runs_code", False)]
    raise ModelError(SUPPORTED, got=f"a {type(obj).__name__}", do=f"Pass {', '.join(kinds)}.")


def made_by(row: Adapter, obj: Any, options: dict[str, Any]) -> Classifier:
    """A classifier of one kind; options that it does not take must stand as they do by default."""
    ours = inspect.signature(as_classifier).parameters
    for name in ALL_OPTIONS:
        if name in row.takes or name == "trust" or options[name] == ours[name].default:
            continue
        takers = [kind.summary for kind in every_kind() if name in kind.takes]
        raise ParameterError(
            f"The '{name}' parameter is for {', '.join(takers)}.",
            got=f"{name}={options[name]!r} for {row.summary}",
        )
    untaken = set(ALL_OPTIONS) - set(row.takes)
    taken = {name: value for name, value in options.items() if name not in untaken}
    made: Classifier = row.adapt(obj, taken)
    return made


def _unchanged(
    model: Any, classes: Any, bounds: Any, output: str, batch_size: Any, max_queries: Any
) -> Classifier:
    conflicts = []
    if classes is not None and tuple(classes) != tuple(model.classes):
        conflicts.append("classes")
    if bounds is not None and (model.bounds is None or tuple(bounds) != tuple(model.bounds)):
        conflicts.append("bounds")
    if output not in ("probabilities", getattr(model, "output", "probabilities")):
        conflicts.append("output")
    if isinstance(model, BaseClassifier):
        if batch_size != "auto" and batch_size != model.batch_size:
            conflicts.append("batch_size")
        if max_queries is not None and max_queries != model.max_queries:
            conflicts.append("max_queries")
    if conflicts:
        raise ParameterError(
            "A model that is a Classifier already keeps its options.",
            got=f"other {', '.join(conflicts)}",
            do="Give these options when the classifier is made.",
        )
    checked: Classifier = model
    return checked
