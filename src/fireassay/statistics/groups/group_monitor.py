"""Has the error rate risen above its limit, where labels come in groups and some come late?"""

import math
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import FloatArray
from fireassay.core.errors import DataError
from fireassay.core.validation import check_labels, check_real
from fireassay.statistics.counts import clopper_pearson
from fireassay.statistics.error_detector import start_weight
from fireassay.statistics.groups.group_bound import group_upper

_STAKES = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8)
_KEPT = 2_000  # groups whose labels may still come
_NOTHING = (-math.inf,) * len(_STAKES)


@dataclass(frozen=True, slots=True)
class _Group:
    name: str
    errors: int = 0
    unlabelled: int = 0
    rows: int = 0


@dataclass(frozen=True, slots=True)
class GroupDetector:
    """An alarm on labelled errors that counts groups: false with probability ``alpha`` at most."""

    # Groups must be drawn independently. Rows of one group may depend on each other in any way, and
    # labels may come late or never, whatever they say. A bet for each group, in the order of their
    # first rows: M ← (M + ω) (1 + λ (K - p0 m) / (p0 cap)) for six λ. A row without a label counts
    # as right for the alarm and as wrong for the bound. A group that may still get rows counts, for
    # the alarm, with as many right ones as it can have: early errors of a patient raise none.

    limit: float
    largest_group: int
    alpha: float = 0.01
    window: int = 200
    open_groups: int | None = 1
    seen: int = 0
    log_capital: tuple[float, ...] = _NOTHING
    highest_before: float = 0.0
    groups: tuple[_Group, ...] = ()

    def __post_init__(self) -> None:
        check_real(self.limit, "limit", low=0.0, high=1.0)
        check_real(self.alpha, "alpha", low=0.0, high=1.0)

    @property
    def highest(self) -> float:
        """The largest evidence so far. Labels can only raise it, so that an alarm stays."""
        if not self.groups:
            return self.highest_before
        return max(self.highest_before, float(_evidence(self._capitals()).max()))

    @property
    def alarm(self) -> bool:
        """Whether the alarm was ever raised; it stays."""
        return self.highest >= 1.0 / self.alpha

    @classmethod
    def of(cls, kept: Mapping[str, Any]) -> "GroupDetector":
        """The detector that `dataclasses.asdict` has put down."""
        groups = tuple(_Group(**group) for group in kept["groups"])
        return cls(**{**kept, "groups": groups, "log_capital": tuple(kept["log_capital"])})

    def after(self, groups: ArrayLike, wrong: ArrayLike) -> "GroupDetector":
        """The detector after new rows: 1 for an error, 0 for a right answer, nan for no label."""
        marks = np.asarray(wrong, dtype=float)
        times = np.where(np.isnan(marks), 1, 2)
        both = np.repeat(marks, times)
        both[np.cumsum(times) - times] = np.nan
        names = check_labels(groups, name="groups", n=len(marks))
        return self.followed(np.repeat(names, times), both)

    def followed(self, groups: ArrayLike, wrong: ArrayLike) -> "GroupDetector":
        """The detector after rows (nan) and their labels (1 or 0), in any pieces."""
        marks = np.asarray(wrong, dtype=float)
        names = check_labels(groups, name="groups", n=len(marks))
        kept = OrderedDict((group.name, group) for group in self.groups)
        begun = {name: self.seen + at for at, name in enumerate(kept)}
        seen, capital, highest = self.seen, np.array(self.log_capital), self.highest_before
        for name, mark in zip(map(str, names.tolist()), marks.tolist(), strict=True):
            new = math.isnan(mark)
            if not new and name not in kept:
                continue  # of a group that was forgotten: it had counted as right
            old = kept.get(name) or _Group(name)
            errors = old.errors + (0 if new else int(mark))
            group = _Group(name, errors, old.unlabelled + (1 if new else -1), old.rows + int(new))
            if group.rows > self.largest_group or group.unlabelled < 0:
                raise DataError(
                    f"A group has at most {self.largest_group:,} rows, and a row one label.",
                    got=f"{group.rows:,} rows and {group.errors:,} errors of {name}",
                )
            place = begun.setdefault(name, seen + len(kept))
            if new and self.open_groups and place < seen + len(kept) - self.open_groups:
                raise DataError(
                    f"Rows of a group come before {self.open_groups} later groups have begun.",
                    got=f"a new row of {name}",
                    do="Set open_groups to None if any group may come back.",
                )
            kept[name] = group
            if len(kept) > _KEPT:
                oldest, gone = kept.popitem(last=False)
                del begun[oldest]
                seen += 1
                size = self.largest_group if self.open_groups is None else gone.rows
                gain = (gone.errors / self.limit - size) / self.largest_group
                staked = np.logaddexp(capital, math.log(start_weight(seen)))
                capital = np.log1p(np.array(_STAKES) * gain) + staked
                highest = max(highest, float(_evidence(capital)))
        return replace(
            self,
            seen=seen,
            log_capital=tuple(capital.tolist()),
            highest_before=highest,
            groups=tuple(kept.values()),
        )

    def upper(self, confidence: float = 0.975) -> float:
        """Upper bound of the mean error rate over the newest groups, at this look."""
        recent = self.groups[-self.window :]
        if not recent:
            return 1.0
        wrong = [group.errors + group.unlabelled for group in recent]
        sizes = [group.rows for group in recent]
        if self.largest_group == 1:
            return float(clopper_pearson(sum(wrong), len(recent), confidence, "upper")[1])
        return group_upper(wrong, sizes, 1.0 - confidence, self.largest_group)

    def _capitals(self) -> FloatArray:
        """Log capital of each stake after each group that is kept."""
        errors = np.array([group.errors for group in self.groups], dtype=float)
        sizes = np.array([group.rows for group in self.groups], dtype=float)
        sizes[-(self.open_groups or 0) :] = self.largest_group
        before = self.seen, self.log_capital
        return log_capitals(errors, sizes, self.limit, self.largest_group, *before)


def log_capitals(
    errors: FloatArray,
    sizes: FloatArray,
    limit: float,
    largest_group: float,
    seen: int = 0,
    start: tuple[float, ...] = _NOTHING,
) -> FloatArray:
    """Log capital of each stake after each group; (…, G) errors and sizes give (6, …, G)."""
    gain = (errors / limit - sizes) / largest_group
    growth = np.cumsum(np.log1p(np.multiply.outer(np.array(_STAKES), gain)), axis=-1)
    begun = np.log([start_weight(seen + step) for step in range(1, gain.shape[-1] + 1)])
    before = np.concatenate([np.zeros((*growth.shape[:-1], 1)), growth[..., :-1]], axis=-1)
    first = np.reshape(start, (len(_STAKES),) + (1,) * gain.ndim)
    staked = np.logaddexp.accumulate(begun - before, axis=-1)
    return cast(FloatArray, growth + np.logaddexp(staked, first))


def group_evidence(
    errors: ArrayLike, sizes: ArrayLike, limit: float, largest_group: float
) -> FloatArray:
    """The mean capital after each group, in the order of first rows; 1 / alpha is an alarm."""
    counts = np.asarray(errors, dtype=float), np.asarray(sizes, dtype=float)
    return _evidence(log_capitals(*counts, limit, largest_group))


def _evidence(capital: FloatArray) -> FloatArray:
    return cast(FloatArray, np.exp(np.minimum(capital, 700.0)).mean(axis=0))
