"""Gates: limits on numbers."""

import difflib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from fireassay.core import Evidence, Measure, ParameterError

Direction = Literal["max", "min"]
Gates = Mapping[str, Mapping[str, float]] | Iterable["Gate"]


@dataclass(frozen=True)
class Gate:
    """A limit on one number: ``number`` is ``"part.number"`` or a ``"number"`` that is unique.

    Attributes
    ----------
    number
        Which number it limits.
    direction
        ``"max"``: at most; ``"min"``: at least.
    limit
        The limit.
    """

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

    def keeps(self, value: float) -> bool:
        """Whether a value is on the right side of the limit, or on it."""
        return value <= self.limit if self.direction == "max" else value >= self.limit


def parse_gates(gates: Gates) -> tuple[Gate, ...]:
    """Gates from ``{"max": {name: limit}, "min": {name: limit}}`` or from `Gate` objects."""
    if not isinstance(gates, Mapping):
        return tuple(gates)
    unknown = set(gates) - {"max", "min"}
    if unknown:
        raise ParameterError("Gates are given under 'max' and 'min'.", got=f"{sorted(unknown)}")
    directions: tuple[Direction, ...] = ("max", "min")
    return tuple(
        Gate(name, direction, float(limit))
        for direction in directions
        for name, limit in gates.get(direction, {}).items()
    )


def check_limit(gate: Gate, measure: Measure) -> None:
    """Refuse a limit that cannot mean what its user wants, before it is kept by everything.

    Parameters
    ----------
    gate
        The limit.
    measure
        What its number is.

    Raises
    ------
    ParameterError
        If a share is given in per cent, or the limit guards the good side of the number.

    >>> check_limit(Gate("error", "max", 5), Measure("error", "Wrong", "share", "low", ""))
    Traceback (most recent call last):
    fireassay.core.errors.ParameterError: The limit on 'error' must be ... Write 0.05 for 5 %.
    """
    if measure.unit in ("share", "auc") and not 0 <= gate.limit <= 1:
        raise ParameterError(
            f"The limit on '{gate.number}' must be a share from 0 to 1.",
            got=f"{gate.limit:g}",
            do=f"Write {gate.limit / 100:g} for {gate.limit:g} %."
            if 1 < gate.limit <= 100
            else None,
        )
    wrong = {"max": "high", "min": "low"}[gate.direction]
    if measure.better == wrong:
        side, other = ("at most", "min") if gate.direction == "max" else ("at least", "max")
        raise ParameterError(
            f"A limit must keep bad values out; of '{gate.number}' the {wrong} ones are good.",
            got=f"{side} {gate.limit:g}",
            do=f"Give it under {other}.",
        )


def find_number(number: str, parts: Mapping[str, Evidence]) -> tuple[Evidence, str] | str:
    """The part that has a number and the number's name there, or why there is none.

    Raises
    ------
    ParameterError
        If no part can have the number, or several have it.
    """
    part, separator, short = number.partition(".")
    if separator and (part in parts or not _holders(number, parts)):
        return _in_part(part, short, parts)
    holders = _holders(number, parts)
    if len(holders) > 1:
        raise ParameterError(
            f"'{number}' is a number of several parts.",
            got=", ".join(holders),
            do=f"Say which one, e.g. {holders[0]}.{number}",
        )
    if holders:
        return _in_part(holders[0], number, parts)
    absent = [name for name, item in parts.items() if item.status != "done"]
    if absent or not parts:
        return f"no part that ran has this number; did not run: {', '.join(absent) or 'any'}"
    raise unknown_number(number, {name: list(item.estimates) for name, item in parts.items()})


def unknown_number(number: str, known: Mapping[str, Iterable[str]]) -> ParameterError:
    """The error for a number that nothing has, with the nearest names."""
    names = [f"{part}.{name}" for part, short in known.items() for name in short]
    shorts = {name.partition(".")[2]: name for name in names}
    near = difflib.get_close_matches(number, [*names, *shorts], n=3, cutoff=0.5)
    nearest = list(dict.fromkeys(shorts.get(name, name) for name in near)) or names
    return ParameterError(
        f"No part has the number '{number}'.", do=f"Nearest: {', '.join(nearest) or 'no numbers'}"
    )


def _holders(number: str, parts: Mapping[str, Evidence]) -> list[str]:
    having = [name for name, item in parts.items() if number in item.estimates]
    return having or [name for name, item in parts.items() if _declares(item, number)]


def _declares(item: Evidence, number: str) -> bool:
    return any(measure.matches(number) for measure in item.measures)


def _in_part(part: str, short: str, parts: Mapping[str, Evidence]) -> tuple[Evidence, str] | str:
    if part not in parts:
        return f"{part} has not run"
    item = parts[part]
    if item.status != "done":
        return f"{part} is {item.status}: {item.reason}"
    if short in item.estimates:
        return item, short
    if _declares(item, short):
        return f"{part} has no {short} in this run"
    raise unknown_number(f"{part}.{short}", {n: list(p.estimates) for n, p in parts.items()})
