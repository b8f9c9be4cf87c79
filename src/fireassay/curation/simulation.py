"""Is the interval an interval? Simulate labelling functions whose accuracy is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.core.arrays import IntArray
from fireassay.core.errors import ParameterError
from fireassay.core.estimate import Estimate
from fireassay.core.lazy_modules import pd
from fireassay.core.result import Result
from fireassay.core.seeds import generator
from fireassay.core.validation import check_integer
from fireassay.curation.curate import curate
from fireassay.curation.labelers.triplet import FittedTriplet
from fireassay.curation.votes import ABSTAIN
from fireassay.statistics import share


@dataclass(frozen=True, eq=False)
class IntervalCoverage(Result):
    """How often the interval around a weak label's confidence holds the true probability.

    Attributes
    ----------
    covered
        Share of samples whose true P(label is right | votes) is inside; 95 % interval.
    nominal
        What a confidence interval would have to reach.
    is_confidence_interval
        Whether it does; if not, the interval is a score to order by and nothing else.
    by_votes
        The same for each number of votes.
    """

    covered: Estimate
    nominal: float
    is_confidence_interval: bool
    by_votes: pd.DataFrame

    def frame(self) -> pd.DataFrame:
        """Coverage for each number of votes."""
        return self.by_votes

    def summary(self) -> str:
        """What the interval is, and how often it holds the truth."""
        return f"A {self.name}: covered {self.covered}, nominal {self.nominal:g}"

    @property
    def name(self) -> str:
        """What the interval deserves to be called."""
        return "confidence interval" if self.is_confidence_interval else "score"


def simulated_coverage(
    accuracies: Sequence[float],
    coverage: float | Sequence[float] = 0.6,
    n: int = 20_000,
    n_classes: int = 2,
    *,
    labeler: Any = "majority",
    interval: str = "posterior",
    confidence: float = 0.95,
    seed: int = 0,
) -> IntervalCoverage:
    """Draw independent votes with known accuracies, curate them, and count.

    The truth is exact: with independent labelling functions of known accuracy, P(Y | votes) is
    naive Bayes with the true numbers.

    Parameters
    ----------
    accuracies, coverage
        Of the labelling functions: how often a vote is right, and how often there is one.
    n, n_classes
        How many samples of how many classes to draw.
    labeler, interval, confidence, seed
        As for `curate`.

    >>> simulated_coverage([0.9] * 10, 1.0, n=2000, interval="paper").name
    'score'
    """
    check_integer(n, "n", low=1)
    votes, _ = simulate_votes(accuracies, coverage, n, n_classes, seed)
    result = curate(votes, n_classes, labeler=labeler, prune=None, interval=interval,
                    confidence=confidence, drop_silent=False, seed=seed)  # fmt: skip
    truth = FittedTriplet.from_accuracy(
        np.asarray(accuracies, dtype=np.float64), np.full(n_classes, 1 / n_classes)
    )
    posterior = truth.posterior(result.patterns.votes)
    true_confidence = np.take_along_axis(posterior, result.table.labels[:, None], axis=1)[:, 0]
    inside = (true_confidence >= result.table.lower - 1e-9) & (
        true_confidence <= result.table.upper + 1e-9
    )
    frame = pd.DataFrame(
        {"votes": result.table.n_votes, "n": result.patterns.counts, "inside": inside}
    )
    frame["hits"] = frame["n"] * frame["inside"]
    by_votes = frame.groupby("votes", as_index=False)[["n", "hits"]].sum()
    by_votes["covered"] = by_votes["hits"] / by_votes["n"]
    hits = int(by_votes["hits"].sum())
    covered = share(hits, n)
    return IntervalCoverage(
        covered=covered,
        nominal=confidence,
        is_confidence_interval=covered.high >= confidence,
        by_votes=by_votes,
    )


def simulate_votes(
    accuracies: Sequence[float],
    coverage: float | Sequence[float],
    n: int,
    n_classes: int = 2,
    seed: int = 0,
) -> tuple[NDArray[np.int8], IntArray]:
    """Independent votes of known accuracy on known classes, errors spread evenly.

    Parameters
    ----------
    accuracies
        How often each labelling function is right when it votes, in [0, 1].
    coverage
        How often it votes: one number, or one per labelling function.
    n, n_classes
        Samples and classes.
    seed
        Of classes and votes.

    >>> votes, y = simulate_votes([0.7] * 3, coverage=0.6, n=5, seed=0)
    >>> votes.shape, y.shape
    ((5, 3), (5,))
    """
    rights = np.asarray(accuracies, dtype=np.float64)
    covers = np.broadcast_to(np.asarray(coverage, dtype=np.float64), rights.shape)
    if rights.ndim != 1 or not len(rights) or ((rights <= 0) | (rights >= 1)).any():
        raise ParameterError("The 'accuracies' must be in (0, 1), one per labelling function.")
    if ((covers < 0) | (covers > 1)).any():
        raise ParameterError("The 'coverage' must be in [0, 1].", got=str(coverage))
    rng = generator(seed, "votes")
    y = rng.integers(n_classes, size=n)
    shape = (n, len(rights))
    wrong = (y[:, None] + rng.integers(1, n_classes, size=shape)) % n_classes
    votes = np.where(rng.random(shape) < rights, y[:, None], wrong)
    votes[rng.random(shape) >= covers] = ABSTAIN
    return votes.astype(np.int8), y
