"""Groups, attributes, neighbours, saliency."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fireassay import discovery
from fireassay.core.errors import DataError


def test_an_attribute_that_makes_errors_stands_out():
    rng = np.random.default_rng(0)
    light = rng.choice(["dark", "light"], 80)
    wrong = (light == "light") & (rng.random(80) < 0.6)
    table = discovery.over_represented(pd.DataFrame({"fur": light, "size": rng.random(80)}), wrong)
    first = table.iloc[0]
    assert (first["attribute"], first["value"]) == ("fur", "light")
    both = np.array([[np.sum((light == v) & (wrong == w)) for v in ("light", "dark")]
                     for w in (True, False)])  # fmt: skip
    assert first["p"] == pytest.approx(stats.fisher_exact(both, alternative="greater").pvalue)
    assert (table["p_holm"] >= table["p"]).all()
    assert (table["attribute"] == "size").sum() == 4


def test_errors_of_two_kinds_are_two_groups():
    rng = np.random.default_rng(1)
    features = np.vstack([rng.normal(0, 0.1, (10, 2)), rng.normal(5, 0.1, (10, 2))])
    groups = discovery.group_errors(features, np.arange(20))
    assert len(set(groups[:10])) == len(set(groups[10:])) == 1
    assert groups[0] != groups[10]
    assert discovery.group_errors(features, [1, 2]).tolist() == [0, 0]


def test_neighbours_are_the_nearest_right_rows():
    features = np.arange(10.0)[:, None]
    near = discovery.nearest_correct(features, [5], [0, 4, 7, 9], count=2)
    assert near.tolist() == [[4, 7]]


def test_a_search_is_explained(corner):
    search = discovery.Search(
        "score", model=corner.model, X=corner.X, scores=corner.scores, budget=40
    )
    with pytest.raises(DataError, match="no error"):
        discovery.explain_errors(search)
    search.run(lambda r: corner.y[r])
    attributes = pd.DataFrame({"sixth": corner.X[:, 5] > 1.5})
    explanation = discovery.explain_errors(search, attributes)
    assert len(explanation.frame()) == search.result.errors
    assert set(explanation.neighbours.ravel()) <= set(
        search.result.rows[~search.result.wrong].tolist()
    )
    assert explanation.attributes is not None


def test_saliency_finds_the_pixels_that_matter():
    def model(images):
        bright = images[:, 2:4, 5:7].mean(axis=(1, 2))
        positive = 1 / (1 + np.exp(-8 * (bright - 0.4)))
        return np.column_stack([1 - positive, positive])

    image = np.full((1, 10, 10), 0.1)
    image[0, 2:4, 5:7] = 0.9
    saliency = discovery.occlusion_saliency(model, image, patch=2)[0]
    assert saliency.shape == (10, 10)
    inside = saliency[2:4, 5:7].mean()
    assert inside > 0.3
    assert inside > 5 * np.abs(saliency[6:, :]).max()
    with pytest.raises(DataError, match="height, width"):
        discovery.occlusion_saliency(model, np.zeros((2, 5)))
