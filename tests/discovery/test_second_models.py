"""Searches by a second model: what they find, on rows of every form, with and without labels."""

import numpy as np
import pandas as pd
import pytest

from fireassay import discovery
from fireassay.core.errors import DataError, ParameterError
from fireassay.discovery.second_models import chance_of

LEARNT = ("twin-trees", "second-opinion", "knn-disagreement", "error-model")


@pytest.mark.parametrize("name", LEARNT)
def test_calibration_rows_show_where_the_corner_is(name, corner):
    """The corner's rows are asked about more often than lots would, and than without labels."""
    half = len(corner.X) // 2
    known = (corner.X[:half], corner.y[:half])
    search = discovery.Search(
        name, model=corner.model, X=corner.X[half:], budget=30, calibration=known, audit_share=0.0
    )
    found = search.run(lambda row: corner.y[half + row])
    errors = (corner.model.predict(corner.X[half:]) != corner.y[half:])[search.state.rows]
    assert found.errors > 1.5 * 30 * errors.mean()


def test_few_known_labels_mean_by_confidence(corner):
    search = discovery.Search("twin-trees", model=corner.model, X=corner.X, budget=10)
    plain = discovery.Search("low-confidence", model=corner.model, X=corner.X, budget=10)
    for _ in range(8):
        row = search.ask()
        assert row == plain.ask()
        search.tell(row, corner.y[row])
        plain.tell(row, corner.y[row])


def mistaken_texts(n, seed):
    """Texts of two kinds; the model knows a kind by one word, and "club" misleads it."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    misled = rng.random(n) < 0.2
    words = np.array(["river", "stone"])[np.where(misled, 1 - truth, truth)]
    extra = rng.choice(["green", "old", "small", "tall", "long"], size=n)
    texts = [f"{w} {e}{' club' if m else ''}" for w, e, m in zip(words, extra, misled, strict=True)]
    return np.array(texts, dtype=object), truth


def by_word(texts):
    chance = np.array([0.1 if text.startswith("river") else 0.9 for text in texts])
    return np.column_stack([1 - chance, chance])


def test_texts_are_searched_and_compared():
    X, y = mistaken_texts(400, 0)
    X_cal, y_cal = mistaken_texts(60, 1)
    search = discovery.Search(
        "twin-trees", model=by_word, X=X, budget=40, calibration=(X_cal, y_cal)
    )
    result = search.run(lambda row: y[row])
    assert result.errors >= 30  # of 32 labels before the audit; lots would give 6
    compared = discovery.compare(
        by_word, X, y, budget=20, replications=2, workers=1, progress=False,
        calibration=(X_cal, y_cal),
    )  # fmt: skip
    table = compared.frame()
    assert "adversarial-distance" not in table.index
    assert table.loc["twin-trees", "errors"] > 2 * table.loc["random", "errors"]


def test_tables_with_names_and_holes_are_searched_and_compared():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"age": rng.normal(50, 9, 500), "ward": rng.choice(list("ABCD"), 500)})
    frame.loc[::9, "age"] = np.nan
    y = (rng.random(500) < 0.9).astype(int)
    y[(frame["ward"] == "C").to_numpy()] = 0

    def sure(rows):
        return np.tile([0.1, 0.9], (len(rows), 1))

    known = (frame[:100], y[:100])
    search = discovery.Search("twin-trees", model=sure, X=frame[100:], budget=40, calibration=known)
    found = search.run(lambda row: y[100 + row])
    wards = frame["ward"].to_numpy()[100:][found.rows]
    assert (wards == "C").mean() > 0.8
    compared = discovery.compare(
        sure, frame[100:], y[100:], ["twin-trees", "random"], budget=20, replications=2,
        workers=1, progress=False,
    )  # fmt: skip
    assert compared.errors[:, 0, -1].mean() > compared.errors[:, 1, -1].mean()


def test_an_attack_needs_numbers():
    X, _ = mistaken_texts(20, 0)
    with pytest.raises((DataError, ParameterError)):
        discovery.Search("adversarial-distance", model=by_word, X=X)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", LEARNT)
def test_more_classes_than_rows_raise_no_warning(name):
    """Ten known rows of ten classes are no regression problem."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), np.arange(200) % 20

    def model(rows):
        p = np.full((len(rows), 20), 0.2 / 19)
        p[:, 0] = 0.8
        return p

    search = discovery.Search(name, model=model, X=X, budget=30, audit_share=0.0)
    assert search.run(lambda row: y[row]).errors >= 27


def test_a_class_that_was_never_seen_has_no_chance():
    chances = np.tile([0.5, 0.2, 0.3], (4, 1))
    found = chance_of(chances, np.array([0, 2, 10]), np.array([0, 1, 10, 11]))
    assert found.tolist() == [0.5, 0.0, 0.3, 0.0]


def test_an_unknown_class_counts_as_wrong(corner):
    search = discovery.Search("twin-trees", model=corner.model, X=corner.X, budget=20)
    for _ in range(15):
        search.tell(search.ask(), discovery.OTHER)
    assert search.result.errors == 15
