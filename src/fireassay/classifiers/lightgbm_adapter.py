"""Native LightGBM boosters, and their text files; nothing in these can run code."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.classifiers.base import BaseClassifier
from fireassay.classifiers.booster_trees import check_pieces, check_tree
from fireassay.classifiers.declared import SUPPORTED
from fireassay.core.errors import DataError, FireassayError, ModelError
from fireassay.core.extras import require
from fireassay.core.frames import is_frame
from fireassay.core.lazy_modules import pd

_CLASSIFIES: Final = ("binary", "multiclass", "multiclassova", "cross_entropy")
_MOST_BYTES: Final = 2**30
HEAD: Final = b"tree\n"


class LightgbmClassifier(BaseClassifier):
    """A ``lightgbm.Booster`` for two or more classes, asked on one thread.

    Classes are 0 … k-1, as LightGBM numbers them, unless ``classes`` names them. Frames with names
    and holes are taken as they are: names become the categories that the booster was fitted on.
    """

    takes_objects = True

    def __init__(self, booster: Any, *, batch_size: Any = "auto", **options: Any) -> None:
        # Each row walks down trees on its own, so that blocks would only cost time.
        super().__init__(batch_size=None if batch_size == "auto" else batch_size, **options)
        self.booster = booster
        header = _header(booster.model_to_string(num_iteration=1))
        objective = header.get("objective", "").split(" ")[0]
        if objective not in _CLASSIFIES:
            raise ModelError(
                SUPPORTED,
                got=f"a LightGBM model with the objective {objective or 'of your own'!r}",
                do=f"Objectives that classify are {', '.join(_CLASSIFIES)}.",
            )
        if self.output != "probabilities":
            raise ModelError("A LightGBM model gives probabilities.", got=f"output={self.output!r}")
        if self._classes is None:
            self._classes = tuple(range(max(2, int(header["num_class"]))))
        self._names = list(booster.feature_name())

    def _features(self, X: ArrayLike) -> NDArray[Any]:
        if is_frame(X) and set(self._names) <= set(X.columns):
            X = X[self._names].to_numpy()
        array = super()._features(X)
        if array[0].size != len(self._names):
            raise DataError(
                f"The booster takes rows of {len(self._names)} features.",
                got=f"shape {array.shape}",
            )
        return array.reshape(len(array), -1)

    def _columns_of(self, objects: Any) -> Any:
        """The booster's columns, names as its categories."""
        if not is_frame(objects):
            raise DataError("A LightGBM model takes tables.", got="texts")
        missing = [name for name in self._names if name not in objects.columns]
        if missing:
            raise DataError(
                f"The booster was fitted on the columns {self._names[:8]!r}.",
                got=f"a data frame without {missing[:8]!r}",
            )
        rows = objects[self._names].copy()
        named = [n for n in self._names if not pd.api.types.is_numeric_dtype(rows[n])]
        known = self.booster.pandas_categorical or []
        if len(named) != len(known):
            raise DataError(
                f"The booster was fitted on {len(known)} columns of categories.",
                got=f"{len(named)} columns of names: {', '.join(named[:8])}",
            )
        for name, categories in zip(named, known, strict=True):
            rows[name] = pd.Categorical(rows[name], categories=categories)
        return rows

    def _raw(self, block: Any) -> Any:
        if self.booster.pandas_categorical and not is_frame(block):
            raise DataError(
                "A booster that was fitted on categories must get a table with their names.",
                got="numbers",
            )
        return np.asarray(self.booster.predict(block, num_threads=1), dtype=np.float64)

    def _content_hash(self) -> str:
        return hashlib.sha256(self.booster.model_to_string().encode()).hexdigest()

    def _described(self) -> str:
        return f"lightgbm.Booster, {self.booster.num_trees()} trees"


def accepts(obj: Any) -> bool:
    """Whether an object is a native booster, told without importing the library."""
    kind = type(obj)
    return kind.__name__ == "Booster" and kind.__module__.startswith("lightgbm.")


adapt = LightgbmClassifier


def adapt_file(path: Path, **options: Any) -> LightgbmClassifier:
    """The booster in a text file, after a look at its trees."""
    lightgbm = require("lightgbm", "lightgbm", "A LightGBM model file")
    if path.stat().st_size > _MOST_BYTES:
        raise ModelError("A LightGBM file must not exceed 1 GiB.", got=f"{path.stat().st_size}")
    content = path.read_bytes()  # once: what is checked is what is loaded
    if not content.replace(b"\r\n", b"\n").startswith(HEAD):
        raise ModelError(
            "A .txt model must be a file of LightGBM's booster.save_model('model.txt').",
            got=f"{path.name!r}, which does not begin with 'tree'",
        )
    try:
        text = content.decode("utf-8")
        check_model_text(text, path.name)
        return LightgbmClassifier(lightgbm.Booster(model_str=text), **options)
    except FireassayError:
        raise
    except Exception as failure:
        raise ModelError(
            "The LightGBM file must be readable with the library installed here.",
            got=f"{path.name!r}: {type(failure).__name__}: {failure}"[:300],
        ) from failure


def check_model_text(text: str, name: str) -> None:
    """Refuse trees that point outside themselves; the library does not look."""
    head, *trees = text.split("\nTree=")
    header = _header(head)
    n_features = int(header["max_feature_idx"]) + 1
    if int(header["num_class"]) < 1 or int(header["num_tree_per_iteration"]) < 1 or not trees:
        raise ModelError(f"{name} must hold trees for its classes.", got=f"{len(trees)} trees")
    if not 1 <= n_features <= 10_000_000 or len(header["feature_names"].split()) != n_features:
        raise ModelError(f"{name} must name its {n_features} columns.", got="others")
    for number, tree in enumerate(trees):
        _check(_header(tree.split("\n\n")[0]), n_features, f"Tree {number} of {name}")


def _check(tree: dict[str, str], n_features: int, where: str) -> None:
    leaves, sets = int(tree["num_leaves"]), int(tree.get("num_cat", "0"))
    counts = [len(tree.get(key, "").split()) for key in ("leaf_value", "threshold")]
    wanted = [leaves, leaves - 1]
    if leaves < 1 or (counts != wanted and not (leaves == 1 and counts[0] == 1)):
        raise ModelError(f"{where} must have {leaves} leaves.", got=f"{counts[0]} values")
    if leaves == 1:
        return
    split = _integers(tree["split_feature"])
    left, right = _integers(tree["left_child"]), _integers(tree["right_child"])
    kinds = _integers(tree["decision_type"])
    if not len(split) == len(left) == len(kinds) == leaves - 1:
        raise ModelError(f"{where} must have {leaves - 1} inner nodes.", got=f"{len(left)}")
    check_tree(left, right, split, n_features, leaves, where)
    if sets:
        bounds = _integers(tree["cat_boundaries"])
        total = len(tree["cat_threshold"].split())
        check_pieces(bounds[:-1], np.diff(bounds), total, where)
        chosen = np.array(tree["threshold"].split(), dtype=np.float64)[(kinds & 1) == 1]
        if len(bounds) != sets + 1 or ((chosen < 0) | (chosen >= sets)).any():
            raise ModelError(f"{where} must keep its categories.", got="a set that is not there")
    elif (kinds & 1).any():
        raise ModelError(f"{where} must keep its categories.", got="none")


def _integers(text: str) -> NDArray[np.int64]:
    return np.array(text.split(), dtype=np.int64)


def _header(text: str) -> dict[str, str]:
    """Lines ``key=value`` of the text format."""
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
