"""Are a model's columns in the order of the labels? Told from labelled rows, by two exact tests."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import FloatArray, IntArray
from fireassay.core.errors import DataError
from fireassay.core.lazy_modules import optimize, stats
from fireassay.core.seeds import generator
from fireassay.core.validation import check_integer, check_lengths

_POINTS, _LEVEL = 0.20, 0.001
_PERMUTATIONS, _AT_ONCE = 1999, 200_000
_TIE = 1e-9


@dataclass(frozen=True)
class ClassOrder:
    """What labelled rows say about the order of a model's columns.

    Attributes
    ----------
    agreement
        Share of rows whose answer is the label.
    order
        For each column the class that it seems to be; ``(0, 1, …)`` where nothing speaks for
        another order.
    agreement_in_order
        The share with the columns taken in that order.
    p_order
        p-value of "that order is no better", on rows that it was not chosen on.
    balanced, by_chance
        Mean recall, and what the same answers would have if they were dealt to the rows at random.
    p_below, p_above
        p-values of "not below chance" and of "not above chance".
    n
        Rows looked at.

    >>> ClassOrder(0.02, (1, 0), 0.98, 1e-9, 0.02, 0.5, 1e-9, 1.0, 400).is_wrong
    True
    """

    agreement: float
    order: tuple[int, ...]
    agreement_in_order: float
    p_order: float
    balanced: float
    by_chance: float
    p_below: float
    p_above: float
    n: int

    @property
    def is_wrong(self) -> bool:
        """Another order is better by twenty points, beyond doubt."""
        return self.order != tuple(range(len(self.order)))

    @property
    def is_below_chance(self) -> bool:
        """Its mean recall is below that of the same answers dealt at random, beyond doubt."""
        return self.p_below < _LEVEL

    @property
    def is_verified(self) -> bool:
        """Its mean recall is above chance, beyond doubt, and no other order is much better."""
        return self.p_above < _LEVEL and not self.is_wrong


def class_order(
    y: ArrayLike,
    predicted: ArrayLike,
    n_classes: int,
    *,
    groups: ArrayLike | None = None,
    seed: int = 0,
) -> ClassOrder:
    """Look for an order of the columns that fits the labels much better, and for less than chance.

    The order is the assignment of columns to classes with the largest mean recall on one half of
    the rows. It counts where on the other half it is right at least twenty points more often, and
    finds classes twenty points more often in the mean, with McNemar's exact p below .001 (with
    groups: the sign test over groups). A model that is merely weak, or that raises many false
    alarms on purpose, is neither: mean recall does not count the majority more.

    Parameters
    ----------
    y, predicted
        Class indices: the labels, and the model's answers.
    n_classes
        The number of columns.
    groups
        For each row the patient or device it belongs to.
    seed
        Of the halves and of the permutations.

    >>> y = np.tile([0, 1, 2], 40)
    >>> found = class_order(y, (y + 1) % 3, 3)
    >>> found.agreement, found.order, found.agreement_in_order
    (0.0, (2, 0, 1), 1.0)
    """
    truth, said = np.asarray(y, dtype=np.int64), np.asarray(predicted, dtype=np.int64)
    k = check_integer(n_classes, "n_classes", low=2)
    check_lengths(y=len(truth), predicted=len(said))
    n = len(truth)
    if n == 0:
        raise DataError("The order of classes needs at least one labelled row.", got="0 rows")
    members = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1].ravel()
    rng = generator(seed, "class order")
    first = (rng.permutation(int(members.max()) + 1) < (members.max() + 1) / 2)[members]
    order, p_order = tuple(range(k)), 1.0
    if first.any() and not first.all():
        found = _best_order(truth[first], said[first], k)
        if _gain_in_recall(truth, said, found, k) >= _POINTS:
            p_order = _much_better(truth[~first], said[~first], found, members[~first], k)
        if p_order < _LEVEL:
            order = tuple(int(c) for c in _best_order(truth, said, k))
    single = _one_each(members, rng) if groups is not None else np.arange(n)
    p_below, p_above = _against_chance(truth[single], said[single], k, rng)
    there = np.bincount(truth, minlength=k) > 0
    return ClassOrder(
        agreement=float((truth == said).mean()),
        order=order,
        agreement_in_order=float((truth == np.asarray(order)[said]).mean()),
        p_order=p_order,
        balanced=_mean_recall(truth, said, k),
        by_chance=float(np.bincount(said, minlength=k)[there].sum() / n / there.sum()),
        p_below=p_below,
        p_above=p_above,
        n=n,
    )


def _recalls(truth: IntArray, said: IntArray, k: int) -> FloatArray:
    """For each class the share of its rows that each column takes; zeros without rows."""
    counts = np.bincount(truth * k + said, minlength=k * k).reshape(k, k).astype(np.float64)
    shares: FloatArray = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    return shares


def _mean_recall(truth: IntArray, said: IntArray, k: int) -> float:
    there = np.bincount(truth, minlength=k) > 0
    return float(np.diag(_recalls(truth, said, k))[there].mean())


def _gain_in_recall(truth: IntArray, said: IntArray, order: IntArray, k: int) -> float:
    return _mean_recall(truth, order[said], k) - _mean_recall(truth, said, k)


def _best_order(truth: IntArray, said: IntArray, k: int) -> IntArray:
    """For each column its class; the present order wherever nothing speaks against it."""
    gain = _recalls(truth, said, k) + _TIE * np.eye(k)
    own = np.arange(k)
    others = np.where(np.eye(k, dtype=np.bool_), -np.inf, gain)
    if (np.diag(gain) > others.max(axis=1)).all():
        return own  # every class is best where it is
    classes, columns = optimize.linear_sum_assignment(gain, maximize=True)
    order = np.empty(k, dtype=np.int64)
    order[columns] = classes
    return order


def _much_better(
    truth: IntArray, said: IntArray, order: IntArray, members: IntArray, k: int
) -> float:
    """p-value of the order on rows that it was not chosen on; 1 if it gains less than asked."""
    now, then = truth == said, truth == order[said]
    if then.mean() - now.mean() < _POINTS:
        return 1.0
    if len(np.unique(truth)) < 2 or _gain_in_recall(truth, said, order, k) < _POINTS:
        return 1.0
    gain = np.bincount(members, weights=then.astype(np.float64) - now)
    better, worse = int((gain > 0).sum()), int((gain < 0).sum())
    return float(stats.binomtest(better, better + worse, 0.5, "two-sided").pvalue)


def _one_each(members: IntArray, rng: np.random.Generator) -> IntArray:
    """One row of each group, drawn at random: these are independent of each other."""
    shuffled = rng.permutation(len(members))
    _, place = np.unique(members[shuffled], return_index=True)
    return np.sort(shuffled[place])


def _against_chance(
    truth: IntArray, said: IntArray, k: int, rng: np.random.Generator
) -> tuple[float, float]:
    """p-values of a mean recall this small, this large, if the answers were dealt at random."""
    rows = np.bincount(truth, minlength=k)
    weight = 1.0 / rows[truth]  # of a right answer, in mean recall times the number of classes
    seen = float(weight[truth == said].sum())
    smaller = larger = 0
    step = max(1, _AT_ONCE // len(truth))
    for start in range(0, _PERMUTATIONS, step):
        m = min(step, _PERMUTATIONS - start)
        dealt = (rng.permuted(np.broadcast_to(said, (m, len(said))), axis=1) == truth) @ weight
        smaller += int((dealt <= seen + _TIE).sum())
        larger += int((dealt >= seen - _TIE).sum())
    return (smaller + 1) / (_PERMUTATIONS + 1), (larger + 1) / (_PERMUTATIONS + 1)
