"""Fitted scikit-learn estimators, and libraries that follow their conventions."""

from __future__ import annotations

import copy
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.classifiers.base import OUTPUTS, BaseClassifier
from fireassay.classifiers.declared import SUPPORTED, columns_of, flattened
from fireassay.classifiers.fingerprint import fingerprint
from fireassay.core.arrays import is_frame
from fireassay.core.errors import ModelError
from fireassay.core.lazy import pd
from fireassay.core.threads import one_blas_thread

# Each row walks down trees on its own, so that blocks would only cost time.
_TREES: Final = (
    "sklearn.tree.",
    "sklearn.ensemble._forest",
    "sklearn.ensemble._gb",
    "sklearn.ensemble._hist_gradient_boosting",
)


class SklearnClassifier(BaseClassifier):
    """A fitted estimator, by ``predict_proba``, ``decision_function`` (logits) or ``predict``."""

    # Fitted on a frame, it gets frames with its own columns. Rows are sent as float64: BLAS rounds
    # float32 products differently in different rows of a block.

    takes_objects = True
    takes_integers = True

    def __init__(self, estimator: Any, *, batch_size: Any = "auto", **options: Any) -> None:
        if batch_size == "auto" and is_tree_based(estimator):
            batch_size = None
        super().__init__(batch_size=batch_size, **options)
        _refuse_what_is_no_classifier(estimator)
        _check_method(estimator, self.output)
        self.estimator = _one_job(estimator)
        self._own_classes = _classes_of(estimator)
        if self._own_classes is not None:
            if self._classes is None:
                self._classes = self._own_classes
            elif len(self._classes) != len(self._own_classes):
                raise ModelError(
                    f"The estimator has {len(self._own_classes)} classes: "
                    f"{list(self._own_classes)[:8]!r}.",
                    got=f"{len(self._classes)} labels in classes=",
                    do="Pass one name for each column of predict_proba, or leave classes= out.",
                )
        names = getattr(estimator, "feature_names_in_", None)
        self._columns = None if names is None else [str(name) for name in names]

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The columns that the estimator was fitted on, if it knows them."""
        return None if self._columns is None else tuple(self._columns)

    def _columns_of(self, objects: Any) -> Any:
        if self._columns is None or not is_frame(objects):
            return objects
        return columns_of(objects, self._columns, "estimator")

    def _features(self, X: ArrayLike) -> NDArray[Any]:
        if is_frame(X):
            X = self._columns_of(X).to_numpy()
        array = super()._features(X)
        if array.dtype.kind == "f":
            array = array.astype(np.float64, copy=False)
        expected = getattr(self.estimator, "n_features_in_", None)
        # Unknown: a CatBoost model that was read from its file says 0.
        return flattened(array, expected, "estimator") if expected else array

    def _raw(self, block: Any) -> Any:
        with one_blas_thread():
            return self._answer(block)

    def _answer(self, block: Any) -> Any:
        rows: Any = block
        if self._columns is not None and isinstance(block, np.ndarray):
            rows = pd.DataFrame(block, columns=self._columns)
        if self.output == "labels":
            labels = np.asarray(self.estimator.predict(rows))
            return labels if self._own_classes is None else self._renamed(labels)
        if self.output == "logits":
            scores = np.asarray(self.estimator.decision_function(rows))
            # One column of a binary model is the log-odds of the second class.
            return np.column_stack([np.zeros(len(scores)), scores]) if scores.ndim == 1 else scores
        return self.estimator.predict_proba(rows)

    def _renamed(self, labels: NDArray[Any]) -> NDArray[Any]:
        assert self._own_classes is not None
        names = dict(zip(self._own_classes, self.classes, strict=True))
        renamed = np.empty(labels.shape, dtype=object)
        renamed[:] = [names.get(label, label) for label in labels.tolist()]
        return renamed

    def _content_hash(self) -> str:
        return fingerprint(self.estimator)

    def _described(self) -> str:
        return type(self.estimator).__name__


class LabelsAloneError(ModelError):
    """An estimator without probabilities: its labels can be asked, and its margins are none."""


def accepts(obj: Any) -> bool:
    """Whether an object looks like a scikit-learn estimator."""
    return not isinstance(obj, type) and (
        hasattr(obj, "predict_proba") or (hasattr(obj, "fit") and hasattr(obj, "get_params"))
    )


adapt = SklearnClassifier


def is_tree_based(estimator: Any) -> bool:
    """Whether an estimator's answer for a row cannot depend on the other rows of a block."""
    return type(estimator).__module__.startswith(_TREES)


def _refuse_what_is_no_classifier(estimator: Any) -> None:
    name = type(estimator).__name__
    kind = _kind(estimator)
    if kind not in (None, "classifier"):
        raise ModelError(SUPPORTED, got=f"{name}, a {kind}", do="Pass a classifier instead.")
    if hasattr(estimator, "fit") and hasattr(estimator, "get_params"):
        from sklearn.exceptions import NotFittedError
        from sklearn.utils.validation import check_is_fitted

        try:
            check_is_fitted(estimator)
        except NotFittedError as unfitted:
            raise ModelError(
                "The estimator must be fitted.", got=f"{name} before fit", do="Call fit first."
            ) from unfitted


def _kind(estimator: Any) -> str | None:
    if hasattr(estimator, "__sklearn_tags__"):
        from sklearn.utils import get_tags

        kind = get_tags(estimator).estimator_type
        if kind is None and not hasattr(estimator, "predict"):
            kind = "transformer"
    else:
        kind = getattr(estimator, "_estimator_type", None)
    return None if kind is None else str(kind).replace("_", " ")


def _check_method(estimator: Any, output: str) -> None:
    name, methods = type(estimator).__name__, ("predict_proba", "decision_function", "predict")
    method = dict(zip(OUTPUTS, methods, strict=True))[output]
    if hasattr(estimator, method):
        return
    if output == "probabilities":
        raise LabelsAloneError(
            "The estimator must have predict_proba.",
            got=f"{name}, which has none",
            do="Pass output='labels' (--model-output labels) to use its predict, or calibrate it "
            "first (sklearn.calibration.CalibratedClassifierCV).",
        )
    raise ModelError(f"With output={output!r} the estimator must have {method}.", got=name)


def _classes_of(estimator: Any) -> tuple[Any, ...] | None:
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        return None
    if isinstance(classes, list) and classes and isinstance(classes[0], np.ndarray):
        raise ModelError(
            SUPPORTED,
            got=f"{type(estimator).__name__} with {len(classes)} outputs",
            do="Multi-output models are not supported; wrap one output in a function.",
        )
    labels = np.asarray(classes)
    if labels.ndim != 1 or len(labels) < 2:
        got = f"only {labels.tolist()!r}"
        raise ModelError("A classifier must have at least two classes, in one list.", got=got)
    return tuple(labels.tolist())


def _one_job(estimator: Any) -> Any:
    """A forest adds its trees' votes in the order threads finish; one thread keeps the bytes."""
    if type(estimator).__module__.startswith("sklearn.ensemble._forest"):
        estimator = copy.copy(estimator)
        estimator.n_jobs = 1
    return estimator
