"""How a real classifier behaves along D_1 … D_N, for everyone and for subgroups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fireassay.core.arrays import BoolArray, FloatArray, IntArray
from fireassay.core.chart import Chart
from fireassay.core.errors import ParameterError
from fireassay.core.estimate import Estimate
from fireassay.core.evidence import Assumption
from fireassay.core.lazy import pd
from fireassay.core.validation import check_lengths, check_real
from fireassay.curation.accuracy_bounds import check_predictions
from fireassay.curation.analysis import robustness_chart
from fireassay.curation.findings import Finding, dataset_frame, independent_rows
from fireassay.curation.order import ScoreTable, check_groups, order_test
from fireassay.curation.trend import exact_interval
from fireassay.statistics import share, wilson

if TYPE_CHECKING:
    from fireassay.curation.curate import Curation

_NO_EVIDENCE = "not enough evidence"


@dataclass(frozen=True, eq=False)
class Robustness(Finding):
    """Agreement of a classifier with the weak labels, which a robust one loses along the order.

    Attributes:
        agreement, agreement_interval: Share of samples in each dataset where classifier and weak
            label agree; 95 %.
        auc, auc_interval, auc_p_value: Chance that an agreeing sample scores above a disagreeing
            one.
        trend: "decreasing", "increasing" or "none".
        verdict: "robust", "not robust" or "not enough evidence".
        reason: Why, in one sentence.
        subgroups: One row per subgroup when asked for: its agreement, its trend, and the difference
            to all other samples with an interval that holds for all subgroups together (95 %).
        sizes: Samples in each dataset.
        gamma: Level of the test.
        n_groups: Number of groups the test counted, 0 when samples were taken as independent.

    >>> from fireassay.curation import curate, simulate_votes
    >>> votes, y = simulate_votes([0.9, 0.9, 0.6, 0.6], coverage=0.8, n=1000, seed=0)
    >>> result = curate(votes)
    >>> result.robustness(y, validity=result.validate(y)).verdict  # a classifier never wrong
    'robust'
    >>> result.robustness(y).verdict  # nothing shows that the order is adversarial
    'not enough evidence'
    """

    agreement: FloatArray
    agreement_interval: FloatArray
    sizes: IntArray
    auc: float
    auc_interval: tuple[float, float]
    auc_p_value: float
    trend: str
    verdict: str
    reason: str
    subgroups: pd.DataFrame
    gamma: float
    n_groups: int = 0

    def frame(self) -> pd.DataFrame:
        """One row per dataset."""
        low, high = self.agreement_interval.T
        return dataset_frame(self.sizes, agreement=self.agreement, low=low, high=high)

    def charts(self) -> dict[str, Chart]:
        """Agreement along the datasets."""
        return {"robustness": robustness_chart(self)}

    def in_words(self) -> str:
        """The verdict and its reason."""
        return f"Classifier: {self.verdict}. {self.reason}"

    @property
    def holds(self) -> bool | None:
        """Whether the classifier is shown to be robust, or not to be."""
        return {"robust": True, "not robust": False}.get(self.verdict)

    def estimates(self) -> dict[str, Estimate]:
        """The classifier's agreement with the weak labels."""
        rests, n = ("independent-rows",), int(self.sizes[-1])
        return {
            "agreement_auc": Estimate.around(
                self.auc, *self.auc_interval, confidence=0.95, n=n, method="Mann-Whitney",
                rests_on=rests,
            ),
            "agreement": share(self.agreement[-1] * n, n, rests_on=rests),
        }  # fmt: skip

    def assumptions(self) -> tuple[Assumption, ...]:
        """That samples, or at least groups of them, are independent."""
        return (independent_rows(self.n_groups),)


def robustness(
    result: Curation,
    predictions: Any,
    by: Any = None,
    *,
    validity: Any = None,
    gamma: float = 0.05,
    groups: Any = None,
) -> Robustness:
    """Follow a classifier along the datasets (see `Curation.robustness`)."""
    # A robust classifier agrees less and less with weak labels that get worse. This holds only
    # where validity (of validate, audit or bounds) shows that the order is adversarial.
    check_real(gamma, "gamma", low=0.0, high=1.0)
    answers = check_predictions(predictions, result.n, result.settings.n_classes)
    grouped = check_groups(groups, result.n)
    agrees = np.asarray(answers == result.labels)
    score = result.score
    agreement = ScoreTable.of(score, agrees).accuracies(result.sizes)
    test = order_test(score, agrees, grouped)
    trend = test.verdict(gamma)
    verdict, reason = _verdict(trend, (test.low, test.high), validity)
    return Robustness(
        agreement=agreement,
        agreement_interval=exact_interval(agreement, result.sizes),
        sizes=result.sizes,
        auc=test.auc,
        auc_interval=(test.low, test.high),
        auc_p_value=test.p_value,
        trend=trend,
        verdict=verdict,
        reason=reason,
        subgroups=_subgroups(score, agrees, by, grouped, gamma),
        gamma=gamma,
        n_groups=0 if grouped is None else int(grouped.max()) + 1,
    )


def _verdict(trend: str, interval: tuple[float, float], validity: Any) -> tuple[str, str]:
    if validity is None:
        return _NO_EVIDENCE, (
            "Nothing shows that the order leads to hard cases: validate it with labels, with an "
            "audit, or with bounds."
        )
    ordered = getattr(validity, "verdict", None)
    if not isinstance(ordered, str):
        raise ParameterError(
            "The 'validity' must be the result of validate, audit or bounds.",
            got=type(validity).__name__,
        )
    if ordered != "decreasing":
        return _NO_EVIDENCE, (
            f"The order is not shown to lead to hard cases (its verdict is '{ordered}'), so nobody "
            "can say how a good model should behave on it."
        )
    if trend == "decreasing":
        return "robust", (
            "The classifier agrees less with the weak labels where they are less accurate, as a "
            "model that follows the truth does."
        )
    if trend == "increasing":
        return "not robust", (
            "The classifier agrees more with the weak labels where they are less accurate: it "
            "repeats their mistakes."
        )
    weak = getattr(validity, "auc_interval", None)
    if weak is not None and interval[1] < weak[0]:
        return "not robust", (
            "The weak labels get worse along the order, but the classifier keeps agreeing with "
            "them measurably more than a model that follows the truth would."
        )
    why = "The classifier's agreement shows no trend, and too little data to say why."
    return _NO_EVIDENCE, why


def _subgroups(
    score: FloatArray, agrees: BoolArray, by: Any, grouped: IntArray | None, gamma: float
) -> pd.DataFrame:
    columns = [
        "subgroup", "n", "agreement", "agreement_low", "agreement_high", "auc", "trend",
        "difference", "difference_low", "difference_high", "differs",
    ]  # fmt: skip
    if by is None:
        return pd.DataFrame(columns=columns)
    labels = np.asarray(by)
    check_lengths(samples=len(agrees), by=len(labels))
    names = np.unique(labels)
    rows = []
    for name in names:
        mine = labels == name
        hits, n = int(agrees[mine].sum()), int(mine.sum())
        low, high = wilson(hits, n)
        test = order_test(score[mine], agrees[mine], None if grouped is None else grouped[mine])
        others = int(agrees[~mine].sum()), int((~mine).sum())
        difference, below, above = _difference((hits, n), others, 1 - 0.05 / len(names))
        rows.append(
            (str(name), n, hits / n, low, high, test.auc, test.verdict(gamma), difference, below,
             above, bool(below > 0 or above < 0))
        )  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


def _difference(
    mine: tuple[int, int], others: tuple[int, int], confidence: float
) -> tuple[float, float, float]:
    """Newcombe's interval for the difference of two proportions."""
    if others[1] == 0:
        return 0.0, -1.0, 1.0
    p, q = mine[0] / mine[1], others[0] / others[1]
    (a, b), (c, d) = wilson(*mine, confidence), wilson(*others, confidence)
    below = p - q - float(np.hypot(p - a, d - q))
    above = p - q + float(np.hypot(b - p, q - c))
    return p - q, below, above
