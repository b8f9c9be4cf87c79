"""The table of numbers that the parts can have: gates are checked against it before a run."""

import importlib
import importlib.util
from collections.abc import Iterable, Mapping

from fireassay.assessment.parts import PARTS, is_built_in, part_module
from fireassay.core import Measure, ParameterError
from fireassay.core.measure import find_measure
from fireassay.report.gates import unknown_number


def measures_of(part: str) -> tuple[Measure, ...] | None:
    """The numbers that a part can have, from its module or its package; None if it says nothing."""
    declared: tuple[Measure, ...] | None
    if is_built_in(part) and importlib.util.find_spec(f"fireassay.{part}") is not None:
        declared = importlib.import_module(f"fireassay.{part}.measures").MEASURES
    else:
        declared = getattr(part_module(part), "MEASURES", None)
    return declared


def full_names(limits: Mapping[str, float], parts: Iterable[str] = ()) -> dict[str, float]:
    """Limits by ``part.number``, so that they mean the same whatever has run."""
    return {full_name(name, parts): limit for name, limit in limits.items()}


def full_name(number: str, parts: Iterable[str] = ()) -> str:
    """The ``part.number`` of a number that may be given by its short name.

    Parameters
    ----------
    number
        ``"reliability.pmi_upper"`` or, where it is unique, ``"pmi_upper"``.
    parts
        Those that are going to run: they come first where several have a number of this name.

    Raises
    ------
    ParameterError
        If no part has such a number (the nearest names are said), or several have.
    """
    part, separator, short = number.partition(".")
    if separator and part in PARTS:
        own = measures_of(part)
        if own is None or _has(own, short):
            return number
        raise unknown_number(number, {part: _names(own)})
    table = {part: measures_of(part) for part in PARTS}
    known = {part: declared for part, declared in table.items() if declared is not None}
    having = [name for name, declared in known.items() if _has(declared, number)]
    chosen = [name for name in having if name in set(parts)] or having
    if len(chosen) > 1:
        raise ParameterError(
            f"'{number}' is a number of several parts.",
            got=", ".join(chosen),
            do=f"Say which one, e.g. {chosen[0]}.{number}",
        )
    if chosen:
        return f"{chosen[0]}.{number}"
    if len(known) < len(PARTS) and not separator:
        return number  # a part that does not declare its numbers may have it
    raise unknown_number(number, {name: _names(declared) for name, declared in known.items()})


def measure_of(number: str) -> Measure | None:
    """What a ``part.number`` is, before anything has run; None where its part does not say."""
    part, _, short = number.partition(".")
    return find_measure(short, measures_of(part) or ()) if part in PARTS else None


def _has(declared: Iterable[Measure], number: str) -> bool:
    return any(measure.matches(number) for measure in declared)


def _names(declared: Iterable[Measure]) -> list[str]:
    return [measure.name for measure in declared]
