import numpy as np
import pytest
from scipy.spatial.distance import cdist

from fireassay.core import DataError, NotEnoughEvidenceError, ParameterError
from fireassay.reliability import DensityProfile, Grid, KdeProfile, r_separation


@pytest.mark.parametrize("d", [2, 30])
@pytest.mark.parametrize(
    ("norm", "metric"), [("linf", "chebyshev"), ("l2", "euclidean"), ("l1", "cityblock")]
)
def test_separation_equals_brute_force(d, norm, metric):
    rng = np.random.default_rng(d)
    X, y = rng.random((120, d)), rng.integers(0, 3, 120)
    distances = cdist(X, X, metric)
    distances[y[:, None] == y] = np.inf
    found = r_separation(X, y, norm=norm)
    assert found.r == pytest.approx(distances.min() / 2, rel=1e-12)
    i, j = found.pair
    assert distances[i, j] == distances.min()
    np.testing.assert_allclose(found.half_distances, np.sort(distances.min(axis=1)) / 2)
    assert found.above(found.r) > found.r


def test_equal_rows_of_two_classes_are_counted():
    found = r_separation([[0.0, 0], [0, 0], [1, 1]], ["a", "b", "b"])
    assert found.r == 0
    assert found.n_contradictions == 2


def test_one_class_has_no_separation():
    with pytest.raises(DataError, match="two classes"):
        r_separation([[0.0], [1.0]], [1, 1])


@pytest.fixture
def rows():
    return np.clip(np.random.default_rng(0).normal(0.4, 0.15, (500, 2)), 0, 1)


def test_profile_mass_density_and_sample_agree(rows):
    profile = KdeProfile(bandwidth="loo", bounds=(0, 1)).fit(rows)
    grid = Grid.regular(5, (0, 1), dimensions=2)
    mass = profile.cell_mass(grid)
    assert mass.sum() == pytest.approx(1, abs=1e-6)
    drawn = profile.sample(60_000, seed=1)
    assert drawn.min() >= 0
    assert drawn.max() <= 1
    counts = np.bincount(grid.index(drawn), minlength=25) / len(drawn)
    assert np.abs(counts - mass).max() < 0.01
    fine = Grid.regular(100, (0, 1), dimensions=2)
    centres = np.stack([c.ravel() for c in np.meshgrid(*fine.centres, indexing="ij")], axis=1)
    share = profile.density(centres).reshape(5, 20, 5, 20).sum(axis=(1, 3)).ravel() / 100**2
    np.testing.assert_allclose(share, mass, atol=5e-4)


def test_leave_one_out_chooses_less_smoothing_than_the_published_bandwidth(rows):
    assert KdeProfile("loo").fit(rows).bandwidth_ < 0.1
    assert KdeProfile(0.2).fit(rows).outside((0, 1)) > 0.05


def test_standard_error_of_an_expectation_matches_fresh_samples():
    rng = np.random.default_rng(0)
    grid = Grid.regular(10, (0, 1), dimensions=2)
    values = rng.random(grid.n_cells)
    found = [
        KdeProfile(0.08, (0, 1)).fit(rng.beta(2, 3, (200, 2))).expectation(grid, values)
        for _ in range(300)
    ]
    means, errors = np.array(found).T
    assert errors.mean() == pytest.approx(means.std(ddof=1), rel=0.12)


def test_four_dimensions():
    rows = np.random.default_rng(0).random((300, 4))
    profile = KdeProfile(0.2, (0, 1)).fit(rows)
    grid = Grid.regular(3, (0, 1), dimensions=4)
    mass = profile.cell_mass(grid)
    assert mass.sum() == pytest.approx(1, abs=1e-6)
    drawn = np.bincount(grid.index(profile.sample(40_000)), minlength=81) / 40_000
    assert np.abs(drawn - mass).max() < 0.006
    values = np.random.default_rng(1).random(81)
    assert profile.expectation(grid, values)[0] == pytest.approx(float(mass @ values), rel=1e-9)


def test_class_priors_reweigh_rows(rows):
    y = (rows[:, 0] > 0.4).astype(int)
    profile = KdeProfile(0.02, (0, 1)).fit(rows, y, class_priors={0: 0.8, 1: 0.2})
    left = profile.cell_mass(Grid.regular((5, 1), (0, 1), dimensions=2))[:2].sum()
    assert left == pytest.approx(0.8, abs=0.03)
    with pytest.raises(ParameterError, match="labels y"):
        KdeProfile(0.1).fit(rows, class_priors={0: 0.5, 1: 0.5})


def test_sensitivity_band_covers_its_own_bandwidth(rows):
    profile = KdeProfile(0.05, (0, 1)).fit(rows)
    grid = Grid.regular(20, (0, 1), dimensions=2)
    values = (np.arange(grid.n_cells) < 100).astype(float)
    table = profile.sensitivity(grid, values)
    here = table.loc[table["bandwidth"] == 0.05, "pmi"].item()
    assert here == pytest.approx(float(profile.cell_mass(grid) @ values), rel=1e-6)
    assert table["pmi"].max() > table["pmi"].min()


def test_known_density():
    profile = DensityProfile(lambda X: X[:, 0], (0, 1))
    mass = profile.cell_mass(Grid.regular((2, 1), (0, 1), dimensions=2))
    np.testing.assert_allclose(mass, [0.25, 0.75])
    assert profile.sample(4000)[:, 0].mean() == pytest.approx(2 / 3, abs=0.02)
    with pytest.raises(DataError, match="finite value"):
        DensityProfile(lambda X: -X[:, 0], (0, 1)).cell_mass(Grid.regular(2, (0, 1), dimensions=2))


def test_underflow_and_rows_outside_are_refused(rows):
    far = Grid.regular(2, (50, 51), dimensions=2)
    with pytest.raises(NotEnoughEvidenceError, match="mass inside"):
        KdeProfile(0.01, bounds=None).fit(rows).cell_mass(far)
    with pytest.raises(DataError, match="within bounds"):
        KdeProfile().fit(rows + 1)
    with pytest.raises(ParameterError, match="bandwidth"):
        KdeProfile("best").fit(rows)
    with pytest.raises(DataError, match="latent"):
        KdeProfile().fit(np.zeros((5, 4, 4)))


def test_grid_index_covers_borders_and_refuses_nonsense():
    grid = Grid.regular(4, (0, 1), dimensions=2)
    assert grid.index(np.array([[0.0, 0.0], [1.0, 1.0], [1.1, 0.5]])).tolist() == [0, 15, -1]
    for cells in (0, 2.5, (2, 2, 2)):
        with pytest.raises(ParameterError, match="cells"):
            Grid.regular(cells, (0, 1), dimensions=2)
    with pytest.raises(ParameterError, match="at most"):
        Grid.regular(250, (0, 1), dimensions=4)
    with pytest.raises(ParameterError, match="bounds"):
        Grid.regular(5, (1, 0), dimensions=2)
