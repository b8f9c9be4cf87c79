"""Watching a model in the field: the bound as labels come, and an alarm when the profile drifts."""

from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import cKDTree

from fireassay.classifiers import as_classifier
from fireassay.classifiers.protocol import Classifier
from fireassay.core.arrays import FloatArray
from fireassay.core.errors import DataError
from fireassay.core.seeds import generator
from fireassay.core.validation import check_class_indices, check_features, check_real
from fireassay.reliability.inputs import Inputs
from fireassay.reliability.profile import KdeProfile
from fireassay.reliability.separation import r_separation
from fireassay.statistics.betting import betting_sequence

_JUMP = 0.01
_COMPONENTS = 3
_R_TOLERANCE = 0.5


@dataclass(frozen=True)
class MonitorState:
    """What is known after the rows seen so far.

    Attributes
    ----------
    pmi, pmi_upper
        Error rate and an upper bound that holds at all times at once; nan and 1 without labels.
    drift_p
        One over the largest evidence against "the rows still come from the reference profile".
    drifted
        Whether that fell below the alarm level: a false alarm ever has at most that probability.
    r, r_moved
        Half the smallest distance between classes so far, and whether it has halved since the
        first labels: then cells chosen for the old one are too large.
    n_rows, n_labels, n_errors
        Rows seen so far, those with a label, and those that were wrong.
    """

    n_rows: int
    n_labels: int
    n_errors: int
    pmi: float
    pmi_upper: float
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
        Rows of the profile that the assessment was made for, at least 20.
    confidence
        Of the running upper bound, one-sided.
    alarm
        The largest probability of ever raising a false drift alarm.
    seed
        Of the split of the reference and of ties.

    Notes
    -----
    The bound is a confidence sequence, so one may look after every row. Drift is found by a
    conformal martingale: each row's strangeness is ranked among all rows before it, which gives
    independent uniform numbers as long as nothing changes; a gambler bets against that.

    >>> half = lambda X: np.column_stack([1 - X[:, 0], X[:, 0]])
    >>> rng = np.random.default_rng(0)
    >>> monitor = Monitor(half, rng.uniform(0, 0.4, (200, 1)))
    >>> X = rng.uniform(0, 0.4, (100, 1))
    >>> same = monitor.update(X, [0] * 100)
    >>> same.n_errors, same.drifted, monitor.update(rng.uniform(0.5, 0.9, (100, 1))).drifted
    (0, False, True)
    """

    def __init__(
        self,
        model: Any,
        reference: ArrayLike,
        *,
        confidence: float = 0.975,
        alarm: float = 0.01,
        seed: int = 0,
    ) -> None:
        self.confidence = check_real(confidence, "confidence", low=0, high=1)
        self.alarm = check_real(alarm, "alarm", low=0, high=1)
        self.model = model if isinstance(model, Classifier) else as_classifier(model)
        rows = check_features(reference, name="reference", min_rows=20)
        self._shape = rows.shape[1:]
        self._rng = generator(seed, "monitor")
        inputs = Inputs.ask(self.model, rows)
        order = self._rng.permutation(len(inputs))
        known, compared = inputs.take(order[::2]), inputs.take(order[1::2])
        self._strangeness = _Strangeness(known)
        scores = self._strangeness(compared)
        self._games = [_Jumper(sorted(column.tolist())) for column in scores.T]
        self._rows = [inputs.X]
        self._labelled: list[FloatArray] = []
        self._labels: list[NDArray[np.int64]] = []
        self._wrong: list[float] = []
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
        for scores in self._strangeness(inputs):
            for game, score in zip(self._games, scores.tolist(), strict=True):
                game.play(score, float(self._rng.random()))
            capital = float(np.mean([game.capital for game in self._games]))
            self._evidence = max(self._evidence, capital)
        if y is not None:
            labels = check_class_indices(y, self.model.classes, n=len(rows))
            self._wrong += (inputs.predicted != labels).astype(float).tolist()
            self._labelled.append(inputs.X)
            self._labels.append(labels)
        return self.state()

    def state(self) -> MonitorState:
        """Where things stand."""
        n, errors = len(self._wrong), int(sum(self._wrong))
        upper = 1.0
        if n:
            upper = float(betting_sequence(self._wrong, self.confidence, (0, 1), "upper")[1][-1])
        r, moved = self._separation()
        p = min(1.0, 1 / self._evidence)
        return MonitorState(
            self._seen,
            n,
            errors,
            errors / n if n else float("nan"),
            upper,
            p,
            p <= self.alarm,
            r,
            moved,
        )

    def profile(self, bandwidth: float | str = "loo", bounds: Any = None) -> KdeProfile:
        """The profile of all rows so far, the reference included."""
        return KdeProfile(bandwidth, bounds).fit(np.concatenate(self._rows))

    def _separation(self) -> tuple[float, bool]:
        if not self._labels or len(np.unique(np.concatenate(self._labels))) < 2:
            return float("inf"), False
        r = r_separation(np.concatenate(self._labelled), np.concatenate(self._labels)).r
        if self._first_r == float("inf"):
            self._first_r = r
        return r, r < _R_TOLERANCE * self._first_r


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
