"""State of a search: settings, candidates, questions and answers, and where it is saved."""

import contextlib
import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from fireassay.classifiers import as_classifier
from fireassay.core import codec
from fireassay.core.arrays import (
    AnyArray,
    BoolArray,
    FloatArray,
    IntArray,
    Probabilities,
    is_frame,
    largest,
)
from fireassay.core.errors import DataError, NotEnoughEvidenceError, ParameterError
from fireassay.core.hashing import sha256
from fireassay.core.seeds import check_seed
from fireassay.core.validation import check_integer, check_labels, check_lengths, check_real
from fireassay.data.rows import Rows, taken
from fireassay.discovery.adversarial_distance import adversarial_distance, measure_log_mae
from fireassay.discovery.fixed_searches import SEARCHES
from fireassay.discovery.known_rows import (
    KnownRows,
    announced,
    known_rows,
    place,
    searchable,
    takes_holes,
)
from fireassay.engine.labels.book import LabelBook
from fireassay.engine.labels.records import CANNOT_TELL, Questions, Slot, consensus, search_key
from fireassay.engine.labels.records import OTHER as OTHER_CHOICE
from fireassay.engine.labels.tables import insert_slot, take_back_last, tell


@dataclass(frozen=True, eq=False)
class SearchState:
    """A search goes on from it without the model and without X.

    Attributes:
        rows: Positions in X of the candidates; every other position here counts within these.
        asked, arms, probabilities: Candidates in the order they were asked about, for which purpose
            ("search", "matched" or "audit"), and with what chance they were drawn (NaN: not drawn).
        labels: (candidate, label, annotator): the label of each that counts.
        skipped: Candidates that nobody could label.
        disagreed: Candidates that people labelled differently.
        name, budget, seed, threshold, critical_class, matched_share, audit_share, patience,
            tolerance: Settings, as in `Search`.
        classes: Of the model.
        ids, groups: Names of the candidates, and the patient or device of each, if given.
        predicted, confidence, features, scores, log_mae: What is known of each candidate.
        known: Inputs, answers and calibration rows, for second models and for what is left.
        model_sha256, data_sha256, queries: What model and data were, and rows sent to the model.

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
    announced: dict[str, FloatArray] | None = None
    audit_share: float = 0.0
    patience: int = 0
    tolerance: int = 0
    known: KnownRows | None = None

    @property
    def audit_size(self) -> int:
        """Labels of the final audit."""
        return round(self.audit_share * min(self.budget, len(self.rows)))

    @property
    def told(self) -> dict[int, Any]:
        """The label that counts of each candidate."""
        return {candidate: label for candidate, label, _ in self.labels}

    @property
    def identity(self) -> str:
        """What the search is, whatever was asked and answered; a larger budget is the same one."""
        parts = [
            self.name, self.seed, self.threshold, self.matched_share, list(self.classes),
            self.rows, self.scores, self.model_sha256, self.data_sha256,
        ]  # fmt: skip
        if self.audit_share:
            parts += [self.audit_share, self.patience, self.tolerance]
        if self.known is not None:
            parts += [self.known.labels, self.known.inputs]
        return sha256(*parts)

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
    calibration: tuple[Any, ArrayLike] | None,
    split: bool,
    audit_share: float | None,
    patience: int,
    tolerance: int,
) -> SearchState:
    """The candidates of a search: confident predictions, with all it may know before any label."""
    search = SEARCHES[name]
    check_seed(seed)
    budget = check_integer(budget, "budget")
    threshold = check_real(threshold, "threshold", low=0.0, high=1.0, inclusive="low")
    matched_share = check_real(matched_share, "matched_share", low=0.0, high=0.5, inclusive="both")
    share = search.audit_share if audit_share is None else audit_share
    share = check_real(share, "audit_share", low=0.0, high=0.5, inclusive="both")
    classifier = as_classifier(model)
    inputs = searchable(X, holes=takes_holes(classifier))
    before = classifier.queries
    probabilities = classifier.predict_proba(inputs)
    rows = critical_rows(probabilities, classifier.classes, critical_class, threshold)
    chosen = taken(inputs, rows)
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
    known = None
    if calibration is not None or search.needs == "known rows":
        known = known_rows(
            classifier, chosen, probabilities[rows], calibration, seed, search.needs == "known rows"
        )
        inside = is_candidate(
            known.confidence, known.predicted, tuple(classifier.classes), critical_class, threshold
        )
        known = dataclasses.replace(known, candidate=inside, split=split)
    if ids is not None:
        check_lengths(X=len(inputs), ids=len(np.asarray(ids)))
    grouped = None if groups is None else check_labels(groups, name="groups", n=len(inputs))
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
        features=positions(chosen, features, rows, len(inputs), seed),
        scores=ranked,
        log_mae=logs,
        model_sha256=classifier.sha256,
        data_sha256=Rows(inputs).sha256 if is_frame(inputs) else sha256(inputs),
        queries=classifier.queries - before,
        groups=None if grouped is None else grouped[rows],
        audit_share=share,
        patience=check_integer(patience, "patience", low=0),
        tolerance=check_integer(tolerance, "tolerance", low=0),
        known=known,
        announced=announced(classifier, probabilities[rows], known),
    )


def positions(
    chosen: Any, features: ArrayLike | None, rows: IntArray, n: int, seed: int
) -> FloatArray:
    """Where the candidates are: the given features of these rows, or components of their inputs."""
    if features is None:
        return place(chosen, seed)
    space = np.asarray(features, dtype=np.float64)
    check_lengths(X=n, features=len(space))
    return space[rows].reshape(len(rows), -1)


def critical_rows(
    probabilities: Probabilities, classes: tuple[Any, ...], critical_class: Any, threshold: float
) -> IntArray:
    """Rows predicted as the critical class (None: any) with a confidence above the threshold."""
    rows = np.flatnonzero(
        is_candidate(
            largest(probabilities), probabilities.argmax(axis=1), classes, critical_class, threshold
        )
    )
    if not len(rows):
        raise NotEnoughEvidenceError(
            f"At least one prediction must have a confidence above {threshold:g}"
            + ("." if critical_class is None else f" and the class {critical_class!r}."),
            got=f"none among {len(probabilities)} rows",
            do="Lower threshold=, or give more rows.",
        )
    return rows


def is_candidate(
    confidence: FloatArray,
    predicted: IntArray,
    classes: tuple[Any, ...],
    critical_class: Any,
    threshold: float,
) -> BoolArray:
    """Which answers are confident, and of the critical class (None: any)."""
    inside: BoolArray = confidence > threshold
    if critical_class is not None:
        if critical_class not in classes:
            raise ParameterError(
                f"critical_class must be one of {', '.join(map(repr, classes))}.",
                got=repr(critical_class),
            )
        inside = inside & (predicted == classes.index(critical_class))
    return inside


def _per_row(values: ArrayLike | None, name: str, n: int) -> FloatArray | None:
    if values is None:
        return None
    array = np.asarray(values, dtype=np.float64).ravel()
    check_lengths(**{"X": n, name: len(array)})
    if np.isnan(array).any():
        raise DataError(f"{name} must not be NaN.", got=f"{int(np.isnan(array).sum())} NaN")
    return array


OTHER = "(other)"
UNNAMED = "(unnamed)"


class KeptLabels:
    """A search's part of a label book. The search's own file never changes."""

    def __init__(
        self, state: SearchState, path: Path, book: LabelBook | None, *, save: bool
    ) -> None:
        self.book = LabelBook(path.parent) if book is None else book
        self.questions = questions_of(state, path.name)
        self._classes = state.classes
        self.book.holds(self.questions)
        if save:  # before the entry: what is in the book can always be continued
            codec.save(state.without_progress(), path)
        self.book.register(self.questions)

    @contextlib.contextmanager
    def writing(self) -> Iterator[Self]:
        """All of what is done inside is on the disk at the end, or nothing."""
        with self.book.transaction():
            yield self

    def progress(self, state: SearchState) -> SearchState:
        """The search with all that was asked and answered, by whomever."""
        slots = self.book.slots(self.questions)
        found = consensus(self.book.answers(self.questions))
        labels = []
        for item, agreed in found.items():
            if agreed.label is not None:
                label = OTHER if agreed.label == OTHER_CHOICE else state.classes[agreed.label]
                labels.append((item, label, agreed.answers[-1].annotator))
        return dataclasses.replace(
            state,
            asked=tuple(slot.item for slot in slots),
            arms=tuple(slot.arm for slot in slots),
            probabilities=tuple(
                float("nan") if slot.probability is None else slot.probability for slot in slots
            ),
            labels=tuple(labels),
            skipped=tuple(sorted(i for i, c in found.items() if c.state == "cannot tell")),
            disagreed=tuple(i for i, c in found.items() if c.disagreed),
        )

    def open(self, slot: Slot) -> None:
        """Keep what is asked next."""
        insert_slot(self.book.connection, self.questions.label_key, slot)

    def tell(self, candidate: int, label: Any, annotator: str) -> None:
        """Keep a label that counts from now on."""
        choice = OTHER_CHOICE if label == OTHER else self._classes.index(label)
        tell(
            self.book.connection, self.questions.label_key, candidate, annotator or UNNAMED, choice
        )

    def skip(self, candidate: int) -> None:
        """Keep that nobody can label a candidate."""
        tell(self.book.connection, self.questions.label_key, candidate, UNNAMED, CANNOT_TELL)

    def undo(self) -> int:
        """Take back the last label; returns its candidate."""
        candidate = take_back_last(self.book.connection, self.questions.label_key)
        assert candidate is not None, "a search with labels has a last one"
        return candidate


def questions_of(state: SearchState, state_file: str) -> Questions:
    """What a search asks, for the label book and for files."""
    ids = state.rows if state.ids is None else state.ids
    return Questions(
        label_key=search_key(state_file),
        labels_sha256=state.identity,
        choices=tuple(str(known) for known in state.classes),
        annotators_per_item=None,
        reveal=True,
        ids=np.asarray(ids).astype(np.str_),
        rows=state.rows,
        predicted=state.predicted,
        confidence=state.confidence,
    )
