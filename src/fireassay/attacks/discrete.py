"""Discrete attack on table columns, and the values that each column may take."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.attacks.attacked_model import AttackedModel, Index
from fireassay.attacks.losses import ask_leads
from fireassay.attacks.result import AttackResult
from fireassay.core.arrays import AnyArray, BoolArray, FloatArray

Matrix = FloatArray


@dataclass(frozen=True, eq=False)
class Choices:
    """Ranges ``least`` to ``most`` per sample and feature, and how many may change at once."""

    target: AttackedModel
    free: Index
    least: Matrix
    most: Matrix
    step: FloatArray  # between two values of an integer; 0 for reals and categories
    limited_columns: BoolArray
    limit: int

    def draw(self, rows: Index, columns: Index, uniform: FloatArray) -> AnyArray:
        """One value per sample and column: an end half of the time, else any (reals: an end)."""
        low, high = self.least[rows, columns], self.most[rows, columns]
        own, step = self.target.original[rows, columns].astype(np.float64), self.step[columns]
        ends = np.where(np.where(uniform < 0.5, uniform < 0.25, uniform < 0.75), low, high)
        count = np.where(step > 0, np.rint((high - low) / np.where(step > 0, step, 1.0)), 0.0)
        between = low + np.floor((2 * uniform - 1) * (count + 1)) * step
        found = np.where((step > 0) & (uniform >= 0.5), between, ends)
        space = self.target.space
        if space is not None:
            for at in np.flatnonzero(space.category[columns]).tolist():
                others = space.values[int(columns[at])]
                others = others[others != own[at]]
                found[at] = others[int(uniform[at] * len(others))]
        # Where the range is the sample's own value there is nothing to choose.
        return np.asarray(np.where(low == high, own, found), dtype=self.target.dtype)

    def limited(
        self, rows: Index, points: AnyArray, generators: list[np.random.Generator]
    ) -> AnyArray:
        """Points with at most ``limit`` changes in the limited columns: some at random go back."""
        changed = (points != self.target.original[rows]) & self.limited_columns
        for at in np.flatnonzero(changed.sum(axis=1) > self.limit).tolist():
            some = generators[at].permutation(np.flatnonzero(changed[at]))[self.limit :]
            points[at, some] = self.target.original[rows[at], some]
        return points


def make_choices(target: AttackedModel) -> Choices:
    """The choices of an attack in linf (each column within eps) or l0 (so many columns)."""
    own = target.original.astype(np.float64)
    d = own.shape[1]
    space = target.space
    low = np.broadcast_to(target.low.astype(np.float64), own.shape)
    high = np.broadcast_to(target.high.astype(np.float64), own.shape)
    reach = np.full((len(own), 1), np.inf)
    if target.norm == "linf":
        # Less what rounding can add, so that the distance never exceeds eps.
        largest = (np.abs(own).max(axis=1, keepdims=True) + target.eps).astype(target.dtype)
        reach = np.maximum(target.eps - np.spacing(largest).astype(np.float64), 0.0)
    least, most = np.maximum(low, own - reach), np.minimum(high, own + reach)
    step = np.zeros(d)
    limited, limit = np.ones(d, dtype=np.bool_), d
    if target.norm == "l0":
        limit = int(target.eps)
    if space is not None:
        whole = space.integer
        step = np.where(whole, 1.0 / space.unit, 0.0)
        steps_down = np.floor((own - least)[:, whole] / step[whole] + 1e-9)
        steps_up = np.floor((most - own)[:, whole] / step[whole] + 1e-9)
        least[:, whole] = own[:, whole] - np.maximum(steps_down, 0) * step[whole]
        most[:, whole] = own[:, whole] + np.maximum(steps_up, 0) * step[whole]
        category = space.category
        least[:, category] = np.broadcast_to(low, own.shape)[:, category]
        most[:, category] = np.broadcast_to(high, own.shape)[:, category]
        least = np.where(space.increasing, own, least)
        least, most = np.minimum(least, own), np.maximum(most, own)
        least, most = np.where(target.stays, own, least), np.where(target.stays, own, most)
        if target.norm == "linf":
            limited, limit = category, space.most_categories
        else:
            limit = min(limit, d)
    unlimited = ~np.isfinite(least) | ~np.isfinite(most)
    seen_low, seen_high = own.min(axis=0), own.max(axis=0)
    least = np.where(unlimited, seen_low, least)
    most = np.where(unlimited, seen_high, most)
    return Choices(target, target.free, least, most, step, limited, limit)


# Of a budget: for trying columns one by one, and for putting the best of them together.
_SINGLE_SHARE, _TOGETHER_SHARE = 0.35, 0.15
_FIRST_BLOCK = 0.3
_HALVINGS = np.array([0.05, 0.15, 0.3, 0.5, 0.7])
_BACK_SHARE = 0.1
_BLOCK_FLOATS = 4e6


def discrete(
    model: Any,
    X: ArrayLike,
    y: ArrayLike | None = None,
    norm: str = "linf",
    eps: float = 0.1,
    max_queries: int = 300,
    *,
    mask: ArrayLike | None = None,
    seed: int = 0,
) -> AttackResult:
    """Search over the values that columns may take: integers, categories, ends of real ranges.

    Args:
        model, X, y, mask: As in `fgm`; gradients are not needed. What columns may do comes from the
            model's space (`SpacedClassifier`); without one every column is real.
        norm: ``"linf"``: integers and reals move by at most ``eps``, and so many categories take
            any allowed value as the space allows. ``"l0"``: at most ``eps`` columns take any value.
        eps: The largest change, or the largest number of changed columns; > 0.
        max_queries: Hard limit of forward queries per sample.
        seed: Of the order of columns and of the blocks.

    A third of the queries tries columns one by one from the sample itself. Those that brought the
    class's lead down are then put together, best first, and each is kept if the lead does not grow.
    The rest changes random blocks of columns at once, as `square` does with pixels; blocks shrink.
    One query per step (where logits are read, one more to confirm a fall).

    >>> from fireassay.attacks import AttackSpace, SpacedClassifier
    >>> X = np.array([[1, 2], [3, 5], [2, 9]])
    >>> space = AttackSpace.of(X, {"1": {"kind": "integer", "eps": 1}}, eps=0.1)
    >>> model = SpacedClassifier(lambda X: np.column_stack([X[:, 1] < 6, X[:, 1] > 5]), space)
    >>> found = discrete(model, space.inside(X), [0, 0, 1], eps=0.1, max_queries=50)
    >>> found.status.tolist(), space.outside(found.adversarial)[1].tolist()
    (['not found', 'found', 'not found'], [3, 6])
    """
    target = AttackedModel(
        "discrete", model, X, y, norm=norm, seed=seed, max_queries=max_queries, eps=eps, mask=mask,
        moves="all", norms=("l0", "linf"),
    )  # fmt: skip
    choices = make_choices(target)
    block = max(1, int(_BLOCK_FLOATS / target.original.shape[1]))
    for first in range(0, target.n, block):
        rows = target.begin(np.arange(first, min(first + block, target.n)))
        if len(rows):
            _Search(target, choices, rows).run()
    return target.result()


class _Search:
    """Samples that stand, each with its best point so far, its lead and its generator."""

    def __init__(self, target: AttackedModel, choices: Choices, rows: Index) -> None:
        self.target, self.choices, self.rows = target, choices, rows
        self.generators = target.generators(rows)
        self.points = target.original[rows].copy()
        self.leads = np.full(len(rows), np.inf)
        # For every column the least lead that it left alone, and the value that did it.
        self.gains = np.full(self.points.shape, np.inf)
        self.tried = self.points.copy()
        free = choices.free
        self.orders = np.array([rng.permutation(free) for rng in self.generators], dtype=np.int64)

    def run(self) -> None:
        steps, free = max(self.target.limit - 1, 0), len(self.choices.free)
        singles = min(int(_SINGLE_SHARE * steps), 2 * free)
        together = min(int(_TOGETHER_SHARE * steps), free)
        rest = steps - singles - together
        for step in range(singles):
            self._single(step)
        best = np.argsort(self.gains, axis=1, kind="stable")
        self.orders = best[:, : max(together, 1)] if len(best) else best
        for step in range(together):
            self._add(step)
        for step in range(rest):
            if not len(self.rows):
                break
            share = _FIRST_BLOCK / 2.0 ** (step / rest >= _HALVINGS).sum()
            self._propose(self._block(share))
        self.target.keep_last(self.points, self.rows)

    def _single(self, step: int) -> None:
        """Change one column of the sample itself."""
        if not len(self.rows):
            return
        here = np.arange(len(self.rows))
        columns = self.orders[:, step % self.orders.shape[1]]
        values = self.choices.draw(self.rows, columns, self._uniform(1)[:, 0])
        proposals = self.target.original[self.rows]
        changed = values != proposals[here, columns]
        proposals[here, columns] = values
        leads, standing = self._ask(proposals, changed)
        better = leads < self.gains[here, columns]
        self.gains[here[better], columns[better]] = leads[better]
        self.tried[here[better], columns[better]] = values[better]
        best = leads < self.leads
        self.points[best], self.leads[best] = proposals[best], leads[best]
        self._keep(standing)

    def _add(self, step: int) -> None:
        """Add the next best single change."""
        if not len(self.rows):
            return
        here, columns = np.arange(len(self.rows)), self.orders[:, step]
        useful = np.isfinite(self.gains[here, columns])
        proposals = self.points.copy()
        proposals[here[useful], columns[useful]] = self.tried[here[useful], columns[useful]]
        self._propose(proposals)

    def _block(self, share: float) -> AnyArray:
        """Random values in a random set of columns; some that changed before go back."""
        free = self.choices.free
        count = max(1, round(share * len(free)))
        proposals, here = self.points.copy(), np.arange(len(self.rows))
        draws = self._uniform(len(free) + 2 * count)
        chosen = free[np.argsort(draws[:, : len(free)], axis=1, kind="stable")[:, :count]]
        for k in range(count):
            columns = chosen[:, k]
            values = self.choices.draw(self.rows, columns, draws[:, len(free) + k])
            back = draws[:, len(free) + count + k] < _BACK_SHARE
            own = self.target.original[self.rows, columns]
            proposals[here, columns] = np.where(back, own, values)
        return proposals

    def _propose(self, proposals: AnyArray) -> None:
        """Ask about one point per sample; it becomes the best if the lead does not grow."""
        proposals = self.choices.limited(self.rows, proposals, self.generators)
        leads, standing = self._ask(proposals, (proposals != self.points).any(axis=1))
        better = leads <= self.leads
        self.points[better], self.leads[better] = proposals[better], leads[better]
        self._keep(standing)

    def _ask(self, proposals: AnyArray, changed: BoolArray) -> tuple[FloatArray, BoolArray]:
        """Leads (inf where nothing is asked) and who goes on; nothing new costs no query."""
        leads = np.full(len(self.rows), np.inf)
        standing = np.ones(len(self.rows), dtype=np.bool_)
        asked = np.flatnonzero(changed & (self.target.queries_left(self.rows) >= 1))
        if len(asked):
            finished = self.target.inside(proposals[asked], self.rows[asked])
            leads[asked], standing[asked] = ask_leads(self.target, finished, self.rows[asked])
        return leads, np.asarray(standing & (self.target.queries_left(self.rows) >= 1))

    def _keep(self, standing: BoolArray) -> None:
        """Go on with these samples."""
        if standing.all():
            return
        kept = np.flatnonzero(standing)
        self.rows, self.points, self.leads = self.rows[kept], self.points[kept], self.leads[kept]
        self.gains, self.tried = self.gains[kept], self.tried[kept]
        self.orders = self.orders[kept]
        self.generators = [self.generators[i] for i in kept]

    def _uniform(self, count: int) -> FloatArray:
        return np.stack([rng.random(count) for rng in self.generators])
