"""Ask, tell, conclude: one search for confident errors, by a person, a file or a function."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.classifiers import as_classifier
from fireassay.core import codec
from fireassay.core.errors import (
    BudgetExceededError,
    DataError,
    NotEnoughEvidenceError,
    ParameterError,
)
from fireassay.core.hashing import sha256
from fireassay.core.seeds import check_seed, generator
from fireassay.core.validation import (
    check_class_indices,
    check_features,
    check_integer,
    check_lengths,
    check_real,
)
from fireassay.discovery.adversarial_distance import adversarial_distance, measure_log_mae
from fireassay.discovery.candidates import Candidates
from fireassay.discovery.matched_random import draw_matched, matched_random_test
from fireassay.discovery.registry import NEED_SCORES, strategy_class
from fireassay.discovery.result import SearchResult, conclude
from fireassay.discovery.space import principal_components
from fireassay.discovery.state import SearchState
from fireassay.discovery.strategy import Choice, Strategy

OTHER = "(other)"


class Search:
    """A label budget spent on the rows that look most like confident errors.

    Parameters
    ----------
    name
        See `search_names`.
    model, X
        The model under test (calibrated: see `calibrate`) and unlabelled rows.
    critical_class
        Only rows predicted as this class are searched; None: all classes.
    threshold
        Only predictions with a confidence above it are searched.
    budget
        Labels to buy; more than there are candidates means all of them.
    scores
        One number per row of X, low = suspicious. Needed by "score"; for "adversarial-distance" and
        "hybrid" measured by an attack if not given.
    features
        Where distances are measured, (n, d); 5 principal components of X if not given.
    matched_share
        Share of the budget for random rows of the same confidence (0.2 is a good choice): without
        it, or labels of the whole pool, nothing can be said about the search's skill.
    path
        If given, the state is written there, whole and at once, after every change.
    attack, max_queries, attack_parameters
        How adversarial distances are measured.

    Examples
    --------
    >>> import numpy as np
    >>> model = lambda X: np.column_stack([1 - X[:, 0], X[:, 0]])
    >>> X = np.array([[0.9], [0.8], [0.7], [0.1]])
    >>> search = Search("low-confidence", model=model, X=X, budget=2)
    >>> search.ask()
    2
    >>> search.tell(2, 0)
    >>> search.result.errors
    1
    """

    def __init__(
        self,
        name: str,
        *,
        model: Any = None,
        X: ArrayLike | None = None,
        critical_class: Any = None,
        threshold: float = 0.65,
        budget: int = 50,
        scores: ArrayLike | None = None,
        seed: int = 0,
        features: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        matched_share: float = 0.0,
        path: str | Path | None = None,
        attack: str = "hopskipjump",
        max_queries: int = 500,
        attack_parameters: dict[str, Any] | None = None,
        state: SearchState | None = None,
    ) -> None:
        self.path = None if path is None else Path(path)
        if state is None:
            if model is None or X is None:
                raise ParameterError("A new search needs model= and X=.", got="none of one or both")
            state = _new_state(
                name, model, X, critical_class, threshold, budget, scores, seed, features, ids,
                matched_share, attack, max_queries, attack_parameters or {},
            )  # fmt: skip
        self.state = state
        self._candidates = Candidates(state.confidence, state.features, state.scores, state.seed)
        self._strategy = self._replayed()
        self._save()

    @classmethod
    def load(cls, path: str | Path) -> "Search":
        """Go on with a saved search: neither model nor X is needed."""
        state = codec.load(path)
        if not isinstance(state, SearchState):
            raise DataError("Expected a saved search.", got=type(state).__name__)
        return cls(state.name, state=state, path=path)

    # Asking ---------------------------------------------------------------------------------

    @property
    def budget(self) -> int:
        """Labels that can be bought: the asked budget, or all candidates."""
        return min(self.state.budget, len(self.state.rows))

    @property
    def remaining(self) -> int:
        """Labels still to buy."""
        return max(0, self.budget - len(self._told()))

    @property
    def pending(self) -> list[int]:
        """Rows of X that were asked about and have no answer yet."""
        told, skipped = self._told(), set(self.state.skipped)
        waiting = [c for c in self.state.asked if c not in told and c not in skipped]
        return [int(self.state.rows[c]) for c in waiting]

    def ask(self) -> int:
        """The row of X to label next; the same one until it is told or skipped.

        Raises
        ------
        BudgetExceededError
            When the budget is spent or no candidate is left.
        """
        return self.ask_many(1)[0]

    def ask_many(self, count: int) -> list[int]:
        """Several rows to label at once (fewer if the budget ends); pending ones come first."""
        count = check_integer(count, "count", low=1)
        while len(self.pending) < count and self._can_choose():
            self._choose()
        if not self.pending:
            raise BudgetExceededError(
                f"The budget of {self.budget} labels is spent"
                f" ({len(self.state.rows)} candidates in all).",
                do="Look at search.result, or start a search with a larger budget.",
            )
        return self.pending[:count]

    def _can_choose(self) -> bool:
        open_budget = self.budget - len(self._told()) - len(self.pending)
        return open_budget > 0 and len(self.state.asked) < len(self.state.rows)

    def _choose(self) -> None:
        state, step = self.state, len(self.state.asked)
        free = np.setdiff1d(np.arange(len(state.rows)), np.asarray(state.asked, dtype=np.int64))
        rng = generator(state.seed, "search", state.name, step)
        searched = [c for c, arm in zip(state.asked, state.arms, strict=True) if arm == "search"]
        due = int((step + 1) * state.matched_share) > int(step * state.matched_share)
        if due and searched:
            since = searched[-max(1, round(1 / state.matched_share) - 1) :]
            like = float(state.confidence[since[int(rng.integers(len(since)))]])
            choice, arm = Choice(draw_matched(state.confidence, free, like, rng)), "matched"
        else:
            choice, arm = self._strategy.choose(free, rng), "search"
        chance = float("nan") if choice.probability is None else choice.probability
        self._change(
            asked=(*state.asked, choice.row),
            arms=(*state.arms, arm),
            probabilities=(*state.probabilities, chance),
        )

    # Telling --------------------------------------------------------------------------------

    def tell(self, row: int, label: Any, annotator: str = "") -> None:
        """Give the true label of a row that was asked about; it is kept before this returns.

        ``"(other)"`` stands for a class that the model does not know. A second label for a row (of
        another annotator, or on second thought) replaces the first; see `disagreements`.
        """
        candidate = self._asked_candidate(row)
        label = self.check_label(label)
        seen = candidate in self._told()
        self._change(
            answers=(*self.state.answers, (candidate, label, str(annotator))),
            skipped=tuple(c for c in self.state.skipped if c != candidate),
        )
        if seen:
            self._strategy = self._replayed()
        elif self._arm(candidate) == "search":
            self._strategy.learn(candidate, self._is_wrong(candidate, label))

    def skip(self, row: int) -> None:
        """Nobody can label this row: it costs no budget and counts for nothing."""
        candidate = self._asked_candidate(row)
        if candidate in self._told():
            raise DataError("Only a row without a label can be skipped.", got=f"row {row}")
        self._change(skipped=(*self.state.skipped, candidate))

    def undo(self) -> int:
        """Take back the last label; returns its row, which is pending again."""
        if not self.state.answers:
            raise DataError("There is no label to take back.", got="a search without labels")
        candidate = self.state.answers[-1][0]
        self._change(answers=self.state.answers[:-1])
        self._strategy = self._replayed()
        return int(self.state.rows[candidate])

    def run(self, oracle: Callable[[int], Any]) -> SearchResult:
        """Ask ``oracle(row)`` for labels until the budget is spent."""
        while self.remaining and (self.pending or self._can_choose()):
            row = self.ask()
            self.tell(row, oracle(row))
        return self.result

    @property
    def disagreements(self) -> list[int]:
        """Rows that got different labels."""
        labels: dict[int, set[Any]] = {}
        for candidate, label, _ in self.state.answers:
            labels.setdefault(candidate, set()).add(label)
        return [int(self.state.rows[c]) for c, given in labels.items() if len(given) > 1]

    @property
    def result(self) -> SearchResult:
        """What may be concluded now; valid at any time."""
        return conclude(self.state, self._told(), adaptive=self._strategy.adaptive)

    def judged(self, y: ArrayLike) -> SearchResult:
        """The result with its skill: the labels of all rows of X show what random rows would give.

        ``matched_random`` is then the exact test against draws of the same confidence.
        """
        labels = check_class_indices(y, self.state.classes)
        if len(labels) <= int(self.state.rows[-1]):
            raise DataError(
                "y must have one label for every row of X.", got=f"{len(labels)} labels"
            )
        result = self.result
        if not len(result.queried):
            return result
        wrong = self.state.predicted != labels[self.state.rows]
        test = matched_random_test(self.state.confidence, wrong, result.queried)
        return dataclasses.replace(result, matched_random=test)

    def predicted(self, row: int) -> Any:
        """The class that the model gave to a row of X."""
        return self.state.classes[self.state.predicted[self._candidate(row)]]

    def confidence(self, row: int) -> float:
        """The model's confidence in a row of X."""
        return float(self.state.confidence[self._candidate(row)])

    def save(self, path: str | Path) -> Path:
        """Write the state to a file."""
        return codec.save(self.state, path)

    # Inside ---------------------------------------------------------------------------------

    def _told(self) -> dict[int, Any]:
        """The label that counts of each candidate, in the order of the first answers."""
        return {candidate: label for candidate, label, _ in self.state.answers}

    def _arm(self, candidate: int) -> str:
        return self.state.arms[self.state.asked.index(candidate)]

    def _is_wrong(self, candidate: int, label: Any) -> bool:
        return bool(self.state.classes[self.state.predicted[candidate]] != label)

    def _candidate(self, row: int) -> int:
        at = int(np.searchsorted(self.state.rows, row))
        if at >= len(self.state.rows) or self.state.rows[at] != row:
            raise DataError("This row is not a candidate of the search.", got=f"row {row}")
        return at

    def _asked_candidate(self, row: int) -> int:
        row = check_integer(row, "row")
        candidate = self._candidate(row)
        if candidate not in self.state.asked:
            raise DataError(
                "Only rows that the search asked about can be labelled: others would bias it.",
                got=f"row {row}",
                do="Call ask() first.",
            )
        return candidate

    def check_label(self, label: Any) -> Any:
        """A label as the model writes it, or an error that lists the classes."""
        plain = label.item() if isinstance(label, np.generic) else label
        by_text = {str(known): known for known in self.state.classes}
        if plain in self.state.classes:
            return self.state.classes[self.state.classes.index(plain)]
        if str(plain) in by_text:
            return by_text[str(plain)]
        if plain == OTHER:
            return OTHER
        shown = ", ".join(map(repr, self.state.classes[:12]))
        raise DataError(f"A label must be one of {shown} or {OTHER!r}.", got=repr(label))

    def _replayed(self) -> Strategy:
        strategy = strategy_class(self.state.name)(self._candidates)
        for candidate, label in self._told().items():
            if self._arm(candidate) == "search":
                strategy.learn(candidate, self._is_wrong(candidate, label))
        return strategy

    def _change(self, **fields: Any) -> None:
        self.state = dataclasses.replace(self.state, **fields)
        self._save()

    def _save(self) -> None:
        if self.path is not None:
            codec.save(self.state, self.path)


def _new_state(
    name: str,
    model: Any,
    X: ArrayLike,
    critical_class: Any,
    threshold: float,
    budget: int,
    scores: ArrayLike | None,
    seed: int,
    features: ArrayLike | None,
    ids: ArrayLike | None,
    matched_share: float,
    attack: str,
    max_queries: int,
    attack_parameters: dict[str, Any],
) -> SearchState:
    strategy_class(name)
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
    stated = probabilities[rows].max(axis=1)
    logs, ranked = None, None if given is None else given[rows]
    if ranked is None and name in NEED_SCORES and name != "score":
        logs = measure_log_mae(classifier, chosen, attack, max_queries, seed, **attack_parameters)
        ranked = adversarial_distance(log_mae=logs, confidence=stated)
    space = principal_components(chosen)
    if features is not None:
        space = np.asarray(features, dtype=np.float64)
        check_lengths(X=len(inputs), features=len(space))
        space = space[rows].reshape(len(rows), -1)
    if ids is not None:
        check_lengths(X=len(inputs), ids=len(np.asarray(ids)))
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
    )


def critical_rows(
    probabilities: NDArray[np.float64],
    classes: tuple[Any, ...],
    critical_class: Any,
    threshold: float,
) -> NDArray[np.int64]:
    """Rows predicted as the critical class (None: any) with a confidence above the threshold."""
    inside = probabilities.max(axis=1) > threshold
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


def _per_row(values: ArrayLike | None, name: str, n: int) -> NDArray[np.float64] | None:
    if values is None:
        return None
    array = np.asarray(values, dtype=np.float64).ravel()
    check_lengths(**{"X": n, name: len(array)})
    if np.isnan(array).any():
        raise DataError(f"{name} must not be NaN.", got=f"{int(np.isnan(array).sum())} NaN")
    return array
