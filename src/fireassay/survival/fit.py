"""Fit a survival model to observations: one call for every family."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fireassay.core.arrays import IntArray
from fireassay.core.errors import (
    AssumptionWarning,
    ConvergenceWarning,
    DataError,
    NotEnoughEvidenceError,
)
from fireassay.core.threads import one_blas_thread
from fireassay.core.validation import check_choice, check_integer, check_real
from fireassay.survival.cox_fit import CoxFit, cox_fit
from fireassay.survival.design_matrix import DesignMatrix, design_matrix
from fireassay.survival.families import FAMILIES
from fireassay.survival.fit_numbers import Correction
from fireassay.survival.fitted import AftFit, FitRequest, aft_fit
from fireassay.survival.rows import as_frame, group_codes
from fireassay.survival.times import Times, check_events, read_times


def fit(
    obs: Any,
    family: str = "weibull",
    covariates: Sequence[str] = (),
    groups: str | None = None,
    *,
    ridge: float = 0.0,
    confidence: float = 0.95,
    reference: Mapping[str, Any] | None = None,
    correction: Correction = "cr3",
    min_events_per_covariate: int = 10,
) -> AftFit | CoxFit:
    """Fit time to failure on covariates by maximum likelihood.

    Args:
        obs: Observations: columns ``lower`` and ``upper`` (infinite: right-censored, equal: exact)
            or ``duration`` and ``event``, and the covariates.
        family: A name of `FAMILIES`: ``"exponential"``, ``"weibull"``, ``"lognormal"``,
            ``"loglogistic"``, ``"gengamma"`` or ``"cox"``.
        covariates: Columns to explain the time with; text columns are compared with a reference
            level.
        groups: Column that says which rows are not independent, e.g. ``"model_id"``; intervals then
            use the robust error and Satterthwaite's t.
        ridge: Penalty n·ridge/2·Σβ² on the slopes of standardised covariates, >= 0.
        correction: ``"cr3"`` (jackknife over groups), ``"cr2"``, or ``"cr0"`` (the plain sandwich).
        min_events_per_covariate: Refuse to fit with fewer failures per covariate.
        confidence: Of all intervals, in (0, 1).
        reference: Level that a text column is compared with, ``{"attack": "pgd"}``; by default the
            first in sorted order.

    Raises:
        NotEnoughEvidenceError: If too few rows failed, or groups cannot carry the covariates.
        DataError: For unusable times, constant or collinear covariates, or failures without spread.

    Warns:
        AssumptionWarning: On separation (a level in which nothing, or only everything, fails) and
            on covariates of models with fewer than ten models each.
        ConvergenceWarning: If Newton's method did not arrive.

    In an accelerated failure time model log T = x'β + σW: a positive coefficient means *longer*
    survival, and exp(β) is the ratio of times. In Cox's model positive means *shorter*.

    >>> import pandas as pd
    >>> rows = pd.DataFrame({"duration": [1, 2, 3, 6, 2, 4, 6, 12] * 5, "event": 1,
    ...     "deep": ([0] * 4 + [1] * 4) * 5})
    >>> round(float(fit(rows, "weibull", ["deep"]).coefficients.at["deep", "time_ratio"]), 6)
    2.0
    """
    FAMILIES[family]  # a name that is not in the table is refused
    ridge = check_real(ridge, "ridge", low=0.0, inclusive="low")
    confidence = check_real(confidence, "confidence", low=0.0, high=1.0)
    check_choice(correction, "correction", ("cr3", "cr2", "cr0"))
    check_integer(min_events_per_covariate, "min_events_per_covariate", low=1)
    frame = as_frame(obs)
    times = read_times(frame)
    check_events(times, at_least=2, purpose="A survival fit")
    _check_spread(times)
    with one_blas_thread():
        design = design_matrix(frame, covariates, reference=reference)
    check_events(
        times,
        at_least=min_events_per_covariate * len(design.encoding.columns),
        purpose=f"A fit with {len(design.encoding.columns)} covariate(s)",
        do=f"Use fewer covariates ({min_events_per_covariate} failures each), or observe more.",
    )
    codes = group_codes(frame, groups)
    notes = (*_separation(times, design), *_group_level(design, codes, groups))
    for note in notes:
        warnings.warn(note, AssumptionWarning, stacklevel=2)
    request = FitRequest(family, frame, times, design.encoding, groups, ridge, confidence, notes)
    fitting = cox_fit if family == "cox" else aft_fit
    fitted = fitting(request, design, codes, correction)
    if not fitted.converged:
        warnings.warn(
            f"The {family} fit did not converge: its numbers are not maximum-likelihood estimates. "
            "Use fewer covariates, a small ridge, or another family.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return fitted


def _check_spread(times: Times) -> None:
    failed = times.failed
    exact = times.exact[failed].all()
    if exact and np.ptp(times.upper[failed]) == 0 and times.latest <= times.upper[failed][0]:
        raise DataError(
            "Times of failure must differ.",
            got=f"{times.n_events} failures, all at time {times.upper[failed][0]:g}",
            do="If failures were only looked for at that time, give lower=0 and upper=that time.",
        )


def _separation(times: Times, design: DesignMatrix) -> list[str]:
    """A level in which no row failed cannot be fitted: its coefficient runs off to infinity."""
    notes = []
    failed = times.failed
    for column, values in zip(design.encoding.columns, design.raw, strict=True):
        levels = np.unique(values) if values.dtype.kind == "b" else np.unique(values[:1000])
        if len(levels) > 2 or (len(levels) == 2 and not np.isin(values, levels).all()):
            continue
        for level in levels:
            here = values == level
            if here.any() and not failed[here].any():
                label = column.name if column.level else f"{column.name} = {level:g}"
                notes.append(
                    f"Separation: none of the {int(here.sum())} rows with {label}"
                    f"{'' if not column.level or level else ' = no'} failed, so its coefficient "
                    "has no finite estimate; read it as 'longer than the budget can show'."
                )
    return notes


def _group_level(design: DesignMatrix, codes: IntArray | None, groups: str | None) -> list[str]:
    """Covariates that are constant within every group are estimated between groups only."""
    if codes is None:
        return []
    count = int(codes.max()) + 1
    first = np.zeros(count, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    between = [
        column.name
        for column, values in zip(design.encoding.columns, design.raw, strict=True)
        if (values == values[first[codes]]).all()
    ]
    if between and count < len(between) + 2:
        raise NotEnoughEvidenceError(
            f"{len(between)} covariate(s) of '{groups}' need at least {len(between) + 2} of it.",
            got=f"{count}: {', '.join(between)} cannot be told from chance between them",
            do="Train and observe more models; more samples of the same models do not help.",
        )
    if between and count < 10 * len(between):
        note = (
            f"Only {count} groups ('{groups}') for {len(between)} covariate(s) that vary "
            f"between them ({', '.join(between)}); ten each are advised. Intervals allow for it "
            "and are wide."
        )
        return [note]
    return []
