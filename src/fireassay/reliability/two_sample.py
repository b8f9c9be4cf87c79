"""Can a classifier tell two samples apart? It sees what no column shows by itself."""

import numpy as np

from fireassay.core.arrays import FloatArray
from fireassay.core.seeds import generator
from fireassay.statistics.ranks import average_ranks

_MOST_ROWS = 1000
_PERMUTATIONS = 999
_TREES = 50


def classifier_two_sample_p(a: FloatArray, b: FloatArray, seed: int = 0) -> float:
    """P-value of "both samples have one distribution", against interactions of columns too.

    Parameters
    ----------
    a, b
        Rows of two samples, at least 10 each; of larger ones 1,000 rows are drawn.

    Notes
    -----
    Trees are fitted on one half and rank the rows of the other; there the sides are permuted, so
    that the p-value is exact whatever the trees learnt. Both halves take their turn, and the
    smaller p-value is doubled.

    >>> rng = np.random.default_rng(0)
    >>> shuffled, crossed = rng.normal(size=(400, 2)), rng.normal(size=(400, 2))
    >>> crossed[:, 1] = np.sign(crossed[:, 0]) * np.abs(crossed[:, 1])
    >>> classifier_two_sample_p(shuffled, crossed)
    0.002
    """
    from sklearn.ensemble import ExtraTreesClassifier

    rng = generator(seed, "two samples")
    a, b = (rows[rng.permutation(len(rows))[:_MOST_ROWS]] for rows in (a, b))
    rows, side = np.vstack([a, b]), np.repeat([0, 1], [len(a), len(b)])
    fold = np.concatenate([rng.permutation(len(sample)) % 2 for sample in (a, b)])
    smallest = 1.0
    for held_out in (0, 1):
        fit, judged = fold != held_out, fold == held_out
        trees = ExtraTreesClassifier(
            _TREES, min_samples_leaf=5, class_weight="balanced", random_state=seed % 2**32
        ).fit(rows[fit], side[fit])
        ranks = average_ranks(trees.predict_proba(rows[judged])[:, 1])
        n = int(side[judged].sum())
        seen = float(ranks[side[judged] == 1].sum())
        dealt = rng.permuted(np.tile(ranks, (_PERMUTATIONS, 1)), axis=1)[:, :n].sum(axis=1)
        as_far = int((dealt >= seen - 1e-9).sum())
        smallest = min(smallest, (as_far + 1) / (_PERMUTATIONS + 1))
    return min(1.0, 2.0 * smallest)
