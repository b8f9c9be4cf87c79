"""Newton's method for a smooth log-likelihood: damped, with a line search."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fireassay.core.arrays import AnyArray


class Derivatives(Protocol):
    """A value with gradient and Hessian."""

    @property
    def value(self) -> float:
        """The function."""
        ...

    @property
    def gradient(self) -> AnyArray:
        """Its first derivatives."""
        ...

    @property
    def hessian(self) -> AnyArray:
        """Its second derivatives."""
        ...


@dataclass(frozen=True)
class Maximum:
    """Where Newton stopped, and whether it had arrived."""

    theta: AnyArray
    value: float
    hessian: AnyArray
    converged: bool
    iterations: int


def maximise(
    derivatives: Callable[[AnyArray], Derivatives],
    value: Callable[[AnyArray], float],
    start: AnyArray,
    *,
    tolerance: float = 1e-9,
    max_iterations: int = 100,
    largest_step: float = 5.0,
    last_step: float = 0.0,
) -> Maximum:
    """Maximise from ``start``; stops when the expected gain of a full step is negligible.

    The Hessian is made negative definite by damping where it is not; a step is halved until the
    value rises. A step no longer than ``last_step`` after a full one is taken without looking at
    where it leads: the error it leaves is of the order of its square, that of the Hessian, which
    stays the last one computed, of its length.
    """
    theta = start.astype(np.float64)
    here, length = derivatives(theta), 0.0
    for iteration in range(1, max_iterations + 1):
        step = _ascent_step(here.gradient, here.hessian)
        longest = float(np.abs(step).max(initial=0.0))
        if longest > largest_step:
            step *= largest_step / longest
        gain = 0.5 * float(here.gradient @ step)
        if gain <= tolerance * (1e-3 + 1e-6 * abs(here.value)):
            return Maximum(theta, here.value, here.hessian, True, iteration - 1)
        if longest <= last_step and length == 1.0:
            return Maximum(theta + step, here.value + gain, here.hessian, True, iteration)
        there = derivatives(theta + step)
        length = 1.0
        if not there.value >= here.value + 1e-4 * gain:
            length = _rising_length(value, theta, step, here.value, gain)
            if length == 0.0:
                # No rise can be computed: at the maximum to rounding, or stuck.
                arrived = gain <= 1e-6 * (1.0 + abs(here.value))
                return Maximum(theta, here.value, here.hessian, arrived, iteration)
            there = derivatives(theta + length * step)
        theta, here = theta + length * step, there
    return Maximum(theta, here.value, here.hessian, False, max_iterations)


def _rising_length(
    value: Callable[[AnyArray], float],
    theta: AnyArray,
    step: AnyArray,
    here: float,
    gain: float,
) -> float:
    """The largest halved step length that raises the value, 0 if none does."""
    length = 0.5
    while length > 1e-10:
        if value(theta + length * step) >= here + 1e-4 * length * gain:
            return length
        length *= 0.5
    return 0.0


def _ascent_step(gradient: AnyArray, hessian: AnyArray) -> AnyArray:
    information = -hessian
    scale = np.sqrt(np.maximum(np.abs(np.diag(information)), 1e-12))
    normal = information / np.outer(scale, scale)
    damping = 0.0
    while True:
        try:
            factor = np.linalg.cholesky(normal + damping * np.eye(len(normal)))
        except np.linalg.LinAlgError:
            damping = max(10.0 * damping, 1e-6)
            continue
        inner = np.linalg.solve(factor, gradient / scale)
        return np.asarray(np.linalg.solve(factor.T, inner) / scale)
