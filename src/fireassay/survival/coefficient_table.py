"""Coefficients with errors, intervals and which way they point."""

from __future__ import annotations

import numpy as np

from fireassay.core.arrays import AnyArray
from fireassay.core.lazy_modules import pd, stats
from fireassay.statistics.simultaneous import largest_z
from fireassay.survival.group_variance import GroupVariance


def coefficient_table(
    names: tuple[str, ...],
    transform: AnyArray,
    theta: AnyArray,
    covariance: AnyArray,
    robust: GroupVariance | None,
    confidence: float,
    *,
    positive: str,
) -> pd.DataFrame:
    """One row per covariate; ``transform`` turns the fitted parameters into raw coefficients.

    Intervals and p use the robust error and its t where there is one, else the normal.
    ``simultaneous_low`` and ``simultaneous_high`` hold for all covariates at once (the intercept
    apart), so that any of them may be picked out because it is clear of zero.
    """
    negative = "shorter" if positive == "longer" else "longer"
    coef = np.array([float(contrast @ theta) for contrast in transform])
    se = np.array([np.sqrt(max(c @ covariance @ c, 0.0)) for c in transform], dtype=np.float64)
    cluster_se, freedom = np.full(len(names), np.nan), np.full(len(names), np.inf)
    if robust is not None:
        cluster_se = np.array([robust.standard_error(contrast) for contrast in transform])
        freedom = np.array([robust.degrees_of_freedom(contrast) for contrast in transform])
    error = se if robust is None else cluster_se
    reach = stats.t.ppf(0.5 + confidence / 2.0, freedom) * error
    ratio = np.divide(np.abs(coef), error, out=np.full(len(names), np.inf), where=error > 0)
    rises = positive == "longer"
    table = pd.DataFrame(
        {
            "coef": coef,
            "se": se,
            "cluster_se": cluster_se,
            "low": coef - reach,
            "high": coef + reach,
            "p": 2.0 * stats.t.sf(ratio, freedom),
            "df": freedom,
            "time_ratio": np.exp(np.clip(coef, -700, 700)) if rises else np.nan,
            "effect": [positive if c > 0 else negative if c < 0 else "none" for c in coef],
        },
        index=pd.Index(names, name="covariate"),
    )
    slopes = np.array([name != "Intercept" for name in names])
    errors = table["se" if robust is None else "cluster_se"].to_numpy()
    contrasts = transform[slopes & np.isfinite(errors) & (errors > 0)]
    width = 0.0
    if len(contrasts):
        spread = covariance if robust is None else robust.covariance
        fewest = float(table["df"][slopes & np.isfinite(errors)].min())
        width = largest_z(contrasts @ spread @ contrasts.T, confidence, fewest)
    with np.errstate(invalid="ignore"):
        reaches = np.maximum(table["coef"] - table["low"], np.where(slopes, width, 0.0) * errors)
    table.insert(6, "simultaneous_low", table["coef"] - reaches)
    table.insert(7, "simultaneous_high", table["coef"] + reaches)
    return table
