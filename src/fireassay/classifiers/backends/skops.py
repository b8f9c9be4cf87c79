"""skops files of scikit-learn: types, sizes, attributes and fitted structure are checked."""

import dis
import functools
import inspect
import io
import json
import math
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final

import numpy as np

from fireassay.classifiers.adapt import as_classifier
from fireassay.classifiers.declared import readable
from fireassay.core.errors import ModelError, UntrustedFileError
from fireassay.core.lazy import require

MOST_BYTES: Final = 2**30
_SCHEMA: Final = "schema.json"
_MOST_SCHEMA_BYTES: Final = 2**26
_MOST_HEADER_BYTES: Final = 2**14


def check_sizes(content: bytes) -> None:
    """Refuse archives that unpack to more than a gigabyte, or arrays that are not as declared."""
    # An array counts as often as the schema names it, because skops unpacks it as often.
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
        if len(sizes) < len(archive.infolist()):
            raise _refused("two entries of one name")
        if sizes.get(_SCHEMA, 0) > _MOST_SCHEMA_BYTES:
            raise _refused(f"a {_SCHEMA} of {sizes[_SCHEMA] / 2**20:,.0f} MiB")
        schema = json.loads(archive.read(_SCHEMA))
        named = [node["file"] for node in _nodes(schema) if isinstance(node.get("file"), str)]
        if missing := set(named) - set(sizes):
            raise _refused(f"no entry {min(missing)!r}, which its schema names")
        unpacked = sum(sizes.values()) + sum(sizes[name] for name in named)
        if unpacked > MOST_BYTES:
            raise _refused(f"{len(content):,} bytes that unpack to {unpacked:,}")
        shapes = {
            name: _shape(archive, name, sizes[name])
            for name in sorted(set(named))
            if name.endswith(".npy")
        }
        _check_trees(schema, shapes)


def _nodes(schema: Any) -> Iterator[dict[str, Any]]:
    pending = [schema]
    while pending:
        node = pending.pop()
        if isinstance(node, list):
            pending.extend(node)
        elif isinstance(node, dict):
            pending.extend(node.values())
            yield node


def _check_trees(schema: Any, shapes: dict[str, tuple[int, ...]]) -> None:
    """Refuse trees whose arrays have other dimensions: scikit-learn reads them unchecked."""
    trees = [node for node in _nodes(schema) if node.get("__loader__") == "TreeNode"]
    known: dict[Any, Any] = {}
    twice = set()  # skops takes the first node of an identifier for all others
    for node in _nodes(schema) if trees else ():
        first = known.setdefault(key := str(node.get("__id__")), node)
        both = first.get("__loader__") == node.get("__loader__") == "TreeNode"  # each is checked
        if first != node and not both:
            twice.add(key)
    for tree in trees:
        try:
            n_features, n_classes, n_outputs = tree["__reduce__"]["args"]["content"]
            held = tree["content"]["content"]
            dimensions = [len(shapes[held[name]["file"]]) for name in ("nodes", "values")]
            outputs = json.loads(n_outputs["content"])
            fits = dimensions == [1, 3] and shapes[n_classes["file"]] == (outputs,)
            whole = isinstance(json.loads(n_features["content"]), int) and outputs > 0
        except (KeyError, TypeError, ValueError) as error:
            raise _refused("a tree of another form") from error
        if not (fits and whole) or any(
            str(n["__id__"]) in twice for n in _nodes(tree) if "__id__" in n
        ):
            raise _refused("a tree whose arrays do not fit")


def _shape(archive: zipfile.ZipFile, name: str, size: int) -> tuple[int, ...]:
    """An array's declared shape must be as large as its bytes: numpy believes the shape."""
    with archive.open(name) as file:
        head = io.BytesIO(file.read(_MOST_HEADER_BYTES))
    version = np.lib.format.read_magic(head)
    if version not in ((1, 0), (2, 0)):
        raise _refused(f"the array {name!r} in version {version} of its format")
    read = {1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0}
    shape, _, dtype = read[version[0]](head)
    declared = math.prod(shape) * dtype.itemsize
    if dtype.itemsize == 0 or dtype.hasobject or declared != size - head.tell():
        raise _refused(f"the array {name!r}, {dtype} of shape {shape}, in {size:,} bytes")
    return tuple(shape)


def _refused(got: str) -> ModelError:
    return ModelError(
        f"A .skops file must hold what it declares, at most {MOST_BYTES // 2**20} MiB unpacked.",
        got=got,
        do="If you made it yourself, save the model as ONNX, or say trust=True (--trust).",
    )


_KERNELS: Final = ("linear", "poly", "rbf", "sigmoid")
# Tables of neighbours and sparse arrays: compiled code takes the indices in them as they are.
_UNCHECKED: Final = ("sklearn.neighbors.", "scipy.sparse.")

# Assigned by other means than ``self.name = …``, by scikit-learn's functions and its Bunch.
_OTHER_WAYS: Final = (
    *("classes_", "n_features_in_", "feature_names_in_", "_sklearn_version"),
    "_deprecated_key_to_warnings",
)
_WRAPPERS: Final = ("fget", "fset", "fn", "__func__", "func")


def check_structure(estimator: Any, name: str) -> None:
    """Check every part of a loaded estimator."""
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
    parts = list(_parts(estimator))
    for part in parts:  # all of them first: a check below may call a method of a part
        if foreign := _foreign_attributes(part):
            raise ModelError(
                f"A {type(part).__name__} must have only attributes that its class gives it.",
                got=f"{', '.join(map(repr, foreign[:6]))} in {name!r}",
                do="Save the model anew from where it was trained, or as ONNX; if you made this "
                "file yourself, say trust=True (--trust).",
            )
    for part in parts:
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


def _foreign_attributes(part: Any) -> list[str]:
    """Attributes of an object that its class's code never leaves there, or that hide a method."""
    # Compiled code is protected by checks in Python, which are looked up on the object first.
    if isinstance(part, type | FunctionType | ModuleType) or not hasattr(part, "__dict__"):
        return []
    kind: Any = type(part)
    return sorted(set(vars(part)) - _own_attributes(kind))


@functools.cache
def _own_attributes(kind: Any) -> frozenset[str]:
    """The parameters of a class, and what its methods assign that is no attribute of the class."""
    # What one method assigns and deletes again (``_in_fit``) is no attribute of a fitted object.
    kept, passing = set(_OTHER_WAYS), set()
    pending: list[Any] = [value for base in kind.__mro__ for value in vars(base).values()]
    while pending:
        found = pending.pop()
        if isinstance(found, CodeType):
            pending.extend(found.co_consts)
            steps = list(dis.get_instructions(found))
            stored = {step.argval for step in steps if step.opname == "STORE_ATTR"}
            deleted = {step.argval for step in steps if step.opname == "DELETE_ATTR"}
            kept |= stored
            passing |= {name for name in stored & deleted if not name.endswith("_")}
        elif isinstance(found, FunctionType):
            pending.append(inspect.unwrap(found).__code__)
        elif found is not None:  # properties, class methods, methods under a condition
            pending.extend(getattr(found, name, None) for name in _WRAPPERS)
    parameters = set(getattr(kind, "_get_param_names", tuple)())
    return frozenset({name for name in kept - passing if not hasattr(kind, name)} | parameters)


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


# Types that skops itself does not vouch for: trees, because their numbers are not checked there
# (`check_structure` does); the others are plain Python that only holds values.
_ALSO_SAFE: Final = (
    "sklearn.tree._tree.Tree",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "numpy.dtype",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
    "sklearn.utils._bunch.Bunch",
)


def adapt(path: Path, *, trust: bool = False, **options: Any) -> Any:
    """The estimator in a skops file as a classifier."""
    return as_classifier(load_skops(path, trust=trust), **options)


def load_skops(path: Path, *, trust: bool = False) -> Any:
    """The estimator in a skops file."""
    skops_io = require("skops.io", "interop", "A .skops model")
    content = path.read_bytes()  # once: what is checked is what is loaded
    expected = "The .skops file must be readable with the libraries installed here."
    with readable(expected, str(path)):
        if not trust:
            check_sizes(content)
        unknown = skops_io.get_untrusted_types(data=content)
        unknown = [name for name in unknown if name not in _ALSO_SAFE]
        if unknown and not trust:
            raise UntrustedFileError(
                "A .skops file must hold only types known to be safe.",
                got=f"{str(path)!r} with {', '.join(sorted(unknown)[:6])}",
                do="Save the model as ONNX (skl2onnx.to_onnx); if you made this file yourself, "
                "say trust=True (--trust).",
            )
        estimator = skops_io.loads(content, trusted=[*unknown, *_ALSO_SAFE])
        if not trust:
            check_structure(estimator, path.name)
    return estimator
