"""Operational rows on disk: the same answer as in memory, in bounded memory."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest

from fireassay import as_classifier, reliability
from fireassay.core import DataError, ParameterError
from fireassay.reliability import surrogate
from fireassay.reliability.inputs import rows_on_disk

MODEL = as_classifier(
    lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), classes=[0, 1], batch_size=None
)


def labelled(n, dims=2):
    X = np.random.default_rng(0).random((n, dims))
    noise = np.random.default_rng(1).random(n) < 0.1
    return X, (X[:, 0] > 0.5).astype(int) ^ noise


@pytest.fixture(scope="module")
def field(tmp_path_factory):
    folder = tmp_path_factory.mktemp("field")
    X = np.random.default_rng(2).random((30_000, 2))
    np.save(folder / "rows.npy", X)
    pd.DataFrame(X, columns=["a", "b"]).to_parquet(folder / "rows.parquet", index=False)
    (folder / "parts").mkdir()
    for part in range(3):
        rows = pd.DataFrame(X[part * 10_000 : (part + 1) * 10_000], columns=["a", "b"])
        rows.to_parquet(folder / "parts" / f"{part}.parquet", index=False)
    pd.DataFrame(X, columns=["a", "b"]).to_csv(folder / "rows.csv", index=False)
    return folder, X


@pytest.mark.parametrize("method", ["rectified", "worst-case"])
@pytest.mark.parametrize("name", ["rows.npy", "rows.parquet", "parts", "rows.csv", "memmap"])
def test_a_file_gives_the_answer_of_its_rows(field, method, name):
    folder, rows = field
    X, y = labelled(200)
    memory = reliability.assess(MODEL, X, y, operational=rows, method=method)
    source = np.load(folder / "rows.npy", mmap_mode="r") if name == "memmap" else folder / name
    disk = reliability.assess(MODEL, X, y, operational=source, method=method)
    assert disk.pmi_upper == pytest.approx(memory.pmi_upper, abs=1e-9)
    assert disk.pmi == pytest.approx(memory.pmi, abs=1e-9)
    assert disk.n_operational == 30_000


def test_chunks_of_any_size_deal_fresh_rows_to_every_label(field, monkeypatch):
    folder, rows = field
    X, y = labelled(200)
    guess = reliability.Rectified(surrogate=lambda X: X[:, 1] * 0.2)
    whole = reliability.assess(MODEL, X, y, operational=rows, method=guess)
    monkeypatch.setattr(surrogate, "_CHUNK", 7000)
    cut = reliability.assess(MODEL, X, y, operational=folder / "rows.npy", method=guess)
    assert cut.pmi == pytest.approx(whole.pmi, abs=2e-3)
    assert cut.pmi_upper == pytest.approx(whole.pmi_upper, rel=0.02)
    labels = surrogate.dealt(1000, 30, np.random.default_rng(0), trial=True)
    assert (labels == surrogate.TRIAL).sum() == 100
    assert (np.bincount(labels[labels >= 0]) == 30).all()


def test_labelled_rows_on_disk_are_left_out(tmp_path):
    X, y = labelled(200)
    rows = np.random.default_rng(3).random((5000, 2))
    rows[100:300] = X
    np.save(tmp_path / "rows.npy", rows)
    found = reliability.assess(MODEL, X, y, operational=tmp_path / "rows.npy")
    assert found.n_operational == 4800
    assert any("200 operational rows are labelled" in note for note in found.notes)


@pytest.mark.parametrize("dims", [1, 2, pytest.param(3, marks=pytest.mark.slow)])
def test_a_profile_from_disk_is_that_of_its_rows(tmp_path, dims):
    rows = np.random.default_rng(4).beta(2, 3, (20_000, dims))
    np.save(tmp_path / "rows.npy", rows)
    grid = reliability.Grid.regular(12, (0, 1), dimensions=dims)
    memory = reliability.KdeProfile(0.08).fit(rows)
    disk = reliability.KdeProfile(0.08).fit(tmp_path / "rows.npy")
    np.testing.assert_allclose(disk.cell_mass(grid), memory.cell_mass(grid), atol=2e-5)
    values = np.arange(grid.n_cells) / grid.n_cells
    for ours, theirs in zip(
        disk.expectation(grid, values), memory.expectation(grid, values), strict=True
    ):
        assert ours == pytest.approx(theirs, rel=2e-3)
    assert disk.n_ == 20_000
    assert disk.sample(50).shape == (50, dims)


def test_the_bandwidth_comes_from_a_sample(tmp_path):
    rows = np.random.default_rng(4).beta(2, 3, (300, 2))
    np.save(tmp_path / "rows.npy", rows)
    disk = reliability.KdeProfile("loo").fit(tmp_path / "rows.npy")
    assert disk.bandwidth_ == reliability.KdeProfile("loo").fit(rows).bandwidth_


def test_cells_are_weighed_by_a_profile_on_disk(field):
    folder, rows = field
    X, y = labelled(200)
    on_disk, in_memory = reliability.Ram(cells=20, bandwidth=0.1), reliability.Ram(cells=20)
    disk = reliability.assess(MODEL, X, y, operational=folder / "rows.npy", method=on_disk)
    profile = reliability.KdeProfile(0.1).fit(rows)
    memory = reliability.assess(MODEL, X, y, operational=profile, method=in_memory)
    assert disk.pmi == pytest.approx(memory.pmi, rel=1e-3)


@pytest.mark.slow
def test_peak_memory_is_far_below_the_sample(tmp_path):
    rows = np.lib.format.open_memmap(
        tmp_path / "rows.npy", mode="w+", dtype=np.float64, shape=(1_500_000, 10)
    )  # 120 MB
    rng = np.random.default_rng(5)
    for start in range(0, len(rows), 100_000):
        rows[start : start + 100_000] = rng.random((100_000, 10))
    rows.flush()
    X, y = labelled(300, 10)
    tracemalloc.start()
    found = reliability.assess(
        MODEL,
        X,
        y,
        operational=tmp_path / "rows.npy",
        method=reliability.Rectified(surrogate=lambda X: 0.2 * X[:, 1]),
    )
    assessed = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    profile = reliability.KdeProfile(0.3).fit(tmp_path / "rows.npy")
    fitted = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.n_operational == 1_500_000
    assert len(profile.points_) == 20_000
    assert max(assessed, fitted) < 75e6


def test_unusable_files_are_refused(tmp_path):
    X, y = labelled(50)
    with pytest.raises(DataError, match="exist"):
        reliability.assess(MODEL, X, y, operational=tmp_path / "none.npy")
    np.save(tmp_path / "wide.npy", np.zeros((10, 5)))
    with pytest.raises(DataError, match="shape of X"):
        reliability.assess(MODEL, X, y, operational=tmp_path / "wide.npy")
    np.save(tmp_path / "objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match="numbers"):
        rows_on_disk(tmp_path / "objects.npy")
    np.save(tmp_path / "nan.npy", np.full((10, 2), np.nan))
    with pytest.raises(DataError, match="finite"):
        reliability.assess(MODEL, X, y, operational=tmp_path / "nan.npy")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 not really")
    with pytest.raises(DataError, match="Parquet"):
        rows_on_disk(tmp_path / "broken.parquet")
    np.save(tmp_path / "rows.npy", X)
    with pytest.raises(ParameterError, match="class_priors"):
        reliability.KdeProfile(0.1).fit(tmp_path / "rows.npy", y, class_priors={0: 0.5, 1: 0.5})
