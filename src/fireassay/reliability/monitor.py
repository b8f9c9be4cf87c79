"""Watching a model in the field: how often it is wrong now, and alarms on errors and inputs."""

from collections import deque
from dataclasses import asdict, dataclass
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.classifiers import Classifier, as_classifier
from fireassay.core import DataError, generator
from fireassay.core.arrays import AnyArray, FloatArray, IntArray
from fireassay.core.groups import largest_group
from fireassay.core.validation import (
    check_class_indices,
    check_features,
    check_integer,
    check_labels,
    check_real,
)
from fireassay.reliability.drift import InputDrift, Strangeness
from fireassay.reliability.inputs import Inputs
from fireassay.reliability.separation import r_separation
from fireassay.statistics import autocorrelation_time, clopper_pearson, group_mean
from fireassay.statistics.error_detector import WINDOW, ErrorDetector, recent_rate_upper
from fireassay.statistics.groups.group_monitor import GroupDetector

_R_TOLERANCE = 0.5
_ROWS_FOR_R = 500
_ERROR_BLOCK, _DRIFT_BLOCK = 1.3, 4.0  # in autocorrelation times
_LARGEST_LIMIT = 0.89


@dataclass(frozen=True)
class MonitorState:
    """What is known after the rows seen so far.

    Attributes:
        n_recent: How many of the labels are in the window.
        pmi, pmi_upper: Error rate of the recent labels, and an upper bound of the mean rate over
            these, at this look; nan and 1 without labels. It says nothing about the instant after a
            jump.
        alarm: Whether labelled errors have risen above the limit; it stays.
        drift_p: One over the largest evidence against "the rows still come from the reference
            profile".
        drifted: Whether that fell to ``alpha``.
        r, r_moved: Half the smallest distance between classes so far (each row is compared with at
            most the 500 before it), and whether it has halved since the first labels: then cells
            chosen for the old one are too large.
        n_rows, n_labels, n_errors: Rows seen so far, those with a label, and those that were wrong.
    """

    n_rows: int
    n_labels: int
    n_errors: int
    n_recent: int
    pmi: float
    pmi_upper: float
    alarm: bool
    drift_p: float
    drifted: bool
    r: float
    r_moved: bool


class Monitor:
    """Follow a model in operation.

    Args:
        model: A `Classifier` or anything `as_classifier` takes.
        reference: Rows of the profile that the assessment was made for, at least 20, in the order
            of time; or a pair (X, y) with their labels.
        limit: The error rate above which ``alarm`` is to be raised. None: the upper end of what the
            reference labels allow; without these either, errors raise no alarm.
        confidence: Of the upper bound, one-sided.
        window: How many of the newest labels (or groups) the bound is about.
        alpha: The largest probability of ever a false alarm; for errors and for drift each.
        groups: For each reference row the patient, device or batch it belongs to: then groups are
            counted, and new rows have theirs as well. `Groups` may declare how large one can be.
        delayed: Labels may come late, and sooner for errors: then every row counts, too, as long as
            it has no label as a right one for the alarm, and as a wrong one for the bound.
        seed: Of the split of the reference and of ties.

    The bound is Clopper-Pearson on the window, which also holds where rates differ within it
    (Hoeffding 1956). Errors are watched by `ErrorDetector`; with a limit from reference labels
    half of ``alpha`` is spent on the limit. Drift is found by `InputDrift`: each row's strangeness
    is ranked among all before it, and bets are made against these ranks being uniform. What is kept
    does not grow with the rows. With ``groups`` or ``delayed`` errors are watched by
    `GroupDetector`, one bet for each group in the order of their first rows. Otherwise rows must be
    independent, and the order of labels must not depend on what they say.

    Where the reference is autocorrelated (a video), errors and strangeness are judged in blocks,
    ``error_block`` and ``drift_block`` long, and both alarms are approximate.

    >>> model = lambda X: np.column_stack([1 - X[:, 0], X[:, 0]])
    >>> from fireassay import as_classifier
    >>> rows = np.random.default_rng(0).random((300, 1))
    >>> monitor = Monitor(as_classifier(model, classes=[0, 1]), rows, limit=0.05)
    >>> state = monitor.update(rows[:100], rows[:100, 0] < 0.5)
    >>> state.alarm, state.pmi
    (True, 1.0)
    """

    def __init__(
        self,
        model: Any,
        reference: Any,
        *,
        limit: float | None = None,
        confidence: float = 0.975,
        window: int = WINDOW,
        alpha: float = 0.01,
        groups: ArrayLike | None = None,
        delayed: bool = False,
        seed: int = 0,
    ) -> None:
        self.confidence = check_real(confidence, "confidence", low=0, high=1)
        self.alpha = check_real(alpha, "alpha", low=0, high=1)
        self.window = check_integer(window, "window", low=1)
        self.model = model if isinstance(model, Classifier) else as_classifier(model)
        labelled = isinstance(reference, tuple) and len(reference) == 2
        X, y = reference if labelled else (reference, None)
        rows = check_features(X, name="reference", min_rows=20)
        self._shape = rows.shape[1:]
        inputs = Inputs.ask(self.model, rows)
        wrong = None if y is None else self._errors(inputs, y)
        half = len(inputs) // 2
        scores = Strangeness(inputs.take(slice(0, half)))(inputs.take(slice(half, None)))
        time = max(autocorrelation_time(column) for column in scores.T)
        in_time = 1.0 if wrong is None else autocorrelation_time(wrong)
        self.error_block = 1 if in_time == time == 1 else ceil(_ERROR_BLOCK * max(time, in_time))
        self.drift_block = 1 if time == 1 else ceil(_DRIFT_BLOCK * time)
        # Rows that do not depend on each other are split at random, which wastes no trend.
        rng = generator(seed, "monitor")
        order = rng.permutation(len(inputs)) if time == 1 else np.arange(len(inputs))
        known, compared = inputs.take(order[:half]), inputs.take(order[half:])
        self._drift = InputDrift(known, compared, self.drift_block, seed)
        self._detector = _detector(limit, wrong, self.alpha, self.error_block)
        self._groups: GroupDetector | None = None
        if groups is not None:
            together = check_labels(groups, name="groups", n=len(rows))
            self._groups = self._of_groups(limit, wrong, together)
        elif delayed and self.error_block == 1:
            detector = self._detector or ErrorDetector(_LARGEST_LIMIT, self.alpha)
            self._groups = self._bets(detector.limit, 1, detector.alpha)
        self._labelled: deque[tuple[FloatArray, int]] = deque(maxlen=_ROWS_FOR_R)
        self._wrong: deque[float] = deque(maxlen=self.window)
        self._n_labels = self._n_errors = 0
        self._first_r = self._r = float("inf")
        self._seen = 0

    def _bets(self, limit: float, largest: float, alpha: float) -> GroupDetector:
        return GroupDetector(limit, int(largest), alpha, window=self.window, open_groups=None)

    def _of_groups(
        self, limit: float | None, wrong: FloatArray | None, groups: AnyArray
    ) -> GroupDetector:
        """Against the limit, or what groups of the reference allow at half of alpha."""
        sizes = np.unique(groups, return_counts=True)[1]
        largest = largest_group(groups) or float(sizes.max())
        if limit is not None or wrong is None:
            return self._bets(_LARGEST_LIMIT if limit is None else limit, largest, self.alpha)
        found = group_mean(wrong, groups, 1 - self.alpha / 2, "upper", largest_group=largest)
        return self._bets(min(found.high, _LARGEST_LIMIT), largest, self.alpha / 2)

    @property
    def limit(self) -> float | None:
        """The error rate above which the alarm is raised; None: errors raise no alarm."""
        if self._detector is None:
            return None
        return self._detector.limit if self._groups is None else self._groups.limit

    @property
    def n_rows(self) -> int:
        """Rows seen so far."""
        return self._seen

    @property
    def n_labels(self) -> int:
        """Labels so far."""
        return self._n_labels

    def update(
        self, X: ArrayLike, y: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> MonitorState:
        """Take in new rows, with labels if there are any, and say where things stand."""
        rows = self._checked(X)
        groups = self._named(groups, len(rows))
        labels = None
        if y is not None:
            labels = check_class_indices(y, self.model.classes, n=len(rows))
        predicted = self.see(rows, groups)
        if labels is not None:
            self.judge(predicted != labels, groups)
            self._note_separation(rows.reshape(len(rows), -1).astype(np.float64), labels)
        return self.state()

    def see(
        self, X: ArrayLike, groups: ArrayLike | None = None, *, expected: bool = True
    ) -> IntArray:
        """Take in new rows without labels; returns the classes that the model gives, by index.

        ``expected`` is False where `follow` names the rows.
        """
        rows = self._checked(X)
        if expected:
            named = self._named(groups, len(rows))
            self.follow(np.full(len(rows), np.nan), named)
        inputs = Inputs.ask(self.model, rows)
        self._seen += len(rows)
        self._drift.see(inputs)
        return inputs.predicted

    def _named(self, groups: ArrayLike | None, n: int) -> AnyArray:
        """The groups of rows; without any, each row by its number."""
        if groups is not None:
            return check_labels(groups, name="groups", n=n)
        if self._groups is not None and self._groups.largest_group > 1:
            raise DataError("New rows must have groups, as the reference has.", got="none")
        return self._seen + np.arange(n)

    def judge(self, wrong: ArrayLike, groups: ArrayLike | None = None) -> None:
        """Take in what labels say about rows seen before: True for a wrong answer, in order.

        With groups, those of the rows; with delays, their numbers or names.
        """
        errors = np.asarray(wrong, dtype=np.float64)
        if self._groups is not None and groups is None:
            raise DataError("Labels must say whose rows they are about.", got="no groups")
        self.follow(errors, np.zeros(len(errors)) if groups is None else groups)

    def follow(self, wrong: ArrayLike, groups: ArrayLike) -> None:
        """Take in rows and labels in their order: nan for a row that may get a label later.

        1 is a wrong answer and 0 a right one, to a row of that group that came before.
        """
        marks = np.asarray(wrong, dtype=np.float64)
        errors = marks[~np.isnan(marks)]
        if self._groups is not None:
            self._groups = self._groups.followed(groups, marks)
        elif self._detector is not None:
            self._detector = self._detector.after(errors)
        self._wrong.extend(errors.tolist())
        self._n_labels += len(errors)
        self._n_errors += int(errors.sum())

    def snapshot(self) -> dict[str, Any]:
        """All that was learnt since the reference, in plain types, of bounded size.

        >>> rows = np.random.default_rng(0).random((60, 1))
        >>> def fresh():
        ...     return Monitor(lambda X: np.hstack([1 - X, X]), rows, limit=0.1)
        >>> one, other = fresh(), fresh()
        >>> _ = one.update(rows[:30], rows[:30, 0] > 0.4)
        >>> other.restore(one.snapshot())
        >>> other.update(rows[30:], rows[30:, 0] > 0.4) == one.update(rows[30:], rows[30:, 0] > 0.4)
        True
        """
        return {
            "seen": self._seen,
            "labels": self._n_labels,
            "errors": self._n_errors,
            "recent": list(self._wrong),
            "detector": None if self._detector is None else asdict(self._detector),
            "groups": None if self._groups is None else asdict(self._groups),
            "drift": self._drift.snapshot(),
            "first_r": self._first_r,
            "r": self._r,
            "labelled": [[row.tolist(), label] for row, label in self._labelled],
        }

    def restore(self, kept: dict[str, Any]) -> None:
        """Go on from a snapshot of a monitor with the same model, reference and settings."""
        self._seen, self._n_labels, self._n_errors = kept["seen"], kept["labels"], kept["errors"]
        self._wrong = deque(kept["recent"], maxlen=self.window)
        if kept["detector"] is not None:
            lists = {name: tuple(kept["detector"][name]) for name in ("waiting", "log_capital")}
            self._detector = ErrorDetector(**{**kept["detector"], **lists})
        if kept["groups"] is not None:
            self._groups = GroupDetector.of(kept["groups"])
        self._drift.restore(kept["drift"])
        self._first_r, self._r = kept["first_r"], kept["r"]
        labelled = ((np.array(row), label) for row, label in kept["labelled"])
        self._labelled = deque(labelled, maxlen=_ROWS_FOR_R)

    def state(self) -> MonitorState:
        """Where things stand."""
        recent = np.array(self._wrong)
        p = min(1.0, 1 / self._drift.evidence)
        watching = self._groups or self._detector
        upper = recent_rate_upper(recent, self.confidence, self.window)
        if self._groups is not None:
            upper = self._groups.upper(self.confidence)
        return MonitorState(
            self._seen,
            self._n_labels,
            self._n_errors,
            len(recent),
            float(recent.mean()) if len(recent) else float("nan"),
            upper,
            self.limit is not None and bool(watching is not None and watching.alarm),
            p,
            p <= self.alpha,
            self._r,
            self._r < _R_TOLERANCE * self._first_r,
        )

    def _checked(self, X: ArrayLike) -> Any:
        rows = check_features(X)
        if rows.shape[1:] != self._shape:
            raise DataError(f"Rows must have shape {self._shape}.", got=f"{rows.shape[1:]}")
        return rows

    def _errors(self, inputs: Inputs, y: ArrayLike) -> FloatArray:
        labels = check_class_indices(y, self.model.classes, n=len(inputs))
        return np.asarray(inputs.predicted != labels, dtype=np.float64)

    def _note_separation(self, rows: FloatArray, labels: IntArray) -> None:
        """The smallest half-distance between classes, new rows against the latest ones."""
        size = _ROWS_FOR_R // 2
        for start in range(0, len(rows), size):
            new = zip(
                rows[start : start + size], labels[start : start + size].tolist(), strict=True
            )
            self._labelled.extend(new)
            kept, given = (np.array(part) for part in zip(*self._labelled, strict=True))
            if len(np.unique(given)) > 1:
                self._r = min(self._r, r_separation(kept, given).r)
        if self._first_r == float("inf"):
            self._first_r = self._r


def _detector(
    limit: float | None, wrong: FloatArray | None, alpha: float, block: int
) -> ErrorDetector | None:
    """Against the limit, or against what the reference labels allow at half of alpha."""
    if limit is not None:
        return ErrorDetector(limit, alpha, block)
    if wrong is None:
        return None
    n = max(1.0, len(wrong) / block) if block > 1 else float(len(wrong))
    upper = float(clopper_pearson(wrong.mean() * n, n, 1 - alpha / 2, "upper")[1])
    return ErrorDetector(min(upper, _LARGEST_LIMIT), alpha / 2, block)
