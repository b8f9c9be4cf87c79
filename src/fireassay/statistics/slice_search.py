"""A rule in words for the rows where something happens most: found on one half of the rows."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.core.arrays import BoolArray, FloatArray
from fireassay.core.errors import DataError
from fireassay.core.lazy import special
from fireassay.core.seeds import generator
from fireassay.core.validation import check_integer, check_lengths

_FEW_VALUES = 8
_CUTS = np.arange(1, 20) / 20
_BEAM, _NARROW_BEAM = 40, 15
_PRICE = 3.0  # of a condition, on the scale of log likelihoods
_ENOUGH_BEATEN = 4
_SORTED = 1000


@dataclass(frozen=True)
class Condition:
    """One feature at most, above, or equal to a value.

    Attributes:
        feature, name: Its column, and what it is called.
        sign, value: ``"≤"``, ``">"`` or ``"="``, and the number it is compared with.
        yes_or_no: Whether the feature is 0 or 1 throughout, and so said without a number.

    >>> old = Condition(0, "age", ">", 70.0)
    >>> str(old), old.of(np.array([[65.0], [80.0]])).tolist()
    ('age > 70', [False, True])
    """

    feature: int
    name: str
    sign: str
    value: float
    yes_or_no: bool = False

    def of(self, X: FloatArray) -> BoolArray:
        """For which rows it is true."""
        column = X[:, self.feature]
        if self.sign == "=":
            return np.asarray(column == self.value)
        return np.asarray(column <= self.value if self.sign == "≤" else column > self.value)

    def __str__(self) -> str:
        if self.yes_or_no:
            return self.name if self.value else f"not {self.name}"
        return f"{self.name} {self.sign} {self.value:.4g}"


@dataclass(frozen=True)
class SliceRule:
    """Conditions that hold together.

    Attributes:
        conditions: At most as many as the search allowed.

    >>> print(SliceRule((Condition(0, "age", ">", 64.0), Condition(1, "ward", "=", 2.0))))
    age > 64 and ward = 2
    """

    conditions: tuple[Condition, ...]

    def of(self, X: ArrayLike) -> BoolArray:
        """For which rows the whole rule is true."""
        table = np.asarray(X, dtype=np.float64)
        inside = np.ones(len(table), dtype=bool)
        for condition in self.conditions:
            inside &= condition.of(table)
        return inside

    def __str__(self) -> str:
        return " and ".join(map(str, self.conditions))


_Scored = tuple[float, tuple[Condition, ...], BoolArray]


def find_slices(
    X: ArrayLike,
    hit: ArrayLike,
    names: Sequence[str] | None = None,
    *,
    depth: int = 3,
    smallest: float = 0.03,
    most: int = 5,
) -> tuple[SliceRule, ...]:
    """Rules of at most ``depth`` conditions whose rows have the most hits beyond chance.

    They are the best of many thousands: measure on other rows how often it really happens there.

    Args:
        X: Features of shape (n, d).
        hit: True for each row that is a hit.
        names: Of the features.
        depth: The most conditions, at least 1.
        smallest: The least share of the rows that a rule may keep.
        most: How many rules; no two of them share more than half of their rows.

    Returns:
        The best first; empty where nothing happens more often than in all rows.

    Conditions cut a feature at every twentieth of its rows, or name one of few values; the
    40 best rules of each depth are made longer. The best rule has the largest likelihood ratio
    against the rate of all rows, less 3 for each condition, because longer rules fit chance better.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((1000, 3))
    >>> bad = (X[:, 1] > 0.9) & (rng.random(1000) < 0.5)
    >>> print(find_slices(X, bad, ["a", "b", "c"], most=1)[0])
    b > 0.89
    """
    table, marks, called = _checked(X, hit, names, depth)
    if float(marks.mean() if len(marks) else 0.0) in (0.0, 1.0):
        return ()
    search = _Search(table, called, smallest)
    every = search.rules(marks, depth)
    kept: list[_Scored] = []
    for scored in every:
        if len(kept) < most and not any(_alike(scored, k) for k in kept):
            kept.append(scored)
    return tuple(SliceRule(rule) for _, rule, _ in kept)


def slice_test(
    X: ArrayLike,
    hit: ArrayLike,
    *,
    depth: int = 2,
    smallest: float = 0.03,
    permutations: int = 79,
    seed: int = 0,
) -> float:
    """Whether there is any slice at all: the p-value of "hits fall anywhere alike".

    The whole search, with a narrower beam, is repeated with the hits dealt to the rows anew. It
    uses all rows, so it sees slices that no half could confirm, but not how often it happens there.

    Args:
        X, hit, depth, smallest: As for `find_slices`.
        permutations: The smallest p-value is ``1 / (permutations + 1)``; a large one stops early.
        seed: Of the deals.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((600, 3))
    >>> slice_test(X, (X[:, 1] > 0.9) & (rng.random(600) < 0.5), permutations=19)
    0.05
    """
    table, marks, called = _checked(X, hit, None, depth)
    if float(marks.mean() if len(marks) else 0.0) in (0.0, 1.0):
        return 1.0
    search = _Search(table, called, smallest)
    rng, beaten, dealt = generator(seed, "slice test"), 0, 0
    found = search.best(marks, depth)
    while dealt < permutations and beaten < _ENOUGH_BEATEN:
        beaten += search.best(rng.permutation(marks), depth) >= found
        dealt += 1
    # Stopped early, beaten / dealt is the p-value (Besag and Clifford).
    return beaten / dealt if beaten == _ENOUGH_BEATEN else (beaten + 1) / (dealt + 1)


def _checked(
    X: ArrayLike, hit: ArrayLike, names: Sequence[str] | None, depth: int
) -> tuple[FloatArray, FloatArray, list[str]]:
    table = np.asarray(X, dtype=np.float64)
    marks = np.asarray(hit).astype(np.float64)
    if table.ndim != 2:
        raise DataError("X must have the shape (rows, features).", got=f"shape {table.shape}")
    check_lengths(X=len(table), hit=len(marks))
    check_integer(depth, "depth", low=1)
    called = list(names) if names is not None else [f"feature {i}" for i in range(table.shape[1])]
    check_lengths(names=len(called), features=table.shape[1])
    return table, marks, called


class _Search:
    """The conditions of a table and the rows where each is true, made once for many searches."""

    def __init__(self, table: FloatArray, names: Sequence[str], smallest: float) -> None:
        self.table = np.asfortranarray(table)
        self.conditions = _conditions(self.table, names)
        self.fewest = max(10, math.ceil(smallest * len(table)))
        self.n = len(table)
        # A bit for each row and condition: where rule and condition hold is counted by words.
        # What is above a cut is there and not at most the cut, which comes just before it.
        self.above = np.array([c.sign == ">" for c in self.conditions], dtype=bool)
        self.feature = np.array([c.feature for c in self.conditions], dtype=np.int64)
        made = [c for c in self.conditions if c.sign != ">"]
        self.inside = _packed((c.of(self.table) for c in made), len(made), self.n)
        self.there = _packed(~np.isnan(self.table.T), table.shape[1], self.n)

    def counts(self, rules: BoolArray) -> FloatArray:
        """Of each rule, given as the rows it holds for, the rows where each condition holds."""
        packed = _packed(rules, *rules.shape)
        found = _counted(packed, self.inside)[:, np.cumsum(~self.above) - 1]
        there = _counted(packed, self.there)
        found[:, self.above] = there[:, self.feature[self.above]] - found[:, self.above]
        return found

    def rules(self, marks: FloatArray, depth: int, widest: int = _BEAM) -> list[_Scored]:
        """The rules that were kept at each depth, the best first."""
        found: list[_Scored] = []
        beam: list[_Scored] = [(0.0, (), np.ones(self.n, dtype=bool))]
        for length in range(1, depth + 1):
            beam = self._longer(beam, marks, widest) if self.conditions else []
            found += [(score - _PRICE * length, rule, inside) for score, rule, inside in beam]
        return sorted(found, key=lambda scored: -scored[0])

    def best(self, marks: FloatArray, depth: int) -> float:
        """The score of the best rule."""
        found = self.rules(marks, depth, _NARROW_BEAM)
        return found[0][0] if found else 0.0

    def _longer(self, beam: list[_Scored], marks: FloatArray, widest: int) -> list[_Scored]:
        """The best rules with one condition more, of rules with equal counts the first."""
        if not beam:
            return []
        kept = np.array([inside for _, _, inside in beam])
        n, hits = self.counts(kept), self.counts(kept & (marks > 0))
        scores = np.where(n >= self.fewest, _beyond_chance(hits, n, float(marks.mean())), -np.inf)
        found: list[_Scored] = []
        seen: set[tuple[float, int]] = set()
        for at in _largest_first(scores.ravel()):
            parent, place = divmod(at, scores.shape[1])
            score, condition = float(scores[parent, place]), self.conditions[place]
            if not score > 0.0 or len(found) == widest:
                break
            same = (round(score, 6), int(n[parent, place]))
            if same in seen or condition in beam[parent][1]:
                continue
            seen.add(same)
            inside = beam[parent][2] & condition.of(self.table)
            found.append((score, (*beam[parent][1], condition), inside))
        return found


def _packed(rows: Iterable[BoolArray], count: int, n: int) -> NDArray[np.uint64]:
    """Rows of bits as words, one column for each row: what is combined with all lies together."""
    packed = np.zeros((count, -(-n // 64) * 8), dtype=np.uint8)
    for place, row in enumerate(rows):
        packed[place, : -(-n // 8)] = np.packbits(row)
    return np.ascontiguousarray(packed.view(np.uint64).T)


def _counted(rules: NDArray[np.uint64], conditions: NDArray[np.uint64]) -> FloatArray:
    """How many bits each rule (a column) has in common with each condition."""
    found = np.empty((rules.shape[1], conditions.shape[1]))
    common, bits = np.empty_like(conditions), np.empty(conditions.shape, dtype=np.uint8)
    for place, rule in enumerate(rules.T):
        np.bitwise_count(np.bitwise_and(conditions, rule[:, None], out=common), out=bits)
        found[place] = bits.sum(axis=0, dtype=np.uint32)
    return found


def _largest_first(scores: FloatArray) -> Iterator[int]:
    """Positions of the largest scores, of equal ones the first; few are ever asked for."""
    least = np.partition(scores, -_SORTED)[-_SORTED] if len(scores) > _SORTED else -np.inf
    some = np.flatnonzero(scores >= least)
    yield from some[np.argsort(-scores[some], kind="stable")].tolist()
    if len(some) < len(scores):
        rest = np.flatnonzero(scores < least)
        yield from rest[np.argsort(-scores[rest], kind="stable")].tolist()


def _alike(one: _Scored, two: _Scored) -> bool:
    return bool(2 * (one[2] & two[2]).sum() > (one[2] | two[2]).sum())


def _conditions(table: FloatArray, names: Sequence[str]) -> list[Condition]:
    found = []
    for i, name in enumerate(names):
        column = np.sort(table[np.isfinite(table[:, i]), i])
        changes = np.flatnonzero(column[1:] != column[:-1])
        if not len(changes):
            continue
        if len(changes) < _FEW_VALUES:
            values = column[[0, *(changes + 1)]]
            either = values.tolist() == [0.0, 1.0]
            found += [Condition(i, name, "=", float(value), either) for value in values]
        if len(changes) > 1:
            cuts = np.unique(_quantiles_of_sorted(column, _CUTS))
            cuts = cuts[cuts < column[-1]]
            found += [Condition(i, name, sign, float(cut)) for cut in cuts for sign in ("≤", ">")]
    return found


def _quantiles_of_sorted(values: FloatArray, shares: FloatArray) -> FloatArray:
    """As `numpy.quantile`, to the last bit, of values in order."""
    at = shares * (len(values) - 1)
    low = np.floor(at).astype(np.int64)
    first, second = values[low], values[np.minimum(low + 1, len(values) - 1)]
    gap, part = second - first, at - low
    return np.where(part < 0.5, first + gap * part, second - gap * (1.0 - part))


def _beyond_chance(hits: FloatArray, n: FloatArray, rate: float) -> FloatArray:
    """Log likelihood ratio of a higher rate than that of all rows; 0 where it is not higher."""
    share = hits / np.maximum(n, 1.0)
    ratio = special.xlogy(hits, share / rate) + special.xlogy(
        n - hits, (1.0 - share) / (1.0 - rate)
    )
    return np.where(share > rate, ratio, 0.0)
