"""Native XGBoost boosters, and their files (.ubj, .json); nothing in these can run code."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.classifiers import ubjson
from fireassay.classifiers.base import BaseClassifier
from fireassay.classifiers.booster_trees import check_pieces, check_tree
from fireassay.classifiers.declared import SUPPORTED
from fireassay.core.errors import DataError, FireassayError, ModelError
from fireassay.core.extras import require
from fireassay.core.frames import is_frame
from fireassay.core.lazy_modules import pd

# Objectives whose answer is the probability; of the others the margins are turned into it.
_PROBABILITIES: Final = ("binary:logistic", "reg:logistic", "multi:softprob")
_MARGINS: Final = ("binary:logitraw", "multi:softmax")
_MOST_BYTES: Final = 2**30


class XgboostClassifier(BaseClassifier):
    """An ``xgboost.Booster`` for two or more classes, asked on one thread.

    Classes are 0 … k-1, as XGBoost numbers them, unless ``classes`` names them. Frames may have
    holes; columns of names are refused.
    """

    takes_objects = True

    def __init__(self, booster: Any, *, batch_size: Any = "auto", **options: Any) -> None:
        # Each row walks down trees on its own, so that blocks would only cost time.
        super().__init__(batch_size=None if batch_size == "auto" else batch_size, **options)
        self.booster = booster.copy()
        self.booster.set_param({"nthread": 1})
        learner = json.loads(self.booster.save_config())["learner"]
        self._objective = str(learner["objective"]["name"])
        if self._objective not in (*_PROBABILITIES, *_MARGINS):
            raise ModelError(
                SUPPORTED,
                got=f"an XGBoost model with the objective {self._objective!r}",
                do=f"Objectives that classify are {', '.join((*_PROBABILITIES, *_MARGINS))}.",
            )
        if self.output != "probabilities":
            raise ModelError("An XGBoost model gives probabilities.", got=f"output={self.output!r}")
        if self._classes is None:
            self._classes = tuple(range(max(2, int(learner["learner_model_param"]["num_class"]))))

    def _features(self, X: ArrayLike) -> NDArray[Any]:
        if is_frame(X):
            X = self._columns_of(X)
        array = super()._features(X)
        if array[0].size != self.booster.num_features():
            raise DataError(
                f"The booster takes rows of {self.booster.num_features()} features.",
                got=f"shape {array.shape}",
            )
        return array.reshape(len(array), -1)

    def _columns_of(self, objects: Any) -> Any:
        """The booster's columns as numbers, holes included."""
        names = self.booster.feature_names
        rows = objects
        if is_frame(objects) and names is not None:
            missing = [name for name in names if name not in objects.columns]
            if missing:
                raise DataError(
                    f"The booster was fitted on the columns {names[:8]!r}.",
                    got=f"a data frame without {missing[:8]!r}",
                )
            rows = objects[names]
        try:
            return pd.DataFrame(rows).astype(np.float64)
        except (TypeError, ValueError) as failure:
            raise DataError(
                "A native XGBoost model takes numbers.",
                got=f"{failure}"[:200],
                do="Pass a function that turns names into what the booster was fitted on.",
            ) from failure

    def _raw(self, block: Any) -> Any:
        xgboost = require("xgboost", "xgboost", "An XGBoost model")
        rows = xgboost.DMatrix(
            np.asarray(block),
            feature_names=self.booster.feature_names,
            feature_types=self.booster.feature_types,
            nthread=1,
        )
        if self._objective in _PROBABILITIES:
            return self.booster.predict(rows).astype(np.float64)
        margins = self.booster.predict(rows, output_margin=True).astype(np.float64)
        if margins.ndim == 1:
            margins = np.column_stack([np.zeros(len(margins)), margins])
        return {"logits": margins}

    def _content_hash(self) -> str:
        return hashlib.sha256(bytes(self.booster.save_raw("ubj"))).hexdigest()

    def _described(self) -> str:
        return f"xgboost.Booster, {self._objective}"


def accepts(obj: Any) -> bool:
    """Whether an object is a native booster, told without importing the library."""
    kind = type(obj)
    return kind.__name__ == "Booster" and kind.__module__.startswith("xgboost.")


adapt = XgboostClassifier
_OF_NODES: Final = (
    "left_children",
    "right_children",
    "parents",
    "split_indices",
    "split_conditions",
    "split_type",
    "default_left",
    "base_weights",
    "loss_changes",
    "sum_hessian",
)


def adapt_file(path: Path, **options: Any) -> XgboostClassifier:
    """The booster in a file, written anew from what was checked.

    The library's own reader trusts lengths and positions, and reads outside its memory where they
    are wrong: it never sees the bytes of a file that somebody sent.
    """
    xgboost = require("xgboost", "xgboost", "An XGBoost model file")
    if path.stat().st_size > _MOST_BYTES:
        raise ModelError("An XGBoost file must not exceed 1 GiB.", got=f"{path.stat().st_size}")
    content = path.read_bytes()  # once: what is checked is what is loaded
    if content[:1] != b"{":
        raise ModelError(
            "An XGBoost file must be of booster.save_model('model.ubj') or 'model.json'.",
            got=f"{path.name!r}, which does not begin with an object",
        )
    booster = xgboost.Booster()
    try:
        model = json.loads(content) if _is_text(content) else ubjson.loads(content)
        check_booster(model, path.name)
        booster.load_model(bytearray(json.dumps(model, allow_nan=False).encode()))
        return XgboostClassifier(booster, **options)
    except FireassayError:
        raise
    except Exception as failure:
        raise ModelError(
            "The XGBoost file must be readable with the library installed here.",
            got=f"{path.name!r}: {type(failure).__name__}: {str(failure).splitlines()[0]}"[:300],
        ) from failure


def _is_text(content: bytes) -> bool:
    """JSON goes on with a name in quotes, the binary form with the type of a length."""
    return content[1:].lstrip()[:1] in (b'"', b"}")


def check_booster(model: dict[str, Any], name: str) -> None:
    """Refuse trees that point outside themselves; the library does not look."""
    learner = model["learner"]
    booster = learner["gradient_booster"]
    booster = booster.get("gbtree", booster)  # of dart the trees lie one level deeper
    if "trees" not in booster.get("model", {}):
        raise ModelError("An XGBoost file must hold trees.", got=f"{booster.get('name')!r}")
    n_features = int(learner["learner_model_param"]["num_feature"])
    n_classes = max(1, int(learner["learner_model_param"]["num_class"]))
    groups = np.asarray(booster["model"]["tree_info"], dtype=np.int64)
    trees = booster["model"]["trees"]
    if len(groups) != len(trees) or ((groups < 0) | (groups >= n_classes)).any():
        raise ModelError(f"{name} must give each tree its class.", got="others")
    for number, tree in enumerate(trees):
        where = f"Tree {number} of {name}"
        _check_lengths(tree, where)
        links = tree["left_children"], tree["right_children"]
        check_tree(*links, tree["split_indices"], n_features, None, where)
        check_pieces(
            tree["categories_segments"], tree["categories_sizes"], len(tree["categories"]), where
        )


def _check_lengths(tree: dict[str, Any], where: str) -> None:
    """Every array of nodes must have the length that the tree declares."""
    nodes = int(tree["tree_param"]["num_nodes"])
    features = int(tree["tree_param"]["num_feature"])
    lengths = {len(tree[name]) for name in _OF_NODES}
    if nodes < 1 or lengths != {nodes} or int(tree["tree_param"].get("size_leaf_vector", 1)) > 1:
        raise ModelError(f"{where} must have {nodes} nodes.", got=f"arrays of {sorted(lengths)}")
    whole = ("parents", "categories_nodes", "categories")
    ranges = {"parents": 2**31, "categories_nodes": nodes, "categories": 2**24}
    for name in whole:
        values = np.asarray(tree[name], dtype=np.int64)
        if ((values < 0) | (values >= ranges[name])).any():
            raise ModelError(f"{where} must keep its {name}.", got="numbers out of range")
    pieces = {len(tree[n]) for n in ("categories_nodes", "categories_segments", "categories_sizes")}
    if len(pieces) != 1 or features < 0:
        raise ModelError(f"{where} must keep its categories.", got=f"arrays of {sorted(pieces)}")
