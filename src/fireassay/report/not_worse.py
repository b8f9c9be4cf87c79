"""Is a run worse than an earlier one by more than a margin? A gate on the paired change."""

from dataclasses import replace

from fireassay.core import Estimate, Measure, ParameterError
from fireassay.report.gates import Gate
from fireassay.report.verdict import CheckStatus, GateCheck, Verdict, overall


def not_worse_check(
    number: str, change: Estimate | None, measure: Measure, margin: float, base: str
) -> GateCheck:
    """Judge a change against the margin by which a number may get worse.

    Parameters
    ----------
    number
        ``part.number``.
    change
        After minus before, with its interval; None: the runs cannot be paired.
    measure
        What the number is: it says which direction is worse.
    margin
        By how much it may get worse, at least 0.
    base
        The earlier run, in words.

    Returns
    -------
    GateCheck
        ``pass``: even the unfavourable end of the interval is within the margin; ``fail``: even
        the favourable one is beyond; else ``undecided``.

    >>> error = Measure("error", "Wrong on the labelled rows", "share", "low", "How often.")
    >>> change = Estimate(0.002, -0.004, 0.008, 0.95, 900, "Newcombe, paired")
    >>> not_worse_check("accuracy.error", change, error, 0.01, "v1").status
    'pass'
    """
    if margin < 0:
        raise ParameterError("The margin must be at least 0.", got=f"{margin}")
    if measure.better == "neither":
        raise ParameterError(f"'{number}' has no direction in which it gets worse.")
    gate = Gate(f"{number} worse than {base}", "max", margin)
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
