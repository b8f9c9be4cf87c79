"""From vote patterns to labels: prune dependent labelling functions, label, bound each label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fireassay.core.arrays import AnyArray, FloatArray, IntArray
from fireassay.core.errors import ParameterError
from fireassay.core.lazy import nx, pd
from fireassay.core.validation import check_choice, check_integer, check_real
from fireassay.curation.labelers import GivenProbabilities, Labeler, MajorityVote, label_model
from fireassay.curation.order import DECIMALS
from fireassay.curation.votes import ABSTAIN, VotePatterns, check_n_classes
from fireassay.statistics import clopper_pearson

if TYPE_CHECKING:
    from fireassay.curation.curate import Curation

INTERVALS = ("posterior", "paper")
_TIE = 1e-9
_FEWEST_LFS = 3
_MOST_CLIQUES = 3_000_000


@dataclass(frozen=True)
class Settings:
    """What `curate` was asked for."""

    n_classes: int = 2
    labeler: str = "majority"
    prune: float | None = 0.5
    order_by: str = "lower_bound"
    interval: str = "posterior"
    confidence: float = 0.95
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
        check_real(self.confidence, "confidence", low=0.0, high=1.0)
        check_integer(self.n_sets, "n_sets", low=1)
        check_integer(self.default_class, "default_class", low=0, high=k - 1)
        check_choice(self.prune_by, "prune_by", ("votes", "errors"))


@dataclass(frozen=True)
class Pruning:
    """Which labelling functions stay, and why each of the others goes."""

    kept: IntArray
    removed_by: IntArray
    silent: IntArray
    correlation: FloatArray


@dataclass(frozen=True)
class PatternLabels:
    """What each vote pattern gets: posterior, label, confidence, interval, score to order by."""

    pruning: Pruning
    posterior: FloatArray
    labels: IntArray
    confidence: FloatArray
    lower: FloatArray
    upper: FloatArray
    n_votes: IntArray

    def frame(self) -> pd.DataFrame:
        """One row per vote pattern: label, confidence, interval, number of votes."""
        names = ("labels", "confidence", "lower", "upper", "n_votes")
        table = pd.DataFrame({name: getattr(self, name) for name in names})
        return table.rename(columns={"labels": "label", "n_votes": "votes"})

    def score(self, order_by: str) -> FloatArray:
        """The rounded score that the samples are ordered by."""
        chosen = self.lower if order_by == "lower_bound" else self.confidence
        return np.round(chosen, DECIMALS)


def label_patterns(
    patterns: VotePatterns,
    fit_patterns: VotePatterns,
    labeler: Labeler | GivenProbabilities,
    settings: Settings,
    *,
    given: FloatArray | None = None,
) -> PatternLabels:
    """Prune and fit on ``fit_patterns``, then label ``patterns``."""
    pruning = prune_patterns(fit_patterns, settings)
    chosen = patterns.only(pruning.kept)
    posterior = given
    if posterior is None:
        posterior = _posterior(labeler, fit_patterns, chosen, pruning, settings)
    labels, confidence = hard_labels(posterior, settings.default_class)
    n_votes = (chosen.votes != ABSTAIN).sum(axis=1)
    worth: AnyArray = n_votes
    if settings.effective_votes:
        worth = effective_votes(chosen, error_correlation(chosen, posterior))
    lower, upper = label_intervals(
        worth.astype(np.float64), confidence, settings.interval, settings.confidence
    )
    return PatternLabels(pruning, posterior, labels, confidence, lower, upper, n_votes)


def careful(patterns: VotePatterns, table: PatternLabels, settings: Settings) -> tuple[str, ...]:
    """What a reader must know before relying on the result, in plain words."""
    found = []
    kept, silent = table.pruning.kept, table.pruning.silent
    unvoted = int(patterns.counts[table.n_votes == 0].sum())
    n = patterns.n_rows
    if unvoted == n:
        found.append(
            "No labelling function votes on any sample: every label is the default class "
            f"{settings.default_class} and the order says nothing."
        )
    elif unvoted:
        found.append(
            f"{unvoted} of {n} samples have no vote; they get the default class "
            f"{settings.default_class} and the lowest score."
        )
    if len(kept) < _FEWEST_LFS:
        found.append(
            f"Only {len(kept)} independent labelling function(s) are left; the method needs at "
            "least 3. Write more labelling functions that look at different things, or raise "
            "prune=."
        )
    if len(silent):
        what = "dropped" if settings.drop_silent else "kept, as the paper does"
        found.append(f"{len(silent)} labelling function(s) never vote; {what}.")
    if n < settings.n_sets:
        found.append(f"{n} samples cannot fill {settings.n_sets} datasets: the first are empty.")
    if len(np.unique(table.score(settings.order_by))) == 1:
        found.append("All samples have the same score: the order is arbitrary.")
    return tuple(found)


def prune_patterns(patterns: VotePatterns, settings: Settings) -> Pruning:
    """Prune by correlation of votes, or of errors under the majority vote."""
    correlation = None
    if settings.prune_by == "errors" and settings.prune is not None:
        majority = MajorityVote().fit(patterns).posterior(patterns.votes)
        correlation = error_correlation(patterns, majority)
    return prune(
        patterns, settings.prune, drop_silent=settings.drop_silent, correlation=correlation
    )


def relabelled(
    result: Curation, labelers: Iterable[Any], seeds: Iterable[int], purpose: str
) -> Iterator[tuple[str, int, PatternLabels]]:
    """The labels of a curation by other label models: name, seed and table of each."""
    for item in labelers:
        labeler = label_model(item, purpose)
        table = None
        for seed in seeds:
            if table is None or getattr(labeler, "draws", True):
                varied = replace(result.settings, labeler=labeler.name, seed=int(seed))
                table = label_patterns(result.patterns, result.fit_patterns, labeler, varied)
            yield labeler.name, int(seed), table


def hard_labels(posterior: FloatArray, default_class: int) -> tuple[IntArray, FloatArray]:
    """The most probable class and its probability; a tie goes to the default class."""
    labels = posterior.argmax(axis=1)
    top_two = np.partition(posterior, -2, axis=1)[:, -2:]
    labels[top_two[:, 1] - top_two[:, 0] < _TIE] = default_class
    confidence = np.take_along_axis(posterior, labels[:, None], axis=1)[:, 0]
    return labels, confidence


def _posterior(
    labeler: Any, fit: VotePatterns, chosen: VotePatterns, pruning: Pruning, settings: Settings
) -> FloatArray:
    k = settings.n_classes
    if not len(pruning.kept):
        return np.full((len(chosen.votes), k), 1 / k)
    model = labeler.fit(fit.only(pruning.kept), seed=settings.seed)
    # Without a vote nothing is known, whatever the model thinks of abstentions.
    voted = (chosen.votes != ABSTAIN).any(axis=1)[:, None]
    return np.where(voted, model.posterior(chosen.votes), 1 / k)


def label_intervals(
    n_votes: FloatArray, stated: FloatArray, interval: str = "posterior", confidence: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Lower and upper end per pattern around the confidence of its label; [0, 1] without votes."""
    # "posterior" counts n * stated of the n votes as successes (the paper's text): a fractional
    # count and no binomial draw, so a score to order by. "paper" is the authors' program: round(n /
    # 2) votes succeed whatever the label, so only the number of votes matters.
    n = n_votes
    successes = np.round(n / 2) if interval == "paper" else n * stated
    low, high = np.zeros_like(n), np.ones_like(n)
    voted = n > 0
    if voted.any():
        # Equal (n, s) pairs share one beta quantile, which is the costly step.
        both = np.column_stack([n[voted], successes[voted]])
        pairs, where = np.unique(both, axis=0, return_inverse=True)
        bounds = clopper_pearson(pairs[:, 1], pairs[:, 0], confidence)
        low[voted], high[voted] = (np.asarray(bound)[where.ravel()] for bound in bounds)
    return low, high


def prune(
    patterns: VotePatterns,
    threshold: float | None,
    *,
    drop_silent: bool = True,
    correlation: FloatArray | None = None,
) -> Pruning:
    """Keep one labelling function of each group with ``|correlation| > threshold``."""
    # Ranked by the number of maximal cliques, then coverage, then position, each one that is still
    # there removes its neighbours.
    m = patterns.votes.shape[1]
    if correlation is None:
        correlation = vote_correlation(patterns)
    covered = coverage(patterns)
    silent = np.flatnonzero(covered == 0)
    alive = np.ones(m, dtype=bool)
    if drop_silent:
        alive[silent] = False
    removed_by = np.full(m, -1, dtype=np.int64)
    pairs = [] if threshold is None else dependent_pairs(correlation, threshold)
    if pairs:  # else networkx need not be loaded
        graph: nx.Graph[int] = nx.Graph()
        graph.add_nodes_from(range(m))
        graph.add_edges_from(pairs)
        cliques = _clique_counts(graph, m)
        for chosen in sorted(range(m), key=lambda lf: (-cliques[lf], -covered[lf], lf)):
            if not alive[chosen]:
                continue
            for neighbour in graph.neighbors(chosen):
                if alive[neighbour]:
                    alive[neighbour] = False
                    removed_by[neighbour] = chosen
    return Pruning(np.flatnonzero(alive), removed_by, silent, correlation)


def dependent_pairs(correlation: FloatArray, threshold: float) -> list[tuple[int, int]]:
    """Pairs of labelling functions with ``|correlation|`` above the threshold."""
    with np.errstate(invalid="ignore"):
        joined = np.triu(np.abs(correlation) > threshold, k=1)
    return [(int(i), int(j)) for i, j in np.argwhere(joined)]


def coverage(patterns: VotePatterns) -> FloatArray:
    """The share of samples each labelling function votes on."""
    voted = (patterns.votes != ABSTAIN).astype(np.float64)
    return np.asarray((patterns.counts @ voted) / patterns.n_rows)


def vote_correlation(patterns: VotePatterns) -> FloatArray:
    """Pearson's correlation of the raw votes, abstention as -1; sums are exact below 2**53."""
    votes = patterns.votes.astype(np.float64)
    counts = patterns.counts.astype(np.float64)
    n = counts.sum()
    sums = counts @ votes
    moments = n * (votes.T @ (votes * counts[:, None])) - np.outer(sums, sums)
    spread = np.sqrt(np.diag(moments))
    with np.errstate(invalid="ignore", divide="ignore"):
        correlation: FloatArray = moments / np.outer(spread, spread)
    return correlation


def error_correlation(patterns: VotePatterns, posterior: FloatArray) -> FloatArray:
    """Correlation of the *errors* of two labelling functions, with Y drawn from the posterior."""
    # Two good functions agree because both are right; a label model breaks where they are wrong
    # together. Samples where both vote count; pairs that never vote together have correlation 0.
    m = patterns.votes.shape[1]
    counts = patterns.counts.astype(np.float64)
    voted = (patterns.votes != ABSTAIN).astype(np.float64)
    right = np.zeros(voted.shape)
    both_right = np.zeros((m, m))
    for label in range(patterns.n_classes):
        chose = (patterns.votes == label).astype(np.float64)
        truly = posterior[:, label]
        right += chose * truly[:, None]
        both_right += chose.T @ (chose * (counts * truly)[:, None])
    both = voted.T @ (voted * counts[:, None])
    right_given_both = right.T @ (voted * counts[:, None])
    with np.errstate(invalid="ignore", divide="ignore"):
        mean_i = right_given_both / both
        covariance = both_right / both - mean_i * mean_i.T
        spread = np.sqrt(mean_i * (1 - mean_i))
        correlation = covariance / (spread * spread.T)
    correlation[~np.isfinite(correlation)] = 0.0
    np.fill_diagonal(correlation, 1.0)
    return np.asarray(np.clip(correlation, -1.0, 1.0))


def effective_votes(patterns: VotePatterns, correlation: FloatArray) -> FloatArray:
    """Independent votes a pattern is worth, ``n / (1 + (n - 1) * mean correlation)``."""
    voted = (patterns.votes != ABSTAIN).astype(np.float64)
    n = voted.sum(axis=1)
    off_diagonal = correlation - np.diag(np.diag(correlation))
    pairs = np.einsum("pi,ij,pj->p", voted, off_diagonal, voted, optimize=True)
    mean = np.divide(pairs, n * (n - 1), out=np.zeros_like(n), where=n > 1)
    return np.asarray(n / (1 + np.maximum(n - 1, 0) * np.clip(mean, 0.0, 1.0)))


def _clique_counts(graph: nx.Graph[int], m: int) -> list[int]:
    counts = [0] * m
    for number, clique in enumerate(nx.find_cliques(graph)):
        if number >= _MOST_CLIQUES:
            raise ParameterError(
                f"The dependence graph must have at most {_MOST_CLIQUES:,} maximal cliques.",
                got="more",
                do="Raise prune=, or leave out labelling functions that hardly differ.",
            )
        for node in clique:
            counts[node] += 1
    return counts
