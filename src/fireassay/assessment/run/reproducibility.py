"""Does the model answer the same rows the same way? What is said of it, and where."""

import warnings
from dataclasses import replace
from typing import Any, Final

import numpy as np

from fireassay.classifiers.probe import answers_again
from fireassay.core import Assumption, Evidence, FireassayError
from fireassay.core.arrays import FloatArray
from fireassay.core.errors import ReproducibilityWarning
from fireassay.data.rows import taken
from fireassay.statistics import clopper_pearson

REPRODUCIBLE: Final = "reproducible"
ROUNDING: Final = 1e-5  # the largest difference of a probability that counts as none
_ROWS: Final = 32
_STATEMENT = "Asked twice about the same row, the model gives the same answer."
_DRAWN = "The deployed model answers at random; each number is over rows and draws."


def same_twice(model: Any, X: Any) -> Assumption:
    """Ask about a few rows twice, for a question that is asked alone."""
    if getattr(model, "max_queries", None) is not None:
        return not_probed("the budget of queries is for the question")
    rows = spread_rows(X)
    try:
        difference = furthest(answers_again(model, rows), answers_again(model, rows))
    except FireassayError as failure:
        return not_probed(f"the model failed on the rows ({failure})")
    if difference > ROUNDING:
        warn_of(difference)
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


def spread_rows(X: Any) -> Any:
    """A few rows from all over the data."""
    places = np.linspace(0, len(X) - 1, min(_ROWS, len(X))).round().astype(np.intp)
    return taken(X, places)


def furthest(first: FloatArray, again: FloatArray) -> float:
    """The largest difference of a probability; another number of classes is all the difference."""
    return 1.0 if first.shape != again.shape else float(np.abs(first - again).max(initial=0.0))


def supported(how: str) -> Assumption:
    """The model gave the same answers."""
    check = f"{how}, got the same probabilities (within {ROUNDING:f})."
    return Assumption(_STATEMENT, "supported", check, id=REPRODUCIBLE)


def contradicted(difference: float) -> Assumption:
    """The model gave other answers."""
    check = (
        f"The same rows, asked again, got probabilities that differ by up to {difference:.2g}. "
        "Fix its random state, or switch dropout off, and run in a new folder."
    )
    return Assumption(_STATEMENT, "contradicted", check, id=REPRODUCIBLE)


def drawn_twice(differ: int, rows: int) -> Assumption:
    """How often two draws of a model that is declared stochastic differ."""
    low, high = clopper_pearson(differ, rows)
    check = (
        f"Two draws differ on {100 * differ / rows:.0f} % of {rows} rows "
        f"({100 * low:.0f} to {100 * high:.0f} %), as declared: [model] stochastic."
    )
    return Assumption(_DRAWN, "supported", check, id=REPRODUCIBLE)


def not_probed(why: str) -> Assumption:
    """Nobody asked twice."""
    return Assumption(_STATEMENT, "untestable", f"Not probed: {why}.", id=REPRODUCIBLE)


def warn_of(difference: float) -> None:
    """Warn of a model that answers the same row differently."""
    warnings.warn(
        f"The model answers the same row differently each time (by up to {difference:.2g}): no "
        "limit on its numbers can be decided. Fix its random state or switch dropout off.",
        ReproducibilityWarning,
        stacklevel=4,
    )
