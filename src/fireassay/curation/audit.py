"""A few labels, well placed: is the order adversarial, and how accurate are the datasets?"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtrit

from fireassay.core.evidence import Evidence
from fireassay.core.result import Answer
from fireassay.core.seeds import generator
from fireassay.core.validation import check_integer, check_labels, check_lengths, check_real
from fireassay.curation.estimates import audit_estimates
from fireassay.curation.lone_evidence import lone_evidence
from fireassay.curation.predictions import check_rows
from fireassay.curation.trend import order_test

if TYPE_CHECKING:
    from fireassay.curation.result import Curation

_CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class Audit(Answer):
    """What a few true labels say about an order.

    Attributes
    ----------
    accuracy, low, high
        Prediction-powered accuracy of the weak labels in each dataset, 95 %; NaN where a ring has
        no label.
    auc, auc_interval, auc_p_value, verdict
        The calibrated test on the audited samples.
    labels_per_ring
        How many labels fell into each ring.
    """

    accuracy: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    sizes: NDArray[np.int64]
    labels_per_ring: NDArray[np.int64]
    auc: float
    auc_interval: tuple[float, float]
    auc_p_value: float
    verdict: str
    gamma: float
    n: int

    def frame(self) -> pd.DataFrame:
        """One row per dataset."""
        return pd.DataFrame(
            {
                "dataset": np.arange(1, len(self.sizes) + 1),
                "size": self.sizes,
                "labels_in_ring": self.labels_per_ring,
                "accuracy": self.accuracy,
                "low": self.low,
                "high": self.high,
            }
        )

    def in_words(self) -> str:
        """The finding in one sentence."""
        low, high = self.auc_interval
        return (
            f"On {self.n} audited samples a right label stands before a wrong one in "
            f"{self.auc:.0%} ({low:.0%} to {high:.0%}) of pairs: {self.verdict}."
        )

    def evidence(self) -> Evidence:
        """The audit alone."""
        holds = self.verdict == "decreasing"
        return lone_evidence(self.in_words(), holds, audit_estimates(self), self.frame())


def draw_audit(result: "Curation", n_labels: int) -> NDArray[np.int64]:
    """Samples to label: as many from each ring, drawn with the curation's seed."""
    check_integer(n_labels, "n_labels", low=1, high=result.n)
    rings = result.rings
    wanted = _spread(n_labels, np.array([len(ring) for ring in rings]))
    rng = generator(result.settings.seed, "audit")
    chosen = [
        rng.choice(ring, size=m, replace=False) for ring, m in zip(rings, wanted, strict=True)
    ]
    return np.sort(np.concatenate(chosen))


def audit(result: "Curation", rows: Any, y_audit: Any, gamma: float = 0.05) -> Audit:
    """Judge an order from labels of some samples, drawn at random within each ring.

    Notes
    -----
    With q the weak confidence of a sample's label and r = 1[label is right] - q its error, the
    accuracy of a ring is ``mean of q over the ring + mean of r over its audited samples``: exact
    on average, whatever the labeler, and sharp when the confidences are good. Rings combine by
    size; each has the variance ``(1 - m/N) var(r) / m``, where var(r) counts one more right and one
    more wrong label than were seen, so that a few labels that all agree do not claim certainty.
    """
    check_real(gamma, "gamma", low=0.0, high=1.0)
    chosen = check_rows(rows, result.n)
    truth = check_labels(y_audit, name="y_audit")
    check_lengths(rows=len(chosen), y_audit=len(truth))
    correct = np.asarray(truth == result.labels[chosen])
    ring_of = result.dataset_number - 1
    audited = np.bincount(ring_of[chosen], minlength=len(result.sizes))
    accuracy, low, high = _powered(result, ring_of, chosen, correct)
    test = order_test(result.score[chosen], correct)
    return Audit(
        accuracy=accuracy,
        low=low,
        high=high,
        sizes=result.sizes,
        labels_per_ring=audited,
        auc=test.auc,
        auc_interval=(test.low, test.high),
        auc_p_value=test.p_value,
        verdict=test.verdict(gamma),
        gamma=gamma,
        n=len(chosen),
    )


def _spread(n_labels: int, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Equal shares, what a small ring cannot take goes to the others, the rest to the first."""
    share = np.zeros_like(sizes)
    while (left := n_labels - int(share.sum())) > 0:
        room = np.flatnonzero(share < sizes)
        each = left // len(room)
        if each == 0:
            share[room[:left]] += 1
        else:
            share[room] = np.minimum(sizes[room], share[room] + each)
    return share


def _powered(
    result: "Curation",
    ring_of: NDArray[np.int64],
    rows: NDArray[np.int64],
    correct: NDArray[np.bool_],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    n_rings = len(result.sizes)
    size = np.bincount(ring_of, minlength=n_rings).astype(np.float64)
    mean_q = np.bincount(ring_of, weights=result.confidence, minlength=n_rings)
    mean_q = np.divide(mean_q, size, out=np.zeros(n_rings), where=size > 0)
    ring = ring_of[rows]
    residual = correct - result.confidence[rows]
    value, variance, freedom = np.full(n_rings, np.nan), np.full(n_rings, np.nan), np.zeros(n_rings)
    for r in range(n_rings):
        mine = residual[ring == r]
        m = len(mine)
        if size[r] == 0:
            value[r], variance[r] = 0.0, 0.0
        elif m:
            value[r] = mean_q[r] + mine.mean()
            cautious = np.concatenate([mine, [1 - mean_q[r], -mean_q[r]]])
            variance[r] = (1 - m / size[r]) * cautious.var(ddof=1) / m
            freedom[r] = m + 1
    weight = np.tril(np.ones((n_rings, n_rings))) * size
    weight /= np.maximum(weight.sum(axis=1, keepdims=True), 1)
    # A ring without labels leaves the datasets that hold it without an estimate.
    missing = np.cumsum(np.isnan(value)) > 0
    accuracy = weight @ np.nan_to_num(value)
    parts = weight**2 * np.nan_to_num(variance)
    error = np.sqrt(parts.sum(axis=1))
    shares = np.divide(parts**2, freedom, out=np.zeros_like(parts), where=freedom > 0).sum(axis=1)
    satterthwaite = np.divide(error**4, shares, out=np.full(n_rings, 1e9), where=shares > 0)
    half = -stdtrit(np.maximum(satterthwaite, 1.0), (1 - _CONFIDENCE) / 2) * error
    accuracy[missing | (weight.sum(axis=1) == 0)] = np.nan
    accuracy = np.clip(accuracy, 0.0, 1.0)
    return accuracy, np.maximum(accuracy - half, 0.0), np.minimum(accuracy + half, 1.0)
