"""One standard number with its interval, for those who come from ``sklearn.metrics``."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.errors import DataError
from fireassay.core.estimate import Estimate
from fireassay.statistics.numbers.judged_rows import JudgedRows
from fireassay.statistics.numbers.number_registry import number_of, parse_number


def score(
    y: ArrayLike,
    p: ArrayLike,
    number: str = "accuracy",
    *,
    classes: Sequence[Any] | None = None,
    positive: Any | None = None,
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
    largest_group: float | None = None,
) -> Estimate:
    """A standard number of predictions, with its interval.

    Args:
        y: The true classes.
        p: Probabilities, one column per class or one value for the positive class; or answers.
        number: A name as in limits: ``"auroc"``, ``"f1[sepsis]"``, ``"sensitivity@0.2"``.
        classes: Names of the classes in the order of the columns; sorted values of ``y`` if None.
        positive: The positive class; of classes 0 and 1, or False and True, the second.
        groups: Which rows belong together: a patient, a device. Intervals then count groups.
        confidence: Of the interval, in (0, 1).
        largest_group: The most rows that a group can have; the largest seen if None.

    >>> score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], "auroc").value
    0.75
    """
    truth, said = np.asarray(y), np.asarray(p)
    numeric = said.dtype.kind == "f"
    found = np.unique(truth) if numeric else np.unique(np.concatenate([truth, said]))
    names = found.tolist() if classes is None else list(classes)
    if positive is None and names in ([0, 1], [False, True]):
        positive = names[1]
    place = {name: at for at, name in enumerate(names)}
    unknown = next((value for value in truth.tolist() if value not in place), None)
    if unknown is not None:
        raise DataError(f"y must hold classes {names}.", got=repr(unknown), do="Name classes=.")
    codes = [place[value] for value in truth.tolist()]
    if not numeric:
        answers, q = np.array([place.get(value, -1) for value in said.tolist()]), None
    else:
        if said.ndim == 1:
            if len(names) != 2 or positive is None:
                raise DataError(
                    "One probability per row is of the positive class of two.",
                    got=f"classes {names}, positive {positive!r}",
                    do="Name positive=, or give a column per class.",
                )
            rest = 1.0 - said
            said = np.column_stack([said, rest] if place[positive] == 0 else [rest, said])
        q, answers = said, said.argmax(axis=1)
    how: dict[str, Any] = {
        "groups": groups,
        "confidence": confidence,
        "largest_group": largest_group,
    }
    rows = JudgedRows.of(codes, answers, len(names), q, **how)
    return number_of(rows, parse_number(number, names, positive))
