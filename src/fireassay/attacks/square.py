"""Square attack: random squares of pixels, kept where the class's lead shrinks; scores alone."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.attacks.attacked_model import AttackedModel, Index
from fireassay.attacks.directions import Layout, hill, make_layout
from fireassay.attacks.losses import ask_leads
from fireassay.attacks.result import AttackResult
from fireassay.core.arrays import AnyArray, FloatArray
from fireassay.core.validation import check_real

# Of 10,000 steps, those at which windows lose half of their area.
_HALVINGS = np.array([10, 50, 200, 500, 1000, 2000, 4000, 6000, 8000]) / 10_000
_FIRST_SHARE = {"linf": 0.8, "l2": 0.1}
_DRAWN_AT_ONCE = 32
_BLOCK_ROWS = 512
Matrix = FloatArray


def square(
    model: Any,
    X: ArrayLike,
    y: ArrayLike | None = None,
    norm: str = "linf",
    eps: float = 0.1,
    max_queries: int = 1000,
    *,
    first_share: float | None = None,
    mask: ArrayLike | None = None,
    seed: int = 0,
) -> AttackResult:
    """Search the ball of radius ``eps`` at random, square by square; asks for scores only.

    Args:
        model, X, y, mask: As in `fgm`; gradients are not needed.
        norm: ``"linf"`` or ``"l2"``.
        eps: Radius of the ball, > 0.
        max_queries: Hard limit of forward queries per sample; windows shrink over them.
        first_share: Share of pixels in the first windows, in (0, 1]; default 0.8 (linf), 0.1 (l2).
        seed: Of the windows.

    Andriushchenko et al. 2020. The loss is the lead of the attacked class in logits, where the
    model has them, and in log-probabilities otherwise: neither vanishes when the softmax saturates.
    linf starts from stripes of ±eps and sets one random window per step to ±eps; l2 starts from a
    grid of hills and moves the length that one window uses to another. A step is kept if the lead
    does not grow. Rows of tables have blocks of neighbouring features where images have squares.
    One query per step (where logits are read, one more to confirm a fall).

    >>> from fireassay import as_classifier
    >>> model = as_classifier(lambda X: np.hstack([1 - X, X]), classes=[0, 1], bounds=(0, 1))
    >>> square(model, [[0.45], [0.3]], [0, 0], eps=0.1).success.tolist()  # the boundary is at 0.5
    [True, False]
    """
    target = AttackedModel(
        "square", model, X, y, norm=norm, seed=seed, max_queries=max_queries, eps=eps, mask=mask,
        norms=tuple(_FIRST_SHARE),
    )  # fmt: skip
    share = _FIRST_SHARE[norm] if first_share is None else first_share
    check_real(share, "first_share", low=0.0, high=1.0, inclusive="high")
    layout = make_layout(target.shape, target.mask)
    for first in range(0, target.n, _BLOCK_ROWS):
        rows = target.begin(np.arange(first, min(first + _BLOCK_ROWS, target.n)))
        _search(target, layout, rows, share)
    return target.result()


def _search(target: AttackedModel, layout: Layout, rows: Index, share: float) -> None:
    rows = rows[target.queries_left(rows) >= 1]
    if not len(rows):
        return
    generators = target.generators(rows)
    first, change = (_stripes, _window) if target.norm == "linf" else (_hills, _moved_window)
    points = first(target, layout, rows, generators)
    leads, standing = ask_leads(target, points, rows)
    steps = max(target.limit - 2, 1)
    for step in range(steps):
        kept = np.flatnonzero(standing & (target.queries_left(rows) >= 1))
        rows, points, leads = rows[kept], points[kept], leads[kept]
        generators = [generators[i] for i in kept]
        if not len(rows):
            return
        if step % _DRAWN_AT_ONCE == 0:
            size = (_DRAWN_AT_ONCE, 3 + layout.channels)
            draws = np.stack([rng.random(size) for rng in generators])
        else:
            draws = draws[kept]
        now = share / 2.0 ** (step >= _HALVINGS * steps).sum()
        proposals = change(target, layout, rows, points, draws[:, step % _DRAWN_AT_ONCE], now)
        found, standing = ask_leads(target, proposals, rows)
        better = found <= leads
        points[better], leads[better] = proposals[better], found[better]
    target.keep_last(points[standing], rows[standing])


def _signs(uniform: Matrix) -> Matrix:
    return np.where(uniform < 0.5, -1.0, 1.0)


def _stripes(
    target: AttackedModel, layout: Layout, rows: Index, generators: list[np.random.Generator]
) -> AnyArray:
    """±eps, the same for a whole column of a channel."""
    stripe = layout.column if layout.is_image else layout.row
    size = (int(stripe.max()) + 1, layout.channels)
    signs = np.stack([_signs(rng.random(size)) for rng in generators])
    moves = target.eps * signs[:, stripe, layout.channel]
    return target.within(target.original[rows] + moves, rows, target.eps)


def _window(
    target: AttackedModel, layout: Layout, rows: Index, points: AnyArray, draws: Matrix,
    share: float,
) -> AnyArray:  # fmt: skip
    """±eps in one window, the same for all of a channel; the other sign where nothing changes."""
    sides = layout.sides(share)
    chosen = layout.inside(layout.drawn(sides, draws[:, 0]), sides)
    signs = _signs(draws[:, 3:])[:, layout.channel]

    def moved(some: Index, signs: Matrix) -> AnyArray:
        ends = target.original[rows[some]] + target.eps * signs
        placed = np.where(chosen[some], ends, points[some])
        return target.within(placed, rows[some], target.eps)

    proposals = moved(np.arange(len(rows)), signs)
    same = np.flatnonzero((proposals == points).all(axis=1))
    proposals[same] = moved(same, -signs[same])
    return proposals


def _hills(
    target: AttackedModel, layout: Layout, rows: Index, generators: list[np.random.Generator]
) -> AnyArray:
    """A grid of hills, five along each side, each up or down at random."""
    sides = (max(layout.height // 5, 1), max(layout.width // 5, 1) if layout.is_image else 1)
    pattern = hill(sides)[layout.row % sides[0], layout.column % sides[1]] * layout.free
    across = -(-layout.width // sides[1])
    tile = layout.row // sides[0] * across + layout.column // sides[1]
    size = (int(tile.max()) + 1, layout.channels)
    moves = np.stack([_signs(rng.random(size))[tile, layout.channel] for rng in generators])
    moves *= pattern * target.eps / np.sqrt(np.square(pattern).sum())
    return target.within(target.original[rows] + moves, rows, target.eps)


def _moved_window(
    target: AttackedModel, layout: Layout, rows: Index, points: AnyArray, draws: Matrix,
    share: float,
) -> AnyArray:  # fmt: skip
    """The length that one window used goes to another, with a hill added there."""
    sides = layout.sides(share, least=3)
    source, goal = layout.drawn(sides, draws[:, 0]), layout.drawn(sides, draws[:, 1])
    leaving, coming = layout.inside(source, sides), layout.inside(goal, sides)
    moves = points.astype(np.float64) - target.original[rows]
    unused = np.maximum(target.eps**2 - np.square(moves).sum(axis=1, keepdims=True), 0.0)
    used = layout.by_channel(np.square(moves) * (leaving | coming))
    pattern = hill(sides)
    hills = layout.painted(goal, sides, pattern)
    if sides[0] == sides[1]:
        turned = draws[:, 2] < 0.5
        hills[turned] = layout.painted(goal[turned], sides, pattern.T)
    hills *= _signs(draws[:, 3:])[:, layout.channel]
    before = np.sqrt(layout.by_channel(np.square(moves) * coming))
    fresh = hills + moves * coming / np.maximum(before, 1e-12)[:, layout.channel]
    length = np.sqrt(layout.by_channel(np.square(fresh)))
    scale = np.sqrt(used + unused / layout.channels) / np.maximum(length, 1e-12)
    moves = np.where(coming, fresh * scale[:, layout.channel], np.where(leaving, 0.0, moves))
    return target.within(target.original[rows] + moves, rows, target.eps)
