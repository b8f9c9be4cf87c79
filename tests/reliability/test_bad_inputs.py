import numpy as np
import pytest

from fireassay import as_classifier, reliability
from fireassay.core import DataError, FireassayError, NotEnoughEvidenceError, ParameterError

MODEL = as_classifier(lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), classes=[0, 1])
X = np.random.default_rng(0).random((60, 2))
Y = (X[:, 0] > 0.5).astype(int)


@pytest.mark.parametrize("alpha", [0, 1, -0.1, 2, np.nan, "0.05", None])
@pytest.mark.parametrize("mode", reliability.MODES)
def test_alpha_must_be_inside_zero_and_one(mode, alpha):
    with pytest.raises(ParameterError, match="alpha"):
        reliability.assess(MODEL, X, Y, mode=mode, alpha=alpha)


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
@pytest.mark.parametrize("mode", ["rectified", "ram"])
def test_unusable_data_is_refused_with_a_typed_error(rows, labels, message, mode):
    with pytest.raises(FireassayError, match=message):
        reliability.assess(MODEL, rows, labels, mode=mode)


def test_other_bad_arguments():
    with pytest.raises(ParameterError, match="mode"):
        reliability.assess(MODEL, X, Y, mode="best")
    with pytest.raises(DataError, match="operational"):
        reliability.assess(MODEL, X, Y, operational=np.zeros((10, 5)))
    profile = reliability.KdeProfile(0.1).fit(np.random.default_rng(0).random((9, 3)))
    with pytest.raises(DataError, match="profile must be of rows"):
        reliability.assess(MODEL, X, Y, operational=profile)
    with pytest.raises(ParameterError, match="held_out"):
        reliability.assess(MODEL, X, Y, held_out=X)
    with pytest.raises(ParameterError, match="samples"):
        reliability.assess(MODEL, X, Y, mode="ram", samples=1)
    with pytest.raises(DataError, match="cover the labelled rows"):
        reliability.assess(MODEL, X, Y, mode="ram", bounds=(5, 6))


def test_density_underflow_is_a_typed_error():
    far = np.full((30, 2), 0.999)
    with pytest.raises(NotEnoughEvidenceError, match="underflows"):
        reliability.assess(
            MODEL, X, Y, operational=far, mode="ram", cells=3, bandwidth=1e-3, bounds=(0, 0.9)
        )


def test_one_label_is_a_stated_result():
    found = reliability.assess(MODEL, X[:1], Y[:1])
    assert found.pmi_upper == pytest.approx(0.975)
    assert any("labels are few" in note for note in found.notes)
    with pytest.raises(NotEnoughEvidenceError, match="at least 2"):
        reliability.assess(MODEL, X[:1], Y[:1], mode="worst-case")


def test_one_class_in_the_labels():
    found = reliability.assess(MODEL, X, np.zeros(60, dtype=int))
    assert found.pmi_upper > found.pmi > 0.3
    with pytest.raises(NotEnoughEvidenceError, match="two classes"):
        reliability.assess(MODEL, X, np.zeros(60, dtype=int), mode="naive")


def test_identical_rows_constant_features_and_odd_arrays():
    same = np.tile([[0.7, 0.2]], (40, 1))
    found = reliability.assess(MODEL, same, np.ones(40, dtype=int), operational=same)
    assert found.n_errors == 0
    ram = reliability.assess(MODEL, same, np.ones(40, dtype=int), mode="ram", cells=5)
    assert ram.pmi_upper <= 1
    frozen = X.astype(np.float32).copy()
    frozen.setflags(write=False)
    assert reliability.assess(MODEL, frozen, Y).n_labels == 60
    flipped = np.asfortranarray(X[::-1])
    assert reliability.assess(MODEL, flipped, Y[::-1].astype(float)).n_errors == 0


def test_empty_cells_only_count_as_empty():
    found = reliability.assess(MODEL, X[:1], Y[:1], mode="ram", cells=10)
    assert (found.cells["kind"] == "empty").sum() == 99


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
        reliability.assess(MODEL, wide, np.zeros(30, dtype=int), mode="ram")
    assert (
        reliability.assess(MODEL, wide, (wide[:, 0] > 0.5).astype(int), mode="worst-case").pmi_upper
        <= 1
    )


def test_one_three_and_four_features():
    for d in (1, 3, 4):
        rows = np.random.default_rng(d).random((80, d))
        labels = (rows[:, 0] > 0.4).astype(int)
        found = reliability.assess(
            MODEL, rows, labels, mode="ram", cells=6, estimator=reliability.Sampled(16)
        )
        assert found.cells["mass"].sum() == pytest.approx(1)
        assert len(found.cells) == 6**d
