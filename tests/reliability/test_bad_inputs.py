import numpy as np
import pytest

from fireassay import as_classifier, reliability
from fireassay.core import DataError, FireassayError, NotEnoughEvidenceError, ParameterError

MODEL = as_classifier(lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), classes=[0, 1])
X = np.random.default_rng(0).random((60, 2))
Y = (X[:, 0] > 0.5).astype(int)


@pytest.mark.parametrize("confidence", [0, 1, -0.1, 2, np.nan, "0.05", None])
@pytest.mark.parametrize("method", reliability.METHODS)
def test_confidence_must_be_inside_zero_and_one(method, confidence):
    with pytest.raises(ParameterError, match="confidence"):
        reliability.assess(MODEL, X, Y, method=method, confidence=confidence)


@pytest.mark.parametrize(
    ("rows", "labels", "message"),
    [
        (X[:0], Y[:0], "at least 1 row"),
        (X, Y[:5], "same number of rows"),
        (np.full((3, 2), np.nan), [0, 1, 0], "finite"),
        (X, np.full(60, 7), "classes of the model"),
        (X[:, 0], Y, "rows and features"),
        (np.zeros((3, 0)), [0, 1, 0], "feature"),
        (X, np.linspace(0, 1, 60), "class labels"),
    ],
)
@pytest.mark.parametrize("method", ["rectified", "ram"])
def test_unusable_data_is_refused_with_a_typed_error(rows, labels, message, method):
    with pytest.raises(FireassayError, match=message):
        reliability.assess(MODEL, rows, labels, method=method)


def test_other_bad_arguments():
    with pytest.raises(ParameterError, match=r"method must be.*Did you mean exact"):
        reliability.assess(MODEL, X, Y, method="exakt")
    for odd in (reliability.Ram, 3, None):
        with pytest.raises(ParameterError, match="method must be"):
            reliability.assess(MODEL, X, Y, method=odd)
    with pytest.raises(DataError, match="operational"):
        reliability.assess(MODEL, X, Y, operational=np.zeros((10, 5)))
    profile = reliability.KdeProfile(0.1).fit(np.random.default_rng(0).random((9, 3)))
    with pytest.raises(DataError, match="profile must be of rows"):
        reliability.assess(MODEL, X, Y, operational=profile)
    with pytest.raises(ParameterError, match="held_out"):
        reliability.assess(MODEL, X, Y, method=reliability.Ram(held_out=X))
    with pytest.raises(ParameterError, match="samples"):
        reliability.Ram(samples=1)
    with pytest.raises(DataError, match="cover the labelled rows"):
        reliability.assess(MODEL, X, Y, method=reliability.Ram(bounds=(5, 6)))


@pytest.mark.parametrize(
    ("settings", "latent"),
    [({"radius": 0.1}, False), ({"top": reliability.TopCells()}, False), ({"cells": 3}, True),
     ({"samples": 9}, True), ({"class_priors": {0: 0.5, 1: 0.5}}, True)],
)  # fmt: skip
def test_settings_that_would_do_nothing_are_refused(settings, latent):
    space = reliability.PcaLatent(1).fit(X) if latent else None
    with pytest.raises(ParameterError, match=next(iter(settings))):
        reliability.Ram(latent=space, **settings)


@pytest.mark.parametrize("method", reliability.METHODS)
def test_groups_and_weights_that_a_method_cannot_use_are_refused(method):
    if "groups" not in reliability.METHODS[method].uses:
        able = f"rectified, exact, groups-max only.*'{method}'"
        with pytest.raises(ParameterError, match=able):
            reliability.assess(MODEL, X, Y, method=method, groups=np.arange(60) // 3)
    if "weights" not in reliability.METHODS[method].uses:
        with pytest.raises(ParameterError, match="rectified"):
            reliability.assess(MODEL, X, Y, method=method, weights=np.ones(60))


def test_a_profile_is_not_made_twice():
    profile = reliability.KdeProfile(0.1).fit(X)
    for settings in ({"bandwidth": 0.1}, {"class_priors": {0: 0.5, 1: 0.5}}):
        with pytest.raises(ParameterError, match="profile"):
            reliability.assess(MODEL, X, Y, profile, method=reliability.Ram(cells=5, **settings))


def test_density_underflow_is_a_typed_error():
    far = np.full((30, 2), 0.999)
    method = reliability.Ram(cells=3, bandwidth=1e-3, bounds=(0, 0.9))
    with pytest.raises(NotEnoughEvidenceError, match="underflows"):
        reliability.assess(MODEL, X, Y, operational=far, method=method)


def test_one_label_is_a_stated_result():
    found = reliability.assess(MODEL, X[:1], Y[:1])
    assert found.pmi_upper == pytest.approx(0.975)
    assert any("labels are few" in note for note in found.notes)
    with pytest.raises(NotEnoughEvidenceError, match="at least 2"):
        reliability.assess(MODEL, X[:1], Y[:1], method="worst-case")


def test_one_class_in_the_labels():
    found = reliability.assess(MODEL, X, np.zeros(60, dtype=int))
    assert found.pmi_upper > found.pmi > 0.3


def test_identical_rows_constant_features_and_odd_arrays():
    same = np.tile([[0.7, 0.2]], (40, 1))
    found = reliability.assess(MODEL, same, np.ones(40, dtype=int), operational=same)
    assert found.n_errors == 0
    ram = reliability.assess(MODEL, same, np.ones(40, dtype=int), method=reliability.Ram(cells=5))
    assert ram.pmi_upper <= 1
    frozen = X.astype(np.float32).copy()
    frozen.setflags(write=False)
    assert reliability.assess(MODEL, frozen, Y).n_labels == 60
    flipped = np.asfortranarray(X[::-1])
    assert reliability.assess(MODEL, flipped, Y[::-1].astype(float)).n_errors == 0


def test_empty_cells_only_count_as_empty():
    found = reliability.assess(MODEL, X[:1], Y[:1], method=reliability.Ram(cells=10))
    assert (found.details.cells["kind"] == "empty").sum() == 99


def test_rare_class_of_one_in_ten_thousand():
    rng = np.random.default_rng(0)
    rows = rng.random((10_000, 2)) * 0.4
    labels = np.zeros(10_000, dtype=int)
    labels[0] = 1
    found = reliability.assess(MODEL, rows, labels)
    assert found.n_errors == 1
    assert found.pmi_upper < 1e-3


def test_more_features_than_a_grid_can_hold():
    wide = np.random.default_rng(0).random((30, 6))
    with pytest.raises(ParameterError, match="at most 5 features"):
        reliability.assess(MODEL, wide, np.zeros(30, dtype=int), method="ram")
    assert (
        reliability.assess(
            MODEL, wide, (wide[:, 0] > 0.5).astype(int), method="worst-case"
        ).pmi_upper
        <= 1
    )


def test_one_three_and_four_features():
    for d in (1, 3, 4):
        rows = np.random.default_rng(d).random((80, d))
        labels = (rows[:, 0] > 0.4).astype(int)
        method = reliability.Ram(cells=6, estimator=reliability.Sampled(16))
        found = reliability.assess(MODEL, rows, labels, method=method).details
        assert found.cells["mass"].sum() == pytest.approx(1)
        assert len(found.cells) == 6**d
