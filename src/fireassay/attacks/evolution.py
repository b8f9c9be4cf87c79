"""Pixel and threshold attacks by differential evolution."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fireassay.attacks.attacked_model import AttackedModel, Index
from fireassay.attacks.directions import make_layout
from fireassay.attacks.losses import lead
from fireassay.attacks.result import NOT_FOUND, AttackResult
from fireassay.attacks.start import feature_ranges
from fireassay.classifiers.answers import log_probabilities
from fireassay.core.arrays import AnyArray, FloatArray

_FACTOR = 0.5
_LEAST, _MOST = 4, 40
_BLOCK_FLOATS = 2e7
Genes = FloatArray
Build = Callable[[Genes, Index], AnyArray]


def evolve(target: AttackedModel, genes: int, build: Build, *, from_best: bool = False) -> None:
    """Differential evolution (Storn and Price 1997) over genes until a built point is wrong."""
    # Each generation a trial per member: another member (or, from_best, the best one in half of the
    # genes) plus half the difference of two more; kept if the class's lead does not grow.
    # build(genes, rows) makes finished points.
    size = int(np.clip(target.limit // 8, _LEAST, _MOST))
    block = max(1, int(_BLOCK_FLOATS / (size * target.original.shape[1])))
    for first in range(0, target.n, block):
        rows = target.begin(np.arange(first, min(first + block, target.n)))
        _evolve_block(target, rows, size, genes, build, from_best)


def _evolve_block(
    target: AttackedModel, rows: Index, size: int, genes: int, build: Build, from_best: bool
) -> None:
    rows = rows[target.queries_left(rows) >= size]
    if not len(rows):
        return
    generators = target.generators(rows)
    members = np.stack([rng.random((size, genes)) for rng in generators])
    leads = _leads(target, members, rows, build)
    while True:
        able = target.queries_left(rows) >= size
        kept = np.flatnonzero((target.status[rows] == NOT_FOUND) & able)
        rows, members, leads = rows[kept], members[kept], leads[kept]
        generators = [generators[i] for i in kept]
        if not len(rows):
            return
        parents = np.stack([rng.random((3, size)).argsort(axis=1) for rng in generators])
        here = np.arange(len(rows))[:, None]
        one, two, three = (members[here, parents[:, k]] for k in range(3))
        if from_best:
            best = members[here, leads.argmin(axis=1)[:, None]]
            mixed = np.stack([rng.random((size, genes)) < 0.5 for rng in generators])
            one = np.where(mixed, best, members)
        trials = one + _FACTOR * (two - three)
        # What leaves the range comes back in on the other side of its end.
        trials = np.where(trials < 0, -trials, trials)
        trials = np.clip(np.where(trials > 1, 2 - trials, trials), 0.0, 1.0)
        found = _leads(target, trials, rows, build)
        better = found <= leads
        members[better], leads[better] = trials[better], found[better]


def _leads(target: AttackedModel, members: Genes, rows: Index, build: Build) -> FloatArray:
    """Ask about every member of every population; failures are booked."""
    n, size, genes = members.shape
    owners = np.repeat(rows, size)
    points = build(members.reshape(n * size, genes), owners)
    answers, wrong = target.answers(points, owners)
    target.settle(points, owners, wrong)
    return lead(log_probabilities(answers), target.goal[owners]).reshape(n, size)


def pixel(
    model: Any,
    X: ArrayLike,
    y: ArrayLike | None = None,
    norm: str = "l0",
    eps: float = 3,
    max_queries: int = 400,
    *,
    mask: ArrayLike | None = None,
    seed: int = 0,
) -> AttackResult:
    """Change at most ``eps`` features (whole pixels) to any value of their range.

    Args:
        model, X, y, mask: As in `fgm`; gradients are not needed.
        norm: ``"l0"``: how many features differ.
        eps: Most features that change, at least 1; a pixel of a colour image has three.
        max_queries: Hard limit of forward queries per sample; populations have an eighth of it, 4
            to 40.
        seed: Of the populations.

    Su, Vargas and Sakurai 2019: a member of the population is a list of places and values; it is
    challenged by another plus half the difference of two more. All samples evolve at once.

    >>> from fireassay import as_classifier
    >>> last = lambda X: np.column_stack([1 - X[:, 2], X[:, 2]])  # looks at one feature
    >>> model = as_classifier(last, classes=[0, 1], bounds=(0, 1))
    >>> found = pixel(model, np.full((2, 3), 0.1), [0, 0], eps=1)
    >>> found.success.tolist(), found.distance.tolist()
    ([True, True], [1.0, 1.0])
    """
    target = AttackedModel(
        "pixel", model, X, y, norm=norm, seed=seed, max_queries=max_queries, eps=eps, mask=mask,
        norms=("l0",),
    )  # fmt: skip
    layout = make_layout(target.shape, target.mask)
    place = layout.row * layout.width + layout.column
    places = np.unique(place[target.free])
    count = int(min(max(eps // layout.channels, 1), len(places)))
    low, high = feature_ranges(target)
    width = 1 + layout.channels
    # Features of each place, in the order of the channels; −1 where there is none that may change.
    table = np.full((len(places), layout.channels), -1, dtype=np.int64)
    table[np.searchsorted(places, place[target.free]), layout.channel[target.free]] = target.free

    def build(genes: Genes, rows: Index) -> AnyArray:
        points = target.original[rows].astype(np.float64)
        here = np.arange(len(rows))
        for k in range(count):
            own = genes[:, k * width : (k + 1) * width]
            chosen = table[np.minimum((own[:, 0] * len(places)).astype(int), len(places) - 1)]
            for channel in range(layout.channels):
                at = chosen[:, channel]
                ok = at >= 0
                value = low[at] + own[:, 1 + channel] * (high - low)[at]
                points[here[ok], at[ok]] = value[ok]
        return target.inside(points, rows)

    evolve(target, count * width, build)
    return target.result()


def threshold(
    model: Any,
    X: ArrayLike,
    y: ArrayLike | None = None,
    norm: str = "linf",
    eps: float = 0.1,
    max_queries: int = 400,
    *,
    mask: ArrayLike | None = None,
    seed: int = 0,
) -> AttackResult:
    """Change every feature by at most ``eps``, asking for scores only.

    Args:
        model, X, y, mask, max_queries, seed: As in `pixel`.
        norm: ``"linf"``.
        eps: The threshold, > 0.

    Kotyan and Vargas 2022, the counterpart of `pixel`. A member of the population has a number for
    every feature; all samples evolve at once. `square` needs fewer queries in the same ball: this
    one is here because the paper on survival uses it.

    >>> from fireassay import as_classifier
    >>> model = as_classifier(lambda X: np.hstack([1 - X, X]), classes=[0, 1], bounds=(0, 1))
    >>> threshold(model, [[0.45], [0.3]], [0, 0], eps=0.1).success.tolist()
    [True, False]
    """
    target = AttackedModel(
        "threshold", model, X, y, norm=norm, seed=seed, max_queries=max_queries, eps=eps, mask=mask,
        norms=("linf",),
    )  # fmt: skip

    def build(genes: Genes, rows: Index) -> AnyArray:
        points = target.original[rows].astype(np.float64)
        # Steeper than a line: most features are at an end of their range, where it counts.
        points[:, target.free] += eps * np.clip(4.0 * genes - 2.0, -1.0, 1.0)
        return target.within(points, rows, eps)

    evolve(target, len(target.free), build, from_best=True)
    return target.result()
