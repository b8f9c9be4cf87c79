"""Times to failure as intervals (all kinds of censoring), and Turnbull's estimate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fireassay.core.arrays import AnyArray, BoolArray, IntArray
from fireassay.core.errors import DataError, NotEnoughEvidenceError
from fireassay.core.lazy import pd


@dataclass(frozen=True)
class Times:
    """Each row failed after ``lower`` and no later than ``upper``."""

    # Right-censored: ``upper`` is infinite; left-censored: ``lower`` is 0; exact: both are equal.

    lower: AnyArray
    upper: AnyArray

    def __len__(self) -> int:
        return len(self.lower)

    @property
    def failed(self) -> BoolArray:
        """Rows that were seen to fail."""
        return np.isfinite(self.upper)

    @property
    def exact(self) -> BoolArray:
        """Rows whose time of failure is known exactly."""
        return np.asarray(self.lower == self.upper)

    @property
    def n_events(self) -> int:
        """How many rows were seen to fail."""
        return int(self.failed.sum())

    @property
    def seen(self) -> AnyArray:
        """When the failure was seen, or until when the row was watched without one."""
        return np.where(self.failed, self.upper, self.lower)

    @property
    def latest(self) -> float:
        """The latest observed time, t* of the paper."""
        return float(self.seen.max())

    def rows(self, index: Any) -> Times:
        """A part of the rows."""
        return Times(self.lower[index], self.upper[index])


def read_times(frame: pd.DataFrame) -> Times:
    """Times from the columns ``lower`` and ``upper``, or ``duration`` and ``event``."""
    if {"lower", "upper"} <= set(frame.columns):
        lower, upper = _numbers(frame, "lower"), _numbers(frame, "upper")
    elif {"duration", "event"} <= set(frame.columns):
        lower = _numbers(frame, "duration")
        event = _numbers(frame, "event")
        if not np.isin(event, (0.0, 1.0)).all():
            raise DataError(
                "The column 'event' must be 1 (failed) or 0 (censored).",
                got=f"{event[~np.isin(event, (0.0, 1.0))][0]!r}",
            )
        upper = np.where(event == 1.0, lower, np.inf)
    else:
        raise DataError(
            "Observations need the columns 'lower' and 'upper', or 'duration' and 'event'.",
            got=", ".join(map(str, frame.columns)) or "no columns",
        )
    _check(lower, upper)
    _check_consistent(frame, upper)
    return Times(lower, upper)


def _check_consistent(frame: pd.DataFrame, upper: AnyArray) -> None:
    """Refuse rows that contradict themselves, where they carry more than the times."""
    if "success" not in frame.columns:
        return
    success = frame["success"].to_numpy(dtype=np.bool_)
    wrong = success != np.isfinite(upper)
    if wrong.any():
        raise DataError(
            "A success and a time of failure must go together.",
            got=f"{int(wrong.sum())} row(s) with only one of them, first {int(wrong.argmax())}",
        )
    if "distance" in frame.columns:
        unchanged = success & (frame["distance"].to_numpy(dtype=np.float64) <= 0)
        if unchanged.any():
            raise DataError(
                "A success needs a changed input.",
                got=f"{int(unchanged.sum())} success(es) at distance 0: no prediction changed",
                do="Leave out samples that were wrong before the attack.",
            )


def check_events(times: Times, *, at_least: int, purpose: str, do: str | None = None) -> None:
    """Refuse to estimate from too few failures."""
    if times.n_events < at_least:
        got = f"{times.n_events} failure(s) in {len(times)} rows"
        raise NotEnoughEvidenceError(
            f"{purpose} needs at least {at_least} observed failure(s).",
            got=f"{got}, all others censored" if times.n_events else f"{got}: all are censored",
            do=do or "Raise the budget or the number of samples, or report survival at the budget.",
        )


def _numbers(frame: pd.DataFrame, name: str) -> AnyArray:
    try:
        values = frame[name].to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as failure:
        raise DataError(f"The column '{name}' must be numbers.", got=f"{failure}") from failure
    if np.isnan(values).any():
        raise DataError(
            f"The column '{name}' must not have missing values.",
            got=f"NaN in row {int(np.isnan(values).argmax())}",
        )
    return values


def _check(lower: AnyArray, upper: AnyArray) -> None:
    if len(lower) == 0:
        raise DataError("Observations must have at least one row.", got="0 rows")
    bad = (lower < 0) | (upper < 0)
    if bad.any():
        raise DataError(
            "Times must not be negative.",
            got=f"{int(bad.sum())} negative time(s), first in row {int(bad.argmax())}",
        )
    if not np.isfinite(lower).all():
        raise DataError("Lower ends must be finite; only 'upper' may be infinite.", got="infinity")
    if (upper == 0).any():
        raise DataError(
            "A failure at time zero has no logarithm.",
            got=f"{int((upper == 0).sum())} row(s) that failed at time 0",
            do="Leave out samples that were wrong before the attack, or give lower=0 and "
            "upper=the time of the first check.",
        )
    if (lower > upper).any():
        row = int((lower > upper).argmax())
        raise DataError(
            "The lower end of a time must not be above its upper end.",
            got=f"lower={lower[row]:g}, upper={upper[row]:g} in row {row}",
        )


def intervals_overlap(times: Times) -> bool:
    """Whether some failure's interval cuts another row's, so that a plain curve is not enough."""
    open_ends = times.failed & ~times.exact
    if not open_ends.any():
        return False
    pairs = np.unique(np.column_stack([times.lower[open_ends], times.upper[open_ends]]), axis=0)
    if (pairs[:-1, 1] > pairs[1:, 0]).any():
        return True
    points = np.unique(times.lower[~open_ends])
    first = np.searchsorted(points, pairs[:, 0], side="right")
    last = np.searchsorted(points, pairs[:, 1], side="left")
    return bool((last > first).any())


@dataclass(frozen=True)
class TurnbullSupport:
    """Distinct (lower, upper] patterns and the innermost intervals that can carry mass."""

    pattern_of_row: IntArray
    starts: IntArray
    stops: IntArray
    right: AnyArray

    @classmethod
    def of(cls, times: Times) -> TurnbullSupport:
        """From times."""
        ends = np.column_stack([times.lower, times.upper])
        patterns, inverse = np.unique(ends, axis=0, return_inverse=True)
        return cls(inverse.ravel(), *_innermost(patterns))

    def mass(
        self,
        weights: AnyArray,
        start: AnyArray | None = None,
        *,
        tolerance: float = 1e-6,
        max_iterations: int = 2000,
    ) -> AnyArray:
        """Self-consistent mass of each innermost interval, by EM with squared extrapolation."""
        counts = np.bincount(self.pattern_of_row, weights, len(self.starts))
        total, size = float(counts.sum()), len(self.right)
        uniform = np.full(size, 1.0 / size)
        mass = uniform if start is None else 0.99 * start + 0.01 * uniform
        for _ in range(max_iterations):
            once = self._step(mass, counts, total)
            twice = self._step(once, counts, total)
            moved = self._step(_extrapolate(mass, once, twice), counts, total)
            change = float(np.abs(np.cumsum(moved - mass)).max())
            mass = moved
            if change < tolerance:
                break
        return mass

    def curve(self, mass: AnyArray) -> tuple[AnyArray, AnyArray]:
        """Times and survival from them on; a drop is at the end of its innermost interval."""
        finite = np.isfinite(self.right)
        survival = 1.0 - np.cumsum(mass)
        return self.right[finite], np.clip(survival[finite], 0.0, 1.0)

    def _step(self, mass: AnyArray, counts: AnyArray, total: float) -> AnyArray:
        cumulative = np.append(0.0, np.cumsum(mass))
        inside = np.maximum(cumulative[self.stops] - cumulative[self.starts], 1e-300)
        share = counts / inside
        size = len(mass) + 1
        change = np.bincount(self.starts, share, size) - np.bincount(self.stops, share, size)
        moved = mass * np.maximum(np.cumsum(change)[:-1], 0.0) / total
        return np.asarray(moved / moved.sum())


def _innermost(patterns: AnyArray) -> tuple[IntArray, IntArray, AnyArray]:
    """For each pattern the range of innermost intervals inside it, and their right ends."""
    lower, upper = patterns[:, 0], patterns[:, 1]
    exact = lower == upper
    # At one value: a closed left end, then a right end, then an open left end.
    left_keys = np.column_stack([lower, np.where(exact, 0.0, 2.0)])
    right_keys = np.column_stack([upper, np.full(len(upper), 1.0)])
    keys = np.unique(np.concatenate([left_keys, right_keys]), axis=0)
    is_right = keys[:, 1] == 1.0
    closes = np.flatnonzero(is_right[1:] & ~is_right[:-1]) + 1
    position = {(value, kind): i for i, (value, kind) in enumerate(keys.tolist())}
    left_at = np.array([position[tuple(key)] for key in left_keys.tolist()])
    right_at = np.array([position[tuple(key)] for key in right_keys.tolist()])
    starts = np.searchsorted(closes, left_at, side="right")
    stops = np.searchsorted(closes, right_at, side="right")
    return starts, stops, keys[closes, 0]


def _extrapolate(before: AnyArray, once: AnyArray, twice: AnyArray) -> AnyArray:
    """A squared extrapolation of the EM sequence, kept inside the simplex."""
    change = once - before
    bend = twice - once - change
    size = float(bend @ bend)
    if size == 0.0:
        return twice
    length = -max(1.0, min(64.0, float(np.sqrt(change @ change / size))))
    guess = before - 2.0 * length * change + length * length * bend
    return twice if (guess < 0).any() else np.asarray(guess / guess.sum())
