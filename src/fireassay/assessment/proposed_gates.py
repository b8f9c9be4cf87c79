"""Limits that the data at hand could show, proposed for a new configuration, never set."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from fireassay.data import DataSet
from fireassay.statistics.labels_needed import labels_to_show

# Round limits of the share of wrong answers, strictest first.
_ROUND = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3)


@dataclass(frozen=True)
class ProposedGate:
    """A limit with the reason for it, and the labels that it would need.

    Attributes
    ----------
    direction, name, limit
        As in ``[gates.max]`` and ``[gates.min]``.
    why
        Where the limit comes from, and what it costs in labels.
    """

    direction: Literal["max", "min"]
    name: str
    limit: float
    why: str


def propose_gates(test: DataSet) -> tuple[ProposedGate, ...]:
    """Limits from the majority's share, the smallest class and the number of labels.

    Parameters
    ----------
    test
        Labelled rows; without labels nothing is proposed.

    Returns
    -------
    tuple of ProposedGate

    >>> import numpy as np
    >>> rows = DataSet(np.zeros((400, 1)), np.repeat([0, 1], [300, 100]))
    >>> for gate in propose_gates(rows):
    ...     print(gate.direction, gate.name, gate.limit)
    min accuracy.accuracy 0.76
    max reliability.pmi_upper 0.1
    min accuracy.worst_recall 0.7
    """
    if test.y is None or not len(test):
        return ()
    names, counts = np.unique(test.labels, return_counts=True)
    rows, most = int(counts.sum()), int(counts.argmax())
    # Rows of one group may say no more than one row.
    n = rows if test.groups is None else len(np.unique(test.groups))
    smallest = min(n, int(counts.min()))
    majority = counts[most] / rows
    better = min(99, math.floor(100 * majority + 1e-9) + 1) / 100
    rare = names[int(counts.argmin())]
    return (
        ProposedGate(
            "min",
            "accuracy.accuracy",
            better,
            f"better than always saying {str(names[most])!r}, which is right on "
            f"{100 * majority:.1f} %; {_labels(1 - better, n)}",
        ),
        ProposedGate(
            "max",
            "reliability.pmi_upper",
            _within_reach(n),
            f"the strictest round limit that {n:,} labels can show; {_labels(_within_reach(n), n)}",
        ),
        ProposedGate(
            "min",
            "accuracy.worst_recall",
            round(1 - _within_reach(smallest), 3),
            f"the smallest class, {str(rare)!r}, has {counts.min():,} rows; "
            f"{_labels(_within_reach(smallest), smallest)} in every class",
        ),
    )


def _within_reach(n: int) -> float:
    """The strictest round limit that n labels show if the true rate is half of it."""
    return next((limit for limit in _ROUND if _at_half(limit) <= n), _ROUND[-1])


def _at_half(limit: float) -> int:
    return labels_to_show(limit, limit / 2)


def _labels(limit: float, n: int) -> str:
    return (
        f"needs {labels_to_show(limit, 0.0):,} labels without an error, {_at_half(limit):,} if it "
        f"is wrong half as often (there are {n:,})"
    )
