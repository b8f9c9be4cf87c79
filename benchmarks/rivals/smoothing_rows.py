"""Kernel densities and local curves."""

import by_hand
import numpy as np
from race import Race, largest_difference, rival


def _density(points: int, cells: int, peer) -> Race:
    from fireassay.data import unit_square
    from fireassay.reliability.cells import Grid
    from fireassay.statistics.kde import BinnedKde

    X = unit_square(points, seed=1).X
    grid = Grid.regular(cells, (0, 1), dimensions=2)

    def agree(mine, other):
        mine, other = np.ravel(mine), np.ravel(other)
        heavy = other > 1e-3 * other.max()
        return f"within {np.abs(mine / other - 1)[heavy].max():.1e}"

    return Race(lambda: BinnedKde(X, 0.04).density(grid.centres), lambda: peer(X, grid), agree)


@rival("linear binning, KDE", "reliability", "KDE, 100,000 points on 250,000 cells")
def _(quick: bool) -> Race:
    points, cells = (5_000, 100) if quick else (100_000, 500)
    return _density(points, cells, lambda X, _: by_hand.binned_density(X, 0.04, cells))


@rival("scikit-learn KernelDensity", "reliability", "KDE, 5,000 points on 2,500 cells")
def _(quick: bool) -> Race:
    from sklearn.neighbors import KernelDensity

    def peer(X, grid):
        low, high = grid.boxes(np.arange(grid.n_cells))
        return np.exp(KernelDensity(bandwidth=0.04).fit(X).score_samples((low + high) / 2))

    return _density(1_000 if quick else 5_000, 10 if quick else 50, peer)


def _curve(n: int, peer) -> Race:
    from fireassay import discovery

    rng = np.random.default_rng(0)
    x = np.clip(1 - 0.35 * rng.beta(0.3, 2.0, n), 0.65, 1.0) + 1e-9 * rng.random(n)
    y = -5 + 3 * x**4 + 0.5 * np.sin(20 * x) + 0.5 * rng.standard_normal(n)
    return Race(lambda: discovery.loess(x, y)(x), lambda: peer(x, y), largest_difference)


def _lowess(x, y, share_of_range: float):
    from statsmodels.nonparametric.smoothers_lowess import lowess

    return lowess(
        y, x, frac=0.1, it=3, delta=share_of_range * float(np.ptp(x)), return_sorted=False
    )


@rival("statsmodels lowess", "discovery", "LOESS, 10,000 points, a fit at each")
def _(quick: bool) -> Race:
    return _curve(1_000 if quick else 10_000, lambda x, y: _lowess(x, y, 0.0))


@rival("statsmodels lowess, delta 1 %", "discovery", "LOESS, 1,000,000 points")
def _(quick: bool) -> Race:
    return _curve(20_000 if quick else 1_000_000, lambda x, y: _lowess(x, y, 0.01))


@rival("R-style interpolation", "discovery", "LOESS, 1,000,000 points")
def _(quick: bool) -> Race:
    return _curve(20_000 if quick else 1_000_000, by_hand.interpolated_lowess)
