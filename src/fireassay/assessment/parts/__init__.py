"""The parts of an assessment: one file each, one row here, in the order of the report."""

import importlib
from collections.abc import Iterable
from types import ModuleType

from pydantic import BaseModel

# A part's module has: Settings, USES (parts whose results it takes), missing(context) -> why it
# cannot run or None, cost(context, settings) -> Cost, run(context, settings) -> Answer. It may have
# samples(context, answer): inputs that prove it, and state(context): what its answer depends on
# besides its inputs. The order is that of the report. The first four of our own parts stand in
# assessment/terms, so that a configuration is read without what runs.
PARTS: dict[str, str] = {
    "accuracy": "fireassay.assessment.parts.accuracy",
    "curation": "fireassay.assessment.parts.curation",
    "ambiguity": "fireassay.assessment.parts.ambiguity",
    "supervision": "fireassay.assessment.parts.supervision",
    "discovery": "fireassay.assessment.parts.discovery",
    "reliability": "fireassay.assessment.parts.reliability",
    "survival": "fireassay.assessment.parts.survival",
}
_TERMS = "fireassay.assessment.terms"


def part_module(name: str) -> ModuleType:
    """The module of a part."""
    return importlib.import_module(PARTS[name])


def is_built_in(name: str) -> bool:
    """Whether a part is one of our own, not one that somebody has added."""
    return PARTS[name] == f"{__name__}.{name}"


def part_terms(name: str) -> ModuleType:
    """The module with a part's Settings, USES, missing and cost, which loads nothing that runs."""
    return importlib.import_module(f"{_TERMS}.{name}") if is_built_in(name) else part_module(name)


def settings_models() -> dict[str, type[BaseModel]]:
    """The settings of every part, by its name."""
    return {name: part_terms(name).Settings for name in PARTS}


def in_running_order(names: Iterable[str]) -> list[str]:
    """The parts so that each comes after those whose results it takes."""
    wanted = set(names)
    order: list[str] = []

    def add(name: str) -> None:
        for used in part_terms(name).USES:
            add(used)
        if name in wanted and name not in order:
            order.append(name)

    for name in PARTS:
        add(name)
    return order
