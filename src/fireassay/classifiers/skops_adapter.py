"""skops files: scikit-learn models whose types are audited before anything is created."""

from pathlib import Path
from typing import Any, Final

import numpy as np

from fireassay.classifiers.adapt import as_classifier
from fireassay.core.errors import ModelError, UntrustedFileError
from fireassay.core.extras import require

# Types that skops itself does not vouch for, but that are checked here after loading.
_CHECKED_TYPES: Final = ("sklearn.tree._tree.Tree",)


def adapt(path: Path, *, trust: bool = False, **options: Any) -> Any:
    """The estimator in a skops file as a classifier."""
    return as_classifier(load_skops(path, trust=trust), **options)


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
    unknown = [name for name in unknown if name not in _CHECKED_TYPES]
    if unknown and not trust:
        raise UntrustedFileError(
            "A .skops file must hold only types known to be safe.",
            got=f"{str(path)!r} with {', '.join(sorted(unknown)[:6])}",
            do="If you know where the file comes from, say trust=True (--trust).",
        )
    try:
        estimator = skops_io.load(path, trusted=[*unknown, *_CHECKED_TYPES])
    except Exception as failure:
        raise _damaged(path, failure) from failure
    _check_trees(estimator, path, {})
    return estimator


def _check_trees(part: Any, path: Path, seen: dict[int, Any]) -> None:
    """Refuse decision trees that point outside themselves: compiled code follows them blindly."""
    if id(part) in seen:
        return
    seen[id(part)] = part  # kept alive, so that its id stays its own
    if type(part).__name__ == "Tree" and type(part).__module__ == "sklearn.tree._tree":
        inner = part.children_left >= 0
        children = np.concatenate([part.children_left[inner], part.children_right[inner]])
        features = part.feature[inner]
        # A child stands behind its parent, so that every path ends.
        parents = np.tile(np.flatnonzero(inner), 2)
        sound = (children > parents).all() and (children < part.node_count).all()
        if not (sound and (features >= 0).all() and (features < part.n_features).all()):
            raise ModelError(
                "A decision tree must point only to nodes and features that it has.",
                got=f"a damaged tree in {str(path)!r}",
            )
    elif isinstance(part, list | tuple):
        for item in part:
            _check_trees(item, path, seen)
    elif isinstance(part, dict):
        _check_trees(list(part.values()), path, seen)
    elif isinstance(part, np.ndarray):
        if part.dtype == object:
            _check_trees(part.ravel().tolist(), path, seen)
    elif hasattr(part, "__dict__"):
        _check_trees(vars(part), path, seen)


def _damaged(path: Path, failure: Exception) -> ModelError:
    return ModelError(
        "The .skops file must be readable with the libraries installed here.",
        got=f"{str(path)!r}: {type(failure).__name__}: {failure}"[:500],
    )
