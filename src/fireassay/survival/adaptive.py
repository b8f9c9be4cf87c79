"""What an attacker who knows the defence attacks."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.classifiers import WrappedClassifier
from fireassay.survival.defences import DefendedClassifier, GaussOut

DRAWS = 101  # of a random answer; odd, so that there is always a majority
_SURE = 0.5  # standard deviations of a share of draws: two of three points at that limit pass


def adaptive(model: Any, draws: int = DRAWS) -> Any:
    """The classifier that an attacker who knows the defence attacks.

    Rounding is let through as it is (its gradient is taken straight through), noise on the answer
    is averaged out (`ExpectedClassifier`), a threshold is part of what counts as a failure.

    Parameters
    ----------
    model
        A classifier, defended or not.
    draws
        Of how many random answers most must be wrong in the end.

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
    gradients of the expectation. What counts as a failure is still up to the noisy model: its
    answer must be wrong more often than right. The attacker knows how often that is, and goes on
    until a majority of the last draws is likely to be wrong.

    Parameters
    ----------
    defended
        The model behind `GaussOut`.
    draws
        How often an answer is asked in the end.

    >>> from fireassay.survival.defences import defend
    >>> noisy = defend(lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), GaussOut(sigma=0.05))
    >>> ExpectedClassifier(noisy).predict_proba([[0.25]]).tolist()
    [[0.75, 0.25]]
    """

    def __init__(self, defended: DefendedClassifier, draws: int = DRAWS) -> None:
        super().__init__(defended.model)
        self.defended, self.draws = defended, draws

    def __new__(cls, defended: DefendedClassifier, draws: int = DRAWS) -> "ExpectedClassifier":  # noqa: ARG004
        """Of the kind that has what the model behind the noise has."""
        return super().__new__(cls, defended.model)

    def _identity(self) -> tuple[Any, ...]:
        return "expected", self.defended.sha256, self.draws

    def mostly_wrong(
        self, probabilities: NDArray[np.float64], goal: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Whether a noisy answer is wrong so often that a majority of the last draws will be."""
        chance = self.defended.defence.chance_wrong(probabilities, goal)  # type: ignore[attr-defined]
        return np.asarray(chance > 0.5 + _SURE / np.sqrt(self.draws))
