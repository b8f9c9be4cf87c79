"""Differential evolution of perturbations, for all samples at once; scores alone."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.attacks.attacked_model import AttackedModel, Index
from fireassay.attacks.margins import lead
from fireassay.attacks.result import NOT_FOUND
from fireassay.classifiers.answers import log_probabilities

_FACTOR = 0.5
_LEAST, _MOST = 4, 40
_BLOCK_FLOATS = 2e7
Genes = NDArray[np.float64]
Build = Callable[[Genes, Index], NDArray[Any]]


def evolve(target: AttackedModel, genes: int, build: Build, *, from_best: bool = False) -> None:
    """Search for genes in [0, 1] whose points are wrong.

    A population of genes per sample; each generation every member is challenged by one other (or
    the best one, in half of its genes: where there are many) plus half the difference of two more,
    and replaced if the class's lead does not grow (Storn and Price 1997). ``build(genes, rows)``
    makes finished points, one per row of genes. One query per member and generation.
    """
    size = int(np.clip(target.limit // 8, _LEAST, _MOST))
    block = max(1, int(_BLOCK_FLOATS / (size * target.original.shape[1])))
    for first in range(0, target.n, block):
        rows = target.begin(np.arange(first, min(first + block, target.n)))
        _evolve_block(target, rows, size, genes, build, from_best)


def _evolve_block(
    target: AttackedModel, rows: Index, size: int, genes: int, build: Build, from_best: bool
) -> None:
    rows = rows[target.room(rows) >= size]
    if not len(rows):
        return
    generators = target.generators(rows)
    members = np.stack([rng.random((size, genes)) for rng in generators])
    leads = _leads(target, members, rows, build)
    while True:
        kept = np.flatnonzero((target.status[rows] == NOT_FOUND) & (target.room(rows) >= size))
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


def _leads(target: AttackedModel, members: Genes, rows: Index, build: Build) -> NDArray[np.float64]:
    """Ask about every member of every population; failures are booked."""
    n, size, genes = members.shape
    owners = np.repeat(rows, size)
    points = build(members.reshape(n * size, genes), owners)
    answers, wrong = target.answers(points, owners)
    target.settle(points, owners, wrong)
    return lead(log_probabilities(answers), target.goal[owners]).reshape(n, size)
