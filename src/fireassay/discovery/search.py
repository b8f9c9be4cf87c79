"""Ask, tell, conclude: one search for confident errors, by a person, a file or a function."""

import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core import codec
from fireassay.core.errors import BudgetExceededError, DataError, ParameterError
from fireassay.core.seeds import generator
from fireassay.core.validation import check_class_indices, check_integer
from fireassay.discovery.estimators import AUDIT, tired, within_tolerance
from fireassay.discovery.fixed_searches import SEARCHES
from fireassay.discovery.matched_random import draw_matched, matched_random_test
from fireassay.discovery.result import SearchResult, conclude
from fireassay.discovery.state import OTHER, KeptLabels, SearchState, new_state
from fireassay.discovery.strategy import Candidates, Choice, Strategy
from fireassay.engine.labels.book import LabelBook
from fireassay.engine.labels.records import Questions, Slot


class Search:
    """A label budget spent on the rows that look most like confident errors.

    Args:
        name: One of `SEARCHES`.
        model, X: The model under test (calibrated: see `calibrate`) and unlabelled rows.
        critical_class: Only rows predicted as this class are searched; None: all classes.
        threshold: Only predictions with a confidence above it are searched.
        budget: Labels to buy; more than there are candidates means all of them.
        scores: One number per row of X, low = suspicious. Needed by "score"; for
            "adversarial-distance" and "hybrid" measured by an attack if not given.
        features: Where distances are measured, (n, d); 5 principal components of X if not given.
        matched_share: Share of the budget for random rows of the same confidence (0.2 is a good
            choice): without it, or labels of the whole pool, the search's skill stays unknown.
        calibration: Labelled rows, of which a second model learns; None: it begins by confidence.
        split: Whether lots divided calibration rows from X: then they tell of errors left.
        audit_share: Share of the budget, spent last, on candidates drawn by lot: how many errors
            are left. None: 0.2 for a search by a second model, 0 for others.
        patience, tolerance: Before an audit: it begins early after so many labels in a row that hit
            no more often than lots would (0: never), or once at most ``tolerance`` errors are left.
        path: If given, the search is kept there, and what was asked and answered in the label book
            beside it (``labels.sqlite``), at once: the app and ``fireassay label`` share it.
        attack, max_queries, attack_parameters: How adversarial distances are measured.
        seed: Of whatever is drawn.
        ids: Text that names each row of X, for label files.
        groups: For each row of X its patient or device: conclusions count groups.
        state, book: A `SearchState` to go on from, and its folder's label book if open already.

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
        X: Any = None,
        critical_class: Any = None,
        threshold: float = 0.65,
        budget: int = 50,
        scores: ArrayLike | None = None,
        seed: int = 0,
        features: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        matched_share: float = 0.0,
        calibration: tuple[Any, ArrayLike] | None = None,
        split: bool = False,
        audit_share: float | None = None,
        patience: int = 30,
        tolerance: int = 0,
        path: str | Path | None = None,
        attack: str = "hopskipjump",
        max_queries: int = 500,
        attack_parameters: dict[str, Any] | None = None,
        state: SearchState | None = None,
        book: LabelBook | None = None,
    ) -> None:
        new = state is None
        if state is None:
            if model is None or X is None:
                raise ParameterError("A new search needs model= and X=.", got="none of one or both")
            state = new_state(
                name, model, X, critical_class=critical_class, threshold=threshold, budget=budget,
                scores=scores, seed=seed, features=features, ids=ids, groups=groups,
                matched_share=matched_share, attack=attack, max_queries=max_queries,
                attack_parameters=attack_parameters or {}, calibration=calibration, split=split,
                audit_share=audit_share, patience=patience, tolerance=tolerance,
            )  # fmt: skip
        self.state = state
        self._kept = None if path is None else KeptLabels(state, Path(path), book, save=new)
        self._strategy, self._learnt = self._new_strategy(), dict[int, int]()
        self.look()

    @classmethod
    def load(cls, path: str | Path, book: LabelBook | None = None) -> "Search":
        """Go on with a saved search: neither model nor X is needed."""
        state = codec.load(path)
        if not isinstance(state, SearchState):
            raise DataError(f"Expected a saved search at {path}.", got=type(state).__name__)
        return cls(state.name, state=state, path=path, book=book)

    @property
    def book(self) -> LabelBook:
        """The label book of a search that is kept in a file."""
        return self._need_kept().book

    @property
    def questions(self) -> Questions:
        """What people are asked, for the label book of a search that is kept in a file."""
        return self._need_kept().questions

    def _need_kept(self) -> KeptLabels:
        if self._kept is None:
            raise ParameterError("Only a search that is kept has a label book.", got="no path=")
        return self._kept

    # Asking ---------------------------------------------------------------------------------

    @property
    def budget(self) -> int:
        """Labels that can be bought: the asked budget, or all candidates."""
        return min(self.state.budget, len(self.state.rows))

    @property
    def remaining(self) -> int:
        """Labels still to buy."""
        state = self.state
        if AUDIT not in state.arms:
            return max(0, self.budget - len(state.told))
        own = state.arms.index(AUDIT)
        waiting = [c for c in state.asked[:own] if c not in state.told and c not in state.skipped]
        return max(0, state.audit_size - len(state.asked_by(AUDIT)) + len(waiting))

    @property
    def pending(self) -> list[int]:
        """Rows of X that were asked about and have no answer yet."""
        told, skipped = self.state.told, set(self.state.skipped)
        waiting = [c for c in self.state.asked if c not in told and c not in skipped]
        return [int(self.state.rows[c]) for c in waiting]

    def ask(self) -> int:
        """The row of X to label next; the same one until it is told or skipped."""
        return self.ask_many(1)[0]

    def ask_many(self, count: int) -> list[int]:
        """Several rows to label at once (fewer if the budget ends); pending ones come first."""
        count = check_integer(count, "count", low=1)
        with self._in_step() as kept:
            while len(self.pending) < count and (slot := self._choose()) is not None:
                if kept is not None:
                    kept.open(slot)
                self._add(slot)
        if not self.pending:
            raise BudgetExceededError(
                f"The budget of {self.budget} labels is spent"
                f" ({len(self.state.rows)} candidates in all).",
                do="Look at search.result, or start a search with a larger budget.",
            )
        return self.pending[:count]

    def next_slot(self) -> Slot | None:
        """What to ask next, for a label book that opens it itself; None: the budget is spent."""
        self.look()
        return self._choose()

    def _can_choose(self) -> bool:
        return self.remaining > len(self.pending) and len(self.state.asked) < len(self.state.rows)

    def _choose(self) -> Slot | None:
        if not self._can_choose():
            return None
        state, step = self.state, len(self.state.asked)
        free = np.setdiff1d(np.arange(len(state.rows)), np.asarray(state.asked, dtype=np.int64))
        rng = generator(state.seed, "search", state.name, step)
        searched = [c for c, arm in zip(state.asked, state.arms, strict=True) if arm == "search"]
        if self._audits():
            row = int(free[rng.integers(len(free))])
            return Slot(step + 1, row, AUDIT, 1.0 / len(free))
        due = int((step + 1) * state.matched_share) > int(step * state.matched_share)
        if due and searched:
            since = searched[-max(1, round(1 / state.matched_share) - 1) :]
            like = float(state.confidence[since[int(rng.integers(len(since)))]])
            choice, arm = Choice(draw_matched(state.confidence, free, like, rng)), "matched"
        else:
            choice, arm = self._strategy.choose(free, rng), "search"
        return Slot(step + 1, choice.row, arm, choice.probability)

    def _audits(self) -> bool:
        """Whether all that is asked from now on is drawn by lot."""
        state = self.state
        if not state.audit_size or AUDIT in state.arms:
            return bool(state.audit_size)
        if self.remaining - len(self.pending) <= state.audit_size:
            return True
        return tired(state) or within_tolerance(state)

    def _add(self, slot: Slot) -> None:
        chance = float("nan") if slot.probability is None else slot.probability
        self.state = dataclasses.replace(
            self.state,
            asked=(*self.state.asked, slot.item),
            arms=(*self.state.arms, slot.arm),
            probabilities=(*self.state.probabilities, chance),
        )

    # Telling --------------------------------------------------------------------------------

    def tell(self, row: int, label: Any, annotator: str = "") -> None:
        """Give the true label of a row that was asked about; it is kept before this returns.

        ``"(other)"`` stands for a class that the model does not know. A second label for a row (of
        another annotator, or on second thought) replaces the first; see `disagreements`.
        """
        with self._in_step() as kept:
            candidate = self._asked_candidate(row)
            label = self.check_label(label)
            if kept is not None:
                kept.tell(candidate, label, str(annotator))
                self.look()
            else:
                self.state = self.state.with_label(candidate, label, str(annotator))
                self._learn()

    def skip(self, row: int) -> None:
        """Nobody can label this row: it costs no budget and counts for nothing."""
        with self._in_step() as kept:
            candidate = self._asked_candidate(row)
            if candidate in self.state.told:
                raise DataError("Only a row without a label can be skipped.", got=f"row {row}")
            if kept is not None:
                kept.skip(candidate)
                self.look()
            else:
                skipped = (*self.state.skipped, candidate)
                self.state = dataclasses.replace(self.state, skipped=skipped)

    def undo(self) -> int:
        """Take back the last label; returns its row, which is pending again."""
        with self._in_step() as kept:
            if not self.state.labels:
                raise DataError("There is no label to take back.", got="a search without labels")
            if kept is not None:
                candidate = kept.undo()
                self.look()
            else:
                candidate = self.state.labels[-1][0]
                self.state = dataclasses.replace(
                    self.state,
                    labels=self.state.labels[:-1],
                    disagreed=tuple(c for c in self.state.disagreed if c != candidate),
                )
                self._learn()
        return int(self.state.rows[candidate])

    def run(self, oracle: Callable[[int], Any]) -> SearchResult:
        """Ask ``oracle(row)`` for labels until the budget is spent."""
        while self.remaining and (self.pending or self._can_choose()):
            row = self.ask()
            self.tell(row, oracle(row))
        return self.result

    @property
    def disagreements(self) -> list[int]:
        """Rows that people labelled differently."""
        return [int(self.state.rows[candidate]) for candidate in self.state.disagreed]

    @property
    def result(self) -> SearchResult:
        """What may be concluded now; valid at any time."""
        self.look()
        return conclude(self.state, adaptive=self._strategy.adaptive)

    def look(self) -> None:
        """Take in what others (the app, a file) have answered since."""
        if self._kept is not None:
            self.state = self._kept.progress(self.state)
            self._learn()

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

    # Inside ---------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _in_step(self) -> Iterator[KeptLabels | None]:
        """With all that was asked and answered elsewhere, and nobody else writing meanwhile."""
        with contextlib.nullcontext() if self._kept is None else self._kept.writing() as kept:
            self.look()
            yield kept

    def _learn(self) -> None:
        """Tell the strategy what is new; where a label changed or went away, start it over."""
        searched = self.state.asked_by("search")
        known = {label: i for i, label in enumerate(self.state.classes)}
        told = {c: known.get(self.state.told[c], -1) for c in searched}
        # In the order the labels came, which is what the strategy would have seen.
        told = {c: told[c] for c, _, _ in self.state.labels if c in told}
        if not self._learnt.items() <= told.items():
            self._strategy, self._learnt = self._new_strategy(), {}
        for candidate, label in told.items():
            if candidate not in self._learnt:
                wrong = label != int(self.state.predicted[candidate])
                self._strategy.learn_label(candidate, wrong, label)
        self._learnt = told

    def _new_strategy(self) -> Strategy:
        state = self.state
        candidates = Candidates(
            state.confidence, state.features, state.scores, state.seed, state.predicted, state.known
        )
        return SEARCHES[state.name](candidates)

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
