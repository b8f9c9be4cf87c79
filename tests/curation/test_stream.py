"""Streaming gives what the in-memory call gives, from any storage, whatever the cut."""

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from fireassay import curation
from fireassay.core import DataError
from fireassay.curation import files, stream
from fireassay.curation import votes as votes_module
from fireassay.curation.order import ScoreTable, grouped_order_test


@pytest.fixture
def small_blocks(monkeypatch):
    """Many blocks and tasks on few rows."""
    monkeypatch.setattr(stream, "BLOCK_ROWS", 100)
    monkeypatch.setattr(stream, "_TASK_ROWS", 300)
    monkeypatch.setattr(files, "BLOCK_ROWS", 100)
    defaults = {"name": "votes", "rows": 100, "first_row": 0}
    monkeypatch.setattr(votes_module.dense_blocks, "__kwdefaults__", defaults)


def world(m=6, n=1234):
    return curation.simulate_votes(np.linspace(0.6, 0.9, m), 0.6, n, seed=0)


def same(streamed, result):
    frame = streamed.rows(0, streamed.n)
    expected = result.frame()
    for name in ("label", "dataset", "votes"):
        assert np.array_equal(frame[name], expected[name]), name
    for name in ("confidence", "lower", "upper"):
        assert frame[name].to_numpy() == pytest.approx(expected[name].to_numpy(), abs=0)
    assert np.array_equal(streamed.kept_lfs, result.kept_lfs)


@pytest.mark.parametrize("m", [6, 30])
@pytest.mark.usefixtures("small_blocks")
def test_npy_file_equals_memory(tmp_path, m):
    votes, y = world(m)
    np.save(tmp_path / "votes.npy", votes)
    streamed = curation.curate_stream(tmp_path / "votes.npy", tmp_path / "out", seed=5)
    result = curation.curate(votes, seed=5)
    same(streamed, result)
    assert streamed.sizes.tolist() == result.sizes.tolist()
    a, b = streamed.validate(y), result.validate(y)
    assert a.accuracy == pytest.approx(b.accuracy, abs=1e-12)
    assert (a.rho, a.permutation_p) == (b.rho, b.permutation_p)
    assert a.auc == pytest.approx(b.auc)
    assert a.auc_p_value == pytest.approx(b.auc_p_value, rel=1e-6)
    assert a.verdict == b.verdict == "decreasing"


@pytest.mark.extras
@pytest.mark.usefixtures("small_blocks")
def test_parquet_folder_equals_memory(tmp_path):
    pytest.importorskip("pyarrow")
    import pandas as pd

    votes, _ = world()
    frame = pd.DataFrame(votes, columns=[f"lf{i}" for i in range(6)])
    folder = tmp_path / "votes"
    folder.mkdir()
    frame[:500].to_parquet(folder / "a.parquet", row_group_size=130)
    frame[500:].to_parquet(folder / "b.parquet", row_group_size=1000)
    streamed = curation.curate_stream(folder, tmp_path / "out")
    result = curation.curate(votes)
    same(streamed, result)
    written = pd.read_parquet(streamed.to_parquet(tmp_path / "samples.parquet"))
    assert len(written) == len(votes)
    assert np.array_equal(written["dataset"], result.dataset_number)
    assert np.array_equal(written["lower"], result.lower)
    frame.loc[3, "lf0"] = None
    frame.to_parquet(folder / "a.parquet")
    with pytest.raises(DataError, match="missing"):
        curation.curate_stream(folder, tmp_path / "out")


def test_workers_change_nothing(tmp_path):
    votes, _ = world()
    one = curation.curate_stream(votes, tmp_path / "one")
    two = curation.curate_stream(votes, tmp_path / "two", workers=2)
    for name in ("pattern", "label", "dataset"):
        a, b = (np.load(tmp_path / run / f"{name}.npy") for run in ("one", "two"))
        assert np.array_equal(a, b)
    assert one.frame().equals(two.frame())


def test_refusals(tmp_path):
    with pytest.raises(DataError, match="no file"):
        curation.curate_stream(tmp_path / "none.npy", tmp_path)
    (tmp_path / "bad.npy").write_bytes(b"\x93NUMPY garbage")
    with pytest.raises(DataError, match=r"bad\.npy"):
        curation.curate_stream(tmp_path / "bad.npy", tmp_path)
    with pytest.raises(DataError, match="39 labelling functions"):
        curation.curate_stream(np.zeros((5, 60), dtype=np.int8), tmp_path)
    votes = np.zeros((9, 2), dtype=np.int8)
    votes[4, 1] = 7
    with pytest.raises(DataError, match="row 4, labelling function 1"):
        curation.curate_stream(votes, tmp_path)


def test_grouped_test_equals_scipy_on_the_rows():
    rng = np.random.default_rng(0)
    scores, correct = rng.integers(0, 6, size=500).astype(float), rng.random(500) < 0.7
    found = grouped_order_test(ScoreTable.of(scores, correct))
    reference = mannwhitneyu(scores[correct], scores[~correct])
    assert found.auc == pytest.approx(reference.statistic / correct.sum() / (~correct).sum())
    assert found.p_value == pytest.approx(reference.pvalue, rel=1e-9)
