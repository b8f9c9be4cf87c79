"""What a second model may learn from: each row's input, the first model's answer, known labels."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.classifiers import as_classifier
from fireassay.classifiers.base import innermost
from fireassay.classifiers.temperature import TemperatureScaled
from fireassay.classifiers.temperature import calibrate as fit
from fireassay.core.arrays import (
    AnyArray,
    Float32Array,
    FloatArray,
    IntArray,
    Probabilities,
    is_frame,
    largest,
)
from fireassay.core.errors import NotEnoughEvidenceError
from fireassay.core.lazy import pd
from fireassay.core.mapped import stay_bytes
from fireassay.core.validation import check_class_indices, check_features
from fireassay.data.rows import Rows
from fireassay.discovery.space import principal_components
from fireassay.statistics import ReliabilityCurve
from fireassay.statistics.calibration import stated_curve
from fireassay.statistics.temperature import temperature

_COMPONENTS = 50
_FITTED_ON = 5000
_SIDE = 32  # an image is averaged to so many cells a side before its components are taken
_LEAST = 1e-6
_MANY_CLASSES = 20
_FEWEST_MENDING = 50


@dataclass(frozen=True, eq=False)
class KnownRows:
    """Candidates and calibration rows as a second model sees them."""

    inputs: Float32Array  # a row per candidate, then one per calibration row: see `input_numbers`
    answers: Float32Array  # of the same rows: see `answer_numbers`
    predicted: IntArray  # from here on: of the calibration rows
    confidence: FloatArray
    labels: IntArray  # -1: a class that the model does not know
    candidate: AnyArray  # whether it would be a candidate itself
    split: bool = False  # whether lots decided which rows are searched
    temperatures: tuple[float, float] | None = None  # fitted, and the largest allowed

    @cached_property
    def both(self) -> Float32Array:
        """Inputs and answers side by side."""
        return np.hstack([self.inputs, self.answers])

    def among(self, candidates: IntArray) -> "KnownRows":
        """With some of the candidates only."""
        n = len(self.inputs) - len(self.labels)
        kept = np.concatenate([candidates, np.arange(n, len(self.inputs))])
        return replace(self, inputs=self.inputs[kept], answers=self.answers[kept])


def known_rows(
    classifier: Any,
    chosen: Any,
    probabilities: Probabilities,
    calibration: tuple[Any, ArrayLike] | None,
    seed: int,
    inputs: bool = True,
) -> KnownRows:
    """Candidates with the model's answers, and calibration rows with their labels, if any."""
    rows, answers, labels = chosen, probabilities, np.zeros(0, dtype=np.int64)
    if calibration is not None:
        more = searchable(calibration[0], holes=takes_holes(classifier))
        labels = check_class_indices(calibration[1], classifier.classes, n=len(more))
        answers = np.concatenate([probabilities, classifier.predict_proba(more)])
        joined = (chosen, more)
        rows = pd.concat(joined, ignore_index=True) if is_frame(more) else np.concatenate(joined)
    own, none = answers[len(probabilities) :], np.zeros((0, 0), np.float32)
    fitted = None if len(labels) < _FEWEST_MENDING else temperature(own, labels, seed)
    return KnownRows(
        inputs=input_numbers(rows, seed) if inputs else none,
        answers=answer_numbers(answers) if inputs else none,
        predicted=own.argmax(axis=1).astype(np.int64),
        confidence=largest(own),
        labels=labels,
        candidate=np.zeros(len(own), dtype=np.bool_),
        temperatures=None if fitted is None else (fitted.value, fitted.largest),
    )


def searchable(X: Any, *, holes: bool = False) -> Any:
    """Rows as the model takes them: a frame, texts, whole numbers, or finite ones."""
    if is_frame(X) or stay_bytes(X):
        return X
    values = np.asarray(X)
    if values.ndim == 1 and len(values) and all(isinstance(text, str) for text in values):
        return values.astype(object)
    if values.ndim > 1 and (values.dtype.kind in "iu" or (holes and values.dtype.kind == "f")):
        return values
    return check_features(X)


def takes_holes(classifier: Any) -> bool:
    """Whether the model was said to take rows with NaN."""
    return bool(getattr(innermost(classifier), "takes_missing", False))


def is_numbers(rows: Any) -> bool:
    """Whether rows are an array of finite real numbers."""
    return not is_frame(rows) and Rows(rows).is_plain


def place(rows: Any, seed: int) -> FloatArray:
    """Where rows are: principal components of their numbers."""
    return principal_components(rows if is_numbers(rows) else input_numbers(rows, seed))


def answer_numbers(probabilities: Probabilities) -> Float32Array:
    """Centred log-probabilities and the answer as indicators; of many classes those often given."""
    logs = np.log(np.maximum(probabilities, _LEAST))
    logs = logs - logs.mean(axis=1, keepdims=True)
    answer = probabilities.argmax(axis=1)
    order = np.sort(logs, axis=1)
    often = np.argsort(-np.bincount(answer, minlength=logs.shape[1]), kind="stable")
    often = np.sort(often[:_MANY_CLASSES])
    return np.column_stack(
        [logs[:, often], answer[:, None] == often, order[:, -1], order[:, -1] - order[:, -2]]
    ).astype(np.float32)


def input_numbers(values: Any, seed: int) -> Float32Array:
    """Standardised numbers made of rows of any form, without labels."""
    # Texts give TF-IDF components, wide arrays principal ones, tables numbers and categories.
    if not is_frame(values) and np.ndim(values) == 1:
        numbers = _text_components([str(text) for text in values], seed)
    elif is_frame(values) or np.ndim(values) == 2:
        if is_frame(values):
            values = values.set_axis([str(name) for name in values.columns], axis=1)
        rows = Rows(values)
        numbers = np.asarray(values, np.float64) if rows.is_plain else rows.view()
    else:
        numbers = _thumbnails(np.asarray(values))
    if numbers.shape[1] > _COMPONENTS and not is_frame(values):
        from sklearn.decomposition import PCA

        some = numbers[:: max(1, -(-len(numbers) // _FITTED_ON))]
        count = min(_COMPONENTS, *some.shape)
        fitted = PCA(count, svd_solver="randomized", random_state=seed).fit(some)
        numbers = fitted.transform(numbers)
    spread = numbers.std(axis=0)
    scaled = (numbers - numbers.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return np.asarray(scaled, dtype=np.float32)


def _text_components(texts: list[str], seed: int) -> FloatArray:
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    found = []
    for analyzer, ngrams in (("word", (1, 1)), ("char_wb", (2, 3))):
        tfidf = TfidfVectorizer(
            analyzer=analyzer, ngram_range=ngrams, sublinear_tf=True, max_features=20_000,
            token_pattern=r"(?u)\b\w+\b" if analyzer == "word" else None,
        )  # fmt: skip
        try:
            counts = tfidf.fit_transform(texts)
        except ValueError:  # no word in any text
            continue
        count = min(_COMPONENTS // 2, min(counts.shape) - 1)
        if count > 0:
            found.append(TruncatedSVD(count, random_state=seed).fit_transform(counts))
    lengths = np.array([[np.log1p(len(text))] for text in texts])
    return np.hstack([lengths, *found])


def _thumbnails(images: AnyArray) -> FloatArray:
    """Images flattened; axes longer than 32 are averaged into 32 cells."""
    small = images
    for axis in range(1, images.ndim):
        size = small.shape[axis]
        if size > _SIDE:
            edges = np.linspace(0, size, _SIDE, endpoint=False).astype(np.int64)
            sums = np.add.reduceat(small, edges, axis=axis, dtype=np.float32)
            shape = [1] * images.ndim
            shape[axis] = _SIDE
            small = sums / np.diff([*edges, size]).reshape(shape)
    return small.reshape(len(small), -1).astype(np.float64)


def calibrate(model: Any, X_val: ArrayLike, y_val: ArrayLike) -> TemperatureScaled:
    """A classifier with the same decisions and calibrated confidences (one temperature).

    Args:
        model: A classifier, or anything `as_classifier` makes one of.
        X_val, y_val: Labelled rows that neither trained the model nor will be searched.

    >>> boaster = lambda X: np.tile([0.99, 0.01], (len(X), 1))
    >>> honest = calibrate(boaster, np.zeros((10, 1)), [0] * 8 + [1] * 2)
    >>> float(honest.predict_proba(np.zeros((1, 1)))[0, 0].round(2))  # right in 8 of 10
    0.8
    """
    return fit(model, X_val, y_val)


def announced(
    model: Any, probabilities: Probabilities, known: KnownRows | None
) -> dict[str, FloatArray] | None:
    """Confidences before and after calibration, and at the largest temperature it allows."""
    fitted = getattr(model, "fitted", None)
    if fitted is not None:
        raw, after = model.at(probabilities, 1.0), {"largest": fitted.largest}
    elif known is not None and known.temperatures is not None:
        names = ("calibrated", "largest")
        raw, after = probabilities, dict(zip(names, known.temperatures, strict=True))
    else:
        return None
    found = {"raw": largest(raw)}
    for name, divisor in after.items():
        milder = np.maximum(raw, 1e-12) ** (1.0 / divisor)  # zeros are none at any other
        found[name] = milder.max(axis=1) / milder.sum(axis=1)
    return found


def class_reliability(
    model: Any, X: ArrayLike, y: ArrayLike, critical_class: Any = None, n_bins: int = 15
) -> ReliabilityCurve:
    """Accuracy against confidence among the rows predicted as one class (None: all classes).

    Args:
        model, X, y: A model and labelled rows.
        critical_class: Of the predictions that are looked at.
        n_bins: Bins of the confidence.

    >>> model = lambda X: np.tile([0.9, 0.1], (len(X), 1))
    >>> curve = class_reliability(model, np.zeros((10, 1)), [0] * 9 + [1])
    >>> curve.frame().dropna()[["mean_confidence", "accuracy"]].to_numpy().round(6).tolist()
    [[0.9, 0.9]]
    """
    classifier = as_classifier(model)
    probabilities = classifier.predict_proba(X)
    labels = check_class_indices(y, classifier.classes, n=len(probabilities))
    answered, stated = probabilities.argmax(axis=1), largest(probabilities)
    correct = answered == labels
    if critical_class is not None:
        index = tuple(classifier.classes).index(critical_class)
        chosen = np.flatnonzero(answered == index)
        if not len(chosen):
            raise NotEnoughEvidenceError(
                f"No row is predicted as {critical_class!r}.", got=f"{len(labels)} rows"
            )
        stated, correct = stated[chosen], correct[chosen]
    return stated_curve(stated, correct, n_bins)
