"""Lazy imports: slow libraries, public names of packages, and optional extras.

A module that takes ``pd`` from here needs ``from __future__ import annotations``.
"""

import importlib
import importlib.util
import re
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from fireassay.core.errors import MissingExtraError

__all__ = [
    "distance",
    "linalg",
    "ndimage",
    "nx",
    "optimize",
    "pd",
    "sparse",
    "spatial",
    "special",
    "stats",
    "torch",
]


if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd
    from scipy import linalg, ndimage, optimize, sparse, spatial, special, stats
    from scipy.spatial import distance

    torch: Any
else:

    class LazyModule:
        """Stands for a module until one of its names is asked for.

        Args:
            name: Of the module.

        >>> import sys
        >>> LazyModule("math").sqrt(4.0)
        2.0
        """

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> Any:
            value = getattr(importlib.import_module(self._name), name)
            setattr(self, name, value)
            return value

    pd, nx, torch = LazyModule("pandas"), LazyModule("networkx"), LazyModule("torch")
    names = ("linalg", "ndimage", "optimize", "sparse", "spatial", "special", "stats")
    linalg, ndimage, optimize, sparse, spatial, special, stats, distance = (
        LazyModule(f"scipy.{name}") for name in (*names, "spatial.distance")
    )


_IMPORT = re.compile(r"^    from (fireassay[\w.]*) import (?:\(([^)]*)\)|(.+))$", re.MULTILINE)


class LazyPackage(ModuleType):
    """A package whose public names live in modules that are imported when a name is used."""

    def __getattr__(self, name: str) -> Any:
        home = self.__dict__.get("_homes", {}).get(name)
        if home is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(home), name)
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        # A module named after the function in it must not take the function's place.
        if isinstance(value, ModuleType) and self._homes.get(name) == value.__name__:
            value = getattr(value, name)
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *self._homes})


def lazy_names(package: str) -> None:
    """Let a package give its names on demand: those that its source imports for type checkers."""
    module: Any = sys.modules[package]
    source = module.__spec__.loader.get_source(package)
    homes = {
        name.split()[0]: home
        for home, several, one in _IMPORT.findall(source)
        for name in (several or one).split(",")
        if name.strip()
    }
    module.__dict__["_homes"] = homes
    module.__dict__.setdefault("__all__", sorted(homes))
    module.__class__ = LazyPackage


# extra -> (module that shows it is installed, what it enables)
EXTRAS: dict[str, tuple[str, str]] = {
    "torch": ("torch", "torch models, gradient attacks, ambiguity generation, proofs for networks"),
    "interop": ("onnxruntime", "ONNX and skops model files, MAITE models and data sets"),
    "xgboost": ("xgboost", "native XGBoost models and their files"),
    "lightgbm": ("lightgbm", "native LightGBM models and their files"),
    "tables": ("pyarrow", "Parquet files and out-of-core tables"),
    "statistics": ("statsmodels", "Cox regression and further survival checks"),
    "attacks": ("art", "attacks of the Adversarial Robustness Toolbox"),
    "cluster": ("distributed", "runs on a Dask cluster"),
    "web": ("fastapi", "the local labelling and review app"),
    "mlflow": ("mlflow", "the log of a run in MLflow, and its evaluator"),
}


def require(module: str, extra: str, purpose: str) -> ModuleType:
    """Import an optional module, or say which extra brings it."""
    if module in sys.modules:
        return sys.modules[module]
    if not is_installed(module):
        raise MissingExtraError(
            f"{purpose} needs the package '{module}', which is not installed.",
            do=f"Install it with: pip install 'fireassay[{extra}]'",
        )
    return importlib.import_module(module)


def is_installed(module: str) -> bool:
    """Whether a top-level module could be imported, without importing it."""
    return importlib.util.find_spec(module) is not None
