"""Does the model answer the same rows the same way, from the start of a run to its end?"""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.assessment.context import Context
from fireassay.classifiers.probe import answers_again
from fireassay.core import Assumption, Evidence, FireassayError
from fireassay.core.arrays import FloatArray
from fireassay.core.errors import ReproducibilityWarning
from fireassay.engine import RunStore

REPRODUCIBLE = "reproducible"
_ROWS = 32
_ROUNDING = 1e-5
_STATEMENT = "Asked twice about the same row, the model gives the same answer."
_DIFFERENCES, _ASKED = "answers that differ by model", "parts after which rows were asked again"
_NOT_ASKED = "Not probed: {}."


class Reproducibility:
    """A few rows, asked again before and after every part; what differs is kept with the run.

    The first answers are in the journal, so that a server whose model is exchanged while a run is
    interrupted is noticed, too. Rows asked here count as ``probe_queries``.
    """

    def __init__(self, store: RunStore | None) -> None:
        self._store = store
        self._differences: dict[str, float] = {} if store is None else store.meta(_DIFFERENCES, {})
        self._asked: list[str] = [] if store is None else store.meta(_ASKED, [])
        self._not_asked: dict[str, str] = {}
        # By object: the hash of a model with a state of its own may change with every answer.
        self._names: dict[int, str] = {}
        self._first: dict[str, FloatArray] = {}

    def look(self, context: Context, after: str | None = None) -> None:
        """Ask again, and compare with the first answers; ``after`` is the key of a part."""
        model, name = context.model, self._name(context)
        if after is not None and after in self._asked:
            return
        if getattr(model, "max_queries", None) is not None:
            self._not_asked[name] = "its budget of queries is for the parts"
            return
        rows = spread_rows(context.test.X)
        try:
            if name not in self._first:
                self._first[name] = context.once(
                    "first answers", rows, lambda: answers_again(model, rows)
                )
            self._compare(name, self._first[name], answers_again(model, rows))
        except FireassayError as failure:  # the parts fail on it themselves, and say so
            self._not_asked[name] = f"the model failed on the rows ({failure})"
            return
        self._not_asked.pop(name, None)
        if after is not None:
            self._asked.append(after)
            if self._store is not None:
                self._store.set_meta(_ASKED, self._asked)

    def _name(self, context: Context) -> str:
        return self._names.setdefault(id(context.model), context.model.sha256)

    def _compare(self, model: str, first: FloatArray, again: FloatArray) -> None:
        difference = furthest(first, again)
        if difference <= _ROUNDING or model in self._differences:
            return
        self._differences[model] = difference
        if self._store is not None:
            self._store.set_meta(_DIFFERENCES, self._differences)
        _warn(difference)

    def assumption(self, context: Context) -> Assumption:
        """What has been seen so far of a context's model."""
        model = self._name(context)
        if model in self._differences:
            return contradicted(self._differences[model])
        if model in self._not_asked:
            return not_probed(self._not_asked[model])
        asked = len(spread_rows(context.test.X))
        return supported(f"{asked} rows, asked again")


def same_twice(model: Any, X: NDArray[Any]) -> Assumption:
    """Ask about a few rows twice, for a question that is asked alone."""
    if getattr(model, "max_queries", None) is not None:
        return not_probed("the budget of queries is for the question")
    rows = spread_rows(X)
    try:
        difference = furthest(answers_again(model, rows), answers_again(model, rows))
    except FireassayError as failure:
        return not_probed(f"the model failed on the rows ({failure})")
    if difference > _ROUNDING:
        _warn(difference)
        return contradicted(difference)
    return supported(f"{len(rows)} rows, asked again")


def with_reproducibility(evidence: Evidence, found: Assumption) -> Evidence:
    """The evidence with one more assumption, which all of its numbers rest on."""
    if evidence.status != "done":
        return evidence
    others = tuple(a for a in evidence.assumptions if a.id != REPRODUCIBLE)
    estimates = {
        name: replace(
            estimate,
            rests_on=(*(i for i in estimate.rests_on if i != REPRODUCIBLE), REPRODUCIBLE),
        )
        for name, estimate in evidence.estimates.items()
    }
    headline = evidence.headline
    warning = "The model answers the same row differently each time. "
    if found.status == "contradicted" and not headline.startswith(warning):
        headline = warning + headline
    return replace(evidence, headline=headline, estimates=estimates, assumptions=(*others, found))


def spread_rows(X: NDArray[Any]) -> NDArray[Any]:
    """A few rows from all over the data."""
    places = np.linspace(0, len(X) - 1, min(_ROWS, len(X))).round().astype(np.intp)
    return np.asarray(X[places])


def furthest(first: FloatArray, again: FloatArray) -> float:
    """The largest difference of a probability; another number of classes is all the difference."""
    return 1.0 if first.shape != again.shape else float(np.abs(first - again).max(initial=0.0))


def supported(how: str) -> Assumption:
    """The model gave the same answers."""
    check = f"{how}, got the same probabilities (within {_ROUNDING:f})."
    return Assumption(_STATEMENT, "supported", check, id=REPRODUCIBLE)


def contradicted(difference: float) -> Assumption:
    """The model gave other answers."""
    check = (
        f"The same rows, asked again, got probabilities that differ by up to {difference:.2g}. "
        "Fix its random state, or switch dropout off, and run in a new folder."
    )
    return Assumption(_STATEMENT, "contradicted", check, id=REPRODUCIBLE)


def not_probed(why: str) -> Assumption:
    """Nobody asked twice."""
    return Assumption(_STATEMENT, "untestable", _NOT_ASKED.format(why), id=REPRODUCIBLE)


def _warn(difference: float) -> None:
    warnings.warn(
        f"The model answers the same row differently each time (by up to {difference:.2g}): no "
        "limit on its numbers can be decided. Fix its random state or switch dropout off.",
        ReproducibilityWarning,
        stacklevel=4,
    )
