"""Whether gradients lead where they should: more steps and larger balls must not break less."""

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from fireassay.attacks import in_blocks, make
from fireassay.classifiers import GradientClassifier
from fireassay.engine import Executor

ROWS = 20
_STEPS, _MORE_STEPS, _LARGER = 5, 20, 2.0


@dataclass(frozen=True)
class GradientCheck:
    """Of ``rows`` samples, how many fell to a short attack, and what more effort did.

    Attributes
    ----------
    rows, fell
        How many were attacked with few steps, and how many of them fell.
    lost_with_steps, lost_with_size
        Of those that fell, how many stand against four times the steps, and against as many steps
        in a ball of twice the size.
    """

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
    """Attack the first rows three times; None for a model without gradients.

    Parameters
    ----------
    model, X, y
        As in every attack; rows that the model gets right.
    norm, eps
        The ball.
    seed
        Of the starts.
    executor
        Where the attacks run.

    >>> import numpy as np
    >>> from fireassay.attacks.line_model import line_model
    >>> model = line_model(0.5)
    >>> X, y = np.array([[0.45], [0.1]]), np.array([0, 0])
    >>> check_gradients(model, X, y, norm="linf", eps=0.1, seed=0)
    GradientCheck(rows=2, fell=1, lost_with_steps=0, lost_with_size=0)
    """
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
