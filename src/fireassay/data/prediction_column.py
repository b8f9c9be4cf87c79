"""One column of a file of predictions: probability of a class, or confidence of the answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from fireassay.core.arrays import AnyArray, BoolArray, FloatArray, IntArray
from fireassay.core.errors import DataError
from fireassay.core.lazy import pd

PROBABILITY_NAMES: Final = (
    "yprob", "yscore", "ypredproba", "yproba", "probability", "proba", "risk", "predictedscore",
    "p", "predictionproba", "predictedprobability", "prob", "predprob", "predproba",
    "predictedprob", "predictedproba", "predictionprob", "predictionprobability", "phat",
    "scoredprobabilitie", "positiveprobability", "predictedrisk",
)  # fmt: skip
_WEAK: Final = ("score", "predictionscore", "confidence")
_ANSWERS: Final = ("prediction", "predicted", "ypred", "pred", "predict", "estimate", "answer")
NO = "--probability none"


@dataclass(frozen=True, eq=False)
class Scores:
    """Probabilities (n, k) or the confidence of the answer, their columns, and what to say."""

    probabilities: FloatArray | None = None
    confidence: FloatArray | None = None
    columns: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    more_classes: tuple[str, ...] = ()


def plain_name(name: Any) -> str:
    """A name without case, punctuation and the s of a plural."""
    text = re.sub(r"[^0-9a-z]+", "", str(name).lower())
    return text[:-1] if len(text) > 3 and text.endswith("s") and not text.endswith("ss") else text


def is_fraction(column: pd.Series[Any]) -> bool:
    """Whether a column holds numbers that are no whole ones."""
    if not pd.api.types.is_float_dtype(column.dtype):
        return False
    values = column.to_numpy(dtype=np.float64)
    values = values[np.isfinite(values)]
    return bool((values != np.round(values)).any())


def inside(values: AnyArray) -> bool:
    """Whether there are values, and all lie in [0, 1] but for rounding."""
    values = values[~np.isnan(values)]
    return bool(len(values) and values.min() >= -1e-6 and values.max() <= 1 + 1e-6)


def slack(p: FloatArray) -> float:
    """How far sums may be from one: as far as rounding to the digits seen can bring them."""
    head = p[:: max(1, len(p) // 2000)]
    for digits in (1, 2, 3, 4):
        if np.abs(head - np.round(head, digits)).max() < 1e-9:
            return float(p.shape[1] * 0.5 * 10.0**-digits + 1e-9)
    return 1e-3


def of_one(p: FloatArray, column: str, at: int, names: Sequence[Any], how: str) -> Scores:
    """Probabilities of two classes from that of one."""
    both = np.empty((len(p), 2))
    both[:, at], both[:, 1 - at] = p, 1.0 - p
    line = f"probability of {names[at]}: {column}{how}"
    return Scores(np.clip(both, 0.0, 1.0), None, (column,), (line,))


def of_confidence(
    frame: pd.DataFrame, column: str, answers: IntArray | None, names: Sequence[Any], how: str
) -> Scores:
    """The confidence of the answer; of two classes it gives both probabilities."""
    if answers is None or column not in frame:
        raise DataError(
            f"{column!r} can only be a confidence beside a column of answers.", got="no answers"
        )
    sure = frame[column].to_numpy(np.float64)
    line = f"confidence of the answer: {column}{how}"
    if len(names) > 2:
        return Scores(None, sure, (column,), (line,))
    second = np.where(answers == 1, sure, 1.0 - sure)
    second = np.where(answers < 0, np.nan, second)
    return Scores(np.column_stack([1.0 - second, second]), sure, (column,), (line,))


def of_single_column(
    frame: pd.DataFrame,
    free: list[str],
    told: list[str],
    answers: IntArray | None,
    names: Sequence[Any],
    positive: Any | None,
) -> Scores:
    """One column: the probability of the positive class, or the confidence of the answer."""
    strong = told or [c for c in free if plain_name(c) in PROBABILITY_NAMES]
    strong += [c for c in free if plain_name(c) in _ANSWERS and is_fraction(frame[c]) and not told]
    weak = [] if told else [c for c in free if plain_name(c) in _WEAK]
    values = {c: frame[c].to_numpy(np.float64) for c in (*strong, *weak)}
    within = [c for c in (*strong, *weak) if inside(values[c])]
    left = tuple(f"{c}: outside [0, 1], no probability" for c in values if c not in within)
    if not within:
        if left:
            raise DataError(
                "A probability must lie in [0, 1].",
                got=", ".join(f"{c} {min(v):.4g} … {max(v):.4g}" for c, v in values.items()),
                do=f"Divide per cent by 100, name a column (--probability), or type {NO}.",
            )
        _refuse_unnamed(frame, free, names)
        return Scores()
    first = within[0]
    _refuse_second(within, values)
    found = _read_one(frame, first, values[first], answers, names, positive, bool(told), weak)
    return Scores(found.probabilities, found.confidence, (first,), (*found.lines, *left))


def _refuse_second(within: list[str], values: Mapping[str, FloatArray]) -> None:
    """Refuse a column that is neither the first one's probability, complement nor confidence."""
    first, p = within[0], values[within[0]]
    for c in within[1:]:
        same = [p, 1 - p, np.maximum(p, 1 - p)]
        if not any(np.allclose(values[c], other, atol=1e-6, equal_nan=True) for other in same):
            raise DataError(
                "One column must hold the probability.",
                got=", ".join(within),
                do=f"Type --probability {first} or --probability {c}.",
            )


def _read_one(
    frame: pd.DataFrame,
    column: str,
    p: FloatArray,
    answers: IntArray | None,
    names: Sequence[Any],
    positive: Any | None,
    told: bool,
    weak: list[str],
) -> Scores:
    if len(names) < 2:
        raise DataError(
            f"The probability {column!r} needs two classes in truths and answers.",
            got=", ".join(map(str, names)) or "none",
            do=f"Name both classes (--classes A,B), or type {NO}.",
        )
    at = None if positive is None else list(names).index(positive)
    how = " (as told)" if told else ""
    if len(names) > 2:
        if answers is not None and np.nanmin(p) >= 1.0 / len(names) - 1e-6:
            return of_confidence(frame, column, answers, names, how)
        raise DataError(
            f"One column cannot hold the probabilities of {len(names)} classes.",
            got=column,
            do=f"Type --answer-confidence {column} or {NO}.",
        )
    if answers is None:
        if not told and (plain_name(column) == "confidence" or np.nanmin(p) >= 0.5):
            raise DataError(
                f"{column!r} may be the confidence of answers that are not there.",
                got="no column of answers",
                do=f"Type --probability {column} or --answer COLUMN.",
            )
        if at is None:
            raise _unclear(column, names)
        return of_one(p, column, at, names, how)
    sides, meant = _meant(plain_name(column), p, answers, at, column in weak)
    if told:
        if at is None and len(sides) != 1:
            raise _unclear(column, names)
        return of_one(p, column, sides[0] if at is None else at, names, how)
    if meant == "probability":
        return of_one(p, column, sides[0], names, "")
    if meant == "confidence":
        return of_confidence(frame, column, answers, names, "")
    raise DataError(
        f"{column!r} must be the probability of one class, or the confidence of the answer.",
        got=meant,
        do=f"Type --probability {column} (with --positive CLASS), --answer-confidence {column} "
        f"or {NO}.",
    )


def _meant(
    named: str, p: FloatArray, answers: IntArray, at: int | None, weak: bool
) -> tuple[list[int], str]:
    """Classes whose probability the values may be, and what they are; else what speaks against."""
    rows = answers >= 0
    second, s = answers[rows] == 1, p[rows]
    # As a probability it is large with one answer; as a confidence p of class 1 is s or 1 - s.
    sides, halves = _sides(s, second, at)
    mended = np.where(second, s, 1.0 - s)
    sure, half = _separated(mended, second), _separated(mended, second, 0.5)
    one_answer = bool(second.all() or not second.any())
    if sides and (not sure or (named != "confidence" and halves and (not half or not weak))):
        return sides, "probability"
    if sure and (not sides or named == "confidence" or (half and not halves and one_answer)):
        return sides, "confidence"
    neither = "values that fit neither: no threshold explains the answers"
    return sides, "values that fit both" if sides else neither


def _sides(s: FloatArray, second: BoolArray, at: int | None) -> tuple[list[int], list[int]]:
    """Classes whose probability would explain the answers by one cut, and by a cut at a half."""
    sides = [i for i in (0, 1) if at in (None, i) and _separated(s, second == (i == 1))]
    halves = [i for i in sides if _separated(s, second == (i == 1), 0.5)]
    return sides if len(sides) < 2 else halves, halves


def _separated(s: FloatArray, yes: AnyArray, cut: float | None = None) -> bool:
    """Whether one cut, or this one, explains the answers; on the cut either is right."""
    low = s[~yes].max() if (~yes).any() else -np.inf
    high = s[yes].min() if yes.any() else np.inf
    return bool(low <= high if cut is None else low <= cut + 1e-9 and high >= cut - 1e-9)


def _unclear(column: str, names: Sequence[Any]) -> DataError:
    return DataError(
        f"The class whose probability {column!r} is must be known.",
        got=f"the classes {' and '.join(map(str, names[:2]))}",
        do=f"Type {' or '.join(f'--positive {name}' for name in names[:2])}.",
    )


def _refuse_unnamed(frame: pd.DataFrame, free: list[str], names: Sequence[Any]) -> None:
    """Refuse columns that look like probabilities of the classes under other names."""
    floats = [c for c in free if is_fraction(frame[c]) and inside(frame[c].to_numpy(float))]
    if 1 < len(floats) == len(names):
        p = frame[floats].to_numpy(np.float64)
        p = p[~np.isnan(p).any(axis=1)]
        if len(p) and np.abs(p.sum(axis=1) - 1).max() <= slack(p):
            raise DataError(
                "Columns that sum to one look like probabilities, but name no class.",
                got=f"{', '.join(floats)} for {', '.join(map(str, names))}",
                do=f"Type --probability {','.join(floats)} if that is their order, or {NO}.",
            )
