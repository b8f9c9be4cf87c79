"""Gates in a test suite: ``assert_gate(result, pmi_upper=0.05)``."""

from typing import Any

from fireassay.core import Evidence, ParameterError
from fireassay.core.result import SupportsEvidence
from fireassay.report.gates import Gate
from fireassay.report.report import Report


def assert_gate(
    result: SupportsEvidence | Evidence | Report,
    *,
    max: dict[str, float] | None = None,  # noqa: A002 - the words of the command line
    min: dict[str, float] | None = None,  # noqa: A002
    accept: dict[str, str] | None = None,
    **upper_limits: float,
) -> None:
    """Fail a test if a number is beyond its limit, at the unfavourable end of its interval.

    Keyword arguments are upper limits; ``min={"accuracy": 0.9}`` gives lower ones. What is
    undecided fails, too: what did not run is not a pass.

    Args:
        result: A result of any package, `Evidence` or a `Report`.
        max, upper_limits: Upper limits by the name of their number.
        min: Lower limits.
        accept: Assumptions that the data contradicts, by id, with the reason why they are accepted.

    Raises:
        AssertionError: Names every gate that did not pass, and why.

    >>> from fireassay.core import Estimate
    >>> error = Estimate(0.04, 0.02, 0.06, 0.95, 100, "Clopper-Pearson")
    >>> found = Evidence("accuracy", "Right on 96 %.", estimates={"error": error})
    >>> assert_gate(found, error=0.1)
    >>> assert_gate(found, error=0.01)
    Traceback (most recent call last):
        ...
    AssertionError: fail: error ≤ 0.01: even its lower end is 0.020
    """
    report = result if isinstance(result, Report) else Report([result])
    limits: dict[str, Any] = {**(max or {}), **upper_limits}
    gates = [Gate(name, "max", float(limit)) for name, limit in limits.items()]
    gates += [Gate(name, "min", float(limit)) for name, limit in (min or {}).items()]
    if not gates:
        raise ParameterError("assert_gate needs at least one limit, e.g. pmi_upper=0.05.")
    verdict = report.verdict(gates, accept=accept)
    if not verdict:
        reasons = [
            f"{c.gate.number} {c.limit}: {c.explanation}"
            for c in verdict.checks
            if c.status != "pass"
        ]
        reasons += [f"{name} failed" for name in verdict.failed_parts]
        raise AssertionError(f"{verdict.status}: " + "; ".join(reasons))
