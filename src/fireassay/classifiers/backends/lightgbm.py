"""Native LightGBM boosters, and their text files if the user has trusted them."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.classifiers.base import BaseClassifier
from fireassay.classifiers.declared import SUPPORTED, columns_of, flattened, readable
from fireassay.core.arrays import is_frame
from fireassay.core.errors import DataError, ModelError
from fireassay.core.lazy import pd, require

_CLASSIFIES: Final = ("binary", "multiclass", "multiclassova", "cross_entropy")


class LightgbmClassifier(BaseClassifier):
    """A ``lightgbm.Booster`` for two or more classes, asked on one thread."""

    # Classes are 0 … k-1 unless named; names in frames become the categories of the fit.

    takes_objects = True

    def __init__(self, booster: Any, *, batch_size: Any = "auto", **options: Any) -> None:
        # Each row walks down trees on its own, so that blocks would only cost time.
        super().__init__(batch_size=None if batch_size == "auto" else batch_size, **options)
        self.booster = booster
        head = booster.model_to_string(num_iteration=1).split("\nTree=")[0]
        header = dict(line.split("=", 1) for line in head.splitlines() if "=" in line)
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
        return flattened(super()._features(X), len(self._names), "booster")

    def _columns_of(self, objects: Any) -> Any:
        """The booster's columns, names as its categories."""
        if not is_frame(objects):
            raise DataError("A LightGBM model takes tables.", got="texts")
        rows = columns_of(objects, self._names, "booster").copy()
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
    """The booster in a file that the user has trusted."""
    lightgbm = require("lightgbm", "lightgbm", "A LightGBM model file")
    expected = "A .txt model must be a file of LightGBM's booster.save_model('model.txt')."
    with readable(expected, path.name, 300):
        booster = lightgbm.Booster(model_str=path.read_text(encoding="utf-8"))
    return LightgbmClassifier(booster, **options)
