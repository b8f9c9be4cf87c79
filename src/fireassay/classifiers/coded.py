"""A model of frames, texts or integers, asked with float codes."""

from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from fireassay.classifiers.adapt import as_classifier
from fireassay.classifiers.base import BLOCK_ROWS, BaseClassifier, innermost
from fireassay.classifiers.kept_answers import Keep, KeptAnswers
from fireassay.classifiers.protocol import ActivationClassifier
from fireassay.classifiers.wrapped import WrappedClassifier, made
from fireassay.core.arrays import AnyArray, FloatArray, Probabilities

_PROBED_ROWS = 4 * BLOCK_ROWS


class Book(Protocol):
    """What codes stand for: `fireassay.data.Codebook`."""

    @property
    def form(self) -> str:
        """What the model takes: "frame", "text", "array" or "plain"."""

    @property
    def sha256(self) -> str:
        """Of the values that codes stand for."""

    @property
    def columns(self) -> Any:
        """How each column is coded."""

    @property
    def hole_codes(self) -> FloatArray:
        """For each column what stands for a missing value, NaN where nothing does."""

    def decode(self, codes: AnyArray) -> Any:
        """What the model takes."""

    def view(self, codes: AnyArray) -> FloatArray:
        """Numbers to measure distances with."""


class CodedClassifier(WrappedClassifier):
    """A classifier of float codes: each row is turned into what the inner model takes.

    So everything that works on arrays of numbers works on tables, texts and tokens, while the
    model sees nothing but valid rows: a code that stands for nothing is refused.

    Args:
        model: The inner classifier, which takes frames, texts or integers.
        book: The codes, `fireassay.data.Codebook`.

    >>> import pandas as pd
    >>> from fireassay.classifiers import as_classifier
    >>> from fireassay.data import Codebook, Rows
    >>> rows = Rows(pd.DataFrame({"sex": ["f", "m", "f"]}))
    >>> inner = as_classifier(lambda X: [[1.0, 0.0] if s == "f" else [0.0, 1.0] for s in X["sex"]])
    >>> model = CodedClassifier(inner, Codebook.of(rows))
    >>> model.predict_proba(rows.encode())[:, 0].tolist()
    [1.0, 0.0, 1.0]
    """

    def __new__(cls, model: Any, *_: Any, **__: Any) -> Self:
        """Without gradients: between two codes there is nothing."""
        inner = as_classifier(model)
        layers = isinstance(inner, ActivationClassifier)
        found: Self = made(cls, False, layers, hasattr(inner, "withheld"))
        return found

    def __init__(self, model: Any, book: Book) -> None:
        super().__init__(model)
        self.book = book
        self.kept: KeptAnswers | None = None  # answers about codes of a run's data

    def _identity(self) -> tuple[Any, ...]:
        return "coded", self.book.sha256

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Those of an inner model of integers; codes of tables and texts have no common range."""
        return super().bounds if self.book.form == "array" else None

    def _seen(self, X: AnyArray) -> Any:
        return self.book.decode(X)

    def predict_proba(self, X: ArrayLike) -> Probabilities:
        """Probabilities of shape ``(n, k)``, rows summing to one: float32 stays, else float64."""
        codes = np.asarray(X)
        adapter = innermost(self)
        if self.kept is None or not self.kept.is_asked or not isinstance(adapter, BaseClassifier):
            return super().predict_proba(codes)

        def send(rows: AnyArray, known: int, keep: Keep | None) -> Probabilities:
            with adapter.counting_kept(known):
                answers = super(CodedClassifier, self).predict_proba(rows)
            if keep is not None:
                keep(0, len(rows), answers)
            return answers

        return self.kept.answered(codes, send, adapter.count_kept)

    def decide_block_sizes(self, X: Any, *, gradients: bool = False) -> Any:
        """Let the inner classifier decide, with the first rows as it takes them."""
        return super().decide_block_sizes(np.asarray(X)[:_PROBED_ROWS], gradients=gradients)

    def view(self, X: AnyArray) -> FloatArray:
        """Numbers to measure distances between coded rows with."""
        return self.book.view(X)
