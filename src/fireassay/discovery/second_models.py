"""Searches by a second model: it learns from calibration rows and from every label."""

import warnings
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from fireassay.core.arrays import AnyArray, BoolArray, FloatArray, IntArray
from fireassay.discovery.learning_searches import logistic_chances
from fireassay.discovery.strategy import Candidates, Choice, Needs, Strategy, first_largest

_FEWEST = 10
_TREES = 50
_PRIOR_ROWS = 5.0
_BLEND = 50.0
_PRIOR_ERRORS = 10.0
_NEIGHBOURS = 10


class SecondModel(Strategy):
    """The row that a second model, fitted on all known labels, thinks most likely wrong.

    Below ten labels the least confident comes first. Fits come every 10 labels, from 50 every 20.
    """

    needs: ClassVar[Needs] = "known rows"
    audit_share: ClassVar[float] = 0.2

    def __init__(self, candidates: Candidates) -> None:
        assert candidates.known is not None and candidates.predicted is not None  # noqa: PT018
        self._candidates, self._known = candidates, candidates.known
        self._predicted = candidates.predicted
        self._rows: list[int] = []
        self._labels: list[int] = []
        self._scored: tuple[int, FloatArray] | None = None

    def choose(self, free: IntArray, rng: np.random.Generator) -> Choice:  # noqa: ARG002
        """The free row with the largest score."""
        now = len(self._rows)
        used = now - now % (10 if now <= 50 else 20)
        if self._scored is None or self._scored[0] != used:
            self._scored = used, self._scores(used)
        return first_largest(self._scored[1], free)

    def learn_label(self, row: int, wrong: bool, label: int) -> None:
        """Keep the label."""
        del wrong
        self._rows.append(row)
        self._labels.append(label)

    def _scores(self, used: int) -> FloatArray:
        known, n = self._known, len(self._candidates)
        doubt = logit(1 - self._candidates.confidence)
        at = np.concatenate([n + np.arange(len(known.labels)), self._rows[:used]]).astype(np.int64)
        truth = np.concatenate([known.labels, self._labels[:used]]).astype(np.int64)
        answer = np.concatenate([known.predicted, self._predicted[self._rows[:used]]])
        if len(at) < _FEWEST:
            return doubt
        return self.suspicion(at, truth, answer.astype(np.int64), doubt)

    @abstractmethod
    def suspicion(
        self, at: IntArray, truth: IntArray, answer: IntArray, doubt: FloatArray
    ) -> FloatArray:
        """A score per candidate, from known rows with their true class and the model's answer."""


class TwinTrees(SecondModel):
    """A forest that learns two things, the true class and *wrong*, blended with the confidence.

    It believes the model's answer with q = (m·share + 5·confidence) / (m + 5), m known rows of that
    class. The score is τ·(logit(1 − q) + b·logit(e)) / (1 + b) + (1 − τ)·logit(1 − confidence) with
    its chance e of an error, τ = k / (k + 50) and b = s / (s + 10) for k known rows, s errors.
    """

    name = "twin-trees"
    summary = "what a forest doubts that learns classes and errors: the default"

    def suspicion(
        self, at: IntArray, truth: IntArray, answer: IntArray, doubt: FloatArray
    ) -> FloatArray:
        """The blend of what the forest learnt and the confidence."""
        from sklearn.ensemble import ExtraTreesClassifier

        n, predicted, wrong = len(doubt), self._predicted, truth != answer
        forest = ExtraTreesClassifier(
            _TREES, min_samples_leaf=2, max_features="sqrt", random_state=self._candidates.seed
        )
        fit(forest, self._known.both[at], np.column_stack([truth, wrong]))
        of_class, of_error = forest.predict_proba(self._known.both[:n])
        share = chance_of(of_class, forest.classes_[0], predicted)
        error = chance_of(of_error, forest.classes_[1], np.ones(n, dtype=np.int64))
        count = np.bincount(truth + 1, minlength=int(predicted.max()) + 2)[predicted + 1]
        prior = _PRIOR_ROWS * self._candidates.confidence
        believed = (count * share + prior) / (count + _PRIOR_ROWS)
        both = wrong.sum() / (wrong.sum() + _PRIOR_ERRORS)
        learnt = (logit(1 - believed) + both * logit(error)) / (1 + both)
        trust = len(at) / (len(at) + _BLEND)
        return np.asarray(trust * learnt + (1 - trust) * doubt)


class SecondOpinion(SecondModel):
    """A logistic regression for the true class, on inputs and the model's probabilities."""

    name = "second-opinion"
    summary = "where a second classifier, fitted on the known labels, disbelieves the answer"

    def suspicion(
        self, at: IntArray, truth: IntArray, answer: IntArray, doubt: FloatArray
    ) -> FloatArray:
        """Doubt of the second classifier in the model's answer."""
        del answer
        if len(np.unique(truth)) < 2:
            return doubt
        from sklearn.linear_model import LogisticRegression

        known = self._known.both
        fitted = LogisticRegression(C=0.1, tol=1e-3, max_iter=200)
        fit(fitted, known[at], truth)
        chances = fitted.predict_proba(known[: len(doubt)])
        return 1 - chance_of(chances, fitted.classes_, self._predicted)


class KnnDisagreement(SecondModel):
    """How many of the ten nearest known rows have another class than the model says."""

    name = "knn-disagreement"
    summary = "where the nearest known rows have another class"

    def suspicion(
        self, at: IntArray, truth: IntArray, answer: IntArray, doubt: FloatArray
    ) -> FloatArray:
        """Share of disagreeing neighbours; of equal ones the least confident first."""
        del answer
        from sklearn.neighbors import NearestNeighbors

        near = NearestNeighbors(n_neighbors=min(_NEIGHBOURS, len(at))).fit(self._known.inputs[at])
        found = near.kneighbors(self._known.inputs[: len(doubt)], return_distance=False)
        other = (truth[found] != self._predicted[:, None]).mean(axis=1)
        return np.asarray(other + 1e-3 * doubt)


class ErrorModel(SecondModel):
    """A ridge logistic regression for *wrong*, on inputs and answers."""

    name = "error-model"
    summary = "where a regression for errors, fitted on the known labels, expects one"

    def suspicion(
        self, at: IntArray, truth: IntArray, answer: IntArray, doubt: FloatArray
    ) -> FloatArray:
        """Chance of an error; by confidence until both outcomes were seen."""
        wrong: BoolArray = truth != answer
        if not 0 < wrong.sum() < len(wrong):
            return doubt
        chances = logistic_chances(
            self._known.both.astype(np.float64), at, wrong.astype(float), penalty=10.0
        )
        return chances[: len(doubt)]


def logit(chance: FloatArray) -> FloatArray:
    """Log-odds, at most those of 1 in 100,000."""
    inside = np.clip(chance, 1e-5, 1 - 1e-5)
    return np.asarray(np.log(inside / (1 - inside)))


def chance_of(chances: FloatArray, classes: IntArray, wanted: IntArray) -> FloatArray:
    """The column of one wanted class per row; 0 for a class that was never seen."""
    inside = np.minimum(np.searchsorted(classes, wanted), len(classes) - 1)
    return np.where(classes[inside] == wanted, chances[np.arange(len(wanted)), inside], 0.0)


def fit(model: Any, rows: AnyArray, classes: IntArray) -> None:
    """Fit a scikit-learn model; few rows of many classes are no regression problem to warn of."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
        model.fit(rows, classes)
