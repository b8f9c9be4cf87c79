"""Pickled models, read only after the user has said that the file is trusted."""

from pathlib import Path
from typing import Any

from fireassay.classifiers.adapt import as_classifier
from fireassay.core.errors import ModelError
from fireassay.core.extras import require


def adapt(path: Path, **options: Any) -> Any:
    """The model in a pickle or joblib file. Runs whatever code the file holds."""
    import joblib

    try:
        model = joblib.load(path)
    except Exception as failure:
        raise _unreadable(path, failure) from failure
    return as_classifier(model, **options)


def adapt_torch(path: Path, **options: Any) -> Any:
    """The model in a file of ``torch.save``. Runs whatever code the file holds."""
    torch = require("torch", "torch", "A torch model file")
    try:
        model = torch.load(path, map_location="cpu", weights_only=False)
    except Exception as failure:
        raise _unreadable(path, failure) from failure
    return as_classifier(model, **options)


def _unreadable(path: Path, failure: Exception) -> ModelError:
    return ModelError(
        "The model file must be readable with the libraries installed here.",
        got=f"{str(path)!r}: {type(failure).__name__}: {failure}"[:500],
    )
