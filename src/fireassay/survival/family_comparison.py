"""Families side by side on a training and a test part (the paper's Table I)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.core import Answer, Chart, Estimate, Evidence, Provenance, Table, generator
from fireassay.core.errors import (
    AssumptionWarning,
    ConvergenceWarning,
    DataError,
    FireassayError,
    NotEnoughEvidenceError,
)
from fireassay.core.lazy import pd
from fireassay.core.validation import check_real
from fireassay.survival.calibration import FailureCalibration
from fireassay.survival.families import FAMILIES
from fireassay.survival.fit import fit
from fireassay.survival.measures import MEASURES
from fireassay.survival.rows import as_frame, censored_times
from fireassay.survival.times import read_times

_NOT_COVARIATES = ("lower", "upper", "duration", "event", "sample", "success", "model_id")

_SCORED = ("concordance", "ici", "e50", "binned_error")
_SCORES = ("aic", "bic", *(f"{part}{name}" for name in _SCORED for part in ("", "test_")))

_AFTER_CHOOSING = (
    "Intervals after choosing a family on the same rows are too short (.87 to .95 of .95): "
    "fit the chosen family on other rows."
)


@dataclass(frozen=True)
class FamilyComparison(Answer):
    """Scores of each family.

    Attributes:
        table: Per family: aic, bic, concordance, test_concordance, ici, test_ici, e50, test_e50,
            binned_error, test_binned_error, converged, note. AIC and BIC of Cox's model are left
            out: a partial likelihood does not compare.
        calibration_time: t0 of ICI, E50 and the binned error: the median failure time of the
            training part.
        groups: Column whose groups were kept whole in the split, or None.
        n_train, n_test, censored_share: Rows of both parts, and the share of all rows that never
            failed.
        seed: Of the split.
        calibrations: Test-part calibration of each family.
    """

    table: pd.DataFrame
    calibration_time: float
    n_train: int
    n_test: int
    censored_share: float
    groups: str | None
    seed: int
    calibrations: dict[str, FailureCalibration]

    def frame(self) -> pd.DataFrame:
        """One row per family."""
        return self.table

    @property
    def best(self) -> str:
        """The family with the smallest AIC; fit it on other rows if its intervals shall hold."""
        return str(self.table["aic"].astype(float).idxmin())

    def charts(self) -> dict[str, Chart]:
        """Test-part calibration of every family."""
        from fireassay.survival.charts import calibration_chart

        return {
            f"calibration_{name}": calibration_chart(c) for name, c in self.calibrations.items()
        }

    def evidence(self) -> Evidence:
        """Test scores as estimates without interval, and whether anything was censored."""
        estimates = {
            f"test_concordance_{name}": Estimate.point(value, self.n_test, "Harrell")
            for name, value in self.table["test_concordance"].items()
            if np.isfinite(value)
        }
        return Evidence(
            question="survival",
            headline=f"Smallest AIC: {self.best}; test concordance "
            f"{float(self.table['test_concordance'].to_dict()[self.best]):.3f}",
            estimates=estimates,
            assumptions=(censored_times(self.censored_share),),
            measures=MEASURES,
            tables={"families": Table.from_frame(self.table, "Families compared")},
            limits=(_AFTER_CHOOSING,),
            provenance=Provenance(seed=self.seed),
        )


def compare(
    obs: Any,
    families: Sequence[str] = tuple(FAMILIES),
    test_share: float = 0.2,
    *,
    covariates: Sequence[str] | None = None,
    groups: str | None = "model_id",
    ridge: float = 0.0,
    seed: int = 0,
) -> FamilyComparison:
    """Fit several families to a training part and score them on both parts.

    Args:
        families: Names as in `fit`.
        test_share: Share of groups (of rows, without groups) kept for the test part, in (0, 1).
        covariates: Default: every column that is not a time, an id or constant.
        groups: Groups kept whole in the split, so that no model is in both parts; ignored where
            there is no such column.
        obs: `Observations`, or a table with times and covariates.
        ridge: Penalty of the coefficients, as in `fit`.
        seed: Of the split.

    >>> rng = np.random.default_rng(0)
    >>> rows = pd.DataFrame({"duration": rng.weibull(3.0, 300), "event": 1, "deep": [0, 1] * 150})
    >>> found = compare(rows, ["exponential", "weibull"])
    >>> found.best, found.n_train, found.n_test  # drawn from a Weibull with shape 3
    ('weibull', 240, 60)
    """
    frame = as_frame(obs)
    check_real(test_share, "test_share", low=0.0, high=1.0)
    if not families:
        raise DataError("Give at least one family.", got="none")
    if covariates is None:
        free = [name for name in frame.columns if name not in _NOT_COVARIATES]
        covariates = [str(name) for name in free if frame[name].nunique() > 1]
    kept_whole = groups if groups in frame.columns else None
    test = _test_rows(frame, kept_whole, test_share, seed)
    train_part, test_part = frame.iloc[~test], frame.iloc[test]
    train_times = read_times(train_part)
    read_times(test_part)
    if train_times.n_events == 0:
        raise NotEnoughEvidenceError("The training part needs failures.", got="all censored")
    at = float(np.median(train_times.upper[train_times.failed]))
    rows: dict[str, dict[str, Any]] = {}
    calibrations = {}
    for family in families:
        rows[family], calibration = _scores(family, train_part, test_part, covariates, ridge, at)
        if calibration is not None:
            calibrations[family] = calibration
    if not calibrations:
        raise NotEnoughEvidenceError(
            "At least one family must fit.", got="; ".join({row["note"] for row in rows.values()})
        )
    table = pd.DataFrame.from_dict(rows, orient="index")
    table.index.name = "family"
    return FamilyComparison(
        table,
        at,
        len(train_part),
        len(test_part),
        1.0 - read_times(frame).n_events / len(frame),
        kept_whole,
        seed,
        calibrations,
    )


def _scores(
    family: str,
    train: pd.DataFrame,
    test: pd.DataFrame,
    covariates: Sequence[str],
    ridge: float,
    at: float,
) -> tuple[dict[str, Any], FailureCalibration | None]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", AssumptionWarning)
        warnings.simplefilter("always", ConvergenceWarning)
        try:
            fitted = fit(train, family, covariates, ridge=ridge)
        except FireassayError as failure:
            # A family that cannot be fitted is shown as such, next to those that can.
            empty = dict.fromkeys(_SCORES, float("nan"))
            return empty | {"converged": False, "note": str(failure)}, None
    own, other = fitted.calibration(train, at), fitted.calibration(test, at)
    is_cox = family == "cox"
    scores: dict[str, Any] = {
        "aic": float("nan") if is_cox else fitted.aic,
        "bic": float("nan") if is_cox else fitted.bic,
        "concordance": fitted.concordance,
        "test_concordance": fitted.concordance_on(test),
    }
    for name in _SCORED[1:]:
        scores |= {name: getattr(own, name), f"test_{name}": getattr(other, name)}
    scores |= {"converged": fitted.converged, "note": "; ".join(str(w.message) for w in caught)}
    return scores, other


def _test_rows(
    frame: pd.DataFrame, groups: str | None, share: float, seed: int
) -> NDArray[np.bool_]:
    codes = np.arange(len(frame)) if groups is None else pd.factorize(frame[groups])[0]
    names = np.unique(codes)
    count = round(share * len(names))
    if not 0 < count < len(names):
        raise DataError(
            "Both parts of the split need at least one group of rows.",
            got=f"{len(names)} group(s) and test_share={share}",
        )
    chosen = generator(seed, "survival test part").permutation(names)[:count]
    return np.isin(codes, chosen)
