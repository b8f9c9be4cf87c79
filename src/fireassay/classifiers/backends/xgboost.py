"""Native XGBoost boosters, and their files (.ubj, .json) if the user has trusted them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.classifiers.base import BaseClassifier
from fireassay.classifiers.declared import SUPPORTED, columns_of, flattened
from fireassay.core.arrays import is_frame
from fireassay.core.errors import DataError, ModelError
from fireassay.core.lazy import pd, require

# Objectives whose answer is the probability; of the others the margins are turned into it.
_PROBABILITIES: Final = ("binary:logistic", "reg:logistic", "multi:softprob")
_MARGINS: Final = ("binary:logitraw", "multi:softmax")


class XgboostClassifier(BaseClassifier):
    """An ``xgboost.Booster`` for two or more classes, asked on one thread."""

    # Classes are 0 … k-1 unless named; frames may have holes, columns of names are refused.

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
        return flattened(super()._features(X), self.booster.num_features(), "booster")

    def _columns_of(self, objects: Any) -> Any:
        """The booster's columns as numbers, holes included."""
        names = self.booster.feature_names
        rows = objects
        if is_frame(objects) and names is not None:
            rows = columns_of(objects, names, "booster")
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


def adapt_file(path: Path, **options: Any) -> XgboostClassifier:
    """The booster in a file that the user has trusted."""
    xgboost = require("xgboost", "xgboost", "An XGBoost model file")
    try:
        booster = xgboost.Booster()
        booster.load_model(bytearray(path.read_bytes()))
    except Exception as failure:
        raise ModelError(
            "An XGBoost file must be of booster.save_model('model.ubj') or 'model.json'.",
            got=f"{path.name!r}: {type(failure).__name__}: {str(failure).splitlines()[0]}"[:300],
        ) from failure
    return XgboostClassifier(booster, **options)
