"""The steps from vote patterns to labels with intervals: prune, label, bound."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.core.validation import check_choice, check_integer, check_real
from fireassay.curation.intervals import INTERVALS, label_intervals
from fireassay.curation.labelers import GivenProbabilities, Labeler
from fireassay.curation.labelers.majority import MajorityVote
from fireassay.curation.ordering import DECIMALS
from fireassay.curation.patterns import VotePatterns
from fireassay.curation.pruning import Pruning, effective_votes, error_correlation, prune
from fireassay.curation.votes import ABSTAIN, check_n_classes

_TIE = 1e-9


@dataclass(frozen=True)
class Settings:
    """What `curate` was asked for."""

    n_classes: int = 2
    labeler: str = "majority"
    prune: float | None = 0.5
    order_by: str = "lower_bound"
    interval: str = "posterior"
    alpha: float = 0.05
    n_sets: int = 10
    default_class: int = 0
    drop_silent: bool = True
    prune_by: str = "votes"
    effective_votes: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        k = check_n_classes(self.n_classes)
        if self.prune is not None:
            check_real(self.prune, "prune", low=0.0, high=1.0, inclusive="both")
        check_choice(self.order_by, "order_by", ("lower_bound", "confidence"))
        check_choice(self.interval, "interval", INTERVALS)
        check_real(self.alpha, "alpha", low=0.0, high=1.0)
        check_integer(self.n_sets, "n_sets", low=1)
        check_integer(self.default_class, "default_class", low=0, high=k - 1)
        check_choice(self.prune_by, "prune_by", ("votes", "errors"))


@dataclass(frozen=True)
class PatternLabels:
    """What each vote pattern gets: posterior, label, confidence, interval, score to order by."""

    pruning: Pruning
    posterior: NDArray[np.float64]
    labels: NDArray[np.int64]
    confidence: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    n_votes: NDArray[np.int64]

    def score(self, order_by: str) -> NDArray[np.float64]:
        """The rounded score that the samples are ordered by."""
        chosen = self.lower if order_by == "lower_bound" else self.confidence
        return np.round(chosen, DECIMALS)


def label_patterns(
    patterns: VotePatterns,
    fit_patterns: VotePatterns,
    labeler: Labeler | GivenProbabilities,
    settings: Settings,
    *,
    given: NDArray[np.float64] | None = None,
) -> PatternLabels:
    """Prune and fit on ``fit_patterns``, then label ``patterns``."""
    pruning = prune_patterns(fit_patterns, settings)
    chosen = patterns.only(pruning.kept)
    posterior = (
        given if given is not None else _posterior(labeler, fit_patterns, chosen, pruning, settings)
    )
    labels, confidence = hard_labels(posterior, settings.default_class)
    n_votes = (chosen.votes != ABSTAIN).sum(axis=1)
    worth: NDArray[Any] = n_votes
    if settings.effective_votes:
        worth = effective_votes(chosen, error_correlation(chosen, posterior))
    lower, upper = label_intervals(
        worth.astype(np.float64), confidence, interval=settings.interval, alpha=settings.alpha
    )
    return PatternLabels(pruning, posterior, labels, confidence, lower, upper, n_votes)


def prune_patterns(patterns: VotePatterns, settings: Settings) -> Pruning:
    """Prune by correlation of votes, or of errors under the majority vote."""
    correlation = None
    if settings.prune_by == "errors" and settings.prune is not None:
        majority = MajorityVote().fit(patterns).posterior(patterns.votes)
        correlation = error_correlation(patterns, majority)
    return prune(
        patterns, settings.prune, drop_silent=settings.drop_silent, correlation=correlation
    )


def hard_labels(
    posterior: NDArray[np.float64], default_class: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The most probable class and its probability; a tie goes to the default class."""
    labels = posterior.argmax(axis=1)
    top_two = np.partition(posterior, -2, axis=1)[:, -2:]
    labels[top_two[:, 1] - top_two[:, 0] < _TIE] = default_class
    confidence = np.take_along_axis(posterior, labels[:, None], axis=1)[:, 0]
    return labels, confidence


def _posterior(
    labeler: Any,
    fit_patterns: VotePatterns,
    chosen: VotePatterns,
    pruning: Pruning,
    settings: Settings,
) -> NDArray[np.float64]:
    if not len(pruning.kept):
        k = settings.n_classes
        return np.full((len(chosen.votes), k), 1 / k)
    model = labeler.fit(fit_patterns.only(pruning.kept), seed=settings.seed)
    posterior: NDArray[np.float64] = model.posterior(chosen.votes)
    # Without a vote nothing is known, whatever the model thinks of abstentions.
    return np.where(
        (chosen.votes != ABSTAIN).any(axis=1)[:, None], posterior, 1 / settings.n_classes
    )
