"""The parts of an assessment: one file each, one row here, in the order in which they run."""

import importlib
from types import ModuleType

from pydantic import BaseModel

# A part's module has: Settings, USES (parts whose results it takes), missing(context) -> why it
# cannot run or None, cost(context, settings) -> Cost, run(context, settings) -> Result.
PARTS: dict[str, str] = {
    "accuracy": "fireassay.assessment.parts.accuracy",
    "curation": "fireassay.assessment.parts.curation",
    "ambiguity": "fireassay.assessment.parts.ambiguity",
    "supervision": "fireassay.assessment.parts.supervision",
    "discovery": "fireassay.assessment.parts.discovery",
    "reliability": "fireassay.assessment.parts.reliability",
    "survival": "fireassay.assessment.parts.survival",
}


def part_module(name: str) -> ModuleType:
    """The module of a part."""
    return importlib.import_module(PARTS[name])


def settings_models() -> dict[str, type[BaseModel]]:
    """The settings of every part, by its name."""
    return {name: part_module(name).Settings for name in PARTS}
