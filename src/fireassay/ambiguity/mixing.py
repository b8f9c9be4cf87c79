"""Nominal rows and ambiguous ones together, to train a model that has seen ambiguity."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.ambiguity.ambiguous_set import AmbiguousSet
from fireassay.core.errors import DataError
from fireassay.core.seeds import generator
from fireassay.core.validation import check_class_indices, check_features


@dataclass(frozen=True, eq=False)
class MixedSet:
    """Shuffled training rows.

    Attributes
    ----------
    X
        Nominal and ambiguous inputs.
    y
        One label per row: the given one, or the one drawn from the soft label.
    soft_labels
        Class probabilities ``(n, k)``; one-hot for nominal rows.
    is_ambiguous
        Which rows are ambiguous.
    """

    X: NDArray[Any]
    y: NDArray[Any]
    soft_labels: NDArray[np.float64]
    is_ambiguous: NDArray[np.bool_]

    def __str__(self) -> str:
        return f"{len(self.X)} training rows, {int(self.is_ambiguous.sum())} of them ambiguous"


def mix(X: ArrayLike, y: ArrayLike, amb: AmbiguousSet, seed: int = 0) -> MixedSet:
    """Mix nominal training rows with an ambiguous set (drawn with ``split="train"``).

    Models trained on the mixture know ambiguous inputs, so that what is left of their uncertainty
    comes from the ambiguity, not from novelty (the paper's "mixed-ambiguous" training).

    Parameters
    ----------
    X, y
        Nominal training rows and their labels.
    amb
        The ambiguous set.
    seed
        Of the order of the rows.

    Raises
    ------
    DataError
        If the shapes differ, or y has a class that the set does not know.

    >>> import numpy as np
    >>> from fireassay.data import digits
    >>> from fireassay.ambiguity import AmbiguityGenerator
    >>> data = digits()
    >>> amb = AmbiguityGenerator([(4, 9)], tries=2).fit(data.X, data.y).sample(50, split="train")
    >>> mix(data.X, data.y, amb).X.shape
    (1847, 8, 8)
    """
    nominal = check_features(X)
    if nominal.shape[1:] != amb.X.shape[1:]:
        raise DataError(
            f"X must have rows of shape {amb.X.shape[1:]}, like the ambiguous set.",
            got=f"{nominal.shape[1:]}",
        )
    index = check_class_indices(y, amb.classes, n=len(nominal))
    one_hot = np.zeros((len(nominal), len(amb.classes)))
    one_hot[np.arange(len(nominal)), index] = 1.0
    order = generator(seed, "mix").permutation(len(nominal) + len(amb))
    labels = np.concatenate([np.asarray(amb.classes)[index], amb.labels])
    return MixedSet(
        X=np.concatenate([nominal, amb.X.astype(nominal.dtype)])[order],
        y=labels[order],
        soft_labels=np.concatenate([one_hot, amb.soft_labels])[order],
        is_ambiguous=order >= len(nominal),
    )
