"""A number at a stricter level, for limits that are judged again and again on the same labels."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from fireassay.core import Estimate, Evidence, Measure, ParameterError
from fireassay.core.lazy import special
from fireassay.report.gates import Gate, find_number
from fireassay.report.verdict import CheckStatus, GateCheck, Verdict, judge, overall

_EXACT = "Clopper-Pearson"
_FEW_ROWS = 10  # likewise for numbers made from rows
_FEW_GROUPS = 4  # degrees of freedom that any number made from groups is taken to have at least


def judge_spent(
    evidence: Iterable[Evidence],
    gates: Sequence[Gate],
    accepted: Mapping[str, str],
    *,
    strict: bool,
    fractions: Mapping[str, float],
) -> Verdict:
    """Judge gates, each number at what is left of its error probability."""
    parts = {part.question: part for part in evidence}
    for gate in gates:
        left = fractions.get(gate.number, 1.0)
        found = find_number(gate.number, parts) if 0 < left < 1 else ""
        if not isinstance(found, str):
            parts[found[0].question] = at_fraction(*found, left)
    verdict = judge(parts.values(), gates, accepted, strict=strict)
    if all(fractions.get(gate.number, 1.0) for gate in gates):
        return verdict
    checks = tuple(_nothing_left(check, fractions, strict=strict) for check in verdict.checks)
    return replace(verdict, checks=checks, status=overall(checks, verdict.failed_parts))


def _nothing_left(check: GateCheck, fractions: Mapping[str, float], *, strict: bool) -> GateCheck:
    if fractions.get(check.gate.number, 1.0) or check.status != "pass":
        return check
    why = "all planned looks at these labels are spent; label other rows, or plan for more looks"
    return replace(check, status="fail" if strict else "undecided", explanation=why)


def at_fraction(part: Evidence, name: str, fraction: float) -> Evidence:
    """The part with one number at a fraction of its error probability, its other bound likewise."""
    # Shares are computed anew from their counts. Other intervals are stretched by ``log α' / log
    # α``, enough for exponential tails; those over groups by the ratio of Student's quantiles with
    # 4 degrees of freedom, if larger. On the scale of logits (AUCs, shares) or logs (ratios) ends
    # move by the ratio with 10 degrees of freedom, and the end that goes further counts.
    estimates = dict(part.estimates)
    stem = name.removesuffix("_upper").removesuffix("_lower")
    names = [name] if name == stem else [f"{stem}_upper", f"{stem}_lower"]
    for each in names:
        if each in estimates:
            centre = estimates[stem].value if stem in estimates else math.nan
            estimates[each] = _stricter(estimates[each], centre, fraction)
    return replace(part, estimates=estimates)


def _stricter(estimate: Estimate, centre: float, fraction: float) -> Estimate:
    if estimate.kind == "interval":
        return _interval(estimate, fraction)
    if estimate.kind == "bound":
        return _bound(estimate, centre, fraction)
    return estimate


def _interval(estimate: Estimate, fraction: float) -> Estimate:
    alpha = (1 - estimate.confidence) / 2
    confidence = 1 - 2 * alpha * fraction
    hits = _hits(estimate.value, estimate)
    if hits is not None:
        from fireassay.statistics import share

        return replace(share(hits, estimate.n, confidence), rests_on=estimate.rests_on)
    low = _further(estimate.value, estimate.low, alpha, fraction, estimate.method)
    high = _further(estimate.value, estimate.high, alpha, fraction, estimate.method)
    return replace(
        estimate,
        low=low,
        high=high,
        confidence=confidence,
        method=f"{estimate.method}, stretched to {100 * confidence:.6g} %",
    )


def _bound(estimate: Estimate, centre: float, fraction: float) -> Estimate:
    alpha = 1 - estimate.confidence
    confidence = 1 - alpha * fraction
    hits = _hits(centre, estimate)
    upper = not estimate.value < centre
    if hits is not None:
        from fireassay.statistics import clopper_pearson

        low, high = clopper_pearson(hits, estimate.n, confidence, "upper" if upper else "lower")
        value, method = float(high if upper else low), estimate.method
    else:
        # Without a centre everything down to 0 belongs to the margin: more than enough.
        start = 0.0 if math.isnan(centre) else centre
        value = start + _factor(alpha, fraction, estimate.method) * (estimate.value - start)
        value = min(1.0, max(0.0, value))
        method = f"{estimate.method}, stretched to {100 * confidence:.6g} %"
    return Estimate.bound(value, confidence, estimate.n, method, rests_on=estimate.rests_on)


def _hits(value: float, estimate: Estimate) -> int | None:
    """The count behind an exact share; None for other numbers."""
    hits = value * estimate.n
    if estimate.method != _EXACT or math.isnan(hits):
        return None
    return round(hits) if abs(hits - round(hits)) <= 1e-6 * estimate.n else None


def _further(value: float, end: float, alpha: float, fraction: float, method: str) -> float:
    """The end of an interval at a fraction of its error, on the scale where it goes furthest."""
    straight = value + _factor(alpha, fraction, method) * (end - value)
    bent = _t_ratio(_FEW_GROUPS if "group" in method else _FEW_ROWS, alpha, fraction)
    if not min(value, end) > 0 or value == end:
        return straight
    if max(value, end) < 1:
        logits = [math.log(x / (1 - x)) for x in (value, end)]
        curved = 1 / (1 + math.exp(-logits[0] - bent * (logits[1] - logits[0])))
    else:
        curved = value * (end / value) ** bent
    return min(straight, curved) if end < value else max(straight, curved)


def _t_ratio(freedom: float, alpha: float, fraction: float) -> float:
    return float(special.stdtrit(freedom, alpha * fraction) / special.stdtrit(freedom, alpha))


def _factor(alpha: float, fraction: float, method: str) -> float:
    factor = math.log(alpha * fraction) / math.log(alpha)
    if "group" in method:
        factor = max(factor, _t_ratio(_FEW_GROUPS, alpha, fraction))
    return factor


def not_worse_check(
    number: str, change: Estimate | None, measure: Measure, margin: float, base: str
) -> GateCheck:
    """Judge a change against the margin by which a number may get worse."""
    if margin < 0:
        raise ParameterError("The margin must be at least 0.", got=f"{margin}")
    if measure.better == "neither":
        raise ParameterError(f"'{number}' has no direction in which it gets worse.")
    gate = Gate(f"{number} worse than {base}", "max", margin)
    measure = replace(measure, label=f"Worsening of {measure.said} against {base}")
    if change is None:
        why = "the runs cannot be compared row by row: other rows, or a part that did not run"
        return GateCheck(gate, "undecided", why, None, measure)
    low, high = (
        (change.low, change.high) if measure.better == "low" else (-change.high, -change.low)
    )
    status: CheckStatus = "pass" if high <= margin else "fail" if low > margin else "undecided"
    shown = measure.shown_value
    words = f"worse by {shown(low)} to {shown(high)} ({change.method}), allowed {shown(margin)}"
    return GateCheck(gate, status, words, change, measure)


def with_check(verdict: Verdict, check: GateCheck, *, strict: bool = False) -> Verdict:
    """The verdict with one more gate."""
    if strict and check.status == "undecided":
        check = replace(
            check, status="fail", explanation=f"undecided (strict): {check.explanation}"
        )
    checks = (*verdict.checks, check)
    return replace(verdict, status=overall(checks, verdict.failed_parts), checks=checks)
