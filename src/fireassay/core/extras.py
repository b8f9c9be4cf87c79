"""Optional dependencies, imported only when they are needed."""

import importlib
import importlib.util
import sys
from types import ModuleType

from fireassay.core.errors import MissingExtraError

# extra -> (module that shows it is installed, what it enables)
EXTRAS: dict[str, tuple[str, str]] = {
    "torch": ("torch", "torch models, gradient attacks, ambiguity generation, reference networks"),
    "interop": ("onnxruntime", "ONNX and skops model files, MAITE models and data sets"),
    "xgboost": ("xgboost", "native XGBoost models and their files"),
    "lightgbm": ("lightgbm", "native LightGBM models and their files"),
    "tables": ("pyarrow", "Parquet files and out-of-core tables"),
    "statistics": ("statsmodels", "Cox regression and further survival checks"),
    "attacks": ("art", "attacks of the Adversarial Robustness Toolbox"),
    "certificates": (
        "bound_propagation",
        "proofs that a small torch network is constant in a cell",
    ),
    "cluster": ("distributed", "runs on a Dask cluster"),
    "web": ("fastapi", "the local labelling and review app"),
}


def require(module: str, extra: str, purpose: str) -> ModuleType:
    """Import an optional module, or say which extra brings it.

    Raises
    ------
    MissingExtraError
        If the module is not installed.
    """
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
