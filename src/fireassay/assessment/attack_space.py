"""Where attacks move: the declared bounds, or each column on the scale of its own spread."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.assessment.context import Context
from fireassay.attacks import AttackSpace, SpacedClassifier
from fireassay.attacks.clip_range import check_clip_range
from fireassay.classifiers import Classifier


def attack_space(
    context: Context, columns: Mapping[str, Any] | None = None, eps: float | None = None
) -> tuple[Classifier, AttackSpace]:
    """The model as attacks see it, and the space of its rows.

    With declared bounds nothing is scaled. Without, tables get the spread of each column, images
    one range for all pixels; columns without a range and one-hot codes stay as they are.
    ``columns`` are the user's rules, ``eps`` the size of the attack that they are for.
    """
    X, bounds = context.test.X, context.model.bounds
    if bounds is not None:
        check_clip_range(X, bounds)
    space = AttackSpace.of(
        X,
        columns,
        names=context.test.feature_names,
        bounds=bounds,
        moving=_numbers(context),
        eps=eps or 0.1,
    )
    return (context.model if space.plain else SpacedClassifier(context.model, space)), space


def _numbers(context: Context) -> NDArray[np.bool_] | None:
    """True for columns of numbers, False for one-hot codes; None if nothing is encoded."""
    encoder = context.test.encoder
    if encoder is None or all(categories is None for categories in encoder.categories):
        return None
    flags: list[bool] = []
    for categories in encoder.categories:
        flags += [True] if categories is None else [False] * len(categories)
    return np.array(flags)
