"""One column names the patient: no feature, and every interval counts patients."""

import numpy as np
import pandas as pd
import pytest

import fireassay as fa
from fireassay.assessment import initialise, read_config
from fireassay.assessment.context import load_context, load_sets
from fireassay.assessment.run.preflight import hopeless
from fireassay.assessment.sections import DataSection
from fireassay.core import AssumptionWarning, DataError
from fireassay.core.groups import Groups
from fireassay.data import load, split
from fireassay.report.gates import Gate
from fireassay.statistics import group_mean
from fireassay.statistics.groups.group_counts import GroupCounts, effective_rows

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
    expected = group_mean(wrong, patient)
    worth = effective_rows(GroupCounts.of(wrong, patient))
    found = report["accuracy"].estimates
    assert found["error"].low == pytest.approx(expected.low)
    assert found["error"].high == pytest.approx(expected.high)
    assert found["accuracy"].low == pytest.approx(1 - expected.high, abs=1e-9)
    assert found["effective_n"].value == pytest.approx(worth)
    assert worth < 300
    assert "effective_n" not in plain["accuracy"].estimates
    for name in ("error", "accuracy", "calibration_error"):
        rare = ("rare-groups",) if name == "calibration_error" else ()
        expected_ids = ("independent-groups", "largest-group", *rare, "unseen-rows", "reproducible")
        assert found[name].rests_on == expected_ids
        narrow = plain["accuracy"].estimates[name]
        assert found[name].value == narrow.value
        assert found[name].high - found[name].low > 1.2 * (narrow.high - narrow.low)
    for i in range(2):
        by_hand = group_mean(~wrong[y == i], patient[y == i])
        one = found[f"sensitivity[{i}]"]
        assert (one.value, one.low) == pytest.approx((by_hand.value, by_hand.low))
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


def test_the_largest_group_is_declared_or_said_to_be_the_largest_seen(tmp_path):
    frame = table()
    X, y, patient = frame[["a", "b"]].to_numpy(), frame["label"].to_numpy(), frame["patient"]
    model = fa.as_classifier(lambda rows: np.column_stack([1 - rows[:, 0], rows[:, 0]]))
    seen, declared = (
        fa.evaluate(model, X, y, groups=groups, parts=["accuracy", "reliability"])
        for groups in (patient, Groups(patient, largest=40))
    )
    for part in ("accuracy", "reliability"):
        ledger = [{a.id: a for a in report[part].assumptions} for report in (seen, declared)]
        assert [each["largest-group"].status for each in ledger] == ["untestable", "supported"]
        assert "has 10 rows" in ledger[0]["largest-group"].check
    for part, name in (("accuracy", "error"), ("reliability", "pmi_upper")):
        wide = declared[part].estimates[name].high
        assert wide > 1.3 * seen[part].estimates[name].high


def test_several_columns_and_some_rows_of_each_group(tmp_path):
    frame = table().assign(site=lambda t: t["patient"] // 10)
    path = write(frame, tmp_path / "rows.csv")
    section = {"test": path.name, "group": ["site", "patient"], "rows_per_group": 4}
    sets = load_sets(DataSection.model_validate(section), tmp_path)
    test = sets["test"]
    assert np.unique(test.groups, return_counts=True)[1].tolist() == [4, 4, 4]
    assert test.groups.largest == 4
    assert "patient" not in test.feature_names
    assert "site" not in test.feature_names
    assert len(sets["notes"]) == 2
    with pytest.raises(DataError, match="no group has more than 3"):
        load_sets(DataSection.model_validate({**section, "largest_group": 3}), tmp_path)
    gates = [Gate("accuracy.error", "max", 0.05), Gate("accuracy", "min", 0.2)]
    said = hopeless(test, gates)
    assert len(said) == 1
    assert "no result can pass: 3 groups" in said[0]
    assert "needs 72" in said[0]


def test_other_rows_have_their_labels_in_the_column_of_the_test_rows_or_nowhere(tmp_path):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(40, 3)), columns=["a", "b", "c"])
    rows["ward"] = ["x", "y"] * 20
    rows["illness"] = ["no", "yes"] * 20
    rows.to_csv(tmp_path / "test.csv", index=False)
    rows.drop(columns="illness").to_csv(tmp_path / "field.csv", index=False)
    section = DataSection(test="test.csv", operational="field.csv", ignore=["ward"])
    with pytest.warns(AssumptionWarning, match="'illness' is taken as the label"):
        sets = load_sets(section, tmp_path, ["a", "b", "c"])
    assert sets["test"].label_column == "illness"
    assert sets["operational"].y is None
    section = DataSection(test="test.csv", operational="field.csv")
    with pytest.warns(AssumptionWarning, match="'illness' is taken as the label"):
        assert load_sets(section, tmp_path, ["a", "b", "c"])["operational"].y is None
