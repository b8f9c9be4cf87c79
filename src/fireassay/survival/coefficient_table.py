"""Coefficients with errors, intervals and which way they point."""

import numpy as np
import pandas as pd
from scipy import stats

from fireassay.core.arrays import AnyArray
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
    """
    negative = "shorter" if positive == "longer" else "longer"
    rows = []
    for contrast in transform:
        coef = float(contrast @ theta)
        se = float(np.sqrt(max(contrast @ covariance @ contrast, 0.0)))
        cluster_se, freedom = np.nan, np.inf
        if robust is not None:
            cluster_se = robust.standard_error(contrast)
            freedom = robust.degrees_of_freedom(contrast)
        error = se if robust is None else cluster_se
        reach = float(stats.t.ppf(0.5 + confidence / 2.0, freedom)) * error
        ratio = abs(coef) / error if error > 0 else np.inf
        rows.append(
            {
                "coef": coef,
                "se": se,
                "cluster_se": cluster_se,
                "low": coef - reach,
                "high": coef + reach,
                "p": 2.0 * float(stats.t.sf(ratio, freedom)),
                "df": freedom,
                "time_ratio": float(np.exp(np.clip(coef, -700, 700)))
                if positive == "longer"
                else np.nan,
                "effect": positive if coef > 0 else negative if coef < 0 else "none",
            }
        )
    return pd.DataFrame(rows, index=pd.Index(names, name="covariate"))
