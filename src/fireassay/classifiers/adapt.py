"""`as_classifier`: one function for every kind of model."""

from collections.abc import Sequence
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
) -> Classifier:
    options = {"classes": classes, "bounds": bounds, "output": output, "max_queries": max_queries}
    if isinstance(obj, Classifier):
        return obj
    from fireassay.classifiers.sklearn_adapter import SklearnClassifier, is_estimator
    from fireassay.classifiers.torch_adapter import TorchClassifier, TorchLabels, is_module

    if is_module(obj):
        kind = TorchLabels if output == "labels" else TorchClassifier
        size = BLOCK_ROWS if batch_size == "auto" else batch_size
        return kind(obj, device=device, batch_size=size, **options)
    if is_estimator(obj):
        return SklearnClassifier(obj, batch_size=batch_size, **options)
    if callable(obj):
        from fireassay.classifiers.callable_adapter import CallableClassifier

        return CallableClassifier(
            obj, batch_size=BLOCK_ROWS if batch_size == "auto" else batch_size, **options
        )
    raise ModelError(SUPPORTED, got=type(obj).__name__)
