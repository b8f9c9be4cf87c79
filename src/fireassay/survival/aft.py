"""Maximum likelihood for accelerated failure time families, by Newton's method."""

from dataclasses import dataclass

import numpy as np

from fireassay.core.arrays import AnyArray, IntArray
from fireassay.core.errors import DataError
from fireassay.core.threads import one_blas_thread
from fireassay.survival.design_matrix import DesignMatrix, every
from fireassay.survival.families import aft_family
from fireassay.survival.likelihood import (
    Blocks,
    LogTimes,
    penalty,
    totals_at,
    value_at,
)
from fireassay.survival.newton import Maximum, maximise
from fireassay.survival.times import Times

_ROWS_OF_A_START = 5000
_LAST_STEP = 3e-5  # its square, 1e-9, is what it leaves of the error


@dataclass(frozen=True)
class AftSolution:
    """Parameters on the standardised scale (β, log σ, shape) and their information.

    ``log_likelihood`` is unpenalised; ``information`` is that of the penalised likelihood.
    """

    theta: AnyArray
    log_likelihood: float
    information: AnyArray
    converged: bool
    iterations: int
    group_scores: AnyArray | None = None
    group_information: AnyArray | None = None


def solve_aft(
    family_name: str,
    times: Times,
    design: DesignMatrix,
    *,
    ridge: float = 0.0,
    groups: IntArray | None = None,
) -> AftSolution:
    """Fit one family.

    Raises
    ------
    DataError
        If the failures leave no spread: all at the same time, or fitted without error.
    """
    with one_blas_thread():
        return _solve(family_name, times, design, ridge, groups)


def _solve(
    family_name: str,
    times: Times,
    design: DesignMatrix,
    ridge: float,
    groups: IntArray | None,
) -> AftSolution:
    family = aft_family(family_name)
    blocks = design.held_in_memory()
    log_times = LogTimes.of(times)
    if len(times) >= 2 * _ROWS_OF_A_START:
        start = _near_start(family_name, times, design, ridge)
        best = _maximum(family_name, times, log_times, blocks, ridge, start, last_step=_LAST_STEP)
    else:
        best = _maximum(family_name, times, log_times, blocks, ridge)
    width = len(blocks.names)
    if family.has_scale and best.theta[width] < -10.0:
        raise DataError(
            "Times must not be a function of the covariates: the fitted scale went to zero.",
            got="failures without any spread around the fit",
            do="Check for equal times, or for a covariate computed from the time.",
        )
    scores = group_information = None
    if groups is not None:
        final = totals_at(best.theta, family, log_times, blocks, ridge, groups)
        scores = final.group_gradients
        assert final.group_hessians is not None
        group_information = -final.group_hessians
    return AftSolution(
        best.theta,
        best.value + penalty(best.theta[:width], ridge, len(blocks)),
        -best.hessian,
        best.converged,
        best.iterations,
        scores,
        group_information,
    )


def _near_start(family_name: str, times: Times, design: DesignMatrix, ridge: float) -> AnyArray:
    """The maximum of a thinned sample, which is within three steps of that of all rows."""
    step = len(times) // _ROWS_OF_A_START
    part, thinned = every(design, step), times.rows(slice(None, None, step))
    return _maximum(family_name, thinned, LogTimes.of(thinned), part, ridge, last_step=0.01).theta


def _maximum(
    family_name: str,
    times: Times,
    log_times: LogTimes,
    blocks: Blocks,
    ridge: float,
    start: AnyArray | None = None,
    last_step: float = 0.0,
) -> Maximum:
    family = aft_family(family_name)
    return maximise(
        lambda theta: totals_at(theta, family, log_times, blocks, ridge),
        lambda theta: value_at(theta, family, log_times, blocks, ridge),
        _start(family_name, times, log_times, blocks, ridge) if start is None else start,
        last_step=last_step,
    )


def _start(
    family_name: str, times: Times, log_times: LogTimes, blocks: Blocks, ridge: float
) -> AnyArray:
    """Least squares on log times; for the generalised gamma the better special case."""
    family = aft_family(family_name)
    if family.has_shape:
        cases = [
            (_maximum(name, times, log_times, blocks, ridge), shape)
            for name, shape in (("weibull", 1.0), ("lognormal", 0.0))
        ]
        reached, shape = max(cases, key=lambda case: case[0].value)
        return np.append(reached.theta, shape)
    beta, spread = _least_squares(times, blocks)
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
