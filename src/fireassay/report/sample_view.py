"""Samples on the page: the worst ones for the first screen, and a series as a small line."""

import itertools
from collections.abc import Sequence

from fireassay.core import Evidence, Sample
from fireassay.report.verdict import Verdict

WORST = 6
_EACH = 3
# Parts whose samples are mistakes on real rows come before those that were made.
_MISTAKES = {"accuracy": 0, "discovery": 1, "survival": 2}
_URGENCY = {"fail": 0, "undecided": 1, "pass": 2}
_WIDTH, _HEIGHT, _MARGIN = 120.0, 40.0, 2.0


def worst_samples(parts: Sequence[Evidence], verdict: Verdict) -> list[Sample]:
    """Inputs that show why: of parts whose limit is broken first, then undecided, then others."""
    urgency = {
        part.question: min(
            (_URGENCY[check.status] for check in verdict.checks if check.part == part.question),
            default=3,
        )
        for part in parts
    }
    ordered = sorted(
        parts,
        key=lambda part: (urgency[part.question], _MISTAKES.get(part.question, len(_MISTAKES))),
    )
    first = [sample for part in ordered for sample in part.samples[:_EACH]]
    rest = [sample for part in ordered for sample in part.samples[_EACH:]]
    return [*first, *rest][:WORST]


def groups_by_reason(samples: Sequence[Sample]) -> list[tuple[str, list[Sample]]]:
    """Samples in their order, those that are shown for the same reason together.

    >>> [(why, len(own)) for why, own in groups_by_reason([Sample(1, "a"), Sample(2, "a")])]
    [('a', 2)]
    """
    return [(why, list(own)) for why, own in itertools.groupby(samples, lambda s: s.why)]


def sparkline(values: Sequence[float]) -> str:
    """The points of a line 120 wide and 40 high.

    >>> sparkline([0.0, 1.0])
    '2.0,38.0 118.0,2.0'
    """
    low, high = min(values), max(values)
    step = (_WIDTH - 2 * _MARGIN) / max(1, len(values) - 1)
    scale = (_HEIGHT - 2 * _MARGIN) / ((high - low) or 1.0)
    return " ".join(
        f"{_MARGIN + i * step:.1f},{_HEIGHT - _MARGIN - (value - low) * scale:.1f}"
        for i, value in enumerate(values)
    )
