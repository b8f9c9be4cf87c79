"""Watching a model in the field: how often it is wrong now, and alarms on errors and inputs."""

from bisect import bisect_left, bisect_right, insort
from collections import deque
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import cKDTree

from fireassay.classifiers import as_classifier
from fireassay.classifiers.protocol import Classifier
from fireassay.core.arrays import FloatArray
from fireassay.core.errors import DataError
from fireassay.core.seeds import generator
from fireassay.core.validation import (
    check_class_indices,
    check_features,
    check_integer,
    check_real,
)
from fireassay.reliability.inputs import Inputs
from fireassay.reliability.profile import KdeProfile
from fireassay.reliability.separation import r_separation
from fireassay.statistics.autocorrelation import autocorrelation_time
from fireassay.statistics.clopper_pearson import clopper_pearson
from fireassay.statistics.error_detector import WINDOW, ErrorDetector, recent_rate_upper

_JUMP = 0.01
_COMPONENTS = 3
_R_TOLERANCE = 0.5
_ERROR_BLOCK, _DRIFT_BLOCK = 1.3, 4.0  # in autocorrelation times
_LARGEST_LIMIT = 0.89


@dataclass(frozen=True)
class MonitorState:
    """What is known after the rows seen so far.

    Attributes
    ----------
    n_recent
        How many of the labels are in the window.
    pmi, pmi_upper
        Error rate of the recent labels, and an upper bound of the mean rate over these, at this
        look; nan and 1 without labels. It says nothing about the instant after a jump.
    alarm
        Whether labelled errors have risen above the limit; it stays.
    drift_p
        One over the largest evidence against "the rows still come from the reference profile".
    drifted
        Whether that fell to ``alpha``.
    r, r_moved
        Half the smallest distance between classes so far, and whether it has halved since the
        first labels: then cells chosen for the old one are too large.
    n_rows, n_labels, n_errors
        Rows seen so far, those with a label, and those that were wrong.
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

    Parameters
    ----------
    model
        A `Classifier` or anything `as_classifier` takes.
    reference
        Rows of the profile that the assessment was made for, at least 20, in the order of time; or
        a pair (X, y) with their labels.
    limit
        The error rate above which ``alarm`` is to be raised. None: the upper end of what the
        reference labels allow; without these either, errors raise no alarm.
    confidence
        Of the upper bound, one-sided.
    window
        How many of the newest labels the bound is about.
    alpha
        The largest probability of ever a false alarm; for errors and for drift each.
    seed
        Of the split of the reference and of ties.

    Notes
    -----
    The bound is Clopper-Pearson on the window, which also holds where rates differ within it
    (Hoeffding 1956). Errors are watched by `ErrorDetector`; with a limit from reference labels
    half of ``alpha`` is spent on the limit. Drift is found by a conformal martingale: each row's
    strangeness is ranked among all rows before it, which gives independent uniform numbers as
    long as nothing changes; a gambler bets against that.

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
        self._rng = generator(seed, "monitor")
        inputs = Inputs.ask(self.model, rows)
        wrong = None if y is None else self._errors(inputs, y)
        half = len(inputs) // 2
        scores = _Strangeness(inputs.take(slice(0, half)))(inputs.take(slice(half, None)))
        time = max(autocorrelation_time(column) for column in scores.T)
        in_time = 1.0 if wrong is None else autocorrelation_time(wrong)
        self.error_block = 1 if in_time == time == 1 else ceil(_ERROR_BLOCK * max(time, in_time))
        self.drift_block = 1 if time == 1 else ceil(_DRIFT_BLOCK * time)
        # Rows that do not depend on each other are split at random, which wastes no trend.
        order = self._rng.permutation(len(inputs)) if time == 1 else np.arange(len(inputs))
        self._strangeness = _Strangeness(inputs.take(order[:half]))
        compared = _block_means(self._strangeness(inputs.take(order[half:])), self.drift_block)[0]
        self._games = [_Jumper(sorted(column.tolist())) for column in compared.T]
        self._unjudged = np.zeros((0, compared.shape[1]))
        self._detector = _detector(limit, wrong, self.alpha, self.error_block)
        self._rows = [inputs.X]
        self._labelled: list[FloatArray] = []
        self._labels: list[NDArray[np.int64]] = []
        self._wrong: deque[float] = deque(maxlen=self.window)
        self._n_labels = self._n_errors = 0
        self._evidence = 1.0
        self._first_r = float("inf")
        self._seen = 0

    def update(self, X: ArrayLike, y: ArrayLike | None = None) -> MonitorState:
        """Take in new rows, with labels if there are any, and say where things stand."""
        rows = check_features(X)
        if rows.shape[1:] != self._shape:
            raise DataError(f"Rows must have shape {self._shape}.", got=f"{rows.shape[1:]}")
        inputs = Inputs.ask(self.model, rows)
        self._seen += len(rows)
        self._rows.append(inputs.X)
        waiting = np.vstack([self._unjudged, self._strangeness(inputs)])
        judged, self._unjudged = _block_means(waiting, self.drift_block)
        for scores in judged:
            for game, score in zip(self._games, scores.tolist(), strict=True):
                game.play(score, float(self._rng.random()))
            capital = float(np.mean([game.capital for game in self._games]))
            self._evidence = max(self._evidence, capital)
        if y is not None:
            labels = check_class_indices(y, self.model.classes, n=len(rows))
            wrong = self._errors(inputs, y)
            self._wrong.extend(wrong.tolist())
            self._n_labels += len(wrong)
            self._n_errors += int(wrong.sum())
            if self._detector is not None:
                self._detector = self._detector.after(wrong)
            self._labelled.append(inputs.X)
            self._labels.append(labels)
        return self.state()

    def state(self) -> MonitorState:
        """Where things stand."""
        recent = np.array(self._wrong)
        r, moved = self._separation()
        p = min(1.0, 1 / self._evidence)
        return MonitorState(
            self._seen,
            self._n_labels,
            self._n_errors,
            len(recent),
            float(recent.mean()) if len(recent) else float("nan"),
            recent_rate_upper(recent, self.confidence, self.window),
            self._detector is not None and self._detector.alarm,
            p,
            p <= self.alpha,
            r,
            moved,
        )

    def profile(self, bandwidth: float | str = "loo", bounds: Any = None) -> KdeProfile:
        """The profile of all rows so far, the reference included."""
        return KdeProfile(bandwidth, bounds).fit(np.concatenate(self._rows))

    def _errors(self, inputs: Inputs, y: ArrayLike) -> FloatArray:
        labels = check_class_indices(y, self.model.classes, n=len(inputs))
        return np.asarray(inputs.predicted != labels, dtype=np.float64)

    def _separation(self) -> tuple[float, bool]:
        if not self._labels or len(np.unique(np.concatenate(self._labels))) < 2:
            return float("inf"), False
        r = r_separation(np.concatenate(self._labelled), np.concatenate(self._labels)).r
        if self._first_r == float("inf"):
            self._first_r = r
        return r, r < _R_TOLERANCE * self._first_r


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


def _block_means(scores: FloatArray, block: int) -> tuple[FloatArray, FloatArray]:
    """Means over whole blocks of rows, and the rows that wait for theirs to fill."""
    whole = len(scores) // block
    kept = scores[: whole * block].reshape(whole, block, scores.shape[1])
    return kept.mean(axis=1), scores[whole * block :]


class _Strangeness:
    """A few numbers per row that move when the profile does."""

    def __init__(self, known: Inputs) -> None:
        self.centre = known.X.mean(axis=0)
        _, _, axes = np.linalg.svd(known.X - self.centre, full_matrices=False)
        self.axes = axes[:_COMPONENTS]
        self.scale = known.X.std(axis=0) + 1e-12
        self.tree = cKDTree(known.X / self.scale)

    def __call__(self, inputs: Inputs) -> FloatArray:
        distance, _ = self.tree.query(inputs.X / self.scale, k=1)
        directions = (inputs.X - self.centre) @ self.axes.T
        return np.column_stack([distance, inputs.doubt, directions])


class _Jumper:
    """A conformal test martingale that bets on ranks being low, high, or neither."""

    def __init__(self, scores: list[float]) -> None:
        self.scores = scores
        self.stakes = np.full(3, 1 / 3)

    @property
    def capital(self) -> float:
        return float(self.stakes.sum())

    def play(self, score: float, tie: float) -> None:
        above = len(self.scores) - bisect_right(self.scores, score)
        equal = len(self.scores) - above - bisect_left(self.scores, score) + 1
        insort(self.scores, score)
        rank = (above + tie * equal) / len(self.scores)
        self.stakes = (1 - _JUMP) * self.stakes + _JUMP * self.stakes.sum() / 3
        self.stakes = self.stakes * (1 + np.array([-1.0, 0.0, 1.0]) * (rank - 0.5))
