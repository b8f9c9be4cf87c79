"""All that a search is: settings, candidates, what was asked and what was answered."""

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.classifiers import as_classifier
from fireassay.core.arrays import AnyArray, BoolArray, FloatArray, IntArray, Probabilities
from fireassay.core.errors import DataError, NotEnoughEvidenceError, ParameterError
from fireassay.core.hashing import sha256
from fireassay.core.probabilities import largest
from fireassay.core.seeds import check_seed
from fireassay.core.validation import (
    check_features,
    check_integer,
    check_labels,
    check_lengths,
    check_real,
)
from fireassay.discovery.adversarial_distance import adversarial_distance, measure_log_mae
from fireassay.discovery.registry import SEARCHES
from fireassay.discovery.space import principal_components


@dataclass(frozen=True, eq=False)
class SearchState:
    """A search goes on from it without the model and without X.

    Attributes
    ----------
    rows
        Positions in X of the candidates; every other position here counts within these.
    asked, arms, probabilities
        Candidates in the order they were asked about, for which purpose ("search" or "matched"),
        and with what chance they were drawn (NaN: not drawn).
    labels
        (candidate, label, annotator): the label of each that counts.
    skipped
        Candidates that nobody could label.
    disagreed
        Candidates that people labelled differently.
    name, budget, seed, threshold, critical_class, matched_share
        Settings, as in `Search`.
    classes
        Of the model.
    ids, groups
        Names of the candidates, and the patient or device each belongs to, if they were given.
    predicted, confidence, features, scores, log_mae
        What is known of each candidate: the model's class and confidence, where it is, and how
        suspicious.
    model_sha256, data_sha256, queries
        What model and data were, and rows sent to the model.

    >>> from fireassay.discovery import Search
    >>> model = lambda X: np.column_stack([1 - X[:, 0], X[:, 0]])
    >>> search = Search("low-confidence", model=model, X=np.array([[0.9], [0.7]]), budget=2)
    >>> search.tell(search.ask(), 0)
    >>> state = search.state
    >>> state.asked, state.told, state.wrong([1]).tolist()  # the least confident row was wrong
    ((1,), {1: 0}, [True])
    >>> Search("low-confidence", state=state).ask()  # goes on where it was
    0
    """

    name: str
    budget: int
    seed: int
    threshold: float
    critical_class: Any
    matched_share: float
    classes: tuple[Any, ...]
    rows: IntArray
    ids: AnyArray | None
    predicted: IntArray
    confidence: FloatArray
    features: FloatArray
    scores: FloatArray | None
    log_mae: FloatArray | None
    model_sha256: str
    data_sha256: str
    queries: int
    asked: tuple[int, ...] = ()
    arms: tuple[str, ...] = ()
    probabilities: tuple[float, ...] = ()
    labels: tuple[tuple[int, Any, str], ...] = ()
    skipped: tuple[int, ...] = ()
    disagreed: tuple[int, ...] = ()
    groups: AnyArray | None = None

    @property
    def told(self) -> dict[int, Any]:
        """The label that counts of each candidate."""
        return {candidate: label for candidate, label, _ in self.labels}

    @property
    def identity(self) -> str:
        """What the search is, whatever was asked and answered; a larger budget is the same one."""
        return sha256(
            self.name, self.seed, self.threshold, self.matched_share, list(self.classes),
            self.rows, self.scores, self.model_sha256, self.data_sha256,
        )  # fmt: skip

    def asked_by(self, arm: str) -> list[int]:
        """Labelled candidates of one arm, in the order they were asked: that of the draws."""
        told = self.told
        pairs = zip(self.asked, self.arms, strict=True)
        return [candidate for candidate, own in pairs if own == arm and candidate in told]

    def wrong(self, candidates: list[int]) -> BoolArray:
        """Whether the model was wrong on labelled candidates."""
        told = self.told
        flags = [self.classes[self.predicted[c]] != told[c] for c in candidates]
        return np.asarray(flags, dtype=np.bool_)

    def with_label(self, candidate: int, label: Any, annotator: str) -> "SearchState":
        """With a label that counts from now on."""
        before = [own for own in self.labels if own[0] == candidate]
        others = [own for own in self.labels if own[0] != candidate]
        contradicted = any(own[1] != label and own[2] != annotator for own in before)
        again = candidate in self.disagreed or not contradicted
        return dataclasses.replace(
            self,
            labels=(*others, (candidate, label, annotator)),
            skipped=tuple(c for c in self.skipped if c != candidate),
            disagreed=self.disagreed if again else (*self.disagreed, candidate),
        )

    def without_progress(self) -> "SearchState":
        """As it was before the first question."""
        return dataclasses.replace(
            self, asked=(), arms=(), probabilities=(), labels=(), skipped=(), disagreed=()
        )


def new_state(
    name: str,
    model: Any,
    X: ArrayLike,
    *,
    critical_class: Any,
    threshold: float,
    budget: int,
    scores: ArrayLike | None,
    seed: int,
    features: ArrayLike | None,
    ids: ArrayLike | None,
    groups: ArrayLike | None,
    matched_share: float,
    attack: str,
    max_queries: int,
    attack_parameters: dict[str, Any],
) -> SearchState:
    """The candidates of a search: confident predictions, with all it may know before any label."""
    search = SEARCHES[name]
    check_seed(seed)
    budget = check_integer(budget, "budget")
    threshold = check_real(threshold, "threshold", low=0.0, high=1.0, inclusive="low")
    matched_share = check_real(matched_share, "matched_share", low=0.0, high=0.5, inclusive="both")
    classifier = as_classifier(model)
    inputs = check_features(X)
    before = classifier.queries
    probabilities = classifier.predict_proba(inputs)
    rows = critical_rows(probabilities, classifier.classes, critical_class, threshold)
    chosen = inputs[rows]
    given = _per_row(scores, "scores", len(inputs))
    stated = largest(probabilities)[rows]
    logs, ranked = None, None if given is None else given[rows]
    if ranked is None and search.needs == "scores":
        raise ParameterError(
            f"The search '{name}' needs scores, one per row.", got="none", do="Pass scores=."
        )
    if ranked is None and search.needs == "distances":
        logs = measure_log_mae(classifier, chosen, attack, max_queries, seed, **attack_parameters)
        ranked = adversarial_distance(log_mae=logs, confidence=stated)
    space = principal_components(chosen)
    if features is not None:
        space = np.asarray(features, dtype=np.float64)
        check_lengths(X=len(inputs), features=len(space))
        space = space[rows].reshape(len(rows), -1)
    if ids is not None:
        check_lengths(X=len(inputs), ids=len(np.asarray(ids)))
    together = None if groups is None else check_labels(groups, name="groups", n=len(inputs))
    return SearchState(
        name=name,
        budget=budget,
        seed=seed,
        threshold=threshold,
        critical_class=critical_class,
        matched_share=matched_share,
        classes=tuple(classifier.classes),
        rows=rows,
        ids=None if ids is None else np.asarray(ids)[rows],
        predicted=probabilities[rows].argmax(axis=1).astype(np.int64),
        confidence=stated,
        features=space,
        scores=ranked,
        log_mae=logs,
        model_sha256=classifier.sha256,
        data_sha256=sha256(inputs),
        queries=classifier.queries - before,
        groups=None if together is None else together[rows],
    )


def critical_rows(
    probabilities: Probabilities,
    classes: tuple[Any, ...],
    critical_class: Any,
    threshold: float,
) -> IntArray:
    """Rows predicted as the critical class (None: any) with a confidence above the threshold."""
    inside = largest(probabilities) > threshold
    if critical_class is not None:
        if critical_class not in classes:
            raise ParameterError(
                f"critical_class must be one of {', '.join(map(repr, classes))}.",
                got=repr(critical_class),
            )
        inside &= probabilities.argmax(axis=1) == classes.index(critical_class)
    rows = np.flatnonzero(inside)
    if not len(rows):
        raise NotEnoughEvidenceError(
            f"At least one prediction must have a confidence above {threshold:g}"
            + ("." if critical_class is None else f" and the class {critical_class!r}."),
            got=f"none among {len(probabilities)} rows",
            do="Lower threshold=, or give more rows.",
        )
    return rows


def _per_row(values: ArrayLike | None, name: str, n: int) -> FloatArray | None:
    if values is None:
        return None
    array = np.asarray(values, dtype=np.float64).ravel()
    check_lengths(**{"X": n, name: len(array)})
    if np.isnan(array).any():
        raise DataError(f"{name} must not be NaN.", got=f"{int(np.isnan(array).sum())} NaN")
    return array
