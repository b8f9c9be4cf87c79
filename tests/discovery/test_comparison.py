"""The comparison: reproducible whatever the workers, honest about matched random rows."""

import numpy as np
import pytest

from fireassay import discovery
from fireassay.core.errors import ParameterError
from fireassay.engine import RunStore

SETTINGS = {"budget": 15, "subset": 300, "replications": 4, "seed": 5, "progress": False}


@pytest.fixture(scope="module")
def compared(corner):
    return discovery.compare(
        corner.model, corner.X, corner.y, "all", workers=1, scores=corner.scores, **SETTINGS
    )


def test_every_search_has_curves_and_a_one_shot_test(compared):
    assert set(compared.searches) == set(discovery.SEARCHES) - {"score"}
    shape = (4, len(compared.searches), 15)
    for measure in ("sdr", "errors", "spread", "utility", "queried_confidence"):
        assert getattr(compared, measure).shape == shape
    assert (np.diff(compared.errors, axis=2) >= 0).all()
    assert (np.diff(compared.spread, axis=2) <= 1e-12).all()
    assert (np.diff(compared.utility, axis=2) >= -1e-9).all()
    table = compared.frame()
    assert table.loc["adversarial-distance", "one_shot_p"] < 0.01
    assert table.loc["adversarial-distance", "sdr"] > table.loc["random", "sdr"]
    assert table.loc["low-confidence", "one_shot_p"] > 0.01


def test_curves_agree_with_the_single_functions(corner, compared):
    """The last point of each curve is what sdr, spread and utility say about the same rows."""
    from fireassay.discovery.comparison import replicate

    probabilities = corner.model.predict_proba(corner.X)
    confidence = probabilities.max(axis=1)
    rows = np.flatnonzero(confidence > 0.65)
    wrong = (corner.model.predict(corner.X) != corner.y)[rows]
    features = discovery.principal_components(corner.X[rows])
    part = replicate(
        {"replication": -1, "size": len(rows)}, confidence[rows], wrong.astype(int),
        np.zeros(len(rows), dtype=int), None, features, None, corner.scores[rows],
        ["fireassay.discovery.learning_searches:BansalWeld"], 15, 5,
    )  # fmt: skip
    queried = part["queried"][0]
    ratio = discovery.sdr(confidence[rows][queried], wrong[queried])
    assert part["sdr"][0, -1] == pytest.approx(ratio.value)
    assert part["spread"][0, -1] == pytest.approx(discovery.spread(features, queried))
    assert part["utility"][0, -1] == pytest.approx(
        discovery.bansal_weld_utility(features, confidence[rows], queried[wrong[queried]]), rel=1e-5
    )


@pytest.mark.slow
def test_workers_and_interruptions_do_not_change_a_number(corner, compared, tmp_path):
    names = ["adversarial-distance", "random", "bansal-weld"]
    with RunStore(tmp_path / "run") as store:
        journalled = discovery.compare(
            corner.model, corner.X, corner.y, names, workers=2, scores=corner.scores, store=store,
            **SETTINGS,
        )  # fmt: skip
    again = discovery.compare(
        corner.model, corner.X, corner.y, names, workers=1, scores=corner.scores, **SETTINGS
    )
    np.testing.assert_array_equal(journalled.sdr, again.sdr)
    at = [compared.searches.index(name) for name in names]
    np.testing.assert_array_equal(again.sdr, compared.sdr[:, at])


def test_evidence_and_charts(compared):
    evidence = compared.evidence()
    assert "adversarial-distance" in evidence.headline or "hybrid" in evidence.headline
    assert "sdr_random" in evidence.estimates
    assert set(evidence.charts) == {"sdr", "errors", "spread", "utility", "confidence"}


def test_unknown_searches_are_refused(corner):
    with pytest.raises(ParameterError, match="must be one of"):
        discovery.compare(corner.model, corner.X, corner.y, ["nonsense"])
    with pytest.raises(ParameterError, match="At least one"):
        discovery.compare(corner.model, corner.X, corner.y, [])
