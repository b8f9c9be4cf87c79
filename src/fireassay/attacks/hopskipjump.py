"""HopSkipJump: from decisions alone, estimate the boundary's normal and walk towards the sample."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fireassay.attacks.attacked_model import AttackedModel, Index
from fireassay.attacks.bisection import along_semicircle, into_box
from fireassay.attacks.race import near_starts
from fireassay.attacks.result import NOT_FOUND, AttackResult
from fireassay.attacks.start import Pool, make_pool
from fireassay.attacks.subspace import Subspace, make_subspace
from fireassay.core.validation import check_integer

# Probes lie this far from the boundary, as a share of the distance to the sample.
_PROBE_RADIUS = 0.05
_FIRST_PROBES, _MORE_PROBES = 14, 0.6
# How near the boundary a point must be, as a share of what a probe moves along one feature.
_TOLERANCE = 1.5
# How much of the last normal is carried over; the boundary turns little between two steps.
_MEMORY = 0.5
_LEAST_GAIN = 0.01
_BLOCK_FLOATS = 2e7


def hopskipjump(
    model: Any,
    X: ArrayLike,
    y: ArrayLike | None = None,
    norm: str = "l2",
    max_queries: int = 500,
    pool: Any = None,
    subspace: str | int | None = None,
    seed: int = 0,
    *,
    eps: float | None = None,
    mask: ArrayLike | None = None,
) -> AttackResult:
    """Find a near misclassified point for each sample, asking the model for decisions only.

    Parameters
    ----------
    model
        A classifier, or anything `as_classifier` makes one of.
    X, y
        Samples and their labels; without ``y`` the attack is away from the predicted class.
    norm
        ``"l2"`` or ``"linf"``: the distance that is made small.
    max_queries
        Hard limit of queries per sample, with start and every check in it.
    pool
        Inputs to start from: the nearest one with another predicted class. An array (predicted
        once, see ``shared_queries``) or a pair (array, predicted labels). Without it: noise.
    subspace
        None: every direction, of images low frequencies more strongly. ``"features"``: every
        direction alike. ``"dct"`` or an int: nothing but the lowest frequencies of images.
    eps
        If given, a sample falls only when a misclassified point lies within this distance, and its
        search ends there.
    mask
        Booleans, True for features that may change (False: categorical or fixed ones).
    seed
        Of the random points.

    Returns
    -------
    AttackResult
        ``distance`` is inf where nothing was found and 0 where ``y`` shows the sample is wrong
        already.

    Notes
    -----
    Chen, Jordan and Wainwright 2020: the normal at a boundary point is estimated from decisions at
    random points around it. Where the start is noise, more noise is tried beside it, and the walk
    begins in the direction in which the boundary is nearest. For l2 the next boundary point is
    searched on the half circle through the sample and the current point in the plane of the normal
    (Reza et al. 2023), on which every point is nearer; for linf by their step and projection. Each
    estimate is averaged with the one before. Without bounds, noise is drawn from the range of each
    feature in X.

    >>> from fireassay import as_classifier
    >>> half = lambda X: np.column_stack([1 - X[:, 0], X[:, 0]])  # the boundary is at 0.5
    >>> model = as_classifier(half, classes=[0, 1], bounds=(0, 1))
    >>> found = hopskipjump(model, [[0.4, 0.5], [0.2, 0.5]], [0, 0], max_queries=300)
    >>> found.distance.round(2).tolist(), bool(found.queries.max() <= 300)
    ([0.1, 0.3], True)
    """
    max_queries = check_integer(max_queries, "max_queries")
    target = AttackedModel(
        "hopskipjump", model, X, y, norm=norm, seed=seed, max_queries=max_queries, eps=eps,
        mask=mask, norms=("l2", "linf"),
    )  # fmt: skip
    space = make_subspace(subspace, target.shape, target.mask)
    starts = make_pool(target, pool) if max_queries >= 2 else None
    most_probes = _FIRST_PROBES * (1 + max_queries / 100)
    block = max(1, int(_BLOCK_FLOATS / (most_probes * target.original.shape[1])))
    for first in range(0, target.n, block):
        _attack(target, space, starts, np.arange(first, min(first + block, target.n)))
    return target.result()


def _attack(target: AttackedModel, space: Subspace, pool: Pool | None, rows: Index) -> None:
    rows = target.begin(rows)
    generators = target.generators(rows)
    tolerance = _TOLERANCE * _PROBE_RADIUS / np.sqrt(space.size)
    found, points = near_starts(target, rows, generators, pool, tolerance)
    rows, generators = rows[found], [generators[i] for i in found]
    normals = np.zeros((len(rows), target.original.shape[1]), dtype=np.float32)
    angles = np.full(len(rows), 0.5)
    evenly = np.zeros(len(rows), dtype=np.bool_)
    step = 0
    while True:
        step += 1
        within = (target.status[rows] != NOT_FOUND) & np.isfinite(target.eps)
        going = (target.room(rows) >= 3) & ~within
        if not going.all():
            kept = np.flatnonzero(going)
            rows, points, normals, angles = rows[kept], points[kept], normals[kept], angles[kept]
            evenly = evenly[kept]
            generators = [generators[i] for i in kept]
        if not len(rows):
            return
        probes = np.minimum(int(_FIRST_PROBES * step**_MORE_PROBES), target.room(rows) - 2)
        fresh = _normals(target, space, rows, points, generators, probes, evenly)
        normals = _MEMORY * normals + fresh
        before = target.distance[rows]
        if target.norm == "l2":
            points, angles = along_semicircle(target, rows, points, normals, angles, tolerance)
        else:
            points = _jump(target, rows, points, normals, step, tolerance)
        # A sample that gets no nearer looks the other way: all directions alike, or weighted.
        stuck = target.distance[rows] > (1 - _LEAST_GAIN) * before
        evenly ^= stuck
        normals[stuck] = 0.0


def _normals(
    target: AttackedModel,
    space: Subspace,
    rows: Index,
    points: NDArray[Any],
    generators: list[np.random.Generator],
    probes: Index,
    evenly: NDArray[np.bool_],
) -> NDArray[np.float32]:
    """Unit normals, pointing to the misclassified side, from decisions at random points."""
    distance = np.sqrt(
        np.square(points.astype(np.float64) - target.original[rows]).sum(axis=1)
    ).astype(np.float32)
    owners = np.repeat(np.arange(len(rows)), probes)
    directions = np.empty((len(owners), points.shape[1]), dtype=np.float32)
    ends = np.cumsum(probes)
    for i, rng in enumerate(generators):
        drawn = space.draw(rng, int(probes[i]), evenly=bool(evenly[i]))
        directions[ends[i] - probes[i] : ends[i]] = space.expand(drawn)
    radius = (_PROBE_RADIUS * distance)[owners, None]
    probed = target.inside(points[owners] + radius * directions, rows[owners])
    wrong = target.is_wrong(probed, rows[owners])
    normals = np.empty((len(rows), points.shape[1]), dtype=np.float32)
    for i in range(len(rows)):
        own = slice(ends[i] - probes[i], ends[i])
        signs = np.where(wrong[own], np.float32(1), np.float32(-1))
        balance = signs.mean()
        if abs(balance) < 1:
            signs = signs - balance
        moved = (probed[own] - points[i]).astype(np.float32)
        normals[i] = signs @ moved
    lengths = np.sqrt(np.square(normals, dtype=np.float64).sum(axis=1, keepdims=True))
    return np.asarray(normals / np.maximum(lengths, 1e-30), dtype=np.float32)


def _jump(
    target: AttackedModel,
    rows: Index,
    points: NDArray[Any],
    normals: NDArray[np.float32],
    step: int,
    tolerance: float,
) -> NDArray[Any]:
    """For linf: step along the normal's signs as far as stays wrong, then back into the box."""
    samples = target.original[rows].astype(np.float64)
    size = np.abs(points - samples).max(axis=1) / np.sqrt(step)
    jumped = points.copy()
    open_ = np.arange(len(rows))
    for _ in range(8):
        open_ = open_[target.room(rows[open_]) >= 1]
        if not len(open_):
            break
        moves = size[open_, None] * np.sign(normals[open_])
        proposals = target.inside(points[open_] + moves, rows[open_])
        wrong = target.check(proposals, rows[open_])
        jumped[open_[wrong]] = proposals[wrong]
        open_ = open_[~wrong]
        size[open_] /= 2
    nearer = into_box(target, rows, jumped, tolerance)
    before = np.abs(points - samples).max(axis=1)
    after = np.abs(nearer - samples).max(axis=1)
    return np.where((after < before)[:, None], nearer, points)
