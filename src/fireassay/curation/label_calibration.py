"""Do weak labels with confidence 0.9 turn out right nine times in ten?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fireassay.core.arrays import BoolArray, FloatArray, IntArray
from fireassay.core.chart import Chart
from fireassay.core.estimate import Estimate
from fireassay.core.evidence import Assumption, AssumptionStatus
from fireassay.core.lazy import optimize, pd, special
from fireassay.core.seeds import generator
from fireassay.core.validation import check_integer
from fireassay.curation.analysis import calibration_chart
from fireassay.curation.audit import check_audited
from fireassay.curation.findings import LABEL_MODEL, Finding, independent_rows
from fireassay.statistics import ReliabilityCurve, expected_calibration_error, reliability_curve

if TYPE_CHECKING:
    from fireassay.curation.curate import Curation

_FOLDS = 5
_FAR_OFF = 0.05


@dataclass(frozen=True, eq=False)
class LabelCalibration(Finding):
    """Weak confidences against true labels.

    Attributes:
        ece: Expected calibration error of the confidences as they are.
        recalibrated_ece: The same after recalibration, cross-fitted: no sample judges a map it
            helped to fit.
        recalibrated: Recalibrated confidence of every sample.
        slope, intercept: The map: logit of the new confidence is ``intercept + slope *
            logit(old)``.
        curve: The reliability diagram.

    >>> from fireassay.curation import curate, simulate_votes
    >>> votes, y = simulate_votes([0.8] * 3, coverage=1.0, n=2000, seed=0)
    >>> found = curate(votes, prune=None).calibration(y)
    >>> found.recalibrated_ece.value < found.ece.value
    True
    """

    ece: Estimate
    recalibrated_ece: Estimate
    recalibrated: FloatArray
    slope: float
    intercept: float
    curve: ReliabilityCurve
    n: int

    def frame(self) -> pd.DataFrame:
        """One row per confidence bin."""
        return self.curve.frame()

    def charts(self) -> dict[str, Chart]:
        """The reliability diagram."""
        return {"calibration": calibration_chart(self)}

    def in_words(self) -> str:
        """How far the confidences are off, before and after."""
        return (
            f"The weak confidences are off by {self.ece.value:.3f} on average; recalibrated on "
            f"{self.n} labels, by {self.recalibrated_ece.value:.3f}."
        )

    def estimates(self) -> dict[str, Estimate]:
        """The calibration error, before and after."""
        found = {"calibration_error": self.ece, "recalibrated_error": self.recalibrated_ece}
        return {name: replace(e, rests_on=("independent-rows",)) for name, e in found.items()}

    def assumptions(self) -> tuple[Assumption, ...]:
        """That samples are independent; and what the labels say about the label model."""
        off = self.ece.low > _FAR_OFF
        status: AssumptionStatus = "contradicted" if off else "untestable"
        check = f"Its confidences are off by {self.ece.percent()}."
        return (independent_rows(0), Assumption(LABEL_MODEL, status, check, "label-model"))


def calibrate(
    result: Curation, y_audit: Any, rows: Any = None, n_bins: int = 10
) -> LabelCalibration:
    """Compare confidences with labels of all samples or of ``rows``; logistic correction."""
    check_integer(n_bins, "n_bins", low=1)
    chosen, truth = check_audited(rows, y_audit, result.n)
    correct = np.asarray(truth == result.labels[chosen])
    stated = result.confidence[chosen]
    k, seed = result.settings.n_classes, result.settings.seed
    intercept, slope = _fit(stated, correct)
    before = _as_two_columns(stated, correct, k)
    after = _as_two_columns(_cross_fitted(stated, correct, seed), correct, k)
    return LabelCalibration(
        ece=expected_calibration_error(*before, n_bins, seed=seed),
        recalibrated_ece=expected_calibration_error(*after, n_bins, seed=seed),
        recalibrated=_apply(result.confidence, intercept, slope),
        slope=slope,
        intercept=intercept,
        curve=reliability_curve(*before, n_bins),
        n=len(chosen),
    )


def _as_two_columns(stated: FloatArray, correct: BoolArray, k: int) -> tuple[FloatArray, IntArray]:
    """The label against the rest, spread so that the label stays the top class."""
    top = np.clip(stated, 1 / k, 1.0)
    rest = np.repeat(((1 - top) / (k - 1))[:, None], k - 1, axis=1)
    return np.column_stack([top, rest]), np.where(correct, 0, 1)


def _fit(stated: FloatArray, correct: BoolArray) -> tuple[float, float]:
    """Maximum likelihood with a weak pull towards "leave it as it is"."""
    x, y = _logits(stated), correct.astype(np.float64)

    def loss(parameters: FloatArray) -> tuple[float, FloatArray]:
        intercept, slope = parameters
        z = intercept + slope * x
        pull = np.array([intercept, slope - 1])
        value = np.logaddexp(0, z).sum() - y @ z + 0.5 * pull @ pull
        error = special.expit(z) - y
        return float(value), np.array([error.sum(), error @ x]) + pull

    found = optimize.minimize(loss, np.array([0.0, 1.0]), jac=True, method="BFGS")
    return float(found.x[0]), float(found.x[1])


def _cross_fitted(stated: FloatArray, correct: BoolArray, seed: int) -> FloatArray:
    fold = generator(seed, "calibration").permutation(len(stated)) % _FOLDS
    crossed = stated.copy()
    for number in range(_FOLDS):
        out = fold == number
        if out.any() and (~out).any():
            crossed[out] = _apply(stated[out], *_fit(stated[~out], correct[~out]))
    return crossed


def _apply(stated: FloatArray, intercept: float, slope: float) -> FloatArray:
    return np.asarray(special.expit(intercept + slope * _logits(stated)))


def _logits(stated: FloatArray) -> FloatArray:
    return np.asarray(special.logit(np.clip(stated, 1e-6, 1 - 1e-6)))
