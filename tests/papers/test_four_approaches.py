import numpy as np

from fireassay import curation
from fireassay.papers.four_approaches import compare_approaches


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
