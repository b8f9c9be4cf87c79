"""What would settle a gate: labels still needed, or the rate that would have to be reached."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from fireassay.core import Assumption, Estimate, Evidence, Measure
from fireassay.core.lazy_modules import special
from fireassay.report.gates import Gate

_POWER = 0.8
_EXACT = 100  # so few rows are counted one by one


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


def advise(gate: Gate, measure: Measure, estimates: Mapping[str, Estimate]) -> Advice:
    """What would settle a gate on a number, computed from the number."""
    name = measure.name
    estimate, alpha = estimates[name], 0.0
    if estimate.kind == "count":
        must = f"{_relation(gate)} {measure.shown_value(gate.limit)}"
        return Advice(gate, f"it was counted: no number of labels changes it, it must be {must}")
    if estimate.kind == "interval":
        alpha = (1 - estimate.confidence) / 2
    elif estimate.kind == "bound":
        alpha = 1 - estimate.confidence
        stem = name.removesuffix("_upper").removesuffix("_lower")
        estimate = estimates[name] if stem == name else estimates.get(stem, estimate)
    if not (0 < alpha < 1 and estimate.n > 0 and math.isfinite(estimate.value)):
        return Advice(gate, "it has no interval that more rows could narrow")
    counted = estimate.method == "Clopper-Pearson" or estimates[name].kind == "bound"
    worth = estimates.get("effective_n") if _by_groups(estimate) else None
    if measure.unit == "share" and (counted or worth is not None) and 0 < gate.limit < 1:
        return _for_a_share(gate, measure, estimate, alpha, _rows_per_independent_one(worth))
    return _for_an_interval(gate, measure, estimate, alpha)


def _relation(gate: Gate) -> str:
    return "at most" if gate.direction == "max" else "at least"


def _rounded_up(rows: int) -> str:
    """A number of rows in words, not more exact than it is known; never too few.

    >>> _rounded_up(97), _rounded_up(83_297)
    ('97', 'about 84,000')
    """
    if rows < _EXACT:
        return f"{rows:,}"
    unit = 10 ** (len(str(rows)) - 2)
    return f"about {-(-rows // unit) * unit:,}"


def _within(value: float, gate: Gate, measure: Measure, n: int) -> str:
    """A value to reach, as exact as n rows can show it, rounded to the side that keeps it."""
    scale = 100.0 if measure.unit == "share" else 1.0
    step = scale / max(1, n)
    decimals = max(0, round(-math.log10(step))) if measure.unit == "share" else 2
    power = 10.0**decimals
    outward = math.floor if gate.direction == "max" else math.ceil
    nudge = 1e-9 if gate.direction == "max" else -1e-9
    return measure.shown_value(outward(value * scale * power + nudge) / power / scale, decimals)


def _by_groups(estimate: Estimate) -> bool:
    return "groups" in estimate.method


def _rows_per_independent_one(worth: Estimate | None) -> float:
    """How many rows of groups say as much as one independent row, n / n_e."""
    return 1.0 if worth is None or not worth.value > 0 else max(1.0, worth.n / worth.value)


def _for_a_share(
    gate: Gate, measure: Measure, estimate: Estimate, alpha: float, repeats: float
) -> Advice:
    """In numbers of errors: a share that must be high is one whose rest must be low.

    Rows that repeat each other are counted as the independent ones that they are worth, and what
    is needed is told in rows again.
    """
    from fireassay.statistics.labels_needed import labels_needed

    high = gate.direction == "min"
    value, limit = (1 - v if high else v for v in (estimate.value, gate.limit))
    n = max(1, round(estimate.n / repeats))
    found = labels_needed(round(value * n), n, limit, alpha)
    seen = measure.told(estimate)
    of_groups = "" if repeats == 1 else f" of further groups ({repeats:.1f} rows are worth one)"
    if found.rate is not None and found.fresh is not None:
        fresh = math.ceil(found.fresh * repeats)
        reach = _within(1 - found.rate if high else found.rate, gate, measure, fresh)
        text = (
            f"no number of labels passes at {seen}; with {fresh:,} fresh labels{of_groups} it must "
            f"be {_relation(gate)} {reach}"
        )
        return Advice(gate, text)
    chance = f"{100 * found.chance:.0f} %"
    if found.more is None:
        return Advice(gate, f"at {seen} more than ten million labels ({chance} that it can pass)")
    rows = math.ceil(found.more * repeats)
    more = ("1 more label" if rows == 1 else f"{_rounded_up(rows)} more labels") + of_groups
    if found.at_the_seen_rate:
        text = (
            f"{more} would settle it if its true share is {seen}; the chance that any number of "
            f"labels does is {chance}"
        )
    else:
        text = f"{more} would settle it with a chance of {100 * _POWER:.0f} %"
    return Advice(gate, text, rows)


def _for_an_interval(gate: Gate, measure: Measure, estimate: Estimate, alpha: float) -> Advice:
    """Rows by which the interval shrinks enough, as intervals do with the root of n."""
    from fireassay.statistics.labels_needed import alpha_at_look

    z = -float(special.ndtri(alpha))
    worst = estimate.high if gate.direction == "max" else estimate.low
    half, room = abs(worst - estimate.value), abs(gate.limit - estimate.value)
    if not (math.isfinite(half) and half > 0 and z > 0):
        return Advice(gate, "its interval has no end on this side that more rows could move")
    wanted = (
        (float(special.ndtri(_POWER)) - float(special.ndtri(alpha_at_look(alpha, 2)))) / z * half
    )
    if not gate.keeps(estimate.value) or room == 0:
        sign = -1 if gate.direction == "max" else 1
        target = gate.limit + sign * wanted
        if measure.unit in ("share", "auc") and not 0 <= target <= 1:
            return Advice(
                gate, f"{estimate.n:,} rows are too few for this limit, whatever they show"
            )
        reach = _within(target, gate, measure, estimate.n)
        text = (
            f"no number of rows passes at this value; with {estimate.n:,} it must be "
            f"{_relation(gate)} {reach}"
        )
        return Advice(gate, text)
    more = max(1, math.ceil(estimate.n * ((wanted / room) ** 2 - 1)))
    return Advice(
        gate, f"{_rounded_up(more)} more rows would settle it with a chance of 80 %", more
    )


def remedy(gate: Gate, part: Evidence | None, against: Assumption | None) -> Advice:
    """What to do about a gate that no number can speak for yet."""
    if part is None:
        text = f"run the part that has it: fireassay run --only {gate.number.partition('.')[0]}"
    elif part.status == "failed" and not part.partial:
        text = f"mend what broke in {part.question} ({part.reason}), then run it again"
    elif part.status == "not available":
        text = f"give {part.question} what it needs: {part.reason}"
    elif part.stale:
        text = f"run {part.question} again: fireassay run --only {part.question}"
    elif part.partial:
        text = f"let {part.question} come to its end ({part.partial}): run again, with more budget"
    elif against is not None:
        name = against.id or "…"
        text = (
            f"data for which this holds: {against.statement} Or accept it with a reason: "
            f'[gates.accept] "{name}" = "why"'
        )
    elif not {gate.number, gate.number.partition(".")[2]} & part.estimates.keys():
        text = (
            f"this run of {part.question} has no such number: give what it is made of (a "
            "calibration needs probabilities), or limit another one"
        )
    else:
        text = "the number has no interval: no number of rows settles it"
    return Advice(gate, text)
