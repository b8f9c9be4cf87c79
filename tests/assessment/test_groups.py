"""One column names the patient: no feature, and every interval counts patients."""

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

import fireassay as fa
from fireassay.assessment import initialise, read_config
from fireassay.assessment.inputs import load_context
from fireassay.assessment.parts.reliability import Settings
from fireassay.core import DataError
from fireassay.data import load, split
from fireassay.statistics import grouped_share

MODEL = """
import numpy as np
def model(X):
    assert X.shape[1] == 2
    return np.column_stack([1 - X[:, 0], X[:, 0]])
"""


def table(seed=0, groups=30, rows=10):
    rng = np.random.default_rng(seed)
    patient = np.repeat(np.arange(groups), rows)
    X = rng.random((len(patient), 2))
    careless = rng.beta(0.4, 1.6, groups)[patient]
    label = (X[:, 0] > 0.5) ^ (rng.random(len(patient)) < careless)
    columns = {"a": X[:, 0], "b": X[:, 1], "label": label.astype(int), "patient": patient}
    return pd.DataFrame(columns)


def write(frame, path):
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        X, y = frame[["a", "b"]].to_numpy(), frame["label"].to_numpy()
        np.savez(path, X=X, y=y, patient=frame["patient"].to_numpy())
    return path


@pytest.mark.parametrize("kind", ["csv", "npz", pytest.param("parquet", marks=pytest.mark.extras)])
def test_a_column_names_the_groups_and_is_no_feature(tmp_path, kind):
    frame = table()
    path = write(frame, tmp_path / f"rows.{kind}")
    data = load(path, group="patient")
    assert data.X.shape == (300, 2)
    np.testing.assert_array_equal(data.groups, frame["patient"])
    np.testing.assert_array_equal(data.subset([5, 250]).groups, [0, 25])
    assert data.sha256 != load(write(table().assign(patient=0), path), group="patient").sha256
    first, second = split(data, (0.5, 0.5))
    assert not set(first.groups) & set(second.groups)
    with pytest.raises(DataError, match="ward"):
        load(path, group="ward")


def test_a_missing_group_is_named(tmp_path):
    path = write(table().astype({"patient": float}).replace({"patient": {3.0: np.nan}}),
                 tmp_path / "rows.csv")  # fmt: skip
    with pytest.raises(DataError, match=r"group column 'patient'.*10 missing, first in row 30"):
        load(path, group="patient")


def test_accuracy_counts_groups():
    frame = table()
    X, y, patient = frame[["a", "b"]].to_numpy(), frame["label"].to_numpy(), frame["patient"]
    model = fa.as_classifier(lambda rows: np.column_stack([1 - rows[:, 0], rows[:, 0]]))
    settings = {"parts": ["accuracy", "reliability"]}
    report = fa.evaluate(model, X, y, groups=patient, **settings)
    plain = fa.evaluate(model, X, y, **settings)
    wrong = (X[:, 0] > 0.5).astype(int) != y
    expected, worth = grouped_share(wrong, patient)
    found = report["accuracy"].estimates
    assert (found["error"].low, found["error"].high) == (expected.low, expected.high)
    assert found["accuracy"].low == pytest.approx(1 - expected.high, abs=1e-9)
    assert found["effective_n"].value == pytest.approx(worth)
    assert worth < 300
    assert "effective_n" not in plain["accuracy"].estimates
    for name in ("error", "accuracy", "calibration_error"):
        assert found[name].rests_on == ("independent-groups", "unseen-rows", "reproducible")
        narrow = plain["accuracy"].estimates[name]
        assert found[name].value == narrow.value
        assert found[name].high - found[name].low > 1.2 * (narrow.high - narrow.low)
    recall = [row[1:4] for row in report["accuracy"].tables["recall"].rows]
    for i in range(2):
        by_hand = grouped_share(~wrong[y == i], patient[y == i])[0]
        assert recall[i] == pytest.approx((by_hand.value, by_hand.low, by_hand.high))
    assert report["reliability"].estimates["effective_n"].value == pytest.approx(worth)
    upper = report["reliability"].estimates["pmi_upper"].value
    assert upper == pytest.approx(expected.high, rel=1e-9)


def test_the_configuration_names_the_column(tmp_path):
    (tmp_path / "careful.py").write_text(MODEL)
    write(table(0), tmp_path / "test.csv")
    write(table(1).drop(columns="label"), tmp_path / "field.csv")
    write(table(2).drop(columns="patient"), tmp_path / "train.csv")
    data = {"test": "test.csv", "operational": "field.csv", "train": "train.csv"}
    started = initialise("careful:model", {**data, "group": "patient"}, folder=tmp_path, trust=True)
    (tmp_path / "fireassay.toml").write_text(started.text)
    config = read_config(tmp_path / "fireassay.toml")
    assert config.data.group == "patient"
    context = load_context(config, trust=True)
    assert context.test.X.shape[1] == 2
    assert len(np.unique(context.test.groups)) == 30
    assert len(np.unique(context.operational.groups)) == 30
    assert context.operational.y is None
    assert context.train.groups is None


def test_the_largest_group_is_a_setting_of_groups_betting_only():
    assert Settings(method="groups-betting", largest_group=10).largest_group == 10
    with pytest.raises(ValidationError, match="groups-betting only"):
        Settings(largest_group=10)
