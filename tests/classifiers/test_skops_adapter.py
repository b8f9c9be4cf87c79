"""skops files: honest ones need no trust, hostile ones neither crash nor fill the memory."""

import copy
import io
import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import fireassay as fa
from fireassay.core import ModelError, UntrustedFileError

skops_io = pytest.importorskip("skops.io")
pytestmark = [
    pytest.mark.extras,
    pytest.mark.filterwarnings("ignore:.*:sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]

X, y = load_iris(return_X_y=True)
NAIVE = [("nb", GaussianNB())]
TABLE = ColumnTransformer(
    [
        ("number", make_pipeline(SimpleImputer(), StandardScaler()), [0, 1]),
        ("one", OneHotEncoder(handle_unknown="ignore"), [2]),
        ("order", OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), [3]),
    ]
)
HONEST = [
    make_pipeline(TABLE, LogisticRegression(max_iter=300)),
    make_pipeline(KNNImputer(), StandardScaler(), LogisticRegression()),
    DecisionTreeClassifier(random_state=0),
    RandomForestClassifier(3, max_leaf_nodes=5, random_state=0),
    ExtraTreesClassifier(3, random_state=0),
    BaggingClassifier(n_estimators=2, max_features=2, random_state=0),
    AdaBoostClassifier(n_estimators=2, random_state=0),
    GradientBoostingClassifier(n_estimators=2, random_state=0),
    GradientBoostingClassifier(n_estimators=2, init="zero", random_state=0),
    HistGradientBoostingClassifier(max_iter=3),
    StackingClassifier(NAIVE, final_estimator=LogisticRegression()),
    VotingClassifier(NAIVE, voting="soft"),
    CalibratedClassifierCV(LinearSVC()),
    MLPClassifier(max_iter=3, random_state=0),
    SVC(probability=True, random_state=0),
]


def saved(model: Any, path: Path) -> Path:
    skops_io.dump(model, path)
    return path


@pytest.mark.parametrize("model", HONEST, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("labels", [y, (y > 1).astype(int)], ids=["three", "two"])
def test_honest_models_are_read_without_trust(tmp_path: Path, model: Any, labels: Any) -> None:
    fitted = model.fit(X, labels)
    classifier = fa.as_classifier(saved(fitted, tmp_path / "m.skops"))
    np.testing.assert_allclose(classifier.predict_proba(X), fitted.predict_proba(X), atol=1e-12)


@pytest.mark.parametrize(
    "model",
    [
        KNeighborsClassifier(),
        KNeighborsClassifier(algorithm="brute"),
        HistGradientBoostingClassifier(max_iter=2, categorical_features=[3]),
        LogisticRegression(max_iter=1000).fit(X, y).sparsify(),
    ],
    ids=["tree of neighbours", "neighbours", "categories", "sparse"],
)
def test_what_cannot_be_checked_needs_trust(tmp_path: Path, model: Any) -> None:
    rows = X.round()
    fitted = model if hasattr(model, "coef_") else model.fit(rows, y)
    path = saved(fitted, tmp_path / "m.skops")
    with pytest.raises(UntrustedFileError, match="ONNX"):
        fa.as_classifier(path)
    trusted = fa.as_classifier(path, trust=True)
    np.testing.assert_allclose(trusted.predict_proba(rows), fitted.predict_proba(rows))


def change_nodes(tree: Any, **fields: Any) -> None:
    state = tree.__getstate__()
    nodes = state["nodes"].copy()
    for name, (place, value) in fields.items():
        nodes[name][place] = value
    tree.__setstate__({**state, "nodes": nodes})


def first_inner(tree: Any) -> int:
    return int(np.flatnonzero(tree.children_left != -1)[-1])


def wider_tree(tree: Any) -> Any:
    """The same nodes in a tree that says it has more features than its estimator."""
    kind, (_, classes, outputs), state = tree.__reduce__()
    wide = kind(1000, classes, outputs)
    state["nodes"]["feature"][0] = 900
    wide.__setstate__(state)
    return wide


TREES: dict[str, Callable[[Any], None]] = {
    "child far outside": lambda m: change_nodes(m.tree_, left_child=(0, 10_000_000)),
    "child below -1": lambda m: change_nodes(m.tree_, left_child=(0, -5)),
    "right child below -1": lambda m: change_nodes(m.tree_, right_child=(0, -2)),
    "right child missing": lambda m: change_nodes(m.tree_, right_child=(0, -1)),
    "cycle": lambda m: change_nodes(m.tree_, left_child=(first_inner(m.tree_), 0)),
    "own child": lambda m: change_nodes(m.tree_, right_child=(0, 0)),
    "negative feature": lambda m: change_nodes(m.tree_, feature=(0, -7)),
    "feature outside": lambda m: change_nodes(m.tree_, feature=(0, 4)),
    "threshold": lambda m: change_nodes(m.tree_, threshold=(0, np.nan)),
    "more features than the estimator": lambda m: setattr(m, "tree_", wider_tree(m.tree_)),
    "estimator wider": lambda m: setattr(m, "n_features_in_", 5),
    "no tree": lambda m: setattr(m, "tree_", 3),
}


@pytest.mark.parametrize("damage", TREES.values(), ids=TREES.keys())
@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(random_state=0),
        RandomForestClassifier(2, random_state=0),
        GradientBoostingClassifier(n_estimators=2, random_state=0),
    ],
    ids=["tree", "forest", "boosting"],
)
def test_damaged_trees_are_refused(
    tmp_path: Path, model: Any, damage: Callable[[Any], None]
) -> None:
    fitted = copy.deepcopy(model.fit(X, y))
    damage(np.ravel(getattr(fitted, "estimators_", [fitted]))[-1])
    with pytest.raises(ModelError, match="decision tree"):
        fa.as_classifier(saved(fitted, tmp_path / "m.skops"))


def set_stage(model: Any, field: str, value: Any) -> None:
    model._predictors[0][0].nodes[field][0] = value


HISTOGRAMS = partial(HistGradientBoostingClassifier, max_iter=2)
OTHERS: dict[str, tuple[Any, Callable[[Any], None]]] = {
    "histogram child": (HISTOGRAMS, lambda m: set_stage(m, "left", 10**6)),
    "histogram cycle": (HISTOGRAMS, lambda m: set_stage(m, "right", 0)),
    "histogram feature": (HISTOGRAMS, lambda m: set_stage(m, "feature_idx", 9)),
    "histogram negative": (
        HISTOGRAMS,
        lambda m: set_stage(m, "feature_idx", -9),
    ),
    "histogram category": (
        HISTOGRAMS,
        lambda m: set_stage(m, "is_categorical", 1),
    ),
    "histogram width": (HISTOGRAMS, lambda m: setattr(m, "n_features_in_", 2)),
    "stages too wide": (
        partial(GradientBoostingClassifier, n_estimators=2),
        lambda m: setattr(m, "estimators_", np.repeat(m.estimators_, 4, axis=1)),
    ),
    "a start of another width": (
        partial(GradientBoostingClassifier, n_estimators=2),
        lambda m: setattr(m.init_, "class_prior_", m.init_.class_prior_[:2]),
    ),
    "members of another kind": (
        partial(RandomForestClassifier, 2),
        lambda m: m.estimators_.append(GaussianNB().fit(X, y)),
    ),
    "support vectors": (SVC, lambda m: setattr(m, "_n_support", m._n_support + 10_000)),
    "coefficients": (SVC, lambda m: setattr(m, "_dual_coef_", m._dual_coef_[:1])),
    "kernel": (SVC, lambda m: setattr(m, "kernel", "precomputed")),
}


@pytest.mark.parametrize(("kind", "damage"), OTHERS.values(), ids=OTHERS.keys())
def test_other_damage_is_refused(tmp_path: Path, kind: Any, damage: Callable[[Any], None]) -> None:
    fitted = kind().fit(X, y)
    damage(fitted)
    with pytest.raises(ModelError, match="must point only to"):
        fa.as_classifier(saved(fitted, tmp_path / "m.skops"))


def array_bytes(shape: tuple[int, ...], dtype: str, data: bytes) -> bytes:
    buffer = io.BytesIO()
    header = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, header)
    return buffer.getvalue() + data


def bomb(path: Path, entry: bytes | int, *, times: int = 1) -> Path:
    """A skops file of one array, or of so many zero bytes, named so many times."""
    node = {
        "__class__": "ndarray",
        "__module__": "numpy",
        "__loader__": "NdArrayNode",
        "type": "numpy",
        "file": "1.npy",
    }
    schema = {
        "__class__": "list",
        "__module__": "builtins",
        "__loader__": "ListNode",
        "content": [node] * times,
        "protocol": 2,
        "_skops_version": "0.11",
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", json.dumps(schema))
        with archive.open("1.npy", "w", force_zip64=True) as file:
            if isinstance(entry, bytes):
                file.write(entry)
            else:
                file.write(array_bytes((entry // 8,), "<f8", b""))
                for _ in range(entry // 2**24):
                    file.write(bytes(2**24))
    return path


MEASURED = """
import resource, sys
import fireassay as fa, skops.io, sklearn.ensemble, sklearn.svm
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    fa.as_classifier(sys.argv[1])
except fa.core.FireassayError as error:
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print((after - before) // 1024, error)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("entry", "times"),
    [
        (2**30, 1),
        (array_bytes((2**20,), "<f8", bytes(2**23)), 400),
        (array_bytes((10**12,), "<f8", b"few"), 1),
        (array_bytes((4 * 10**8,), "<U0", b""), 1),
        (array_bytes((10,), "|O", bytes(80)), 1),
    ],
    ids=["1 GB of zeros", "one array 400 times", "declares 8 TB", "width 0", "objects"],
)
def test_bombs_are_refused_within_little_memory(
    tmp_path: Path, entry: bytes | int, times: int
) -> None:
    path = bomb(tmp_path / "m.skops", entry, times=times)
    assert path.stat().st_size < 4e6
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(path)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    megabytes, message = done.stdout.split(" ", 1)
    assert "must hold what it declares" in message
    assert int(megabytes) < 100


HIDING: dict[str, tuple[Any, str, Any]] = {
    "a check of trees": (DecisionTreeClassifier(), "_validate_X_predict", np.multiply),
    "a check of a tree in a forest": (
        RandomForestClassifier(2),
        "_validate_X_predict",
        np.multiply,
    ),
    "rows as bins": (HistGradientBoostingClassifier(max_iter=2), "_in_fit", True),
    "a check of boosting": (GradientBoostingClassifier(n_estimators=2), "_raw_predict", np.add),
    "an attribute of nobody": (LogisticRegression(), "_nobody_assigns_this", 1),
    "tags": (LogisticRegression(), "__sklearn_tags__", np.add),
}


@pytest.mark.parametrize("name", HIDING)
def test_attributes_that_hide_a_check_are_refused(tmp_path: Path, name: str) -> None:
    model, attribute, value = HIDING[name]
    fitted = copy.deepcopy(model).fit(X, y)
    setattr(fitted.estimators_[0] if "forest" in name else fitted, attribute, value)
    with pytest.raises(ModelError, match=attribute):
        fa.as_classifier(saved(fitted, tmp_path / "m.skops"))
    pipeline = make_pipeline(StandardScaler(), fitted)
    pipeline.steps[0][1].fit(X)
    with pytest.raises(ModelError, match=attribute):
        fa.as_classifier(saved(pipeline, tmp_path / "p.skops"))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_no_honest_estimator_of_scikit_learn_has_foreign_attributes() -> None:
    """Every classifier and transformer that can be fitted here, before and after skops."""
    from sklearn.utils import all_estimators

    from fireassay.classifiers.backends.skops import _ALSO_SAFE, _foreign_attributes, _parts

    inner = {"estimator": LogisticRegression(), "estimators": NAIVE, "cv": 2, "random_state": 0}
    inner |= {"n_estimators": 3, "max_iter": 5, "param_grid": {"C": [1.0]}, "n_jobs": 1}
    inner |= {"param_distributions": {"C": [1.0]}, "n_iter": 1, "algorithm": "auto"}
    tried, foreign = 0, {}
    for name, kind in all_estimators(type_filter=["classifier", "transformer"]):
        known = set(getattr(kind, "_get_param_names", tuple)())
        for given in (inner, {k: inner[k] for k in ("estimator", "estimators") if k in known}, {}):
            try:
                fitted = kind(**{k: v for k, v in given.items() if k in known}).fit(X, y)
                read = skops_io.loads(dumped := skops_io.dumps(fitted), skops_types(dumped))
            except Exception:  # noqa: BLE001 - it wants other settings, texts, no labels
                continue
            if set(skops_types(dumped)) - set(_ALSO_SAFE):
                continue  # it needs trust for its types
            tried += 1
            for part in [*_parts(fitted), *_parts(read)]:
                if found := _foreign_attributes(part):
                    foreign[name, type(part).__name__] = found
    assert tried > 80
    assert foreign == {}


def skops_types(content: bytes) -> list[str]:
    return list(skops_io.get_untrusted_types(data=content))


@pytest.mark.parametrize("name", ["nodes", "values"])
def test_a_tree_whose_array_has_no_dimension_is_refused_before_it_is_made(
    tmp_path: Path, name: str
) -> None:
    path = saved(DecisionTreeClassifier(max_depth=2).fit(X, y), tmp_path / "m.skops")
    with zipfile.ZipFile(path) as archive:
        members = {entry: archive.read(entry) for entry in archive.namelist()}
    held = re.findall(
        rb'"' + name.encode() + rb'": \{[^}]*"file": "([^"]+)"', members["schema.json"]
    )
    flat = io.BytesIO()
    np.save(flat, np.array(1.5))
    members[held[0].decode()] = flat.getvalue()
    with zipfile.ZipFile(path, "w") as archive:
        for entry, content in members.items():
            archive.writestr(entry, content)
    with pytest.raises(ModelError, match="a tree whose arrays do not fit"):
        fa.as_classifier(path)
