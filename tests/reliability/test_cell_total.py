"""Cells of a black box: the total is a plain share with an exact bound."""

import numpy as np
import pytest
from scipy import stats

from fireassay.core.seeds import generator
from fireassay.reliability import Ram, assess
from fireassay.reliability.cell_shares import Sampled
from fireassay.reliability.cells import CellLabels, Grid
from fireassay.reliability.weighted_cells import cell_total

TRUE = 0.005


def patchy(X):
    """Class 1 in a corner of every cell of a 20 × 20 grid: 0.5 % of its area, class 0 elsewhere."""
    within = (X * 20) % 1
    return (within < np.sqrt(TRUE)).all(axis=1).astype(int)


def as_model(X):
    return np.eye(2)[patchy(X)]


def as_it_was(predict, grid, seed):
    """Cells whose 16 first points agree are constant; the others 1 - their largest share."""
    rng = generator(seed, "as it was")
    low, high = grid.boxes(np.arange(grid.n_cells))

    def share(rows, points):
        u = rng.random((len(rows), points, 2))
        drawn = (low[rows, None] + (high - low)[rows, None] * u).reshape(-1, 2)
        return predict(drawn).reshape(len(rows), -1).mean(axis=1)

    first = share(np.arange(grid.n_cells), 16)
    wrong = np.zeros(grid.n_cells)
    mixed = np.flatnonzero((first > 0) & (first < 1))
    if len(mixed):
        again = share(mixed, 1024)
        wrong[mixed] = np.minimum(again, 1 - again)
    return wrong.mean()


@pytest.mark.slow
def test_what_it_was_is_too_low_by_a_factor_and_what_it_is_is_not():
    grid = Grid.regular(20, (0, 1), dimensions=2)
    before = np.mean([as_it_was(patchy, grid, seed) for seed in range(10)])
    assert before < TRUE / 5
    X = np.random.default_rng(0).random((400, 2))
    found = [
        assess(as_model, X, patchy(X), method=Ram(cells=20, bounds=(0, 1)), seed=seed)
        for seed in range(6)
    ]
    values = np.array([one.details.pmi for one in found])
    # Rows of the data that are wrong make their cells' labels the minority: a little above.
    assert TRUE * 0.7 < values.mean() < TRUE * 3
    assert all(one.details.pmi_upper > TRUE for one in found)
    assert all(
        abs(one.details.pmi * 10_000 - round(one.details.pmi * 10_000)) < 1e-6 for one in found
    )
    assert any("10,000 points drawn by mass" in str(row) for row in found[0].comparison["method"])


def test_the_bound_of_the_total_misses_no_more_than_promised():
    grid = Grid.regular(20, (0, 1), dimensions=2)
    labels = CellLabels.observed(grid, np.zeros((1, 2)), np.zeros(1, dtype=np.int64))
    label = np.zeros(grid.n_cells, dtype=np.int64)
    mass = np.random.default_rng(0).dirichlet(np.ones(grid.n_cells))
    missed, worlds = 0, 2000
    for seed in range(worlds):
        total = cell_total(patchy, grid, labels, label, mass, draws=600, seed=seed)
        missed += total.upper(0.025) < TRUE
        if seed == 0:
            exact = stats.binomtest(total.disagree, 600, alternative="less").proportion_ci(0.975)
            assert total.upper(0.025) == pytest.approx(exact.high, rel=1e-9)
    assert missed <= stats.binom.ppf(0.999, worlds, 0.025)


def test_single_cells_are_unbiased():
    grid = Grid.regular(20, (0, 1), dimensions=2)
    totals = []
    for seed in range(30):
        found = Sampled(samples=256)(patchy, grid, 2, seed)
        assert found.vote is not None
        totals.append(1 - found.shares[np.arange(400), found.vote].mean())
    error = np.std(totals, ddof=1) / np.sqrt(30)
    assert abs(np.mean(totals) - TRUE) < 4 * error + 5e-4
    assert np.mean(totals) > 0.75 * TRUE


def test_samples_are_as_many_as_were_asked_for():
    asked = []

    def predict(X):
        asked.append(len(X))
        return (X[:, 0] > 0.5).astype(int)

    Sampled(samples=2500, first=4)(predict, Grid.regular(1, (0, 1), dimensions=2), 2, 0)
    assert sum(asked) == 4 + 4 + 2500
