"""How many labels an audit needs: simulate it on the scores at hand."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr

from fireassay.core.errors import NotEnoughEvidenceError
from fireassay.core.estimate import Estimate
from fireassay.core.result import Result
from fireassay.core.seeds import generator
from fireassay.core.validation import check_real
from fireassay.statistics import clopper_pearson

if TYPE_CHECKING:
    from fireassay.curation.result import Curation

_SIMULATIONS = 400


@dataclass(frozen=True, eq=False)
class AuditPlan(Result):
    """How many labels an audit needs.

    Attributes
    ----------
    n_labels, labels_per_ring
        What to buy; all samples when even that is not enough.
    power
        Chance that the audit then says "decreasing", simulated, with its 95 % interval.
    enough
        Whether the asked power is reached.
    assumed
        The accuracy of the weak labels assumed in each ring.
    """

    n_labels: int
    labels_per_ring: int
    power: Estimate
    enough: bool
    assumed: NDArray[np.float64]
    gamma: float

    def frame(self) -> pd.DataFrame:
        """The assumption, ring by ring."""
        return pd.DataFrame(
            {"ring": np.arange(1, len(self.assumed) + 1), "assumed_accuracy": self.assumed}
        )


def plan_audit(
    result: "Curation",
    accuracy_first: float = 0.9,
    accuracy_last: float = 0.7,
    power: float = 0.8,
    gamma: float = 0.05,
) -> AuditPlan:
    """The fewest labels per ring with which the audit finds a fall of accuracy of this size.

    The accuracy of the weak labels is assumed to fall evenly from the first ring to the last, and
    the audit is simulated on the scores of this very curation.
    """
    check_real(accuracy_last, "accuracy_last", low=0.0, high=1.0, inclusive="both")
    check_real(accuracy_first, "accuracy_first", low=accuracy_last, high=1.0, inclusive="high")
    check_real(power, "power", low=0.0, high=1.0)
    check_real(gamma, "gamma", low=0.0, high=1.0)
    score = result.score
    rings = [score[ring] for ring in result.rings if len(ring)]
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
    high = 2
    while high < largest and found(high) < needed:
        high = min(2 * high, largest)
    low = 1
    while high - low > 1:
        middle = (low + high) // 2
        if found(middle) >= needed:
            high = middle
        else:
            low = middle
    hits = found(high)
    ends = clopper_pearson(hits, _SIMULATIONS)
    return AuditPlan(
        n_labels=int(sum(min(high, len(ring)) for ring in rings)),
        labels_per_ring=high,
        power=Estimate(hits / _SIMULATIONS, *ends, 0.95, _SIMULATIONS, "simulation"),
        enough=hits >= needed,
        assumed=assumed,
        gamma=gamma,
    )


def _simulate(
    rings: list[NDArray[np.float64]],
    assumed: NDArray[np.float64],
    m: int,
    gamma: float,
    seed: int,
) -> int:
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
    return int((2 * ndtr(-z) <= gamma).sum())
