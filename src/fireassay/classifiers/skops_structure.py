"""Fitted parts of scikit-learn that compiled code follows without looking, checked one by one.

A type that skops may create can still hold numbers that lead compiled code outside its memory. The
kinds of parts that are known to do so are checked here; a part of such a kind that cannot be
checked is refused.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np

from fireassay.core.errors import ModelError, UntrustedFileError

_KERNELS: Final = ("linear", "poly", "rbf", "sigmoid")
# Tables of neighbours and sparse arrays: compiled code takes the indices in them as they are.
_UNCHECKED: Final = ("sklearn.neighbors.", "scipy.sparse.")


def check_structure(estimator: Any, name: str) -> None:
    """Check every part of a loaded estimator.

    Raises
    ------
    ModelError
        For a part that points outside itself.
    UntrustedFileError
        For a part that cannot be checked.
    """
    from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
    from sklearn.ensemble._forest import BaseForest
    from sklearn.ensemble._hist_gradient_boosting.gradient_boosting import BaseHistGradientBoosting
    from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor
    from sklearn.svm._base import BaseLibSVM
    from sklearn.tree import BaseDecisionTree
    from sklearn.tree._tree import Tree

    # A class, what its fitted objects have (the others cannot answer), and the check.
    checks: tuple[tuple[Any, str, Callable[[Any], bool]], ...] = (
        (BaseDecisionTree, "tree_", lambda part: _is_tree_model(part, Tree)),
        (BaseForest, "estimators_", lambda part: _same_width(part, part.estimators_)),
        (GradientBoostingClassifier, "estimators_", _is_boosting),
        (
            BaseHistGradientBoosting,
            "_predictors",
            lambda part: _is_histogram_boosting(part, TreePredictor),
        ),
        (BaseLibSVM, "support_vectors_", _is_support_vectors),
    )
    for part in _parts(estimator):
        kind = type(part)
        full = f"{kind.__module__}.{kind.__qualname__}"
        if full.startswith(_UNCHECKED) or isinstance(part, GradientBoostingRegressor):
            raise UntrustedFileError(
                "A .skops file must hold only parts whose numbers can be checked.",
                got=f"{name!r} with a {full}",
                do="Save the model as ONNX (skl2onnx.to_onnx); if you made this file yourself, "
                "say trust=True (--trust).",
            )
        for base, fitted, is_sound in checks:
            if isinstance(part, base) and hasattr(part, fitted) and not _holds(is_sound, part):
                raise ModelError(
                    f"A {kind.__name__} must point only to nodes, features and classes that it "
                    "has (every decision tree in it as well).",
                    got=f"a damaged one in {name!r}",
                    do="Save the model anew from where it was trained, or as ONNX.",
                )


def _holds(is_sound: Callable[[Any], bool], part: Any) -> bool:
    """Whether a check is passed; parts that are missing or of another type are not sound."""
    try:
        return bool(is_sound(part))
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return False


def _is_tree_model(model: Any, kind: Any) -> bool:
    """One decision tree: as wide as its estimator, every node in order."""
    tree = model.tree_
    if type(tree) is not kind or not _is_count(model.n_features_in_):
        return False
    # The count first: with it compiled code makes the arrays that are looked at below.
    if not 0 < tree.node_count == tree.capacity or tree.n_features != model.n_features_in_:
        return False
    left, right = tree.children_left, tree.children_right
    inner = left != -1
    shape = (tree.node_count, tree.n_outputs, tree.max_n_classes)
    return (
        bool((right[~inner] == -1).all())
        and _in_order(np.flatnonzero(inner), left[inner], right[inner], tree.node_count)
        and _within(tree.feature[inner], tree.n_features)
        and bool(np.isfinite(tree.threshold[inner]).all())
        and tree.value.shape == shape
        and bool(np.isfinite(tree.value).all())
    )


def _same_width(model: Any, members: Any) -> bool:
    """An ensemble hands its rows to its trees unchecked: they must be as wide as itself."""
    width = model.n_features_in_
    return _is_count(width) and len(members) > 0 and all(_tree_width(m) == width for m in members)


def _tree_width(member: Any) -> int:
    from sklearn.tree import BaseDecisionTree

    if not isinstance(member, BaseDecisionTree):
        raise TypeError(type(member).__name__)
    return int(member.tree_.n_features)


def _is_boosting(model: Any) -> bool:
    """Trees by stage and class; compiled code adds them to an array of that many columns."""
    from sklearn.dummy import DummyClassifier

    stages = model.estimators_
    if not (isinstance(stages, np.ndarray) and stages.ndim == 2 and stages.size):
        return False
    if not _same_width(model, stages.ravel().tolist()):
        return False
    if not (isinstance(model.init_, DummyClassifier) or model.init_ == "zero"):
        return False
    start = model._raw_predict_init(np.zeros((1, model.n_features_in_), dtype=np.float32))
    return bool(start.shape == (1, stages.shape[1]) and start.dtype == np.float64)


def _is_histogram_boosting(model: Any, kind: Any) -> bool:
    """Trees of histogram boosting on numbers; categories are packed into bits and not checked."""
    width = model.n_features_in_
    if not _is_count(width) or model._preprocessor is not None:
        return False
    if np.any(model._bin_mapper.is_categorical_):
        return False
    return all(_is_predictor(tree, width, kind) for stage in model._predictors for tree in stage)


def _is_predictor(tree: Any, width: int, kind: Any) -> bool:
    from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE

    nodes = tree.nodes
    if type(tree) is not kind or nodes.dtype != PREDICTOR_RECORD_DTYPE or nodes.ndim != 1:
        return False
    inner = nodes[nodes["is_leaf"] == 0]
    places = np.flatnonzero(nodes["is_leaf"] == 0)
    return (
        len(nodes) > 0
        and _in_order(places, inner["left"], inner["right"], len(nodes))
        and _within(inner["feature_idx"], width)
        and not inner["is_categorical"].any()
        and bool(np.isfinite(nodes["value"]).all())
    )


def _is_support_vectors(model: Any) -> bool:
    """Arrays of a support vector machine: libsvm takes their sizes from one another."""
    vectors, counts = model.support_vectors_, model._n_support
    classes = len(model.classes_)
    pairs = classes * (classes - 1) // 2
    return (
        model._sparse is False
        and model.kernel in _KERNELS
        and vectors.ndim == 2
        and vectors.shape[1] == model.n_features_in_
        and counts.shape == (classes,)
        and bool((counts >= 0).all())
        and int(counts.sum()) == len(vectors) == len(model.support_)
        and model._dual_coef_.shape == (classes - 1, len(vectors))
        and model._intercept_.shape == (pairs,)
        and model._probA.shape == model._probB.shape
        and model._probA.shape in ((0,), (pairs,))
    )


def _in_order(parents: Any, left: Any, right: Any, count: int) -> bool:
    """Whether children stand behind their parents and within the tree: then every path ends."""
    children = np.concatenate([left, right]).astype(np.int64)
    return bool((children > np.tile(parents, 2)).all() and (children < count).all())


def _within(indices: Any, count: int) -> bool:
    return bool(((indices >= 0) & (indices < count)).all())


def _is_count(value: Any) -> bool:
    return type(value) is int and value > 0


def _parts(estimator: Any) -> Iterator[Any]:
    """Every object that an estimator holds, itself first."""
    pending, seen = [estimator], {}
    while pending:
        part = pending.pop()
        if id(part) in seen:
            continue
        seen[id(part)] = part  # kept alive, so that its id stays its own
        if isinstance(part, np.ndarray):
            pending.extend(part.ravel().tolist() if part.dtype == object else ())
            continue
        yield part
        if isinstance(part, dict):
            pending.extend(part.values())
        elif isinstance(part, list | tuple | set | frozenset):
            pending.extend(part)
        pending.extend(vars(part).values() if hasattr(part, "__dict__") else ())
