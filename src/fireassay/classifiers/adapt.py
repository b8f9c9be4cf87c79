"""`as_classifier`: one function for every kind of model."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

from fireassay.classifiers.base import BLOCK_ROWS, SUPPORTED, BaseClassifier
from fireassay.classifiers.protocol import Classifier
from fireassay.core.errors import ModelError, ParameterError


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
) -> Classifier:
    """Any model as a `Classifier`: counted, checked, within a budget. Sends no query itself.

    Parameters
    ----------
    obj
        A fitted scikit-learn estimator, a torch module, a function ``f(X) -> probabilities``, a
        MAITE image-classification model, a file (``.onnx``, ``.skops``, ``.pt2``), a URL
        (``http://…``: "POST JSON", or KServe v2 if it ends in ``/infer``), an import path
        ``"package.module:name"``, or a `Classifier`, which is returned as it is.
    classes
        Class labels in column order. Default: the estimator's own, else 0 … k-1 from the first
        answer.
    bounds
        ``(low, high)``: inputs outside are refused, attacks stay inside.
    output
        What the model returns: "probabilities", "logits" (the softmax is applied) or "labels"
        (become one-hot rows; needs ``classes``, unless the estimator knows them).
    device
        For torch: where to run, e.g. "cuda"; the module itself stays where it is.
    batch_size
        Rows per block. "auto": 256, filled up so that answers do not depend on how calls are cut;
        tree-based estimators get each call whole, servers at most 256 rows and no filling.
        None sends each call as it is.
    max_queries
        Hard budget of rows: the call that would pass it raises `BudgetExceededError` unsent.
    trust
        Allow files that can run code when read (pickle, joblib, unknown types in skops or pt2).
    token_env, timeout_s, retries
        For URLs: the name of the environment variable with the bearer token, seconds for one
        request in all, and how often to try again after 429, 5xx and timeouts.

    Raises
    ------
    ModelError
        For anything that is not a classifier of numeric features or images.
    UntrustedFileError
        For a file that could run code, without ``trust``.
    ParameterError
        For options that do not apply to this model.

    >>> import numpy as np
    >>> model = as_classifier(lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), bounds=(0, 1))
    >>> model.predict_proba([[0.25], [1.0]])
    array([[0.75, 0.25],
           [0.  , 1.  ]])
    >>> model.queries, model.classes
    (2, (0, 1))
    """
    common: dict[str, Any] = {
        "classes": classes,
        "bounds": bounds,
        "output": output,
        "max_queries": max_queries,
    }
    if isinstance(obj, type):
        raise ModelError(
            "A model must be an object, not a class.", got=obj.__name__, do="Create it first."
        )
    if isinstance(obj, Classifier):
        return _unchanged(obj, classes, bounds, output, batch_size, max_queries)
    is_url = isinstance(obj, str) and obj.startswith(("http://", "https://"))
    if not is_url and (token_env is not None or timeout_s != 30.0 or retries != 4):
        raise ParameterError(
            "The parameters 'token_env', 'timeout_s' and 'retries' are for http:// models.",
            got=f"a {type(obj).__name__}",
        )
    if is_url:
        from fireassay.classifiers.http_adapter import HttpClassifier

        _no_device(device, "a server")
        return HttpClassifier(
            obj,
            token_env=token_env,
            timeout_s=timeout_s,
            retries=retries,
            batch_size=_rows(batch_size),
            **common,
        )
    if isinstance(obj, str | Path):
        return _from_text(obj, common, device, batch_size, trust)
    return _from_object(obj, common, device, batch_size)


def _from_text(
    obj: str | Path, common: dict[str, Any], device: str | None, batch_size: Any, trust: bool
) -> Classifier:
    from fireassay.classifiers.import_path import import_object, is_import_path
    from fireassay.classifiers.model_file import model_kind

    if isinstance(obj, str) and is_import_path(obj) and not Path(obj).exists():
        return as_classifier(
            import_object(obj), **common, device=device, batch_size=batch_size, trust=trust
        )
    path = Path(obj)
    kind = model_kind(path, trust=trust)
    if kind == "onnx":
        from fireassay.classifiers.onnx_adapter import OnnxClassifier

        _no_device(device, "an ONNX file")
        return OnnxClassifier(path, batch_size=_rows(batch_size), **common)
    if kind == "pt2":
        from fireassay.classifiers.torch_export_adapter import (
            ExportedClassifier,
            ExportedLabels,
        )

        adapter = ExportedLabels if common["output"] == "labels" else ExportedClassifier
        return adapter(path, device=device, batch_size=_rows(batch_size), trust=trust, **common)
    from fireassay.classifiers.skops_adapter import load_skops
    from fireassay.classifiers.trusted_pickle import load_pickle, load_torch_pickle

    load: Callable[[Path], Any] = {
        "skops": lambda file: load_skops(file, trust=trust),
        "pickle": load_pickle,
        "torch pickle": load_torch_pickle,
    }[kind]
    return _from_object(load(path), common, device, batch_size)


def _from_object(
    obj: Any, common: dict[str, Any], device: str | None, batch_size: Any
) -> Classifier:
    from fireassay.classifiers.callable_adapter import CallableClassifier
    from fireassay.classifiers.maite_adapter import MaiteClassifier, is_maite_model
    from fireassay.classifiers.sklearn_adapter import SklearnClassifier, is_estimator
    from fireassay.classifiers.torch_adapter import TorchClassifier, TorchLabels, is_module

    if is_maite_model(obj):
        _no_device(device, "a MAITE model")
        return MaiteClassifier(obj, batch_size=_rows(batch_size), **common)
    if is_module(obj):
        kind = TorchLabels if common["output"] == "labels" else TorchClassifier
        return kind(obj, device=device, batch_size=_rows(batch_size), **common)
    _no_device(device, f"a {type(obj).__name__}")
    if is_estimator(obj):
        return SklearnClassifier(obj, batch_size=batch_size, **common)
    if callable(obj):
        return CallableClassifier(obj, batch_size=_rows(batch_size), **common)
    raise ModelError(
        SUPPORTED,
        got=f"a {type(obj).__name__}",
        do="Pass a fitted scikit-learn estimator, a torch module, a function, a MAITE model, a "
        "file (.onnx, .skops, .pt2), an http:// address or 'package.module:name'.",
    )


def _rows(batch_size: Any) -> Any:
    return BLOCK_ROWS if batch_size == "auto" else batch_size


def _no_device(device: str | None, kind: str) -> None:
    if device is not None:
        raise ParameterError(
            "The 'device' parameter is for torch models.", got=f"device={device!r} for {kind}"
        )


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
