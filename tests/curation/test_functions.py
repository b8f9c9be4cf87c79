"""Labelling functions: the decorator, application to every kind of sample, failures."""

import numpy as np
import pandas as pd
import pytest

from fireassay import curation
from fireassay.core import DataError, ParameterError
from fireassay.curation import ABSTAIN, LabellingError, Windows, apply, labelling_function


@labelling_function(name="high first", meaning="first value above 0.5")
def high_first(row):
    return 1 if row[0] > 0.5 else ABSTAIN


@labelling_function
def low_second(row):
    """Second value below 0.5: class 0."""
    return 0 if row[1] < 0.5 else ABSTAIN


@labelling_function(batch=True)
def both(rows):
    return np.where(rows[:, 0] > rows[:, 1], 1, 0)


@labelling_function
def fails_on_row_1500(row):
    if row[0] == 99:
        raise KeyError("no such lead")
    return ABSTAIN


def data(n=2500):
    return np.random.default_rng(0).random((n, 2))


def expected(X):
    return np.column_stack([
        np.where(X[:, 0] > 0.5, 1, -1), np.where(X[:, 1] < 0.5, 0, -1), X[:, 0] > X[:, 1]
    ])  # fmt: skip


def test_names_and_meanings():
    assert (high_first.name, high_first.meaning) == ("high first", "first value above 0.5")
    assert (low_second.name, low_second.meaning) == (
        "low_second",
        "Second value below 0.5: class 0.",
    )
    assert high_first([0.9]) == 1
    assert high_first.sha256 != low_second.sha256


@pytest.mark.parametrize("options", [
    {}, {"workers": 2, "backend": "threads"}, {"workers": 2, "backend": "processes"},
])  # fmt: skip
def test_array_rows_and_batches_in_any_backend(options):
    X = data()
    votes = apply([high_first, low_second, both], X, **options)
    assert votes.dtype == np.int8
    assert np.array_equal(votes, expected(X))


def test_frames_lists_and_plain_functions():
    frame = pd.DataFrame({"hr": [60, 130], "note": ["calm", "crying"]})

    def tachycardia(row):
        return 1 if row.hr > 120 and row["hr"] > 120 else ABSTAIN

    def crying(row):
        return 0 if "cry" in row["note"] else ABSTAIN

    assert apply([tachycardia, crying], frame).tolist() == [[-1, -1], [1, 0]]
    assert apply([lambda text: 0 if "a" in text else -1], ["abc", "xyz"]).tolist() == [[0], [-1]]


def test_time_series_windows():
    values = np.zeros((3, 10, 2))
    values[1, 5:9, 0] = 200
    values[2, :, 1] = np.nan
    windows = Windows(
        values, ("hr", "spo2"), step_s=2.0, event_s=10.0, context={"age": np.array([1, 2, 3])}
    )

    def fast(window):
        return 1 if window.seconds_above("hr", 150) >= 8 else ABSTAIN

    def lost(window):
        return 0 if window.lost("spo2") == 1 and window.context["age"] == 3 else ABSTAIN

    assert apply([fast, lost], windows).tolist() == [[-1, -1], [1, -1], [-1, 0]]
    window = windows[1]
    assert (window.seconds_above("hr", 150), window.seconds_below("hr", 1)) == (8.0, 2.0)
    assert window.largest_jump("hr") == 200
    assert len(windows[1:]) == 2
    with pytest.raises(ParameterError, match="hr, spo2"):
        window["ecg"]
    with pytest.raises(DataError, match="one per channel"):
        Windows(values, ("hr",))


def test_a_failing_function_is_named_with_its_row():
    X = data()
    X[1500, 0] = 99
    with pytest.raises(LabellingError, match="'fails_on_row_1500' on row 1500: KeyError") as caught:
        apply([high_first, fails_on_row_1500], X)
    assert [failure.row for failure in caught.value.failures] == [1500]


@pytest.mark.parametrize(("answer", "message"), [
    (None, "got None"), (True, "got True"), (0.5, "got 0.5"), ("1", "got '1'"), (-2, "got -2"),
    (2, "got 2"),
])  # fmt: skip
def test_what_is_not_a_vote_is_a_failure_not_an_abstention(answer, message):
    with pytest.raises(LabellingError, match=message):
        apply([lambda row: answer], data(3), n_classes=2)


def test_batches_must_have_one_vote_per_sample():
    short = labelling_function(name="short", batch=True)(lambda rows: np.zeros(1, int))
    with pytest.raises(LabellingError, match="expected 3 votes"):
        apply([short], data(3))


def test_refusals_and_progress():
    with pytest.raises(ParameterError, match="at least one"):
        apply([], data(3))
    with pytest.raises(ParameterError, match="different names"):
        apply([high_first, high_first], data(3))
    with pytest.raises(DataError, match="0 rows"):
        apply([high_first], data(3)[:0])
    with pytest.raises(ParameterError, match="callable"):
        apply([3], data(3))
    seen = []
    apply([high_first], data(), progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_votes_go_into_curation_with_names():
    X = data(100)
    lfs = [high_first, low_second, both]
    result = curation.curate(apply(lfs, X), names=[lf.name for lf in lfs], prune=None)
    assert result.lf_analysis()["name"].tolist() == ["high first", "low_second", "both"]
