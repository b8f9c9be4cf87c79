"""Test rows that are training rows: counted, and weighed against what coarse columns make."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fireassay.assessment.context import Context
from fireassay.core import Assumption, DataError, Evidence
from fireassay.core.lazy_modules import stats
from fireassay.data.splits import find_duplicates, find_overlap

UNSEEN = "unseen-rows"
# Parts whose numbers are about rows that the model has not seen.
_ABOUT_TEST_ROWS = ("accuracy", "supervision", "discovery", "reliability", "survival")
_FEW, _LEVEL = 0.01, 0.01
_STATEMENT = "The model was not trained on the test rows."
_NOT_LOOKED_AT = (
    "Whether test rows are training rows, too, was not checked: no training rows were named "
    "([data] train, init --train)."
)


def unseen_rows(context: Context) -> tuple[Assumption, ...]:
    """What the training rows say about the test rows; that nobody looked, where there are none.

    Where rows repeat within the training rows as well, because columns are coarse, repeats among
    the test rows are no sign: the share of training rows that another training row repeats is
    what chance makes.
    """
    train, test = context.train, context.test
    if train is None:
        return (Assumption(_STATEMENT, "untestable", _NOT_LOOKED_AT, UNSEEN),)
    try:
        copies = len(find_overlap(train, test))
    except DataError as different:
        return (Assumption(_STATEMENT, "untestable", f"Not compared: {different}", UNSEEN),)
    check = f"{copies} of {len(test)} test rows are training rows, too"
    if not copies:
        return (Assumption(_STATEMENT, "supported", f"{check}; copies were looked for.", UNSEEN),)
    _, place, counts = np.unique(find_duplicates(train), return_inverse=True, return_counts=True)
    by_chance = (int((counts[place] > 1).sum()) + 1) / (len(train) + 2)
    p = stats.binomtest(copies, len(test), min(1.0, by_chance), "greater").pvalue
    if copies > _FEW * len(test) and p < _LEVEL:
        check = f"{check}; coarse columns would make about {by_chance * len(test):.0f}."
        return (Assumption(_STATEMENT, "contradicted", check, UNSEEN),)
    return (Assumption(_STATEMENT, "untestable", f"{check}, as chance may make them.", UNSEEN),)


def resting_on(evidence: Evidence, doubts: Sequence[Assumption]) -> Evidence:
    """The evidence with assumptions that each of its numbers rests on, where it is about them."""
    if not doubts or evidence.question not in _ABOUT_TEST_ROWS:
        return evidence
    ids = tuple(doubt.id for doubt in doubts)
    return replace(
        evidence,
        assumptions=(*evidence.assumptions, *doubts),
        estimates={
            name: replace(number, rests_on=(*number.rests_on, *ids))
            for name, number in evidence.estimates.items()
        },
    )
