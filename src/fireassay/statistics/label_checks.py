"""Tests for a wrong order of classes, and for the label among the feature columns."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fireassay.core.arrays import AnyArray, BoolArray, FloatArray, IntArray
from fireassay.core.errors import DataError
from fireassay.core.lazy import optimize, stats
from fireassay.core.seeds import generator
from fireassay.core.validation import check_integer, check_lengths
from fireassay.statistics.counts import clopper_pearson

_POINTS, _LEVEL = 0.20, 0.001
_PERMUTATIONS, _AT_ONCE = 1999, 200_000
_TIE = 1e-9


@dataclass(frozen=True)
class ClassOrder:
    """What labelled rows say about the order of a model's columns."""

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
    """The order of the columns that fits the labels, and tests against answers dealt at random."""
    # The order with the largest mean recall on one half counts if on the other half it is right,
    # and finds classes, twenty points more often, by McNemar's exact p (groups: signs) below .001.
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
    return np.asarray(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0))


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


_LEAST_ROWS, _LEAST_OF_A_CLASS = 20, 2
_TOLD, _SURELY_TOLD = 0.99, 0.9


@dataclass(frozen=True, slots=True)
class LabelColumns:
    """Columns that tell the label, and of which share of the rows."""

    columns: tuple[int, ...]
    share: float

    @property
    def found(self) -> bool:
        """Whether there are any."""
        return bool(self.columns)


def label_columns(columns: Sequence[ArrayLike], labels: ArrayLike, seed: int = 0) -> LabelColumns:
    """Look for columns that are the label, or a recoding of it."""
    # What a value means is learnt on one half and tried on the other, both ways round. A class is
    # told if 99 % of its rows are found and 99 % of those are right, each surely 90 %: objected to
    # is a column, or columns together, that tell all classes, or one with the labels' values.
    y = np.asarray(labels)
    classes, truth = np.unique(y, return_inverse=True)
    sizes = np.bincount(truth)
    if len(y) < _LEAST_ROWS or (sizes >= _LEAST_OF_A_CLASS).sum() < 2:
        return LabelColumns((), 0.0)
    half = generator(seed, "columns that tell the label").permutation(len(y)) % 2 == 0
    best = LabelColumns((), 0.0)
    told_by: dict[int, tuple[int, int]] = {}  # class: a column, and of how many rows
    judged = [int(kind) for kind in np.flatnonzero(_sure(sizes, sizes))]
    for place, values in enumerate(columns):
        column = np.asarray(values)
        if _same_values(column, y):
            return LabelColumns((place,), 1.0)
        codes = _codes(column)
        if codes is None:
            continue
        said = _told(codes, truth, half, len(classes))
        told = _well_told(said, truth, len(classes))
        share = float((said == truth).mean())
        if len(judged) > 1 and told[judged].all() and share >= max(_TOLD, best.share):
            best = LabelColumns((place,), share)
        for kind in np.flatnonzero(told):
            told_by.setdefault(int(kind), (place, int(((said == truth) & (truth == kind)).sum())))
    if not best.found and len(judged) > 1 and all(kind in told_by for kind in judged):
        places, rows = zip(*(told_by[kind] for kind in judged), strict=True)
        return LabelColumns(tuple(sorted(set(places))), sum(rows) / len(y))
    return best


def _same_values(column: AnyArray, labels: AnyArray) -> bool:
    """Whether a column has the labels' own values, as numbers or in writing."""
    if column.dtype.kind in "biuf" and labels.dtype.kind in "biuf":
        return bool((column == labels).all())
    if "O" in column.dtype.kind + labels.dtype.kind or column.dtype.kind == labels.dtype.kind:
        return bool((column.astype(str) == labels.astype(str)).all())
    return False


def _codes(column: AnyArray) -> IntArray | None:
    """Which value each row has; None where values hardly repeat."""
    written = column.astype(str) if column.dtype.kind == "O" else column
    values, codes = np.unique(written, return_inverse=True)
    return codes if 2 <= len(values) <= len(column) // 4 else None


def _told(codes: IntArray, truth: IntArray, half: BoolArray, classes: int) -> IntArray:
    """The commonest class of each row's value among the rows of the other half; -1: not seen."""
    said = np.full(len(codes), -1)
    n = int(codes.max()) + 1
    for learnt in (half, ~half):
        counts = np.zeros((n, classes), dtype=np.int64)
        np.add.at(counts, (codes[learnt], truth[learnt]), 1)
        meaning = np.where(counts.any(axis=1), counts.argmax(axis=1), -1)
        said[~learnt] = meaning[codes[~learnt]]
    return said


def _well_told(said: IntArray, truth: IntArray, classes: int) -> BoolArray:
    right = np.bincount(truth[said == truth], minlength=classes)
    named = np.bincount(said[said >= 0], minlength=classes)
    return _sure(right, np.bincount(truth, minlength=classes)) & _sure(right, named)


def _sure(right: IntArray, of: IntArray) -> BoolArray:
    """Whether nearly all are right, and surely most."""
    found: BoolArray = (of > 0) & (right >= _TOLD * of)
    for kind in np.flatnonzero(found):
        k, n = int(right[kind]), int(of[kind])
        # Of n in n the lower limit is a power, and needs no library.
        low = 0.025 ** (1 / n) if k == n else clopper_pearson(k, n, 0.95)[0]
        found[kind] = low >= _SURELY_TOLD
    return found
