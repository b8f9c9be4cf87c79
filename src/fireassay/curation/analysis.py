"""What each labelling function does, and why it was pruned."""

from __future__ import annotations

from typing import Any

import numpy as np

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.lazy_modules import pd
from fireassay.core.validation import check_labels
from fireassay.curation.labelers.majority import vote_counts
from fireassay.curation.labelling import Pruning, coverage, prune
from fireassay.curation.votes import (
    ABSTAIN,
    VotePatterns,
    check_n_classes,
    check_votes,
    lf_names,
    unique_patterns,
)
from fireassay.statistics import clopper_pearson


def analyse(
    votes: Any,
    n_classes: int = 2,
    y: Any = None,
    *,
    names: Any = None,
    threshold: float | None = 0.5,
    drop_silent: bool = True,
) -> pd.DataFrame:
    """One row per labelling function, from votes alone or with true labels.

    Columns: coverage (share of samples it votes on), overlap (it and another vote), conflict (it
    and another disagree), polarity (the classes it votes for), accuracy with its 95 % interval
    where it votes (if labels are given), the strongest correlation and with whom, whether it is
    kept, and the reason.

    Parameters
    ----------
    votes, n_classes, names, drop_silent
        As for `curate`.
    y
        The true class of each sample, if known.
    threshold
        As ``prune`` of `curate`.

    >>> analyse([[0, 0, -1], [1, 1, 1], [0, 0, 1]], names=["a", "b", "c"])["reason"].tolist()
    ['stands for b', 'depends on a: correlation +1.00, beyond ±0.5', 'independent of the others']
    """
    k = check_n_classes(n_classes)
    checked = check_votes(votes)
    patterns = unique_patterns(checked, k)
    named = lf_names(votes if hasattr(votes, "shape") else checked, names)
    pruning = prune(patterns, threshold, drop_silent=drop_silent)
    return analysis_table(
        patterns, pruning, named, threshold, labelled=None if y is None else (patterns, y)
    )


def analysis_table(
    patterns: VotePatterns,
    pruning: Pruning,
    names: tuple[str, ...],
    threshold: float | None,
    labelled: tuple[VotePatterns, Any] | None = None,
) -> pd.DataFrame:
    """The table of `analyse` from patterns and a finished pruning."""
    counts = patterns.counts.astype(np.float64)
    n = counts.sum()
    voted = patterns.votes != ABSTAIN
    per_class = vote_counts(patterns.votes, patterns.n_classes)
    with_me = np.take_along_axis(per_class, np.maximum(patterns.votes, 0).astype(np.int64), axis=1)
    total = voted.sum(axis=1, keepdims=True)
    table = pd.DataFrame(
        {
            "name": list(names),
            "coverage": coverage(patterns),
            "overlap": counts @ (voted & (total > 1)) / n,
            "conflict": counts @ (voted & (with_me < total)) / n,
            "polarity": _polarity(patterns),
        }
    )
    if labelled is not None:
        table = pd.concat([table, _accuracy(*labelled)], axis=1)
    partner, strength = _strongest(pruning.correlation)
    table["strongest_correlation"] = strength
    table["correlated_with"] = [names[p] if p >= 0 else "" for p in partner]
    kept = np.zeros(len(names), dtype=bool)
    kept[pruning.kept] = True
    table["kept"] = kept
    table["reason"] = [_reason(lf, pruning, names, threshold) for lf in range(len(names))]
    return table


def _reason(lf: int, pruning: Pruning, names: tuple[str, ...], threshold: float | None) -> str:
    by = int(pruning.removed_by[lf])
    if by >= 0:
        value = pruning.correlation[lf, by]
        return f"depends on {names[by]}: correlation {value:+.2f}, beyond ±{threshold:g}"
    if lf in pruning.silent:
        return "never votes" if lf not in pruning.kept else "never votes, kept as asked"
    freed = [names[i] for i in np.flatnonzero(pruning.removed_by == lf)]
    return f"stands for {', '.join(freed)}" if freed else "independent of the others"


def _polarity(patterns: VotePatterns) -> list[str]:
    seen = [np.unique(column) for column in patterns.votes.T]
    return [" ".join(str(v) for v in values if v != ABSTAIN) for values in seen]


def _strongest(
    correlation: FloatArray,
) -> tuple[IntArray, FloatArray]:
    size = np.abs(np.nan_to_num(correlation))
    np.fill_diagonal(size, -1.0)
    partner = size.argmax(axis=1)
    rows = np.arange(len(size))
    none = size[rows, partner] <= 0
    strength = np.where(none, 0.0, np.nan_to_num(correlation)[rows, partner])
    return np.where(none, -1, partner), strength


def _accuracy(patterns: VotePatterns, y: Any) -> pd.DataFrame:
    truth = check_labels(y, n=len(patterns.of_row))
    k = patterns.n_classes
    classes = np.where((truth >= 0) & (truth < k), truth, k).astype(np.int64)
    joint = np.zeros((len(patterns.votes), k + 1))
    np.add.at(joint, (patterns.of_row, classes), 1.0)
    hits = np.zeros(patterns.votes.shape[1])
    for label in range(k):
        hits += joint[:, label] @ (patterns.votes == label)
    voted = joint.sum(axis=1) @ (patterns.votes != ABSTAIN)
    low, high = clopper_pearson(hits, voted)
    accuracy = np.divide(hits, voted, out=np.full(len(hits), np.nan), where=voted > 0)
    return pd.DataFrame({"accuracy": accuracy, "accuracy_low": low, "accuracy_high": high})
