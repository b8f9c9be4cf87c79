"""Cells of a latent space, drawn from the profile, for ``benchmarks/coverage.py``."""

from functools import cache

import numpy as np
from coverage_rows import HOLDS, Row, above, seed_of

from fireassay import as_classifier
from fireassay.core.seeds import generator
from fireassay.reliability import MonteCarlo, Ram, TopCells, assess


class Same:
    """Images of two pixels that are their own codes."""

    def encode(self, images):
        return np.asarray(images, dtype=float).reshape(len(images), -1)

    def decode(self, codes):
        return np.asarray(codes).reshape(len(codes), 1, 2)


_RNG = generator(0, "rows in latent cells")
X = _RNG.random((60, 1, 2))
Y = (X[:, 0, 0] > 0.5).astype(int)


@cache
def model(corner):
    """Right but for a corner of every patch, so wide."""

    def said(rows):
        flat = rows.reshape(len(rows), -1)
        wrong = ((flat * 7) % 1 < corner).all(axis=1)
        one = ((flat[:, 0] > 0.5) ^ wrong).astype(float)
        return np.column_stack([1 - one, one])

    return as_classifier(said, classes=[0, 1])


def found(corner, draws, seed):
    top = TopCells(side=0.1, top_k=1, draws=draws, candidates=1, decoded=2, balls=MonteCarlo(5))
    method = Ram(latent=Same(), bandwidth=0.05, radius=0.01, top=top)
    return assess(model(corner), X, Y, method=method, seed=seed).details


@cache
def truth(corner):
    """The mean over 200,000 draws: its own error is a hundredth of the bound's excess."""
    return found(corner, 200_000, 10**6).drawn


def drawn_cells(corner):
    """Compared with the bound that knows the variance of a coin of that mean: none is larger."""

    def world(rng):
        mean = truth(corner)
        upper = found(corner, 200, seed_of(rng)).drawn_upper
        normal = mean + 1.959964 * float(np.sqrt(mean * (1 - mean) / 200))
        return above(upper, mean, normal)

    return world


ROWS = [
    Row(
        "latent cells drawn by the profile, upper",
        setting,
        drawn_cells(corner),
        "normal for a coin",
        HOLDS,
        0.975,
        300,
    )
    for setting, corner in (("200 cells, mean .093", 0.25), ("200 cells, mean .005", 0.02))
]
