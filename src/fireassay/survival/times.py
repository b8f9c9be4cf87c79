"""Times to failure as intervals: exact, right-, left- and interval-censored in one form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fireassay.core.arrays import AnyArray, BoolArray
from fireassay.core.errors import DataError, NotEnoughEvidenceError
from fireassay.core.lazy_modules import pd


@dataclass(frozen=True)
class Times:
    """Each row failed after ``lower`` and no later than ``upper``.

    ``upper`` is infinite for a row that was never seen to fail (right-censored), ``lower`` is 0
    for one that had failed at the first look (left-censored), and both are equal for a row whose
    time of failure is known exactly.
    """

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
    """Times from the columns ``lower`` and ``upper``, or ``duration`` and ``event``.

    Raises
    ------
    DataError
        For missing columns, no rows, NaN, negative times, a failure at time zero, or a lower end
        above the upper one.
    """
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
    if (lower < 0).any() or (upper < 0).any():
        bad = (lower < 0) | (upper < 0)
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
