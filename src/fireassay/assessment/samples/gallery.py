"""Rows as samples for the report: a picture, the features that deviate, a text, a small curve."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fireassay.assessment.context import Context
from fireassay.classifiers import CodedClassifier
from fireassay.classifiers.decided import Decided
from fireassay.classifiers.probe import answers_again
from fireassay.core import Cell, ModelError, Sample
from fireassay.core.arrays import is_frame
from fireassay.core.lazy import pd
from fireassay.core.sample import SHOWN_PER_PART
from fireassay.data import DataSet, shown
from fireassay.data.rows import Rows, taken

_LEAST = 0.02  # of confidence: less is not worth a mark
_SHARE = 0.25  # of what the most important word does


def token_weights(
    tokens: Sequence[str], ask: Callable[[NDArray[Any]], NDArray[np.float64]]
) -> tuple[tuple[str, float], ...]:
    """Each token with how much the confidence falls without it; 0 where that is little."""
    if len(tokens) < 2:
        return tuple((token, 0.0) for token in tokens)
    without = [" ".join([*tokens[:i], *tokens[i + 1 :]]) for i in range(len(tokens))]
    answers = ask(np.array([" ".join(tokens), *without], dtype=object))
    said = int(answers[0].argmax())
    falls = answers[0, said] - answers[1:, said]
    mattered = falls >= max(_LEAST, _SHARE * float(falls.max()))
    return tuple(
        (token, float(round(fall, 4)) if marked else 0.0)
        for token, fall, marked in zip(tokens, falls.tolist(), mattered.tolist(), strict=True)
    )


MOST = SHOWN_PER_PART
_CELLS, _STEPS, _TOKENS, _CHANNELS = 8, 120, 60, 4
_LEAST_OF_A_CLASS, _REFERENCE, _RARE = 20, 5000, 0.05
_WEIGHED = 6  # texts of a set of which the words are weighed
_ROUNDING = 1e-9  # of a column's spread: not a change
_MINUS = "\N{MINUS SIGN}"


class _Usual(NamedTuple):
    """What is usual in a column: in words, by ends, middle and width, or by shares of names."""

    text: str
    low: float = 0.0
    high: float = 0.0
    middle: float = 0.0
    spread: float = 1.0
    shares: dict[str, float] | None = None


class Gallery:
    """Makes samples of one set of rows: how they are shown follows from what they are."""

    def __init__(self, context: Context, data: DataSet, source: str = "test") -> None:
        self.context, self.data, self.source = context, data, source
        self.rows = data.rows.values  # as the user has them, whatever the parts work on
        self._usual: dict[str | None, list[_Usual]] = {}
        self._ends: Any = None
        self._weighed = 0

    def answers(self, X: Any) -> tuple[list[str], list[float | None]]:
        """What the model says of rows, and how sure it is."""
        # Asked as probes; only an operating rule is asked through its own door.
        return self.answers_to(self.as_given(X))

    def answers_to(self, X: Any) -> tuple[list[str], list[float | None]]:
        """The same of rows in the form the user has them."""
        model: Any = self.context.model
        if isinstance(model, CodedClassifier):
            model = model.model
        if isinstance(model, Decided):
            answers = model.predict_proba(X)
            own = model.own(answers)
        else:
            own = answers = answers_again(model, X)
        said = answers.argmax(axis=1)
        sure = own[np.arange(len(own)), said].tolist() if self.context.has_confidences else None
        names = [str(model.classes[i]) for i in said]
        return names, [None] * len(names) if sure is None else sure

    def at(self, position: int, why: str, **more: Any) -> Sample:
        """A row of the set."""
        row = taken(self.rows, [position])
        label = None if self.data.y is None else self.data.y[position]
        truth = "" if label is None else str(label)
        identity = position if self.data.ids is None else _plain(self.data.ids[position])
        content = self.content(row, label)
        return Sample(
            **{"row": identity, "why": why, "source": self.source, "truth": truth} | content | more
        )

    def content(self, row: Any, label: Any = None) -> dict[str, Any]:
        """The fields of `Sample` that show a row (a set of one, as the user has it)."""
        own = self.data.rows
        rows = Rows(row, own.kinds, own.form)
        if shown.is_picture(rows):
            return {"pictures": {"input": self.picture(row)}}
        seen = shown.shown(rows, 0, names=self.names if self.is_table else None)
        if isinstance(seen, shown.Curve):
            return {"series": seen.thinned(_CHANNELS, _STEPS)}
        if isinstance(seen, shown.Table):
            return {"cells": self._cells(seen, label)}
        assert isinstance(seen, shown.Words)
        return {"text": self._words(seen.text.split()[:_TOKENS])}

    def _words(self, tokens: list[str]) -> tuple[tuple[str, float], ...]:
        """Words with how much each mattered, of the first few texts: each costs a query a word."""
        plain = tuple((token, 0.0) for token in tokens)
        if self._weighed >= _WEIGHED or not self.context.has_confidences:
            return plain
        self._weighed += 1
        model: Any = self.context.model
        given = model.model if isinstance(model, CodedClassifier) else model
        try:
            return token_weights(tokens, lambda texts: answers_again(given, texts))
        except ModelError:  # a model need not take a text with a word left out
            return plain

    def as_given(self, codes: Any) -> Any:
        """Rows that a part made, in the form the user has them."""
        model = self.context.model
        if isinstance(model, CodedClassifier) and np.asarray(codes).dtype.kind != "U":
            return model.book.decode(codes)
        return codes  # texts are kept as they are

    def picture(self, row: Any) -> str:
        """An image (given as a set of one) as a data URI."""
        return shown.png_uri(shown.channels_last(self.pixels(np.asarray(row)))[0])

    def pixels(self, images: NDArray[Any]) -> NDArray[Any]:
        """Images on the scale of a picture: 0 is black, 1 is white, in every channel."""
        natural = self.context.natural_range
        if natural is not None:
            return natural.inside(images)
        if self._ends is None:  # of integers that are shown as a picture
            bounds = self.context.model.bounds
            known = bounds is not None and bool(np.isfinite(bounds).all())
            self._ends = bounds if known else shown.pixel_ends(np.asarray(self.rows[:500]))
        low, high = np.min(self._ends[0]), np.max(self._ends[1])
        return np.asarray(((images - low) / ((high - low) or 1.0)).clip(0.0, 1.0))

    def difference(self, before: Any, after: Any) -> dict[str, str]:
        """The original and the difference as pictures; nothing for rows that are no images."""
        if self.kind != "image":
            return {}
        change = np.asarray(after, dtype=float) - np.asarray(before, dtype=float)
        return {
            "original": self.picture(before),
            "difference": shown.signed_picture(shown.channels_last(change)[0]).uri(),
        }

    def changed(self, before: Any, after: Any) -> tuple[Cell, ...]:
        """The features of a table that differ, those that changed most first."""
        old, new = (np.asarray(row, dtype=object).ravel() for row in (before, after))
        moved = [
            (far, name, a, b)
            for a, b, usual, name in zip(old, new, self._table(None), self.names, strict=True)
            if a != b and not (pd.isna(a) and pd.isna(b))
            if (far := _moved(a, b, usual.spread)) > _ROUNDING
        ]
        moved.sort(key=lambda entry: -entry[0])
        return tuple(
            Cell(name, unusual=True, **_told_apart(b, a)) for _, name, a, b in moved[:_CELLS]
        )

    @property
    def is_table(self) -> bool:
        """Whether rows are shown as features."""
        return self.data.rows.form in ("table", "tokens", "recorded")

    @property
    def kind(self) -> str:
        """How rows are shown: "table", "text", "image" or "series"."""
        if self.is_table or self.data.rows.is_text:
            return "table" if self.is_table else "text"
        return "image" if shown.is_picture(self.data.rows) else "series"

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns of a table."""
        X = self.rows
        if is_frame(X):
            return tuple(str(name) for name in X.columns)
        return self.data.feature_names or tuple(f"feature {i}" for i in range(X.shape[1]))

    def _cells(self, row: shown.Table, label: Any) -> tuple[Cell, ...]:
        """The features that deviate most from rows of the same class."""
        found = []
        for (name, value), usual in zip(row, self._table(label), strict=False):
            text = _text(value)
            far, unusual = _deviation(value, text, usual)
            found.append((far, Cell(name, text, unusual, usual.text)))
        found.sort(key=lambda entry: -entry[0])
        return tuple(cell for _, cell in found[:_CELLS])

    def _table(self, label: Any) -> list[_Usual]:
        """What is usual in each column, among rows of a class if there are enough."""
        key = None if label is None else str(label)
        if key not in self._usual:
            rows: Any = slice(0, _REFERENCE)
            if label is not None and self.data.y is not None:
                own = np.flatnonzero(self.data.y == label)[:_REFERENCE]
                rows = own if len(own) >= _LEAST_OF_A_CLASS else rows
            self._usual[key] = _usual(self.rows, rows)
        return self._usual[key]


def _usual(X: Any, rows: Any) -> list[_Usual]:
    frame = X.iloc[rows] if is_frame(X) else pd.DataFrame(np.asarray(X)[rows])
    found = []
    for i in range(frame.shape[1]):
        column = frame.iloc[:, i]
        if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
            held = column.dropna().to_numpy(dtype=float)
            low, middle, high = np.quantile(held, (0.025, 0.5, 0.975)) if len(held) else (0, 0, 0)
            usual = f"{_text(float(f'{low:.3g}'))} to {_text(float(f'{high:.3g}'))}"
            found.append(_Usual(usual, low, high, middle, float(high - low) or 1.0))
        else:
            shares = column.astype(str).value_counts(normalize=True)
            common = str(shares.index[0]) if len(shares) else ""
            found.append(_Usual(common, shares={str(k): float(v) for k, v in shares.items()}))
    return found


def _deviation(value: Any, text: str, usual: _Usual) -> tuple[float, bool]:
    """How far a value lies from what is usual, and whether that is worth a mark."""
    if usual.shares is not None:
        share = usual.shares.get(text, usual.shares.get(str(value), 0.0))
        return 1.0 - share, share < _RARE
    if value is None or value != value:
        return 1.0, True
    number = float(value)
    return abs(number - usual.middle) / usual.spread, not usual.low <= number <= usual.high


def _told_apart(now: Any, before: Any) -> dict[str, str]:
    """Two values as texts that differ: small changes need more digits."""
    texts = [_text(value) for value in (now, before)]
    if texts[0] == texts[1]:
        texts = [f"{value:.8g}" for value in (now, before)]
    return {"value": texts[0], "was": texts[1]}


def _moved(before: Any, after: Any, spread: float) -> float:
    try:
        return abs(float(after) - float(before)) / spread
    except (TypeError, ValueError):
        return 1.0  # another category


def _text(value: Any) -> str:
    if isinstance(value, float | np.floating):
        return "missing" if np.isnan(value) else f"{value:.4g}".replace("-", _MINUS)
    return str(value)


def _plain(identity: Any) -> int | str:
    return int(identity) if isinstance(identity, int | np.integer) else str(identity)
