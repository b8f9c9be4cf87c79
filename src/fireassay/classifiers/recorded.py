"""A classifier that is nothing but its recorded answers: it knows its rows and no others."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.classifiers.answers import labels_of
from fireassay.classifiers.counting import CountsRows
from fireassay.core.arrays import FloatArray, IntArray, Probabilities
from fireassay.core.errors import DataError, ModelError
from fireassay.core.hashing import sha256
from fireassay.core.validation import check_probabilities


class RecordedAnswers(CountsRows):
    """Recorded probabilities or answers behind the protocol of a classifier.

    A row is its position, as `rows` gives them; anything else is refused, so that no attack, no
    generated input and no probe can be put to it.

    Args:
        probabilities: (n, k); None: the answers alone are known, and stand as probabilities of 0
            and 1.
        answers: Positions of classes; None: the most probable class. A row that has none (-1)
            cannot be asked.
        classes: In the order of the columns.

    >>> model = RecordedAnswers([[0.8, 0.2], [0.4, 0.6]], classes=["well", "sepsis"])
    >>> model.predict(model.rows).tolist()
    ['well', 'sepsis']
    >>> model.predict_proba([[0.5]])
    Traceback (most recent call last):
        ...
    fireassay.core.errors.ModelError: Recorded answers know their 2 rows only. Got other rows. ...
    """

    bounds: tuple[float, float] | None = None

    def __init__(
        self,
        probabilities: ArrayLike | None = None,
        answers: ArrayLike | None = None,
        *,
        classes: Sequence[Any],
    ) -> None:
        super().__init__()
        self.classes = tuple(classes)
        self.output = "labels" if probabilities is None else "probabilities"
        self.recorded: IntArray | None = None
        if answers is not None:
            self.recorded = np.asarray(answers, dtype=np.int64)
        if probabilities is not None:
            table = np.asarray(probabilities, dtype=np.float64)
            known = ~np.isnan(table).any(axis=1)
            held = np.full(table.shape, np.nan)
            held[known] = check_probabilities(table[known], n_classes=len(self.classes))
        elif self.recorded is not None:
            held = np.eye(len(self.classes) + 1)[self.recorded][:, :-1]
            held[self.recorded < 0] = np.nan
        else:
            raise DataError("Recorded answers need probabilities or answers.", got="neither")
        self._held: FloatArray = held

    @property
    def rows(self) -> IntArray:
        """The rows that can be asked, as an array (n, 1) of positions."""
        return np.arange(len(self._held), dtype=np.int64)[:, None]

    @property
    def sha256(self) -> str:
        """Identifies the recorded answers."""
        return sha256("recorded", self._held, self.recorded, [repr(c) for c in self.classes])

    def predict_proba(self, X: ArrayLike) -> Probabilities:
        """The recorded probabilities of rows given by their positions."""
        at = self._positions(X)
        found = self._held[at]
        if np.isnan(found).any():
            raise ModelError("A row without a recorded answer cannot be asked.", got="such a row")
        self._count(queries=len(at))
        return found

    def known(self, X: ArrayLike) -> tuple[FloatArray, IntArray]:
        """Probabilities (NaN: none) and answers (-1: none) of rows given by their positions."""
        at = self._positions(X)
        self._count(queries=len(at))
        found = self._held[at]
        if self.recorded is not None:
            return found, self.recorded[at]
        blank = np.isnan(found).any(axis=1)
        return found, np.where(blank, -1, np.nan_to_num(found).argmax(axis=1))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The recorded answer of each row; without one, its most probable class."""
        found = self.predict_proba(X)
        if self.recorded is None:
            return labels_of(found, self.classes)
        return labels_of(np.eye(len(self.classes))[self.recorded[self._positions(X)]], self.classes)

    def _positions(self, X: ArrayLike) -> IntArray:
        given = np.asarray(X)
        at = given[:, 0] if given.ndim == 2 and given.shape[1] == 1 else given
        whole = at.ndim == 1 and at.dtype.kind in "iuf" and bool((at == np.floor(at)).all())
        if not whole or (len(at) and not 0 <= at.min() <= at.max() < len(self._held)):
            raise ModelError(
                f"Recorded answers know their {len(self._held):,} rows only.",
                got="other rows",
                do="Give a model that can be asked for attacks, ambiguity and monitors.",
            )
        return at.astype(np.int64)

    def __repr__(self) -> str:
        return f"RecordedAnswers({len(self._held):,} rows, {len(self.classes)} classes)"
