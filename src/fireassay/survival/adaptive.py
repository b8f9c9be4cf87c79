"""What an attacker who knows the defence attacks."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.classifiers import WrappedClassifier
from fireassay.survival.defences import DefendedClassifier, GaussOut

_FIRM_DRAWS = 3  # an attack asks so many times as often as the last check


def adaptive(model: Any, draws: int = 5) -> Any:
    """The classifier that an attacker who knows the defence attacks.

    Rounding is let through as it is (its gradient is taken straight through), noise on the answer
    is averaged out (`ExpectedClassifier`), a threshold is part of what counts as a failure.

    Parameters
    ----------
    model
        A classifier, defended or not.
    draws
        How often a random answer is asked again before it counts.

    >>> from fireassay.survival.defences import defend
    >>> noisy = defend(lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), GaussOut(sigma=0.05))
    >>> adaptive(noisy).predict_proba([[0.25]]).tolist()
    [[0.75, 0.25]]
    """
    noisy = isinstance(model, DefendedClassifier) and isinstance(model.defence, GaussOut)
    return ExpectedClassifier(model, draws) if noisy else model


class ExpectedClassifier(WrappedClassifier):
    """What an attacker who knows of the noise on the answer attacks: the answer without it.

    The noise has mean zero, so this is the expectation over its draws, and gradients through it are
    gradients of the expectation. What counts as a failure is still up to the noisy model: an answer
    must stay wrong in two thirds of several draws. The attacker pays for none of them, so survival
    is rather understated.

    Parameters
    ----------
    defended
        The model behind `GaussOut`.
    draws
        How often a wrong answer is asked again.

    >>> from fireassay.survival.defences import defend
    >>> noisy = defend(lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), GaussOut(sigma=0.05))
    >>> ExpectedClassifier(noisy).predict_proba([[0.25]]).tolist()
    [[0.75, 0.25]]
    """

    def __init__(self, defended: DefendedClassifier, draws: int = 5) -> None:
        super().__init__(defended.model)
        self.defended, self.draws = defended, draws

    def __new__(cls, defended: DefendedClassifier, draws: int = 5) -> "ExpectedClassifier":  # noqa: ARG004
        """Of the kind that has what the model behind the noise has."""
        return super().__new__(cls, defended.model)

    def _identity(self) -> tuple[Any, ...]:
        return "expected", self.defended.sha256, self.draws

    def stays_wrong(self, X: ArrayLike, goal: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether most answers of the noisy model are wrong, over draws of their own."""
        count = _FIRM_DRAWS * self.draws
        return self.defended.wrong_share(X, goal, first=1 + self.draws, count=count) >= 2 / 3
