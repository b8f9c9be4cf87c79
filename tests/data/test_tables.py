import numpy as np
import pandas as pd
import pytest

from fireassay.core import AssumptionWarning, DataError
from fireassay.data import TableEncoder, from_frame, load, write_csv

FRAME = pd.DataFrame(
    {
        "age": [40, 61, 55, 38],
        "sex": ["f", "m", "f", "m"],
        "ward": pd.Categorical(["a", "a", "b", "b"], categories=["a", "b", "c"]),
        "smoker": [True, False, True, False],
        "label": ["well", "ill", "well", "ill"],
    }
)


FEATURES = FRAME.drop(columns="label")


def encoded(frame=FRAME):
    return from_frame(frame, encoder=TableEncoder.fit(FEATURES))


def test_text_and_categories_go_to_the_model_as_they_are():
    data = from_frame(FRAME)
    pd.testing.assert_frame_equal(data.X, FEATURES)
    assert data.feature_names == ("age", "sex", "ward", "smoker")
    assert data.kinds == ("integer", "category", "category", "category")
    assert data.y.tolist() == ["well", "ill", "well", "ill"]


def test_an_encoder_that_is_asked_for_makes_numbers_with_names():
    data = encoded()
    assert data.feature_names == ("age", "sex=f", "sex=m", "ward=a", "ward=b", "ward=c", "smoker")
    assert data.X[0].tolist() == [40, 1, 0, 1, 0, 0, 1]


def test_the_codes_agree_with_those_of_scikit_learn():
    from sklearn.preprocessing import OneHotEncoder

    frame = FRAME[["sex", "ward"]].astype(str)
    expected = OneHotEncoder(sparse_output=False).fit_transform(frame)
    np.testing.assert_array_equal(TableEncoder.fit(frame).transform(frame), expected)


def test_field_data_are_encoded_as_the_training_data_were():
    train = encoded()
    field = pd.DataFrame(
        {"smoker": [False], "ward": ["c"], "extra": [1], "sex": ["m"], "age": [70]}
    )
    data = from_frame(field, encoder=train.encoder)
    assert data.feature_names == train.feature_names
    assert data.X.tolist() == [[70, 0, 1, 0, 0, 1, 0]]
    assert data.y is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sex": "x"}, r"Column 'sex'.*'x' in row 0"),
        ({"age": "old"}, r"Column 'age' must be numbers.*'old'"),
        ({"age": np.nan}, r"Column 'age' must not have missing"),
        ({"sex": None}, r"Column 'sex' must not have missing"),
    ],
)
def test_values_that_were_not_learnt_are_refused_by_name(change, message):
    encoder = TableEncoder.fit(FEATURES)
    row = {"age": 40, "sex": "f", "ward": "a", "smoker": True} | change
    with pytest.raises(DataError, match=message):
        encoder.transform(pd.DataFrame([row]))


def test_a_missing_column_is_named():
    with pytest.raises(DataError, match="column 'ward'"):
        TableEncoder.fit(FEATURES).transform(FRAME.drop(columns="ward"))


def test_numbers_read_as_text_are_still_numbers():
    encoder = TableEncoder.fit(pd.DataFrame({"a": [1.0, 2.0]}))
    assert encoder.transform(pd.DataFrame({"a": ["3", "4.5"]})).tolist() == [[3.0], [4.5]]


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (FRAME.iloc[:0], "0 rows"),
        (pd.DataFrame({"label": [0, 1]}), "feature column"),
        (pd.DataFrame([[1, 2, 0]], columns=["a", "a", "label"]), "'a' twice"),
        (pd.DataFrame({"c": [1j], "label": [1]}), "complex"),
        (pd.DataFrame({"a": [1.0, np.inf], "label": [0, 1]}), "infinity"),
        (pd.DataFrame({"a": [1.0, 2.0], "label": ["x", None]}), "label column 'label'"),
    ],
)
def test_unusable_tables(frame, message):
    with pytest.raises(DataError, match=message):
        from_frame(frame)


def test_the_label_column_is_asked_for_named_or_guessed_with_a_warning():
    frame = pd.DataFrame({"a": [0.1, 0.2, 0.3, 0.4], "Class": [0, 1, 0, 1], "z": [1, 1, 2, 2]})
    assert from_frame(frame).y.tolist() == [0, 1, 0, 1]
    assert from_frame(frame, label="z").y.tolist() == [1, 1, 2, 2]
    assert from_frame(frame, label=False).X.shape == (4, 3)
    with pytest.raises(DataError, match="label column 'b'"):
        from_frame(frame, label="b")
    with pytest.warns(AssumptionWarning, match="column 'z' is taken"):
        assert from_frame(frame.drop(columns="Class")).y.tolist() == [1, 1, 2, 2]
    measured = pd.DataFrame({"a": [0.1, 0.2], "b": [0.3, 0.4]})
    assert from_frame(measured).y is None


def test_ids(tmp_path):
    frame = FRAME.assign(id=["p1", "p2", "p3", "p4"])
    assert from_frame(frame).ids.tolist() == ["p1", "p2", "p3", "p4"]
    assert "id" not in from_frame(frame).feature_names
    with pytest.raises(DataError, match="id column 'patient'"):
        from_frame(frame, id_column="patient")
    with pytest.raises(DataError, match="'p1' 2 times"):
        from_frame(frame.assign(id=["p1", "p1", "p3", "p4"]), id_column="id")


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_csv_with_any_separator(tmp_path, separator):
    FRAME.to_csv(tmp_path / "d.csv", sep=separator, index=False)
    data = load(tmp_path / "d.csv", label="label")
    assert data.y.tolist() == ["well", "ill", "well", "ill"]
    assert data.name == "d"


def test_formulas_and_markup_in_cells_are_text(tmp_path):
    frame = pd.DataFrame({"a": ["=cmd()", "</script>", "{{7*7}}"], "label": ["+1", "@x", "-y"]})
    frame.to_csv(tmp_path / "d.csv", index=False)
    data = load(tmp_path / "d.csv")
    assert data.X["a"].tolist() == ["=cmd()", "</script>", "{{7*7}}"]
    assert data.classes == ("+1", "-y", "@x")


def test_exports_cannot_run_in_a_spreadsheet(tmp_path):
    frame = pd.DataFrame({"=evil()": ["=cmd()", "+1", "ok", None], "n": [-1.5, 2.0, 3.0, 4.0]})
    lines = write_csv(frame, tmp_path / "d.csv").read_text().splitlines()
    assert lines == ["'=evil(),n", "'=cmd(),-1.5", "'+1,2.0", "ok,3.0", ",4.0"]
    with pytest.raises(DataError, match="writable"):
        write_csv(frame, tmp_path / "d.csv" / "below a file.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["d.csv"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfd\x00bad",
        b"\xff\xfea\x00b",
        b'a,b\n1,2\n"unclosed',
        b"a,b\n1,2,3,4\n1,2,3,4,5\n",
    ],
)
def test_damaged_csv(tmp_path, content):
    (tmp_path / "d.csv").write_bytes(content)
    with pytest.raises(DataError, match=r"d\.csv"):
        load(tmp_path / "d.csv")


def test_a_csv_that_is_too_large(tmp_path):
    FRAME.to_csv(tmp_path / "d.csv", index=False)
    with pytest.raises(DataError, match="GB declared"):
        load(tmp_path / "d.csv", max_bytes=10)


# What a file does not say aloud


def written(folder, text, name="rows.csv"):
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b,label\n1,2,x\n1,2,3,y\n", "4 in line 3"),
        ("a,b,label\n1,2,3,x\n1,2,3,y\n", "4 in line 2, 4 in line 3"),
        ("a,b,label\n1,2,x\n\n2,y\n", "2 in line 4"),
        ('a,b,label\n"1\n",2,x\n2,y\n', "2 in line 4"),
        ("a;b;label\n1;2;x\n1;2\n", "2 in line 3"),
        ("a,label\n1,5,x\n2,5,x\n", "3 in line 2, 3 in line 3"),
    ],
)
def test_rows_of_another_width_are_named_with_their_lines(tmp_path, text, words):
    with pytest.raises(DataError, match=f"fields in every row.*{words}"):
        load(written(tmp_path, text))


def test_a_column_name_twice_is_said(tmp_path):
    with pytest.raises(DataError, match="'a' twice"):
        load(written(tmp_path, "a,a,label\n1,2,x\n1,2,y\n"))


def test_a_typo_among_numbers_is_named_with_its_cell(tmp_path):
    rows = "".join(f"{i},{i % 3},{'xy'[i % 2]}\n" for i in range(40))
    text = "a,b,label\n" + rows.replace("\n7,1,", "\n\n7,l,").replace("\n20,2,", "\n2O,2,")
    with pytest.raises(DataError, match=r"Column 'a'.*'2O' in line 23 among numbers"):
        load(written(tmp_path, text))
    with pytest.raises(DataError, match=r"Column 'b'.*'l' in line 10 among numbers"):
        load(written(tmp_path, text.replace("2O", "20")))
    declared = load(written(tmp_path, text.replace("2O", "20")), categorical=["b"])
    assert declared.kinds == ("integer", "category")
    assert set(declared.X["b"]) == {"0", "1", "2", "l"}


def test_numbers_declared_as_names_are_a_category(tmp_path):
    train = load(written(tmp_path, "ward,label\n1,x\n2,y\n"), categorical=["ward"])
    assert train.kinds == ("category",)
    assert train.X.tolist() == [[1.0], [2.0]]
    with pytest.raises(DataError, match="'absent'"):
        load(written(tmp_path, "ward,label\n1,x\n2,y\n"), categorical=["absent"])


def test_a_few_numbers_among_names_are_names(tmp_path):
    text = "wing,label\nA,x\nB,y\n3,x\nA,y\n"
    assert load(written(tmp_path, text)).X["wing"].tolist() == ["A", "B", "3", "A"]


def test_decimal_commas_are_said(tmp_path):
    with pytest.raises(DataError, match=r"'a' must have decimal points.*'1,5' in line 2"):
        load(written(tmp_path, 'a,label\n"1,5",x\n2,y\n"2,75",y\n'))


@pytest.mark.parametrize(("column", "given"), [("label", {}), ("id", {"id_column": "id"})])
def test_labels_and_ids_that_only_differ_in_zeros_are_not_merged(tmp_path, column, given):
    text = f"a,{column}\n1,1\n2,01\n3,2\n"
    with pytest.raises(DataError, match=r"'1' in line 2 and '01' in line 3"):
        load(written(tmp_path, text), **given)


def test_labels_with_zeros_in_front_throughout_are_numbers(tmp_path):
    assert load(written(tmp_path, "a,label\n1,00\n2,01\n3,00\n")).y.tolist() == [0, 1, 0]


def test_a_frame_with_a_typo_names_the_row():
    frame = pd.DataFrame({"a": [1.0, 2.0, "3.O", 4.0], "label": list("xyxy")})
    with pytest.raises(DataError, match=r"'3.O' in row 2"):
        from_frame(frame)


# Columns and their roles


def test_holes_dates_and_flags_stay(tmp_path):
    frame = pd.DataFrame(
        {
            "a": [1.0, np.nan],
            "when": pd.to_datetime(["2020-01-01", None]),
            "flag": [True, False],
            "word": ["x", None],
            "label": [0, 1],
        }
    )
    data = from_frame(frame)
    pd.testing.assert_frame_equal(data.X, frame.drop(columns="label"))
    assert data.kinds == ("real", "date", "category", "category")
    assert data.rows.holes.tolist() == [True, True, False, True]


def test_columns_of_the_model_come_in_its_order_and_others_are_left_out(tmp_path):
    text = "id,b,label,a,w,ward\n7,1,x,2,0.5,n\n8,3,y,4,1.5,s\n"
    data = load(
        written(tmp_path, text), columns=["a", "b"], weight="w", slices=["ward"], ignore=["ward"]
    )
    assert data.feature_names == ("a", "b")
    assert data.X.tolist() == [[2, 1], [4, 3]]
    assert data.weights.tolist() == [0.5, 1.5]
    assert data.slices["ward"].tolist() == ["n", "s"]
    assert data.ids.tolist() == [7, 8]


def test_a_column_that_the_model_takes_is_never_guessed_to_be_the_label(tmp_path):
    text = "a,target\n1,0\n2,1\n3,0\n4,1\n"
    assert load(written(tmp_path, text), columns=["a", "target"]).y is None


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"columns": ["a", "z"]}, "takes the columns a, z.*without 'z'"),
        ({"weight": "z"}, "weight column 'z'"),
        ({"ignore": ["z"]}, "ignore column 'z'"),
        ({"slices": ["z"]}, "slices column 'z'"),
    ],
)
def test_columns_that_are_not_there_are_named(tmp_path, given, words):
    with pytest.raises(DataError, match=words):
        load(written(tmp_path, "a,b,label\n1,2,x\n1,3,y\n"), **given)


def test_a_column_of_slices_is_not_taken_for_the_label():
    rows = FRAME.drop(columns="label")
    rows["site"] = ["a", "b", "a", "b"]
    assert from_frame(rows, slices=["site"]).y is None
