"""What the data says about rows that depend on each other."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import AnyArray, FloatArray, IntArray
from fireassay.core.lazy_modules import distance, special, stats
from fireassay.core.seeds import generator
from fireassay.core.validation import check_features
from fireassay.statistics.grouped_share import GroupCounts, intraclass_correlation
from fireassay.statistics.near_rows import near_rows
from fireassay.statistics.nearest_distances import nearest_distances
from fireassay.statistics.projected_rows import ALL_DISTANCES, MOST_ROWS, standardised
from fireassay.statistics.ranks import average_ranks

_PERMUTATIONS = 999
_EVERY = 10
_NEAR = 0.01
_ROWS_AT_ONCE, _FLOATS_AT_ONCE = 200, 2**24
_LEVEL, _FEW = 0.01, 0.01


def intraclass_test(counts: GroupCounts, seed: int = 0) -> tuple[float, float]:
    """The correlation of two rows of one group, and the p-value of "there is none".

    Parameters
    ----------
    counts
        Hits and rows of each group.
    seed
        Of the permutations.

    Returns
    -------
    (correlation, p)
        The p-value is that of a permutation test: the hits are dealt to the rows again and again.

    >>> counts = GroupCounts(np.array([9, 0, 1, 0]), np.array([10, 10, 10, 10]))
    >>> correlation, p = intraclass_test(counts)
    >>> round(correlation, 2), p
    (0.79, 0.001)
    """
    hits, sizes = counts.hits, counts.sizes
    correlation = intraclass_correlation(counts)
    if (sizes == 1).all() or counts.share in (0.0, 1.0) or len(sizes) < 2:
        return correlation, 1.0
    rng = generator(seed, "intraclass")
    dealt = rng.multivariate_hypergeometric(sizes, int(hits.sum()), size=_PERMUTATIONS)
    as_spread = (dealt**2 / sizes).sum(axis=1) >= (hits**2 / sizes).sum() * (1 - 1e-12)
    return correlation, (int(as_spread.sum()) + 1) / (_PERMUTATIONS + 1)


def size_rate_test(counts: GroupCounts, seed: int = 0) -> tuple[float, float]:
    """Rank correlation of the groups' sizes with their surplus of hits, and its p-value.

    A plain rank correlation of size and rate would find what is not there: small groups have
    no hit more often than large ones at the same rate. The surplus ``k - p m`` has mean 0 in
    groups of every size; its spread, which grows with the size, enters group by group. Student's t
    has as many degrees of freedom as groups that carry the spread: where three giant groups do,
    the test has next to no power, and raises no false alarm. Hits that are dealt to the rows again
    and again must not reach as far either.

    Parameters
    ----------
    counts
        Hits and rows of each group.
    seed
        Of the deals.

    >>> size_rate_test(GroupCounts(np.array([1, 0, 2, 1]), np.array([5, 5, 5, 5])))
    (0.0, 1.0)
    """
    sizes = counts.sizes.astype(float)
    ranks = average_ranks(sizes)
    ranks = ranks - float(ranks @ sizes) / float(sizes.sum())
    surplus = counts.hits - counts.share * sizes
    spread = math.sqrt(float((ranks**2 * surplus**2).sum()))
    if len(sizes) < 3 or spread == 0 or (sizes == sizes[0]).all():
        return 0.0, 1.0
    scale = math.sqrt(float((ranks**2).sum()) * float((surplus**2).sum()))
    together = float(ranks @ surplus)
    # What each group is expected to add to the spread: a few giant ones are few observations.
    share, correlation = counts.share, intraclass_correlation(counts)
    expected = ranks**2 * sizes * (1.0 + (sizes - 1.0) * correlation) * share * (1.0 - share)
    freedom = max(1.0, float(expected.sum() ** 2 / np.square(expected).sum()) - 1.0)
    p = 2.0 * float(special.stdtr(min(freedom, len(sizes) - 2.0), -abs(together / spread)))
    if p < 1.0:
        rng = generator(seed, "sizes and rates")
        deal = rng.multivariate_hypergeometric(counts.sizes, int(counts.hits.sum()), _PERMUTATIONS)
        as_far = np.abs(deal @ ranks - share * float(ranks @ sizes)) >= abs(together) - 1e-9
        p = max(p, (int(as_far.sum()) + 1) / (_PERMUTATIONS + 1))
    return together / scale, p


@dataclass(frozen=True, slots=True)
class NearDuplicates:
    """Rows that nearly repeat another one, of how many looked at, and whether chance does that.

    >>> NearDuplicates(5, 100, 0.001).many, NearDuplicates(1, 100, 0.001).many
    (True, False)
    """

    count: int
    looked_at: int
    p_value: float

    @property
    def many(self) -> bool:
        """More than chance, and more than one in a hundred: a way of drawing, not an accident."""
        return self.p_value < _LEVEL and self.count > _FEW * self.looked_at


def near_duplicates(X: ArrayLike, seed: int = 0, groups: ArrayLike | None = None) -> NearDuplicates:
    """Rows much closer to another row than rows of such a spread come by chance.

    Two references have to agree: the same columns, and the same principal components, each
    shuffled by itself. The spread stays, copies go. A row is a near-duplicate if its neighbour is
    nearer than a hundredth of the reference's median. Where the reference's rows repeat as well
    (few values, few columns), repeats are nothing special. At most 2,000 rows are looked at; of
    more than 20,000 rows the median is that of 200 of them. Of more than 256 columns random
    mixtures are looked at.
    With ``groups``, rows of the same group are not compared.

    Parameters
    ----------
    X
        Rows.
    seed
        Of the shuffles, and of the rows looked at.
    groups
        For each row the group it belongs to.

    >>> rows = np.random.default_rng(0).normal(size=(60, 5))
    >>> near_duplicates(rows).count, near_duplicates(np.repeat(rows, 2, axis=0)).count
    (0, 120)
    """
    rows = check_features(X)
    return repeats_among(rows, standardised(rows, seed), seed, groups)


def repeats_among(
    rows: AnyArray, flat: FloatArray, seed: int = 0, groups: ArrayLike | None = None
) -> NearDuplicates:
    """The `near_duplicates` of rows whose standardised columns, or mixtures, are ``flat``.

    >>> rows = np.repeat(np.random.default_rng(0).normal(size=(60, 5)), 2, axis=0)
    >>> repeats_among(rows, standardised(rows, seed=0)).count
    120
    """
    if len(rows) < 3:
        return NearDuplicates(0, len(rows), 1.0)
    rng = generator(seed, "near duplicates")
    chosen = np.sort(rng.permutation(len(rows))[:MOST_ROWS])
    if all((rows[i] == rows[0]).all() for i in chosen):  # one row: shuffling it shows nothing
        return NearDuplicates(len(chosen), len(chosen), 0.0)
    _, _, axes = np.linalg.svd(flat[chosen], full_matrices=False)
    many = len(flat) > ALL_DISTANCES
    found = np.zeros(0) if many else _nearest(flat, chosen, groups)
    counts, p_values = [], []
    for turned in (False, True):
        # Column by column in memory, as they are shuffled.
        shuffled = (axes @ flat.T).T if turned else flat.copy(order="F")
        rng.permuted(shuffled, axis=0, out=shuffled)
        reference = nearest_distances(shuffled, chosen[::_EVERY] if many else chosen, 1)
        limit = _NEAR * float(np.median(reference))
        if many:
            counts.append(near_rows(flat, chosen, limit, rng, groups))
            repeats = near_rows(shuffled, chosen, limit, rng)
        else:
            counts.append(int((found <= limit).sum()))
            repeats = int((reference <= limit).sum())
        by_chance = (repeats + 1) / (len(chosen) + 2)
        p_values.append(stats.binomtest(counts[-1], len(chosen), by_chance, "greater").pvalue)
        del shuffled  # before the next is made: of a million rows both would be much
    return NearDuplicates(min(counts), len(chosen), float(max(p_values)))


def _nearest(rows: FloatArray, chosen: IntArray, groups: ArrayLike | None) -> FloatArray:
    """The distance of each chosen row to the nearest other row, or row of another group."""
    if groups is None:
        return nearest_distances(rows, chosen, 1)[:, 0]
    member = np.asarray(groups)
    found = []
    step = max(1, min(_ROWS_AT_ONCE, _FLOATS_AT_ONCE // len(rows)))
    for some in np.array_split(chosen, math.ceil(len(chosen) / step)):
        apart = distance.cdist(rows[some], rows)
        apart[member[some][:, None] == member[None, :]] = np.inf
        found.append(apart.min(axis=1))
    return np.concatenate(found)
