"""The table of parts, in the order of the report, and of the numbers they can have."""

from collections.abc import Iterable
from dataclasses import replace

from pydantic import BaseModel

from fireassay.assessment.parts import (
    accuracy,
    ambiguity,
    curation,
    discovery,
    reliability,
    supervision,
    survival,
)
from fireassay.assessment.parts.part import Part
from fireassay.core import Measure
from fireassay.core.measure import find_measure
from fireassay.report.gates import Gate, check_limit, only_one, unknown_number
from fireassay.statistics.numbers.number_registry import standard_name

PARTS: dict[str, Part] = {
    part.name: part
    for part in (
        accuracy.PART,
        curation.PART,
        ambiguity.PART,
        supervision.PART,
        discovery.PART,
        reliability.PART,
        survival.PART,
    )
}


def settings_models() -> dict[str, type[BaseModel]]:
    """The settings of every part, by its name."""
    return {name: part.settings for name, part in PARTS.items()}


def in_running_order(names: Iterable[str]) -> list[str]:
    """Parts in dependency order."""
    wanted = set(names)
    order: list[str] = []

    def add(name: str) -> None:
        for used in PARTS[name].uses:
            add(used)
        if name in wanted and name not in order:
            order.append(name)

    for name in PARTS:
        add(name)
    return order


def full_name(number: str, parts: Iterable[str] = ()) -> str:
    """The ``part.number`` of a number that may be given by its short name."""
    short = number.removeprefix("accuracy.")
    others = [m.name for p in PARTS.values() if p.name != "accuracy" for m in p.measures or ()]
    if standard_name(short) is not None and number not in others:
        return f"accuracy.{short}"
    part, separator, short = number.partition(".")
    if separator and part in PARTS:
        own = PARTS[part].measures
        if own is None or _has(own, short):
            return number
        raise unknown_number(number, {part: _names(own)})
    known = {name: part.measures for name, part in PARTS.items() if part.measures is not None}
    having = [name for name, declared in known.items() if _has(declared, number)]
    chosen = [name for name in having if name in set(parts)] or having
    if chosen:
        return f"{only_one(chosen, number)}.{number}"
    if len(known) < len(PARTS) and not separator:
        return number  # a part that does not declare its numbers may have it
    raise unknown_number(number, {name: _names(declared) for name, declared in known.items()})


def checked_gate(gate: Gate, parts: Iterable[str] = ()) -> Gate:
    """The gate by the full name of its number, if it keeps bad values of that number out."""
    name = full_name(gate.number, parts)
    measure = measure_of(name)
    if measure is not None:
        check_limit(gate, measure)
    return replace(gate, number=name)


def measure_of(number: str) -> Measure | None:
    """What a ``part.number`` is, before anything has run; None where its part does not say."""
    part, _, short = number.partition(".")
    found = find_measure(short, PARTS[part].measures or ()) if part in PARTS else None
    standard = standard_name(short) if part == "accuracy" else None
    if found is not None or standard is None:
        return found
    better = "low" if short.startswith("gap.") else standard.better
    return Measure(short, f"{standard.label}: {short}", standard.unit, better, standard.meaning)


def _has(declared: Iterable[Measure], number: str) -> bool:
    return any(measure.matches(number) for measure in declared)


def _names(declared: Iterable[Measure]) -> list[str]:
    return [measure.name for measure in declared]
