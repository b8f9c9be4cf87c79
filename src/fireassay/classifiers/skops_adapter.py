"""skops files: scikit-learn models whose types are audited before anything is created."""

from pathlib import Path
from typing import Any

from fireassay.core.errors import ModelError, UntrustedFileError
from fireassay.core.extras import require


def load_skops(path: Path, *, trust: bool = False) -> Any:
    """The estimator in a skops file.

    Raises
    ------
    UntrustedFileError
        If the file names types that skops does not know as safe, without ``trust``.
    ModelError
        If the file is damaged.
    """
    require("skops", "interop", "A .skops model")
    skops_io = require("skops.io", "interop", "A .skops model")
    try:
        unknown = skops_io.get_untrusted_types(file=path)
    except Exception as failure:
        raise _damaged(path, failure) from failure
    if unknown and not trust:
        raise UntrustedFileError(
            "A .skops file must hold only types known to be safe.",
            got=f"{str(path)!r} with {', '.join(sorted(unknown)[:6])}",
            do="If you know where the file comes from, say trust=True (--trust).",
        )
    try:
        return skops_io.load(path, trusted=unknown)
    except Exception as failure:
        raise _damaged(path, failure) from failure


def _damaged(path: Path, failure: Exception) -> ModelError:
    return ModelError(
        "The .skops file must be readable with the libraries installed here.",
        got=f"{str(path)!r}: {type(failure).__name__}: {failure}"[:500],
    )
