"""Accelerated failure time models by maximum likelihood (Newton's method)."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fireassay.core.arrays import AnyArray, IntArray
from fireassay.core.errors import DataError
from fireassay.core.threads import one_blas_thread
from fireassay.survival.design_matrix import DesignMatrix, every
from fireassay.survival.families import AftFamily, ErrorDistribution, aft_family
from fireassay.survival.likelihood import (
    Blocks,
    LogTimes,
    Totals,
    penalty,
    totals_at,
    value_at,
)
from fireassay.survival.times import Times


@dataclass(frozen=True)
class Maximum:
    """Where Newton stopped, and whether it had arrived."""

    theta: AnyArray
    value: float
    hessian: AnyArray
    converged: bool
    iterations: int


_TOLERANCE, _MOST_STEPS, _LARGEST_STEP = 1e-9, 100, 5.0


def maximise(
    derivatives: Callable[[AnyArray], Totals],
    value: Callable[[AnyArray], float],
    start: AnyArray,
    *,
    last_step: float = 0.0,
) -> Maximum:
    """Maximise by damped Newton steps from ``start`` until a full step would gain nothing."""
    # A step no longer than ``last_step`` after a full one is taken unseen: its error is of the
    # order of its square, that of the Hessian (the last one computed) of its length.
    theta = start.astype(np.float64)
    here, length = derivatives(theta), 0.0
    for iteration in range(1, _MOST_STEPS + 1):
        step = _ascent_step(here.gradient, here.hessian)
        longest = float(np.abs(step).max(initial=0.0))
        if longest > _LARGEST_STEP:
            step *= _LARGEST_STEP / longest
        gain = 0.5 * float(here.gradient @ step)
        if gain <= _TOLERANCE * (1e-3 + 1e-6 * abs(here.value)):
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
    return Maximum(theta, here.value, here.hessian, False, _MOST_STEPS)


def _rising_length(
    value: Callable[[AnyArray], float], theta: AnyArray, step: AnyArray, here: float, gain: float
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


# Below this standardised log time nothing has failed, to rounding.
_LOWEST = -37.0
_PANELS = 48
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(10)


def mean_time(law: ErrorDistribution, location: AnyArray, scale: float, horizon: float) -> AnyArray:
    """∫₀ʰ S(t) dt for rows with log-time location η and a common scale."""
    # With z the standardised log time: exp(η) ∫ σ exp(σz) S₀(z) dz, by Gauss-Legendre panels.
    unique, inverse = np.unique(location, return_inverse=True)
    if math.isinf(horizon):
        means = np.exp(unique) * law.mean_exponential(scale)
    else:
        means = np.array([_restricted(law, eta, scale, horizon) for eta in unique])
    return np.asarray(means[inverse.ravel()])


def _restricted(law: ErrorDistribution, eta: float, scale: float, horizon: float) -> float:
    end = (math.log(horizon) - eta) / scale
    if end <= _LOWEST:
        return horizon
    # Where the survival law has died out, a longer horizon adds nothing that counts.
    edges = np.linspace(_LOWEST, end, _PANELS + 1)
    half = 0.5 * (edges[1] - edges[0])
    z = (0.5 * (edges[:-1] + edges[1:])[:, None] + half * _NODES[None, :]).ravel()
    weights = np.tile(_WEIGHTS * half, _PANELS)
    logs = eta + scale * z + law.log_survival(z) + math.log(scale)
    before = math.exp(min(eta + scale * _LOWEST, 700.0))
    return before + float(weights @ np.exp(np.minimum(logs, 700.0)))


_ROWS_OF_A_START = 5000
_LAST_STEP = 3e-5  # its square, 1e-9, is what it leaves of the error


@dataclass(frozen=True)
class AftSolution:
    """Standardised β, log σ and shape, unpenalised log likelihood and penalised information."""

    theta: AnyArray
    log_likelihood: float
    information: AnyArray
    converged: bool
    iterations: int
    group_scores: AnyArray | None = None
    group_information: AnyArray | None = None


@one_blas_thread()
def solve_aft(
    family_name: str,
    times: Times,
    design: DesignMatrix,
    *,
    ridge: float = 0.0,
    groups: IntArray | None = None,
) -> AftSolution:
    """Fit one family."""
    family = aft_family(family_name)
    rows = _Rows(times, LogTimes.of(times), design.held_in_memory(), ridge)
    step = len(times) // _ROWS_OF_A_START
    if step < 2:
        best = rows.maximum(family)
    else:
        # The maximum of a thinned sample is within three steps of that of all rows.
        part = times.rows(slice(None, None, step))
        thinned = _Rows(part, LogTimes.of(part), every(design, step), ridge)
        start = thinned.maximum(family, last_step=0.01).theta
        best = rows.maximum(family, start, last_step=_LAST_STEP)
    width = len(design.names)
    if family.has_scale and best.theta[width] < -10.0:
        raise DataError(
            "Times must not be a function of the covariates: the fitted scale went to zero.",
            got="failures without any spread around the fit",
            do="Check for equal times, or for a covariate computed from the time.",
        )
    scores = group_information = None
    if groups is not None:
        final = totals_at(best.theta, family, rows.log_times, rows.blocks, ridge, groups)
        scores = final.group_gradients
        assert final.group_hessians is not None
        group_information = -final.group_hessians
    return AftSolution(
        best.theta,
        best.value + penalty(best.theta[:width], ridge, len(design)),
        -best.hessian,
        best.converged,
        best.iterations,
        scores,
        group_information,
    )


@dataclass(frozen=True)
class _Rows:
    """What a likelihood is computed from, whatever the family."""

    times: Times
    log_times: LogTimes
    blocks: Blocks
    ridge: float

    def maximum(
        self, family: AftFamily, start: AnyArray | None = None, last_step: float = 0.0
    ) -> Maximum:
        """The maximum of the penalised likelihood, found from a start or from least squares."""
        given = (family, self.log_times, self.blocks, self.ridge)
        return maximise(
            lambda theta: totals_at(theta, *given),
            lambda theta: value_at(theta, *given),
            self._start(family) if start is None else start,
            last_step=last_step,
        )

    def _start(self, family: AftFamily) -> AnyArray:
        """Least squares on log times; for the generalised gamma the better special case."""
        if family.has_shape:
            cases = [
                (self.maximum(aft_family(name)), shape)
                for name, shape in (("weibull", 1.0), ("lognormal", 0.0))
            ]
            reached, shape = max(cases, key=lambda case: case[0].value)
            return np.append(reached.theta, shape)
        beta, spread = _least_squares(self.times, self.blocks)
        if family.has_scale:
            return np.append(beta, np.log(max(family.scale_of_spread * spread, 1e-3)))
        return beta


def _least_squares(times: Times, blocks: Blocks) -> tuple[AnyArray, float]:
    lower = np.where(times.lower > 0, times.lower, times.upper / 2.0)
    middle = np.where(times.failed, 0.5 * (lower + np.where(times.failed, times.upper, 0)), lower)
    y = np.log(np.where(np.isfinite(middle) & (middle > 0), middle, 1.0))
    width = len(blocks.names)
    cross, target = np.zeros((width, width)), np.zeros(width)
    for rows, block in blocks.blocks():
        cross += block.T @ block
        target += block.T @ y[rows]
    beta = np.linalg.lstsq(cross, target, rcond=None)[0]
    squares = float(y @ y) - 2.0 * float(beta @ target) + float(beta @ cross @ beta)
    return beta, float(np.sqrt(max(squares, 0.0) / max(len(y) - width, 1)))
