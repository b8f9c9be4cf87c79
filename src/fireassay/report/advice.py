"""What would settle a gate: labels still needed, or the rate that would have to be reached."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from scipy.special import ndtri

from fireassay.core import Estimate, Measure
from fireassay.report.gates import Gate

_POWER = 0.8


@dataclass(frozen=True)
class Advice:
    """One sentence with a number for a gate that did not pass.

    Attributes
    ----------
    gate
        The gate that it is about.
    text
        What would settle it, with numbers.
    labels
        How many more labels (or rows); None where no number of them would do.

    >>> advice = Advice(Gate("error", "max", 0.05), "at least 900 more labels", labels=900)
    >>> print(advice)
    error: at least 900 more labels
    """

    gate: Gate
    text: str
    labels: int | None = None

    def __str__(self) -> str:
        return f"{self.gate.number}: {self.text}"


def advise(gate: Gate, measure: Measure, estimates: Mapping[str, Estimate]) -> Advice | None:
    """What would settle a gate on a number, computed from the number; None if nothing can."""
    name = measure.name
    estimate, alpha = estimates[name], 0.0
    if estimate.kind == "interval":
        alpha = (1 - estimate.confidence) / 2
    elif estimate.kind == "bound":
        alpha = 1 - estimate.confidence
        stem = name.removesuffix("_upper").removesuffix("_lower")
        if stem == name or stem not in estimates:
            return None
        estimate = estimates[stem]
    if not (0 < alpha < 1 and estimate.n > 0 and math.isfinite(estimate.value)):
        return None
    counted = estimate.method == "Clopper-Pearson" or estimates[name].kind == "bound"
    if measure.unit == "share" and counted and 0 < gate.limit < 1:
        return _for_a_share(gate, measure, estimate, alpha)
    return _for_an_interval(gate, measure, estimate, alpha)


def _for_a_share(gate: Gate, measure: Measure, estimate: Estimate, alpha: float) -> Advice:
    """In numbers of errors: a share that must be high is one whose rest must be low."""
    from fireassay.statistics.labels_needed import labels_needed

    high = gate.direction == "min"
    value, limit = (1 - v if high else v for v in (estimate.value, gate.limit))
    n = estimate.n
    found = labels_needed(round(value * n), n, limit, alpha)
    seen = measure.shown_value(estimate.value, 1)
    if found.rate is not None:
        reach = measure.shown_value(float(f"{1 - found.rate if high else found.rate:.3g}"))
        text = (
            f"no number of labels passes at {seen}; with {found.fresh:,} fresh labels it must be "
            f"{'at least' if high else 'at most'} {reach}"
        )
        return Advice(gate, text)
    chance = f"{100 * found.chance:.0f} %"
    if found.more is None:
        return Advice(gate, f"at {seen} more than ten million labels ({chance} that it can pass)")
    more = "1 more label" if found.more == 1 else f"{found.more:,} more labels"
    if found.at_the_seen_rate:
        text = (
            f"{more} would settle it if {seen} is the true share; the chance that any number of "
            f"labels does is {chance}"
        )
    else:
        text = f"{more} would settle it with a chance of {100 * _POWER:.0f} %"
    return Advice(gate, text, found.more)


def _for_an_interval(
    gate: Gate, measure: Measure, estimate: Estimate, alpha: float
) -> Advice | None:
    """Rows by which the interval shrinks enough, as intervals do with the root of n."""
    from fireassay.statistics.labels_needed import alpha_at_look

    z = -float(ndtri(alpha))
    worst = estimate.high if gate.direction == "max" else estimate.low
    half, room = abs(worst - estimate.value), abs(gate.limit - estimate.value)
    if not (math.isfinite(half) and half > 0 and z > 0):
        return None
    wanted = (float(ndtri(_POWER)) - float(ndtri(alpha_at_look(alpha, 2)))) / z * half
    if not gate.keeps(estimate.value) or room == 0:
        sign = -1 if gate.direction == "max" else 1
        reach = measure.shown_value(float(f"{gate.limit + sign * wanted:.3g}"))
        word = "at most" if gate.direction == "max" else "at least"
        text = (
            f"no number of rows passes at this value; with {estimate.n:,} it must be {word} {reach}"
        )
        return Advice(gate, text)
    more = math.ceil(estimate.n * ((wanted / room) ** 2 - 1))
    if more <= 0:
        return None
    return Advice(gate, f"about {more:,} more rows would settle it with a chance of 80 %", more)
