import os
from pathlib import Path

import numpy as np
import pytest

from fireassay import curation
from fireassay.curation.simulation import compare_approaches


def test_table_has_the_shape_of_the_papers():
    votes, y = curation.simulate_votes([0.7] * 6, 0.6, 300, seed=0)
    votes = np.column_stack([votes, votes[:, 0]])
    found = compare_approaches(votes, y, case="simulated")
    table = found.table()
    assert table.shape == (2, 4)
    assert table.index.tolist() == [("simulated", "majority"), ("simulated", "snorkel")]
    for (prune, order_by), column in zip(
        [(None, "confidence"), (0.5, "confidence"), (None, "lower_bound"), (0.5, "lower_bound")],
        table.columns,
        strict=True,
    ):
        trend = curation.curate(
            votes, prune=prune, order_by=order_by, interval="paper", drop_silent=False
        ).validate(y)
        cell = table.loc[("simulated", "majority"), column]
        assert cell == f"{trend.rho:.3f} ({trend.p_value:.3f})"
    assert "Our Approach" in str(found)
    assert found.rows["kept_lfs"].tolist() == [7, 6, 7, 6] * 2
    assert found.accuracy.shape == (8, 10)
    assert list(found.charts()) == ["approaches"]
    assert found.table(calibrated=True).shape == (2, 4)


def test_as_published_gives_the_cells_of_table_three():
    folder = data_folder()
    votes, fit, y = case_votes(folder, "rr_hi")
    found = compare_approaches(
        votes, y, fit_votes=fit, default_class=1, seed=1234567, ties="published"
    ).rows.set_index(["labeler", "approach"])
    # Printed in Table III for RR High; with ties in expectation -0.964 and -0.442.
    cells = found.loc[:, "Our Approach", :][["rho", "p_value"]].round(3)
    assert cells.loc["majority"].tolist() == [-0.952, 0.0]
    assert cells.loc["snorkel"].tolist() == [-0.455, 0.187]


def case_votes(folder, case):
    fit = np.load(folder / f"{case}_L_train.npy")
    return fit, fit, np.load(folder / f"{case}_Y_train.npy")


def data_folder():
    if not os.environ.get("FIREASSAY_DATA"):
        pytest.skip("FIREASSAY_DATA is not set")
    return Path(os.environ["FIREASSAY_DATA"]) / "nad"
