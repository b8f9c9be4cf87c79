"""Two axes, ambiguity and distance, name the cause of an alarm, as sets with a promise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.core.arrays import BoolArray, FloatArray, IntArray
from fireassay.core.chart import Chart
from fireassay.core.drawing import axis, points
from fireassay.core.errors import NotEnoughEvidenceError, ParameterError
from fireassay.core.lazy import pd, special
from fireassay.core.result import Result
from fireassay.core.seeds import generator
from fireassay.core.validation import check_features, check_real
from fireassay.statistics import share
from fireassay.supervision.registry import make
from fireassay.supervision.supervisor import alarm_rule

NOMINAL = "nominal"
FINE, AMBIGUOUS, OFF, BOTH = "fine", "ambiguous", "off distribution", "both"
ACTIONS = {
    FINE: "answer",
    AMBIGUOUS: "answer with probabilities",
    OFF: "ask a person",
    BOTH: "ask a person",
}
INVALID, REFUSE = "invalid", "refuse"
_FEWEST = 20


@dataclass(frozen=True)
class Diagnosis(Result):
    """What is wrong with each row.

    Attributes:
        verdict: "fine", "ambiguous", "off distribution" or "both".
        action: What to do with the answer: give it, give it with its probabilities, ask a person,
            or (off distribution, and "invalid" is the only possible cause) refuse.
        ambiguity, distance: The two scores.
        causes: Which causes the row may have, (n, number of causes): a calibrated kind is among
            those of its own rows with the promised probability. A row without any is like none.
        cause_names: Names of the columns of ``causes``.
    """

    verdict: NDArray[np.str_]
    action: NDArray[np.str_]
    ambiguity: FloatArray
    distance: FloatArray
    causes: BoolArray
    cause_names: tuple[str, ...]

    def summary(self) -> str:
        """How many rows have each verdict."""
        names, counts = np.unique(self.verdict, return_counts=True)
        found = ", ".join(f"{count} {name}" for name, count in zip(names, counts, strict=True))
        return f"{len(self.verdict)} rows: {found}"

    def frame(self) -> pd.DataFrame:
        """One row per input."""
        names = np.array(self.cause_names, dtype=object)
        columns = ("verdict", "action", "ambiguity", "distance")
        table = pd.DataFrame({name: getattr(self, name) for name in columns})
        table["causes"] = [" | ".join(names[row]) or "none" for row in self.causes]
        return table

    def charts(self) -> dict[str, Chart]:
        """The two axes, by verdict."""
        across, up = (
            {"axis": axis(title), "scale": {"zero": False}}
            for title in ("ambiguity", "distance from training")
        )
        cloud = points(self.ambiguity, self.distance, across, up, kinds=self.verdict.tolist())
        caption = "Each input by how ambiguous it is and how far from training, with its verdict."
        return {"two_axes": Chart(cloud, caption, "A cloud of points in four kinds.")}


class RootCause:
    """A two-axis supervisor: first distance from training, then, within it, ambiguity.

    Args:
        ambiguity: Supervisor of the aleatoric axis.
        distance: Supervisor of the epistemic axis.
        false_alarm, confidence: Of each axis: with this confidence (one-sided) at most this share
            of nominal rows is flagged. ``confidence`` is also that of intervals.
        coverage: Of the sets of causes, for every calibrated kind.
        layer, seed: As in `Supervisor`.

    >>> rng = np.random.default_rng(0)
    >>> def model(X):
    ...     return np.column_stack([1 - X[:, 0], X[:, 0]]).clip(0.01, 0.99)
    >>> X = np.concatenate([rng.uniform(0, 0.2, (300, 1)), rng.uniform(0.8, 1, (300, 1))])
    >>> axes = RootCause(layer="inputs").fit(model, X, X[:, 0] > 0.5)
    >>> axes = axes.calibrate(X, {"unclear": rng.uniform(0.4, 0.6, (60, 1))})
    >>> axes.diagnose([[0.1], [9.0]]).verdict.tolist()
    ['fine', 'off distribution']
    """

    def __init__(
        self,
        ambiguity: str = "softmax-entropy",
        distance: str = "mdsa",
        *,
        false_alarm: float = 0.05,
        confidence: float = 0.95,
        coverage: float = 0.9,
        layer: str | None = None,
        seed: int = 0,
    ) -> None:
        self.ambiguity = make(ambiguity, layer=layer, seed=seed)
        self.distance = make(distance, layer=layer, seed=seed)
        self.false_alarm = check_real(false_alarm, "false_alarm", low=0, high=1)
        self.confidence = check_real(confidence, "confidence", low=0, high=1)
        self.coverage = check_real(coverage, "coverage", low=0, high=1)
        self.seed = seed

    def fit(self, model: Any, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Fit both axes to the training rows."""
        self.ambiguity.fit(model, X, y)
        self.distance.fit(model, X, y)
        return self

    def calibrate(self, nominal: ArrayLike, kinds: Mapping[str, ArrayLike]) -> Self:
        """Set thresholds on nominal rows and learn the kinds of trouble.

        Half of each kind's rows (drawn at random) train a small classifier on the two axes, the
        other half calibrate the sets.
        """
        scores = {name: self.axes(X) for name, X in kinds.items()}
        return self.calibrate_scores(self.axes(nominal), scores)

    def axes(self, X: ArrayLike) -> FloatArray:
        """Both scores of rows, (n, 2): ambiguity and distance."""
        rows = check_features(X)
        return np.stack([self.ambiguity.score(rows), self.distance.score(rows)], axis=1)

    def calibrate_scores(self, nominal: FloatArray, kinds: Mapping[str, FloatArray]) -> Self:
        """As `calibrate`, from scores of both axes."""
        if NOMINAL in kinds:
            raise ParameterError("The kind 'nominal' is taken.", got=", ".join(kinds))
        every = {NOMINAL: nominal, **kinds}
        for name, scores in every.items():
            if len(scores) < _FEWEST:
                raise NotEnoughEvidenceError(
                    f"Each kind needs at least {_FEWEST} rows.", got=f"{len(scores)} of {name!r}"
                )
        rules = [alarm_rule(column, self.false_alarm, self.confidence) for column in nominal.T]
        self.thresholds_ = np.array([rule.threshold for rule in rules])
        self.sorted_nominal_ = np.sort(nominal, axis=0)
        training, held_out = {}, {}
        for name, scores in every.items():
            order = generator(self.seed, "root-cause", name).permutation(len(scores))
            half = len(order) // 2
            training[name], held_out[name] = scores[order[:half]], scores[order[half:]]
        self.cause_names_ = tuple(every)
        self._fit_causes(training)
        self.calibration_ = {
            name: np.sort(self._strangeness(scores)[:, i])
            for i, (name, scores) in enumerate(held_out.items())
        }
        return self

    def diagnose(self, X: ArrayLike) -> Diagnosis:
        """Verdict, action and set of causes of each row."""
        return self.diagnose_scores(self.axes(X))

    def diagnose_scores(self, scores: FloatArray) -> Diagnosis:
        """As `diagnose`, from scores of both axes."""
        if not hasattr(self, "thresholds_"):
            raise ParameterError("RootCause must be calibrated first.", got="no calibration")
        ambiguous, off = (scores > self.thresholds_).T
        verdict = np.select([off & ambiguous, off, ambiguous], [BOTH, OFF, AMBIGUOUS], FINE)
        strangeness = self._strangeness(scores)
        known = zip(self.cause_names_, strangeness.T, strict=True)
        p_values = [_p_values(self.calibration_[name], own) for name, own in known]
        causes = np.stack(p_values, axis=1) > 1.0 - self.coverage
        actions = np.array([ACTIONS[v] for v in verdict.tolist()])
        if INVALID in self.cause_names_:
            only = causes[:, self.cause_names_.index(INVALID)] & (causes.sum(axis=1) == 1)
            actions[off & only] = REFUSE
        return Diagnosis(verdict, actions, scores[:, 0], scores[:, 1], causes, self.cause_names_)

    def _normal_scores(self, scores: FloatArray) -> FloatArray:
        """Each axis as a normal quantile of its rank among nominal rows, extended beyond them."""
        n = len(self.sorted_nominal_)
        columns = []
        for side in range(2):
            reference = self.sorted_nominal_[:, side]
            rank = np.searchsorted(reference, scores[:, side], side="right")
            normal = special.ndtri((rank + 0.5) / (n + 1))
            spread = max(float(np.quantile(reference, 0.95) - np.median(reference)), 1e-12)
            beyond = np.maximum(scores[:, side] - reference[-1], 0.0) / spread
            columns.append(normal + np.log1p(beyond))
        return np.stack(columns, axis=1)

    def _fit_causes(self, training: Mapping[str, FloatArray]) -> None:
        from sklearn.linear_model import LogisticRegression

        rows = self._quadratic(np.concatenate(list(training.values())))
        labels = np.repeat(np.arange(len(training)), [len(v) for v in training.values()])
        regression = LogisticRegression(C=1.0, class_weight="balanced", max_iter=5000, tol=1e-4)
        self._classifier = regression.fit(rows, labels)

    def _quadratic(self, scores: FloatArray) -> FloatArray:
        a, d = self._normal_scores(scores).T
        return np.stack([a, d, a * a / 4, d * d / 4, a * d / 4], axis=1)

    def _strangeness(self, scores: FloatArray) -> FloatArray:
        """One minus the probability of each kind given the two axes."""
        probabilities: FloatArray = self._classifier.predict_proba(self._quadratic(scores))
        return 1.0 - probabilities


@dataclass(frozen=True)
class LeftOut(Result):
    """What becomes of a kind of trouble that was not there at calibration.

    Attributes:
        table: Per kind: coverage of its own cause when calibrated (with interval), and, when left
            out, the shares flagged, set empty, taken for nominal alone.
    """

    table: pd.DataFrame

    def summary(self) -> str:
        """What the table shows."""
        return "Each kind of trouble when it was calibrated, and when it was left out"

    def frame(self) -> pd.DataFrame:
        """One row per kind."""
        return self.table.copy()


def leave_one_kind_out(
    supervisor: RootCause,
    nominal: ArrayLike,
    kinds: Mapping[str, ArrayLike],
    test_share: float = 0.5,
) -> LeftOut:
    """Evaluate a fitted `RootCause` with each kind calibrated, and with each kind unknown.

    Returns:
        LeftOut: ``flagged`` is the share with any verdict but "fine" when the kind was left out;
            ``nominal_only`` the share whose set of causes is {nominal}: these would go unseen.

    Args:
        supervisor: Fitted; it is calibrated here.
        nominal, kinds: Nominal rows, and at least two kinds of trouble by name.
        test_share: Share of the rows that are judged, in (0, 1); the others calibrate.

    >>> rng = np.random.default_rng(0)
    >>> def model(X):
    ...     return np.column_stack([1 - X[:, 0], X[:, 0]]).clip(0.01, 0.99)
    >>> X = np.concatenate([rng.uniform(0, 0.2, (300, 1)), rng.uniform(0.8, 1, (300, 1))])
    >>> kinds = {"unclear": rng.uniform(0.4, 0.6, (60, 1)), "far": rng.uniform(5, 6, (60, 1))}
    >>> axes = RootCause(layer="inputs").fit(model, X, X[:, 0] > 0.5)
    >>> leave_one_kind_out(axes, X, kinds).table.set_index("kind")["flagged"].to_dict()
    {'nominal': nan, 'unclear': 1.0, 'far': 1.0}
    """
    check_real(test_share, "test_share", low=0, high=1)
    if len(kinds) < 2:
        raise ParameterError("Leaving one kind out needs at least two kinds.", got=f"{len(kinds)}")
    every = {NOMINAL: supervisor.axes(nominal)}
    every |= {name: supervisor.axes(X) for name, X in kinds.items()}
    known, judged = {}, {}
    for name, scores in every.items():
        order: IntArray = generator(supervisor.seed, "leave-out", name).permutation(len(scores))
        cut = round(test_share * len(order))
        judged[name], known[name] = scores[order[:cut]], scores[order[cut:]]
    others = {name: scores for name, scores in known.items() if name != NOMINAL}
    supervisor.calibrate_scores(known[NOMINAL], others)
    rows = []
    for position, name in enumerate(every):
        seen = supervisor.diagnose_scores(judged[name])
        covered = seen.causes[:, position]
        coverage = share(int(covered.sum()), len(covered), supervisor.confidence)
        rows.append(
            {
                "kind": name, "n": coverage.n, "coverage": coverage.value,
                "low": coverage.low, "high": coverage.high,
                "set_size": float(seen.causes.sum(axis=1).mean()),
                "flagged_known": float((seen.verdict != FINE).mean()),
            }
        )  # fmt: skip
    for row, name in zip(rows[1:], kinds, strict=True):
        rest = {other: scores for other, scores in others.items() if other != name}
        supervisor.calibrate_scores(known[NOMINAL], rest)
        unseen = supervisor.diagnose_scores(judged[name])
        alone = unseen.causes[:, 0] & (unseen.causes.sum(axis=1) == 1)
        row["flagged"] = float((unseen.verdict != FINE).mean())
        row["nominal_only"] = float(alone.mean())
        row["empty"] = float((~unseen.causes.any(axis=1)).mean())
    supervisor.calibrate_scores(known[NOMINAL], others)
    return LeftOut(pd.DataFrame(rows))


def _p_values(calibration: FloatArray, strangeness: FloatArray) -> FloatArray:
    """Share of calibration rows at least as strange, counting the row itself."""
    at_least = len(calibration) - np.searchsorted(calibration, strangeness, side="left")
    return np.asarray((at_least + 1) / (len(calibration) + 1))
