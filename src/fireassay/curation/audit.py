"""A few labels, well placed: is the order adversarial, how accurate are the datasets, how many?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fireassay.core.arrays import AnyArray, BoolArray, FloatArray, IntArray
from fireassay.core.errors import DataError, NotEnoughEvidenceError
from fireassay.core.estimate import Estimate
from fireassay.core.evidence import Assumption
from fireassay.core.lazy import pd, special
from fireassay.core.result import Result
from fireassay.core.seeds import generator
from fireassay.core.validation import check_integer, check_labels, check_lengths, check_real
from fireassay.core.words import percent
from fireassay.curation.findings import Finding, dataset_frame, independent_rows
from fireassay.curation.order import order_test
from fireassay.statistics import share

if TYPE_CHECKING:
    from fireassay.curation.curate import Curation

_CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class Audit(Finding):
    """What a few true labels say about an order.

    Attributes:
        accuracy, low, high: Prediction-powered accuracy of the weak labels in each dataset, 95 %;
            NaN where a ring has no label.
        auc, auc_interval, auc_p_value, verdict: The calibrated test on the audited samples.
        labels_per_ring: How many labels fell into each ring.
        sizes: Samples in each dataset.
        gamma: Level of the test.
        n: Labels that were bought.

    >>> from fireassay.curation import curate, simulate_votes
    >>> votes, y = simulate_votes([0.9, 0.9, 0.6, 0.6], coverage=0.8, n=1000, seed=0)
    >>> result = curate(votes, n_sets=5)
    >>> rows = result.audit_rows(200)  # to be labelled: 40 of each part of the order
    >>> found = result.audit(rows, y[rows])
    >>> found.labels_per_ring.tolist(), found.verdict
    ([40, 40, 40, 40, 40], 'decreasing')
    """

    accuracy: FloatArray
    low: FloatArray
    high: FloatArray
    sizes: IntArray
    labels_per_ring: IntArray
    auc: float
    auc_interval: tuple[float, float]
    auc_p_value: float
    verdict: str
    gamma: float
    n: int

    def frame(self) -> pd.DataFrame:
        """One row per dataset."""
        means = {"accuracy": self.accuracy, "low": self.low, "high": self.high}
        return dataset_frame(self.sizes, labels_in_ring=self.labels_per_ring, **means)

    def in_words(self) -> str:
        """The finding in one sentence."""
        low, high = self.auc_interval
        return (
            f"On {self.n} audited samples a right label stands before a wrong one in "
            f"{percent(self.auc)} ({percent(low)} to {percent(high)}) of pairs: {self.verdict}."
        )

    @property
    def holds(self) -> bool:
        """Whether the order is shown to be adversarial."""
        return self.verdict == "decreasing"

    def estimates(self) -> dict[str, Estimate]:
        """The AUC and the accuracy of all weak labels, from audited samples."""
        found = {
            "audit_auc": Estimate.around(
                self.auc, *self.auc_interval, confidence=_CONFIDENCE, n=self.n,
                method="Mann-Whitney", rests_on=("independent-rows",),
            )
        }  # fmt: skip
        if not np.isnan(self.accuracy[-1]):
            found["audit_accuracy"] = Estimate.around(
                self.accuracy[-1], self.low[-1], self.high[-1], confidence=_CONFIDENCE, n=self.n,
                method="prediction-powered", rests_on=("independent-rows", "audited-at-random"),
            )  # fmt: skip
        return found

    def assumptions(self) -> tuple[Assumption, ...]:
        """That samples are independent, and that chance chose the audited ones."""
        fewest, most = int(self.labels_per_ring.min()), int(self.labels_per_ring.max())
        drawn = Assumption(
            "The audited samples were drawn at random within each dataset's part of the order.",
            "untestable",
            f"{fewest} to {most} labels in each part; Curation.audit_rows draws them so.",
            "audited-at-random",
        )
        return (independent_rows(0), drawn)


def draw_audit(result: Curation, n_labels: int) -> IntArray:
    """Samples to label: as many from each ring, drawn with the curation's seed."""
    check_integer(n_labels, "n_labels", low=1, high=result.n)
    rings = result.added_rows
    wanted = _spread(n_labels, np.array([len(ring) for ring in rings]))
    rng = generator(result.settings.seed, "audit")
    drawn = zip(rings, wanted, strict=True)
    return np.sort(np.concatenate([rng.choice(ring, m, replace=False) for ring, m in drawn]))


def audit(result: Curation, rows: Any, y_audit: Any, gamma: float = 0.05) -> Audit:
    """Judge an order from labels of samples drawn at random within each ring."""
    # With q the weak confidence and r = 1[label is right] - q, a ring's accuracy is mean(q) over
    # the ring + mean(r) over its audited samples: unbiased for any labeler. Rings combine by size;
    # each has variance (1 - m/N) var(r) / m, where var(r) counts one more right and one more wrong
    # label, so that a few labels that agree do not claim certainty.
    check_real(gamma, "gamma", low=0.0, high=1.0)
    chosen, truth = check_audited(rows, y_audit, result.n)
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


def _spread(n_labels: int, sizes: IntArray) -> IntArray:
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
    result: Curation, ring_of: IntArray, rows: IntArray, correct: BoolArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
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
    half = -special.stdtrit(np.maximum(satterthwaite, 1.0), (1 - _CONFIDENCE) / 2) * error
    accuracy[missing | (weight.sum(axis=1) == 0)] = np.nan
    accuracy = np.clip(accuracy, 0.0, 1.0)
    return accuracy, np.maximum(accuracy - half, 0.0), np.minimum(accuracy + half, 1.0)


_SIMULATIONS = 400


@dataclass(frozen=True, eq=False)
class AuditPlan(Result):
    """How many labels an audit needs.

    Attributes:
        n_labels, labels_per_ring: What to buy; all samples when even that is not enough.
        power: Chance that the audit then says "decreasing", simulated, with its 95 % interval.
        enough: Whether the asked power is reached.
        assumed: The accuracy of the weak labels assumed in each ring.
        gamma: Level of the test that was planned for.

    >>> from fireassay.curation import curate, simulate_votes
    >>> votes, y = simulate_votes([0.9, 0.9, 0.6, 0.6], coverage=0.8, n=1000, seed=0)
    >>> small, large = (curate(votes).plan_audit(0.9, last) for last in (0.4, 0.7))
    >>> small.enough, small.n_labels < large.n_labels  # a steep fall needs fewer labels
    (True, True)
    """

    n_labels: int
    labels_per_ring: int
    power: Estimate
    enough: bool
    assumed: FloatArray
    gamma: float

    def frame(self) -> pd.DataFrame:
        """The assumption, ring by ring."""
        rings = np.arange(1, len(self.assumed) + 1)
        return pd.DataFrame({"ring": rings, "assumed_accuracy": self.assumed})

    def summary(self) -> str:
        """What to buy, and the chance that it is enough."""
        enough = "enough" if self.enough else "not enough for the power asked for"
        return f"{self.n_labels} labels, {self.labels_per_ring} per ring: {enough}; {self.power}"


def plan_audit(
    result: Curation,
    accuracy_first: float = 0.9,
    accuracy_last: float = 0.7,
    power: float = 0.8,
    gamma: float = 0.05,
) -> AuditPlan:
    """The fewest labels per ring that find this fall of accuracy, by simulation."""
    # The accuracy of the weak labels is assumed to fall evenly from the first ring to the last.
    check_real(accuracy_last, "accuracy_last", low=0.0, high=1.0, inclusive="both")
    check_real(accuracy_first, "accuracy_first", low=accuracy_last, high=1.0, inclusive="high")
    check_real(power, "power", low=0.0, high=1.0)
    check_real(gamma, "gamma", low=0.0, high=1.0)
    score = result.score
    rings = [score[ring] for ring in result.added_rows if len(ring)]
    if len(rings) < 2:
        raise NotEnoughEvidenceError(
            "Planning an audit needs at least two datasets that hold samples.",
            got=str(len(rings)),
            do="Pass a smaller n_sets to curate.",
        )
    assumed = np.linspace(accuracy_first, accuracy_last, len(rings))
    largest = max(len(ring) for ring in rings)

    def found(m: int) -> int:
        return _simulate(rings, assumed, m, gamma, result.settings.seed)

    needed = int(np.ceil(power * _SIMULATIONS))
    low, high = 1, 2
    while high < largest and found(high) < needed:
        high = min(2 * high, largest)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if found(middle) >= needed else (middle, high)
    hits = found(high)
    n_labels = int(sum(min(high, len(ring)) for ring in rings))
    chance = share(hits, _SIMULATIONS)
    return AuditPlan(n_labels, high, chance, hits >= needed, assumed, gamma)


def _simulate(rings: list[FloatArray], assumed: FloatArray, m: int, gamma: float, seed: int) -> int:
    """In how many simulated audits with m labels per ring the verdict is "decreasing"."""
    # scipy.stats takes half a second to import: only when it is needed.
    from scipy.stats import rankdata

    rng = generator(seed, "plan", m)
    sizes = [min(m, len(ring)) for ring in rings]
    scores = np.concatenate(
        [
            ring[rng.random((_SIMULATIONS, len(ring))).argpartition(size - 1, axis=1)[:, :size]]
            if len(ring) <= 4 * size
            else ring[rng.integers(len(ring), size=(_SIMULATIONS, size))]
            for ring, size in zip(rings, sizes, strict=True)
        ],
        axis=1,
    )
    chance = np.repeat(assumed, sizes)
    correct = rng.random(scores.shape) < chance
    ranks = rankdata(scores, axis=1)
    n = scores.shape[1]
    right = correct.sum(axis=1)
    wrong = n - right
    excess = (ranks * correct).sum(axis=1) - right * (n + 1) / 2
    # The variance of the average ranks already contains the correction for ties.
    spread = right * wrong / (n * (n - 1)) * ((ranks - (n + 1) / 2) ** 2).sum(axis=1)
    z = np.divide(excess - 0.5, np.sqrt(spread), out=np.zeros(len(right)), where=spread > 0)
    return int((2 * special.ndtr(-z) <= gamma).sum())


def check_audited(rows: Any, y_audit: Any, n: int) -> tuple[IntArray, AnyArray]:
    """Sample numbers, each at most once (None: all), and as many labels."""
    chosen = np.arange(n) if rows is None else _checked_rows(np.asarray(rows), n)
    truth = check_labels(y_audit, name="y_audit")
    check_lengths(rows=len(chosen), y_audit=len(truth))
    return chosen, truth


def _checked_rows(array: AnyArray, n: int) -> IntArray:
    if array.ndim != 1 or array.dtype.kind not in "iu" or not len(array):
        raise DataError(
            "rows must be a list of sample numbers.", got=f"shape {array.shape}, {array.dtype}"
        )
    if array.min() < 0 or array.max() >= n:
        outside = array[(array < 0) | (array >= n)][0]
        raise DataError(f"rows must be in 0..{n - 1}.", got=str(outside))
    if len(np.unique(array)) < len(array):
        raise DataError("Each audited sample must be listed once.", got="repeated rows")
    return array.astype(np.int64)
