"""How well scores tell one set from nominal rows: AUPR, FPR at 95 % TPR, AURC, with intervals."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.core.arrays import FloatArray
from fireassay.core.errors import DataError
from fireassay.core.estimate import Estimate
from fireassay.core.lazy_modules import special
from fireassay.core.validation import check_finite, check_labels
from fireassay.statistics import clopper_pearson, delong_interval
from fireassay.statistics.clustered_auc import clustered_auc
from fireassay.supervision.error_kept import error_kept
from fireassay.supervision.grouped_detection import grouped_fpr95, jackknifed

Marks = NDArray[np.bool_]


@dataclass(frozen=True)
class DetectionMetrics:
    """AUROC (DeLong), AUPR (logit), FPR95 (order statistics) and AURC (gamma interval).

    Attributes
    ----------
    auroc, aupr, fpr95
        As in `detection_metrics`, each with its interval.
    aurc
        None where nothing said which answers are wrong.
    """

    auroc: Estimate
    aupr: Estimate
    fpr95: Estimate
    aurc: Estimate | None


def detection_metrics(
    nominal: ArrayLike,
    suspicious: ArrayLike,
    wrong: ArrayLike | None = None,
    *,
    confidence: float = 0.95,
    groups: ArrayLike | None = None,
) -> DetectionMetrics:
    """Metrics of one supervisor on one set.

    Parameters
    ----------
    nominal, suspicious
        Scores; higher is more suspicious.
    wrong
        For AURC: whether the model is wrong, for the nominal rows and then the others.
    confidence
        Of all intervals.
    groups
        The patient or device of the nominal rows and then of the others: intervals then count
        groups, and are approximate.

    Raises
    ------
    DataError
        For a set without scores, or ``wrong`` of another length.

    Notes
    -----
    AUPR counts suspicious rows as positive, and so depends on their share. FPR95 is the share of
    nominal rows above the threshold that catches at least 95 % of the suspicious ones. AURC is the
    mean error of the model over the rows kept, over all coverages, keeping the least suspicious
    first; its interval is that of a weighted sum of rare events. AUPR's is Boyd, Eng and Page's
    (2013) on the logit scale. FPR95's takes the threshold from order statistics of the suspicious
    scores and the share above either end from Clopper and Pearson, a quarter of the error each;
    below 86 suspicious rows (at 95 %) its upper end is 1. With groups AUROC and AUPR have a
    jackknife over groups on the logit scale, FPR95 takes both shares from
    `statistics.grouped_share`, and AURC counts groups as events.

    >>> found = detection_metrics([0.1, 0.2, 0.3, 0.6], [0.5, 0.8, 0.9])
    >>> round(found.auroc.value, 3), found.fpr95.value
    (0.917, 0.25)
    """
    scores, marks = joined(nominal, suspicious)
    who = None if groups is None else check_labels(groups, name="groups", n=len(scores))
    auroc = delong_interval(scores, marks, confidence)
    curve = SortedScores(scores, marks)
    aurc = None
    if wrong is not None:
        errors = np.asarray(wrong, dtype=bool)
        if errors.shape != marks.shape:
            raise DataError(
                f"'wrong' must have {len(marks)} entries, nominal rows first.",
                got=f"shape {errors.shape}",
            )
        aurc = error_kept(scores, errors, confidence, who)
    once = np.ones((1, len(scores)))
    aupr = _logit_interval(float(curve.aupr(once)[0]), int(marks.sum()), len(scores), confidence)
    fpr95 = _fpr95_interval(
        float(curve.fpr95(once)[0]), np.sort(scores[marks]), scores[~marks], confidence
    )
    if who is None:
        return DetectionMetrics(auroc, aupr, fpr95, aurc)
    own = clustered_auc(scores, marks, who, confidence)
    return DetectionMetrics(
        Estimate.around(
            own.auc, own.low, own.high, confidence=confidence, n=len(scores),
            method="jackknife over groups, logit scale",
        ),
        jackknifed(curve.aupr, aupr, marks, who),
        grouped_fpr95(
            fpr95.value, scores[marks], scores[~marks], (who[marks], who[~marks]), confidence
        ),
        aurc,
    )  # fmt: skip


def _logit_interval(value: float, n_positive: int, n: int, confidence: float) -> Estimate:
    """θ with logit(θ) ± z / √(n₊ θ (1 − θ)); a θ of 1 is taken as half a row less."""
    inside = min(max(value, 0.5 / (n_positive + 1)), 1.0 - 0.5 / (n_positive + 1))
    half = float(special.ndtri((1 + confidence) / 2)) / np.sqrt(n_positive * inside * (1 - inside))
    low, high = (float(special.expit(special.logit(inside) + step)) for step in (-half, half))
    return Estimate.around(
        value, low, high, confidence=confidence, n=n, method="logit scale (Boyd, Eng and Page)"
    )


def _fpr95_interval(
    value: float, suspicious: FloatArray, nominal: FloatArray, confidence: float
) -> Estimate:
    """Both ends of the threshold that catches 95 %, and of the share of nominal rows above them."""
    m, tail = len(suspicious), (1.0 - confidence) / 4.0
    ranks = np.arange(1, m + 1)
    # s_(r) lies above the 5 % quantile if fewer than r scores lie below it, and vice versa.
    under = np.flatnonzero(special.bdtr(ranks - 1, m, 0.05) <= tail)
    over = np.flatnonzero(special.bdtrc(ranks - 1, m, 0.05) <= tail)
    low, high = 0.0, 1.0
    if len(under):
        flagged = int((nominal >= suspicious[under[-1]]).sum())
        high = float(clopper_pearson(flagged, len(nominal), 1.0 - tail, "upper")[1])
    if len(over):
        flagged = int((nominal >= suspicious[over[0]]).sum())
        low = float(clopper_pearson(flagged, len(nominal), 1.0 - tail, "lower")[0])
    return Estimate.around(
        value, low, high, confidence=confidence, n=m + len(nominal),
        method="order statistics, Clopper-Pearson",
    )  # fmt: skip


def joined(nominal: ArrayLike, suspicious: ArrayLike) -> tuple[FloatArray, Marks]:
    """Scores in one array, and which of them are suspicious."""
    a, b = np.asarray(nominal, dtype=np.float64), np.asarray(suspicious, dtype=np.float64)
    if a.ndim != 1 or b.ndim != 1 or not len(a) or not len(b):
        raise DataError(
            "Both sets need scores of shape (n,), at least one.", got=f"{a.shape} and {b.shape}"
        )
    scores = np.concatenate([a, b])
    check_finite(scores, name="scores")
    return scores, np.repeat([False, True], [len(a), len(b)])


class SortedScores:
    """Scores sorted once, most suspicious first; statistics of many weightings of the rows."""

    def __init__(self, scores: FloatArray, marks: Marks) -> None:
        self.order = np.argsort(-scores, kind="stable")
        ranked = scores[self.order]
        self.marks = marks[self.order]
        self.last = np.append(np.flatnonzero(np.diff(ranked) != 0), len(ranked) - 1)

    def aupr(self, weights: FloatArray) -> FloatArray:
        """Average precision of each row of weights; ties are taken together."""
        ranked = weights[:, self.order]
        found = np.cumsum(ranked * self.marks, axis=1)[:, self.last]
        flagged = np.cumsum(ranked, axis=1)[:, self.last]
        precision = np.divide(found, flagged, out=np.zeros_like(found), where=flagged > 0)
        gained = np.diff(found, axis=1, prepend=0.0)
        result: FloatArray = (precision * gained).sum(axis=1) / found[:, -1]
        return result

    def fpr95(self, weights: FloatArray) -> FloatArray:
        """Share of nominal rows flagged when at least 95 % of the others are."""
        ranked = weights[:, self.order]
        caught = np.cumsum(ranked * self.marks, axis=1)[:, self.last]
        alarms = np.cumsum(ranked * ~self.marks, axis=1)[:, self.last]
        first = (caught >= 0.95 * caught[:, -1:] - 1e-9).argmax(axis=1)
        result: FloatArray = alarms[np.arange(len(alarms)), first] / alarms[:, -1]
        return result
