"""Adaptive attackers, and a check for masked gradients."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.attacks import in_blocks, make
from fireassay.classifiers import GradientClassifier, WrappedClassifier
from fireassay.engine import Executor
from fireassay.survival.defences import DefendedClassifier, GaussOut

DRAWS = 101  # of a random answer; odd, so that there is always a majority
_SURE = 0.5  # standard deviations of a share of draws: two of three points at that limit pass


def adaptive(model: Any, draws: int = DRAWS) -> Any:
    """The classifier that an attacker who knows the defence attacks: noise averaged out."""
    noisy = isinstance(model, DefendedClassifier) and isinstance(model.defence, GaussOut)
    return ExpectedClassifier(model, draws) if noisy else model


class ExpectedClassifier(WrappedClassifier):
    """A noisy classifier as its attacker sees it: expected answers and their gradients."""

    # A failure is still up to the noisy model, whose answer must be wrong more often than right:
    # the attacker goes on until a majority of the last draws is likely to be wrong.

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


ROWS = 20
_STEPS, _MORE_STEPS, _LARGER = 5, 20, 2.0


@dataclass(frozen=True)
class GradientCheck:
    """Of ``rows`` samples, how many fell to a short attack, and what more effort did."""

    rows: int
    fell: int
    lost_with_steps: int
    lost_with_size: int

    @property
    def words(self) -> str:
        """The outcome as a sentence."""
        return (
            f"Of {self.fell} samples that fell to {_STEPS} gradient steps, "
            f"{self.lost_with_steps} stand against {_MORE_STEPS} steps and {self.lost_with_size} "
            f"against a ball of twice the size."
        )


def queries(rows: int) -> int:
    """Most gradient queries of the check, each with its forward query."""
    return min(rows, ROWS) * (2 * _STEPS + _MORE_STEPS)


def check_gradients(
    model: Any,
    X: NDArray[Any],
    y: NDArray[Any],
    *,
    norm: str,
    eps: float,
    seed: int,
    executor: Executor | None = None,
) -> GradientCheck | None:
    """Attack the first rows by PGD: few steps, more steps, larger ball; None without gradients."""
    if not isinstance(model, GradientClassifier):
        return None
    X, y = X[:ROWS], y[:ROWS]
    tried = {
        "few steps": make("pgd", norm=norm, eps=eps, steps=_STEPS),
        "more steps": make("pgd", norm=norm, eps=eps, steps=_MORE_STEPS),
        "larger": make("pgd", norm=norm, eps=_LARGER * eps, steps=_STEPS),
    }
    found = in_blocks(tried, model, X, y, seed=seed, executor=executor or Executor())
    fell = found["few steps"].success
    return GradientCheck(
        rows=len(X),
        fell=int(fell.sum()),
        lost_with_steps=int((fell & ~found["more steps"].success).sum()),
        lost_with_size=int((fell & ~found["larger"].success).sum()),
    )
