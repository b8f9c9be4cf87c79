"""From votes to adversarially ordered datasets, in one call."""

from typing import Any

import numpy as np

from fireassay.core.errors import DataError
from fireassay.core.seeds import check_seed
from fireassay.curation.labelers import GivenProbabilities, as_labeler
from fireassay.curation.ordering import adversarial_order, score_levels
from fireassay.curation.patterns import VotePatterns, unique_patterns
from fireassay.curation.pipeline import PatternLabels, Settings, label_patterns
from fireassay.curation.result import Curation
from fireassay.curation.votes import check_n_classes, check_votes, dense_blocks, lf_names

_FEWEST_LFS = 3


def curate(
    votes: Any,
    n_classes: int = 2,
    fit_votes: Any = None,
    labeler: Any = "majority",
    prune: float | None = 0.5,
    order_by: str = "lower_bound",
    interval: str = "posterior",
    alpha: float = 0.05,
    n_sets: int = 10,
    default_class: int = 0,
    drop_silent: bool = True,
    seed: int = 0,
    *,
    prune_by: str = "votes",
    effective_votes: bool = False,
    names: Any = None,
) -> Curation:
    """Label samples from weak votes and order them from safe to naturally adversarial.

    Parameters
    ----------
    votes
        Shape (n, m): -1 abstains, 0..k-1 are classes. Dense (also a memory map or a frame), or
        scipy sparse with the class plus one stored.
    n_classes
        The number of classes, at least 2.
    fit_votes
        Votes to prune and fit on, when more samples are there than are to be ordered.
    labeler
        ``"majority"``, ``"snorkel"``, ``"dawid-skene"``, ``"one-coin"``, ``"triplet"``, a labeler
        object, or class probabilities of shape (n, k).
    prune
        Labelling functions whose correlation is above this, in absolute value, are dependent and
        one of them goes; None keeps all.
    order_by
        ``"lower_bound"`` of the interval, or the labeler's ``"confidence"``.
    interval
        ``"posterior"``, or ``"paper"`` as the authors' program computes it.
    alpha
        One minus the nominal confidence of the interval, two-sided.
    n_sets
        The number of cumulative datasets.
    default_class
        The label where the two best classes are tied, or nobody votes.
    drop_silent
        Drop labelling functions that never vote before pruning.
    seed
        Same seed, same result.
    prune_by
        ``"votes"``: correlation of the raw votes; ``"errors"``: of the errors under the majority
        vote, which does not punish two labelling functions for both being right.
    effective_votes
        Count dependent votes as fewer in the interval.
    names
        Names of the labelling functions; a frame's columns by default.

    Returns
    -------
    Curation
        Labels, confidences, intervals, order and datasets; `Curation.warnings` says what to be
        careful about.

    Raises
    ------
    DataError
        For votes outside the classes, missing votes, or tables that do not fit together.

    >>> result = curate([[0, 0, 0], [1, 1, 1], [0, 1, -1], [1, 1, -1]], prune=None, n_sets=2)
    >>> result.labels.tolist()
    [0, 1, 0, 1]
    >>> [sorted(rows.tolist()) for rows in result.datasets]
    [[0, 1], [0, 1, 2, 3]]
    """
    k = check_n_classes(n_classes)
    chosen = as_labeler(labeler)
    settings = Settings(
        k, chosen.name, prune, order_by, interval, alpha, n_sets, default_class, drop_silent,
        prune_by, effective_votes, check_seed(seed),
    )  # fmt: skip
    checked = check_votes(votes)
    named = lf_names(votes if hasattr(votes, "shape") else checked, names)
    given = None
    if isinstance(chosen, GivenProbabilities):
        given = chosen.checked(checked.shape[0], k)
        patterns = _every_row(checked, k)
    else:
        patterns = unique_patterns(checked, k)
    fit_patterns = patterns
    if fit_votes is not None:
        more = check_votes(fit_votes, name="fit_votes")
        if more.shape[1] != checked.shape[1]:
            raise DataError(
                "votes and fit_votes must have the same labelling functions.",
                got=f"{checked.shape[1]} and {more.shape[1]} columns",
            )
        fit_patterns = unique_patterns(more, k, name="fit_votes")
    table = label_patterns(patterns, fit_patterns, chosen, settings, given=given)
    return assemble(patterns, fit_patterns, table, settings, named)


def assemble(
    patterns: VotePatterns,
    fit_patterns: VotePatterns,
    table: PatternLabels,
    settings: Settings,
    names: tuple[str, ...],
) -> Curation:
    """Scatter what the patterns got to the samples, and order them."""
    levels, level_of_pattern = score_levels(table.score(settings.order_by))
    order = adversarial_order(
        level_of_pattern.astype(np.int32)[patterns.of_row], len(levels), settings.seed
    )
    return Curation(
        labels=table.labels[patterns.of_row],
        confidence=table.confidence[patterns.of_row],
        lower=table.lower[patterns.of_row],
        upper=table.upper[patterns.of_row],
        order=order,
        kept_lfs=table.pruning.kept,
        lf_names=names,
        patterns=patterns,
        own_fit_patterns=None if fit_patterns is patterns else fit_patterns,
        table=table,
        settings=settings,
        warnings=careful(patterns, table, settings),
    )


def _every_row(votes: Any, n_classes: int) -> VotePatterns:
    """Each sample as its own pattern: given probabilities may differ where votes do not."""
    blocks = [block for _, block in dense_blocks(votes, n_classes)]
    rows = np.concatenate(blocks)
    n = len(rows)
    return VotePatterns(rows, np.ones(n, np.int64), np.arange(n, dtype=np.int32), n_classes)


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
