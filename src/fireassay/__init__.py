"""fireassay: test a trained classifier before anyone relies on it.

Names are imported when they are first used, so that ``import fireassay`` stays fast.
"""

import importlib
from typing import TYPE_CHECKING, Any

from fireassay.version import __version__

if TYPE_CHECKING:
    from fireassay.assessment import Monitor, evaluate, judge
    from fireassay.classifiers import as_classifier
    from fireassay.core import Assumption, Claim, Estimate, Evidence, FireassayError
    from fireassay.core.codec import load
    from fireassay.report import Report, assert_gate
    from fireassay.statistics import score

_HOME = {
    "Assumption": "fireassay.core",
    "Claim": "fireassay.core",
    "Estimate": "fireassay.core",
    "Evidence": "fireassay.core",
    "FireassayError": "fireassay.core",
    "Monitor": "fireassay.assessment",
    "Report": "fireassay.report",
    "assert_gate": "fireassay.report",
    "as_classifier": "fireassay.classifiers",
    "evaluate": "fireassay.assessment",
    "judge": "fireassay.assessment",
    "load": "fireassay.core.codec",
    "score": "fireassay.statistics",
}
_PACKAGES = (
    "ambiguity",
    "attacks",
    "classifiers",
    "core",
    "curation",
    "data",
    "discovery",
    "engine",
    "networks",
    "reliability",
    "report",
    "statistics",
    "supervision",
    "survival",
)

__all__ = [
    "Assumption",
    "Claim",
    "Estimate",
    "Evidence",
    "FireassayError",
    "Monitor",
    "Report",
    "__version__",
    "as_classifier",
    "assert_gate",
    "evaluate",
    "judge",
    "load",
    "score",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    if name in _PACKAGES:
        return importlib.import_module(f"fireassay.{name}")
    raise AttributeError(f"module 'fireassay' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_PACKAGES})
