"""Which pairs of classes to generate for, and which class each column of a model stands for."""

import warnings
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from fireassay.classifiers import Classifier
from fireassay.core.arrays import AnyArray, IntArray
from fireassay.core.errors import (
    AssumptionWarning,
    DataError,
    NotEnoughEvidenceError,
    ParameterError,
)

Pair = tuple[int, int]


def choose_pairs(
    pairs: str | Sequence[Any],
    classes: Sequence[Any],
    model: Classifier | None,
    X: AnyArray,
    y_index: IntArray,
) -> list[Pair]:
    """Pairs as class positions, the lower first."""
    if isinstance(pairs, str):
        if pairs == "all":
            return list(combinations(range(len(classes)), 2))
        if pairs == "confused":
            return _confused(model, classes, X, y_index)
        raise ParameterError(
            "The 'pairs' parameter must be 'all', 'confused' or a list of pairs of classes.",
            got=repr(pairs),
        )
    position = {label: i for i, label in enumerate(classes)}
    chosen = [_positions(pair, position) for pair in pairs]
    if not chosen:
        raise ParameterError("The 'pairs' parameter must name at least one pair.", got="none")
    if len(set(chosen)) < len(chosen):
        raise ParameterError("Each pair must be named once.", got=repr(list(pairs)))
    return chosen


def _positions(pair: Any, position: dict[Any, int]) -> Pair:
    if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
        raise ParameterError("A pair must be two class labels.", got=repr(pair))
    labels = [label.item() if isinstance(label, np.generic) else label for label in pair]
    unknown = [label for label in labels if label not in position]
    if unknown:
        raise ParameterError(
            f"Pairs must be of the classes in y ({', '.join(map(repr, position))}).",
            got=repr(unknown[0]),
        )
    first, second = sorted(position[label] for label in labels)
    if first == second:
        raise ParameterError("A pair must be of two different classes.", got=repr(pair))
    return first, second


def _confused(
    model: Classifier | None, classes: Sequence[Any], X: AnyArray, y_index: IntArray
) -> list[Pair]:
    if model is None:
        raise ParameterError(
            "pairs='confused' needs the model whose confusions are meant.",
            got="no model",
            do="Pass AmbiguityGenerator(pairs='confused', model=…).",
        )
    columns = model.predict_proba(X).argmax(axis=1)
    position = {label: i for i, label in enumerate(classes)}
    of_column = [position.get(label, -1) for label in column_classes(model.classes, classes)]
    predicted = np.asarray(of_column)[columns]
    known = predicted >= 0
    if not known.any():
        raise DataError(
            f"The model must know classes of y ({', '.join(map(repr, position))}).",
            got=f"{tuple(model.classes)[:12]!r}",
            do="Pass classes= to as_classifier in the model's column order.",
        )
    counts = np.zeros((len(classes), len(classes)), dtype=np.int64)
    np.add.at(counts, (y_index[known], predicted[known]), 1)
    both_ways = np.triu(counts + counts.T, k=1)
    order = np.argsort(-both_ways, axis=None, kind="stable")
    ranked = [(int(a), int(b)) for a, b in zip(*np.unravel_index(order, counts.shape), strict=True)]
    confused = [pair for pair in ranked if both_ways[pair] > 0]
    if not confused:
        raise NotEnoughEvidenceError(
            "pairs='confused' needs rows that the model gets wrong.",
            got=f"no confusion of two classes among {len(X)} rows",
            do="Pass more or other rows, or name the pairs.",
        )
    return confused


def column_classes(model_classes: Sequence[Any], classes: Sequence[Any]) -> tuple[Any, ...]:
    """The model's classes, or the data's sorted names where the model only has columns 0 … k-1."""
    known, own = tuple(model_classes), tuple(classes)
    if known != tuple(range(len(own))) or set(known) & set(own):
        return known
    warnings.warn(
        f"The model does not name its classes: its columns are taken to be "
        f"{', '.join(map(str, own[:12]))}{', …' if len(own) > 12 else ''}, in this order. "
        "Pass classes= to as_classifier to say so, or to say otherwise.",
        AssumptionWarning,
        stacklevel=3,
    )
    return own
