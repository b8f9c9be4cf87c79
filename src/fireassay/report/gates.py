"""Gates: limits on numbers, judged at the unfavourable end of their interval."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from fireassay.core import Estimate, Evidence, ParameterError

Direction = Literal["max", "min"]
Status = Literal["pass", "fail", "not enough evidence"]
EXIT_CODE: dict[Status, int] = {"pass": 0, "fail": 1, "not enough evidence": 3}


@dataclass(frozen=True)
class Gate:
    """A limit on one number: ``number`` is ``"part.number"`` or a ``"number"`` that is unique."""

    number: str
    direction: Direction
    limit: float

    def __post_init__(self) -> None:
        if self.direction not in ("max", "min"):
            raise ParameterError("A gate is 'max' or 'min'.", got=repr(self.direction))
        if math.isnan(self.limit):
            raise ParameterError(f"The limit of gate '{self.number}' must be a number.", got="NaN")

    @classmethod
    def parse(cls, text: str, direction: Direction) -> "Gate":
        """A gate from the command line.

        >>> Gate.parse("reliability.pmi_upper=0.05", "max")
        Gate(number='reliability.pmi_upper', direction='max', limit=0.05)
        """
        name, separator, limit = text.partition("=")
        try:
            return cls(name.strip(), direction, float(limit if separator else "?"))
        except ValueError as error:
            raise ParameterError(
                "A gate must look like NAME=NUMBER.", got=repr(text), do="Try --max pmi_upper=0.05"
            ) from error


@dataclass(frozen=True)
class GateCheck:
    """One gate judged: the number, the end of its interval that counted, and why."""

    gate: Gate
    status: Status
    explanation: str
    estimate: Estimate | None = None


@dataclass(frozen=True)
class Verdict:
    """All gates judged together. ``exit_code``: 0 pass, 1 fail, 3 not enough evidence."""

    status: Status
    checks: tuple[GateCheck, ...]
    failed_parts: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """What ``fireassay check`` exits with."""
        return EXIT_CODE[self.status]

    def __bool__(self) -> bool:
        return self.status == "pass"


def parse_gates(gates: Mapping[str, Mapping[str, float]] | Iterable[Gate]) -> tuple[Gate, ...]:
    """Gates from ``{"max": {name: limit}, "min": {name: limit}}`` or from `Gate` objects."""
    if not isinstance(gates, Mapping):
        return tuple(gates)
    unknown = set(gates) - {"max", "min"}
    if unknown:
        raise ParameterError("Gates are given under 'max' and 'min'.", got=f"{sorted(unknown)}")
    return tuple(
        Gate(name, direction, float(limit))
        for direction in ("max", "min")
        for name, limit in gates.get(direction, {}).items()
    )


def judge(evidence: Iterable[Evidence], gates: Iterable[Gate]) -> Verdict:
    """Judge every gate; a failure outranks missing evidence, which outranks a pass.

    Raises
    ------
    ParameterError
        If a gate names a number that no part has, or that several parts have.
    """
    parts = {item.question: item for item in evidence}
    checks = tuple(_check(gate, parts) for gate in gates)
    broken = tuple(name for name, item in parts.items() if item.status == "failed")
    statuses = {check.status for check in checks}
    status: Status = "pass"
    if "fail" in statuses:
        status = "fail"
    elif "not enough evidence" in statuses or broken:
        status = "not enough evidence"
    return Verdict(status, checks, broken)


def _check(gate: Gate, parts: Mapping[str, Evidence]) -> GateCheck:
    found = _find(gate.number, parts)
    if isinstance(found, str):
        return GateCheck(gate, "not enough evidence", found)
    if math.isnan(found.value):
        return GateCheck(gate, "not enough evidence", "the number is not estimable", found)
    worst = found.high if gate.direction == "max" else found.low
    inside = worst <= gate.limit if gate.direction == "max" else worst >= gate.limit
    end = (
        "value"
        if found.kind != "interval"
        else ("upper end" if gate.direction == "max" else "lower end")
    )
    relation = "at most" if gate.direction == "max" else "at least"
    explanation = f"{end} {worst:.6g}, must be {relation} {gate.limit:.6g}"
    return GateCheck(gate, "pass" if inside else "fail", explanation, found)


def _find(number: str, parts: Mapping[str, Evidence]) -> Estimate | str:
    """The estimate, or the reason why there is none."""
    part, separator, short = number.partition(".")
    if separator and part in parts:
        item = parts[part]
        if item.status != "done":
            return f"{part} is {item.status}: {item.reason}"
        if short in item.estimates:
            return item.estimates[short]
        raise _unknown(number, parts)
    holders = [name for name, item in parts.items() if number in item.estimates]
    if len(holders) > 1:
        raise ParameterError(
            f"'{number}' is a number of several parts.",
            got=", ".join(holders),
            do=f"Say which one, e.g. {holders[0]}.{number}",
        )
    if holders:
        return parts[holders[0]].estimates[number]
    absent = [name for name, item in parts.items() if item.status != "done"]
    if absent and not separator:
        return f"no part that ran has this number; did not run: {', '.join(absent)}"
    raise _unknown(number, parts)


def _unknown(number: str, parts: Mapping[str, Evidence]) -> ParameterError:
    known = [f"{name}.{key}" for name, item in parts.items() for key in item.estimates]
    return ParameterError(
        f"No part has the number '{number}'.",
        got=f"a run with: {', '.join(known) if known else 'no numbers'}",
    )
