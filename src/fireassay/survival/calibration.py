"""Do predicted failure probabilities come true? ICI, E50 and a binned error at a stated time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fireassay.core import Chart, Result
from fireassay.core.arrays import AnyArray
from fireassay.core.lazy import pd
from fireassay.survival.cox import solve_cox
from fireassay.survival.curves import estimate_curve
from fireassay.survival.times import Times

_KNOT_QUANTILES = (0.1, 0.5, 0.9)
_BINS = 10


@dataclass(frozen=True)
class FailureCalibration(Result):
    """Calibration of P(failed by ``time``).

    Attributes:
        ici, e50, e90: Mean, median and 90 % quantile of |predicted − smoothed observed| (Austin et
            al. 2020).
        binned_error: Mean |predicted − observed| over bins of equal size, weighted by size; unlike
            the ICI it fits nothing.
        extreme_share: Share of predictions below .01 or above .99, where the smoother has nothing
            to lean on.
        time: At which the failures are counted.
        predicted, observed: Of each row: the predicted and the smoothed observed probability.
        bins: What `frame` returns.

    >>> from fireassay.survival import fit
    >>> rng = np.random.default_rng(0)
    >>> deep = np.repeat([0, 1], 500)
    >>> rows = pd.DataFrame({"duration": rng.exponential(1.0 + deep), "event": 1, "deep": deep})
    >>> found = fit(rows, "exponential", ["deep"]).calibration(rows, 1.0)
    >>> found.binned_error < 0.05  # the right family
    True
    """

    time: float
    ici: float
    e50: float
    e90: float
    binned_error: float
    extreme_share: float
    predicted: AnyArray
    observed: AnyArray
    bins: pd.DataFrame

    def summary(self) -> str:
        """The errors in one line."""
        return (
            f"P(failed by {self.time:g}): mean error {self.ici:.3f} (ICI), median {self.e50:.3f}, "
            f"binned {self.binned_error:.3f}"
        )

    def frame(self) -> pd.DataFrame:
        """One row per bin: n, predicted, observed."""
        return self.bins

    def charts(self) -> dict[str, Chart]:
        """The calibration curve with the bins."""
        from fireassay.survival.charts import calibration_chart

        return {"calibration": calibration_chart(self)}


def calibrate(times: Times, predicted: AnyArray, time: float) -> FailureCalibration:
    """Compare predicted failure probabilities at ``time`` with what was observed."""
    # Observed, smoothed: a Cox model on a restricted cubic spline of log(−log(1 − predicted));
    # constant predictions are compared with the plain curve.
    observed = _smoothed(times, predicted, time)
    error = np.abs(predicted - observed)
    bins = _bins(times, predicted, time)
    weights = bins["n"] / bins["n"].sum()
    return FailureCalibration(
        float(time),
        float(error.mean()),
        float(np.median(error)),
        float(np.quantile(error, 0.9)),
        float((weights * (bins["predicted"] - bins["observed"]).abs()).sum()),
        float(((predicted < 0.01) | (predicted > 0.99)).mean()),
        predicted,
        observed,
        bins,
    )


def _smoothed(times: Times, predicted: AnyArray, time: float) -> AnyArray:
    inside = np.clip(predicted, 1e-12, 1.0 - 1e-12)
    loglog = np.log(-np.log1p(-inside))
    basis = restricted_cubic_spline(loglog)
    spread = basis.std(axis=0) if basis.size else np.zeros(0)
    basis = basis[:, spread > 1e-9]
    if basis.shape[1] == 0 or times.n_events < 2:
        curve = estimate_curve(times)
        return np.full(len(predicted), 1.0 - float(curve.at(time)))
    basis = (basis - basis.mean(axis=0)) / basis.std(axis=0)
    fitted = solve_cox(times, basis, ridge=1e-6)
    k = int(np.searchsorted(fitted.baseline_times, time, side="right"))
    if k == 0:
        return np.zeros(len(predicted))
    with np.errstate(over="ignore"):
        hazard = fitted.baseline_hazard[k - 1] * np.exp(basis @ fitted.beta)
    return np.asarray(-np.expm1(-hazard))


def restricted_cubic_spline(values: AnyArray) -> AnyArray:
    """Linear and cubic columns that are straight beyond the outer knots (Harrell)."""
    knots = np.unique(np.quantile(values, _KNOT_QUANTILES))
    if len(knots) < 3:
        return values[:, None]
    low, middle, high = knots
    scale = (high - low) ** 2

    def cube(knot: float) -> AnyArray:
        return np.maximum(values - knot, 0.0) ** 3

    bend = (
        cube(low)
        - cube(middle) * (high - low) / (high - middle)
        + cube(high) * (middle - low) / (high - middle)
    )
    return np.column_stack([values, bend / scale])


def _bins(times: Times, predicted: AnyArray, time: float) -> pd.DataFrame:
    order = np.argsort(predicted, kind="stable")
    rows = []
    for part in np.array_split(order, min(_BINS, len(order))):
        observed = 1.0 - float(estimate_curve(times.rows(part)).at(time))
        rows.append((len(part), float(predicted[part].mean()), observed))
    names = pd.RangeIndex(1, len(rows) + 1, name="bin")
    return pd.DataFrame(rows, index=names, columns=["n", "predicted", "observed"])
