"""Pruning of dependent labelling functions: cliques of the correlation graph (Algorithm 1)."""

from dataclasses import dataclass

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from fireassay.core.errors import ParameterError
from fireassay.curation.patterns import VotePatterns
from fireassay.curation.votes import ABSTAIN

_MOST_CLIQUES = 3_000_000


@dataclass(frozen=True)
class Pruning:
    """Which labelling functions stay, and why each of the others goes.

    Attributes
    ----------
    kept
        Indices of the labelling functions that stay, ascending.
    removed_by
        For each labelling function the index of the kept one it depends on, or -1.
    silent
        Indices of labelling functions that never vote.
    correlation
        The correlation matrix the graph was built from (NaN for a constant column).
    """

    kept: NDArray[np.int64]
    removed_by: NDArray[np.int64]
    silent: NDArray[np.int64]
    correlation: NDArray[np.float64]


def prune(
    patterns: VotePatterns,
    threshold: float | None,
    *,
    drop_silent: bool = True,
    correlation: NDArray[np.float64] | None = None,
) -> Pruning:
    """Keep one labelling function of each group of dependent ones.

    Labelling functions are nodes, those with ``|correlation| > threshold`` are joined. Ranked by
    the number of maximal cliques they are in, then by coverage, then by position, each one that is
    still there removes its neighbours (they are those it shares a maximal clique with).

    Parameters
    ----------
    patterns
        The vote patterns of the rows used for fitting.
    threshold
        Correlations above it, in absolute value, are a dependence. None keeps everything.
    drop_silent
        Whether labelling functions that never vote are dropped first.
    correlation
        Another measure of dependence than Pearson's correlation of the raw votes.
    """
    m = patterns.votes.shape[1]
    if correlation is None:
        correlation = vote_correlation(patterns)
    covered = coverage(patterns)
    silent = np.flatnonzero(covered == 0)
    alive = np.ones(m, dtype=bool)
    if drop_silent:
        alive[silent] = False
    removed_by = np.full(m, -1, dtype=np.int64)
    if threshold is not None:
        graph = dependence_graph(correlation, threshold)
        cliques = _clique_counts(graph, m)
        for chosen in sorted(range(m), key=lambda lf: (-cliques[lf], -covered[lf], lf)):
            if not alive[chosen]:
                continue
            for neighbour in graph.neighbors(chosen):
                if alive[neighbour]:
                    alive[neighbour] = False
                    removed_by[neighbour] = chosen
    return Pruning(np.flatnonzero(alive), removed_by, silent, correlation)


def dependence_graph(correlation: NDArray[np.float64], threshold: float) -> "nx.Graph[int]":
    """Labelling functions as nodes, an edge where ``|correlation|`` is above the threshold."""
    with np.errstate(invalid="ignore"):
        joined = np.triu(np.abs(correlation) > threshold, k=1)
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(len(correlation)))
    graph.add_edges_from((int(i), int(j)) for i, j in np.argwhere(joined))
    return graph


def coverage(patterns: VotePatterns) -> NDArray[np.float64]:
    """The share of samples each labelling function votes on."""
    voted = (patterns.votes != ABSTAIN).astype(np.float64)
    shares: NDArray[np.float64] = (patterns.counts @ voted) / patterns.n_rows
    return shares


def vote_correlation(patterns: VotePatterns) -> NDArray[np.float64]:
    """Pearson's correlation of the raw votes, an abstention counted as the number -1.

    The sums are whole numbers below 2**53, hence exact: a correlation of exactly the threshold is
    never moved over it by rounding of the sums.
    """
    votes = patterns.votes.astype(np.float64)
    counts = patterns.counts.astype(np.float64)
    n = counts.sum()
    sums = counts @ votes
    moments = n * (votes.T @ (votes * counts[:, None])) - np.outer(sums, sums)
    spread = np.sqrt(np.diag(moments))
    with np.errstate(invalid="ignore", divide="ignore"):
        correlation: NDArray[np.float64] = moments / np.outer(spread, spread)
    return correlation


def error_correlation(
    patterns: VotePatterns, posterior: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Correlation of the *errors* of two labelling functions under a posterior.

    Two good labelling functions agree because both are right; what breaks a label model is that
    they are wrong together. Over the samples where both vote, with Y drawn from the posterior,
    this is the correlation of ``1[vote_i != Y]`` and ``1[vote_j != Y]``; pairs that never vote
    together have correlation 0.

    Parameters
    ----------
    patterns
        Vote patterns.
    posterior
        P(Y | pattern), one row per pattern.
    """
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
    clipped: NDArray[np.float64] = np.clip(correlation, -1.0, 1.0)
    return clipped


def effective_votes(
    patterns: VotePatterns, correlation: NDArray[np.float64]
) -> NDArray[np.float64]:
    """How many independent votes each pattern is worth: ``n / (1 + (n - 1) * mean correlation)``.

    The mean is over the pairs of labelling functions that vote in the pattern, clipped to [0, 1].
    """
    voted = (patterns.votes != ABSTAIN).astype(np.float64)
    n = voted.sum(axis=1)
    off_diagonal = correlation - np.diag(np.diag(correlation))
    pairs = np.einsum("pi,ij,pj->p", voted, off_diagonal, voted, optimize=True)
    mean = np.divide(pairs, n * (n - 1), out=np.zeros_like(n), where=n > 1)
    worth: NDArray[np.float64] = n / (1 + np.maximum(n - 1, 0) * np.clip(mean, 0.0, 1.0))
    return worth


def _clique_counts(graph: "nx.Graph[int]", m: int) -> list[int]:
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
