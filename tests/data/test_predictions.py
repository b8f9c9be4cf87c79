# ruff: noqa: E501
"""Files of predictions as other tools write them: read without a flag, or refused with one."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from fireassay.core import AssumptionWarning, DataError
from fireassay.data.predictions import predictions_of, read_predictions

N = 240
SPECIES = ("setosa", "versicolor", "virginica")


def world(classes=2, seed=0, n=N):
    """Truth, probabilities and answers of a model that is right more often than not."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, classes, n)
    z = rng.normal(size=(n, classes)) + 1.5 * np.eye(classes)[truth]
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    return truth, p, p.argmax(axis=1)


Y, P, A = world()
Y3, P3, A3 = world(3)
NAMES3 = np.array(SPECIES)
YESNO = np.array(["no", "yes"])
SCREENED = Y, (P[:, 1] >= 0.2).astype(int), P


def evidently():
    return pd.DataFrame(
        {"target": NAMES3[Y3], "prediction": NAMES3[A3], **dict(zip(SPECIES, P3.T, strict=True))}
    )


def evidently_binary():
    return pd.DataFrame(
        {"target": Y, "prediction": A, "prediction_proba": P[:, 1], "age": np.arange(N) % 70}
    )


def nannyml():
    return pd.DataFrame(
        {
            "identifier": np.arange(N),
            "timestamp": pd.date_range("2024", periods=N).astype(str),
            "period": ["reference"] * 120 + ["analysis"] * 120,
            "y_pred_proba": P[:, 1],
            "y_pred": A,
            "y_true": Y,
        }
    )


def nannyml_multiclass():
    cards = np.array(["highstreet_card", "prepaid_card", "upmarket_card"])
    columns = {f"y_pred_proba_{c}": P3[:, i] for i, c in enumerate(cards)}
    return pd.DataFrame({**columns, "y_pred": cards[A3], "y_true": cards[Y3]})


def tfma():
    return pd.DataFrame(
        {"label": Y.astype(float), "prediction": P[:, 1], "slice": ["a", "b"] * 120}
    )


def deepchecks():
    return pd.DataFrame({"target": Y3, "y_pred": A3, **{f"proba_{i}": P3[:, i] for i in range(3)}})


def mlflow():
    return pd.DataFrame({"targets": YESNO[Y], "predictions": YESNO[A]})


def arize():
    return pd.DataFrame(
        {
            "prediction_id": [f"i{i}" for i in range(N)],
            "prediction_ts": np.arange(N) + 1_700_000_000,
            "prediction_label": YESNO[A],
            "prediction_score": P[:, 1],
            "actual_label": YESNO[Y],
            "state": ["ca", "ak", "ny"] * 80,
        }
    )


def ml_net():
    return pd.DataFrame(
        {
            "Label": Y.astype(bool),
            "Score": np.log(P[:, 1] / P[:, 0]) * 3,
            "Probability": P[:, 1],
            "PredictedLabel": A.astype(bool),
        }
    )


def caret():
    return pd.DataFrame(
        {
            "pred": NAMES3[A3],
            "obs": NAMES3[Y3],
            **dict(zip(SPECIES, P3.T, strict=True)),
            "rowIndex": np.arange(N),
            "Resample": ["Fold1", "Fold2"] * 120,
        }
    )


def yardstick():
    names = np.array(["Class1", "Class2"])
    return pd.DataFrame(
        {"truth": names[Y], "Class1": P[:, 0], "Class2": P[:, 1], "predicted": names[A]}
    )


def tidymodels():
    return pd.DataFrame(
        {
            ".pred_class": YESNO[A],
            ".pred_no": P[:, 0],
            ".pred_yes": P[:, 1],
            "Class": YESNO[Y],
            ".row": np.arange(N),
        }
    )


def pycaret():
    return pd.DataFrame(
        {
            "age": np.arange(N) % 50,
            "target": Y,
            "prediction_label": A,
            "prediction_score": np.round(P.max(axis=1), 4),
        }
    )


def hugging_face():
    return pd.DataFrame(
        {
            "text": [f"a text {i}" for i in range(N)],
            "true_label": NAMES3[Y3],
            "predicted_label": NAMES3[A3],
            "score": P3.max(axis=1),
        }
    )


def h2o():
    return pd.DataFrame({"predict": A, "p0": P[:, 0], "p1": P[:, 1], "actual": Y})


def scikit_learn():
    return pd.DataFrame({"y_true": Y, "y_score": P[:, 1]})


def threshold():
    return pd.DataFrame(
        {
            "patient": np.arange(N) // 2,
            "outcome": YESNO[Y],
            "risk": P[:, 1].round(3),
            "answer": YESNO[(P[:, 1].round(3) >= 0.2).astype(int)],
            "ward": ["ICU", "ER"] * 120,
        }
    )


def weka():
    names = np.array(["1:no", "2:yes"])
    return pd.DataFrame(
        {
            "inst#": np.arange(N),
            "actual": names[Y],
            "predicted": names[A],
            "error": np.where(Y == A, "", "+"),
            "prediction": P.max(axis=1).round(3),
        }
    )


def r_booleans():
    return pd.DataFrame(
        {"obs": np.array(["FALSE", "TRUE"])[Y], "pred": np.array(["FALSE", "TRUE"])[A]}
    )


def one_based():
    return pd.DataFrame(
        {"y_true": Y3 + 1, "y_pred": A3 + 1, **{f"prob_{i + 1}": P3[:, i] for i in range(3)}}
    )


def rounded():
    return pd.DataFrame(
        {"y_true": Y3, "y_pred": A3, **{f"p_{i}": P3[:, i].round(2) for i in range(3)}}
    )


def spark():
    rows = [f"[{a},{b}]" for a, b in P]
    return pd.DataFrame({"label": Y * 1.0, "probability": rows, "prediction": A * 1.0})


def rapidminer():
    columns = {f"confidence({name})": P[:, i] for i, name in enumerate(YESNO)}
    return pd.DataFrame({"label": YESNO[Y], "prediction(label)": YESNO[A], **columns})


def sas():
    return pd.DataFrame({"target": Y, "prediction": A, "P_BAD1": P[:, 1], "P_BAD0": P[:, 0]})


def per_cent():
    shown = [f"{100 * q:.6f}%" for q in P[:, 1]]
    return pd.DataFrame({"truth": YESNO[Y], "pred": YESNO[A], "p_yes": shown})


def mlr3():
    """Answers under a name of their own, from 0.2 on."""
    names = np.array(["neg", "pos"])
    return pd.DataFrame({"row_ids": np.arange(N), "truth": names[Y], "response": names[SCREENED[1]],
                         "prob.neg": P[:, 0], "prob.pos": P[:, 1]})  # fmt: skip


def triage():
    return pd.DataFrame({"target": Y, "flagged": SCREENED[1], "smoker": np.arange(N) % 2, "risk": P[:, 1]})  # fmt: skip


def knime():
    return pd.DataFrame({"target": Y, "P (Churn=0)": P[:, 0], "P (Churn=1)": P[:, 1],
                         "Prediction (Churn)": A})  # fmt: skip


def label_numbers():
    said = np.array(["LABEL_0", "LABEL_1"])[A]
    return pd.DataFrame({"label": Y, "predicted_label": said, "score": P.max(axis=1)})


TWO, THREE = (Y, A, P), (Y3, A3, P3)
# file, what it holds, the positive class, classes, how it is written
FILES = [
    (evidently, THREE, None, SPECIES, {}),
    (evidently_binary, TWO, 1, (0, 1), {}),
    (nannyml, TWO, 1, (0, 1), {}),
    (nannyml_multiclass, THREE, None, ("highstreet_card", "prepaid_card", "upmarket_card"), {}),
    (tfma, TWO, 1, (0, 1), {}),
    (deepchecks, THREE, None, (0, 1, 2), {}),
    (mlflow, (Y, A, None), "yes", ("no", "yes"), {}),
    (arize, TWO, "yes", ("no", "yes"), {}),
    (ml_net, TWO, True, (False, True), {}),
    (caret, THREE, None, SPECIES, {}),
    (yardstick, TWO, None, ("Class1", "Class2"), {}),
    (tidymodels, TWO, "yes", ("no", "yes"), {}),
    (pycaret, (Y, A, P.max(axis=1).round(4)), 1, (0, 1), {}),
    (hugging_face, (Y3, A3, None), None, SPECIES, {}),
    (h2o, TWO, 1, (0, 1), {}),
    (scikit_learn, TWO, 1, (0, 1), {}),
    (threshold, (Y, (P[:, 1].round(3) >= 0.2).astype(int), P), "yes", ("no", "yes"), {}),
    (weka, TWO, None, ("1:no", "2:yes"), {}),
    (r_booleans, (Y, A, None), True, (False, True), {}),
    (one_based, THREE, None, (1, 2, 3), {}),
    (rounded, THREE, None, (0, 1, 2), {}),
    (scikit_learn, TWO, 1, (0, 1), {"sep": ";", "decimal": ","}),
    (evidently, THREE, None, SPECIES, {"sep": "\t", "encoding": "utf-8-sig"}),
    (nannyml, TWO, 1, (0, 1), {"sep": ";", "encoding": "utf-8-sig"}),
    (nannyml, TWO, 1, (0, 1), {"sep": "|"}),
    (nannyml, TWO, 1, (0, 1), {"sep": "\t", "decimal": ","}),
    (scikit_learn, TWO, 1, (0, 1), {"decimal": ","}),
    (spark, TWO, 1, (0, 1), {}),
    (rapidminer, TWO, "yes", ("no", "yes"), {}),
    (sas, TWO, 1, (0, 1), {}),
    (per_cent, TWO, "yes", ("no", "yes"), {}),
    (label_numbers, (Y, A, P.max(axis=1)), 1, (0, 1), {}),
    (mlr3, SCREENED, None, ("neg", "pos"), {}),
    (triage, SCREENED, 1, (0, 1), {}),
    (knime, TWO, 1, (0, 1), {}),
    (scikit_learn, TWO, 1, (0, 1), {"compression": "gzip"}),
]  # fmt: skip


@pytest.mark.parametrize(("make", "holds", "positive", "classes", "written"), FILES)
def test_files_of_other_tools_are_read_without_a_flag(
    make, holds, positive, classes, written, tmp_path
):
    path = tmp_path / f"file.csv{'.gz' if 'compression' in written else ''}"
    make().to_csv(path, index=False, **written)
    found = read_predictions(path)
    truth, answers, p = holds
    assert found.classes == classes
    assert found.positive == positive
    np.testing.assert_array_equal(found.truth, truth)
    np.testing.assert_array_equal(found.answers, answers)
    if p is None:
        assert found.probabilities is None
    elif p.ndim == 1:  # the confidence of the answer
        np.testing.assert_allclose(found.probabilities[np.arange(N), answers], p, atol=1e-12)
    else:
        np.testing.assert_allclose(found.probabilities, p, atol=0.012)


@pytest.mark.parametrize("make", [evidently, tfma, arize, ml_net, weka, pycaret])
@pytest.mark.parametrize("form", ["parquet", "jsonl", "frame", "stdin", "npz"])
def test_every_form_says_the_same(make, form, tmp_path, monkeypatch):
    frame, path = make(), tmp_path / f"file.{form}"
    expected = read_predictions(frame)
    if form == "parquet":
        pytest.importorskip("pyarrow", reason="Parquet needs the extra tables")
        frame.to_parquet(path)
    elif form == "jsonl":
        frame.to_json(path, orient="records", lines=True, double_precision=15)
    elif form == "npz":
        np.savez(path, **{c: np.array(frame[c].tolist()) for c in frame})
    elif form == "stdin":
        content = io.BytesIO(frame.to_csv(index=False).encode())
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(content))
    source = {"frame": frame, "stdin": "-"}.get(form, path)
    found = read_predictions(source)
    np.testing.assert_array_equal(found.truth, expected.truth)
    np.testing.assert_array_equal(found.answers, expected.answers)
    assert (found.classes, found.positive) == (expected.classes, expected.positive)
    np.testing.assert_allclose(found.probabilities, expected.probabilities, atol=1e-9)


def test_threshold_roles_and_slices_of_a_clinic():
    found = read_predictions(threshold())
    assert found.threshold == {"yes": 0.2}
    assert any("threshold 0.2" in line for line in found.findings)
    assert len(np.unique(found.groups)) == 120
    assert found.offered == ("ward",)
    assert set(found.slice_values("ward")) == {"ICU", "ER"}


def test_missing_truths_stay_unlabelled_and_missing_answers_are_indeterminate(tmp_path):
    frame = pd.DataFrame({"y_true": YESNO[Y], "y_pred": YESNO[A], "ward": "none"})
    frame.loc[:9, "y_true"] = None
    frame.loc[20:24, "y_pred"] = None
    frame.loc[30:31, "y_pred"] = "unsure"
    frame.to_csv(tmp_path / "file.csv", index=False)
    found = read_predictions(tmp_path / "file.csv", indeterminate="unsure")
    assert (found.truth < 0).sum() == 10
    assert np.flatnonzero(found.indeterminate).tolist() == [20, 21, 22, 23, 24, 30, 31]
    assert any("10 of 240 rows have no truth" in line for line in found.findings)


def test_a_class_may_be_called_none_and_labels_may_have_leading_zeros(tmp_path):
    path = tmp_path / "file.csv"
    path.write_text(
        "y_true,y_pred\nNone,sepsis\nnone,sepsis\nsepsis,None\n".replace("none", "None")
    )
    assert read_predictions(path).classes == ("None", "sepsis")
    path.write_text("y_true,y_pred\n01,01\n1,1\n10,01\n")
    assert read_predictions(path).classes == ("01", "1", "10")


def test_confidence_and_probability_are_told_apart():
    for seed in range(30):
        y, p, a = world(seed=seed, n=60)
        frame = pd.DataFrame({"target": y, "prediction_label": a, "prediction_score": p[:, 1]})
        np.testing.assert_allclose(read_predictions(frame).probabilities, p, atol=1e-12)
        frame["prediction_score"] = p.max(axis=1)
        np.testing.assert_allclose(read_predictions(frame).probabilities, p, atol=1e-12)


def test_a_constant_answer_does_not_turn_confidences_around():
    y, p, _ = world(n=40)
    p = np.column_stack([np.maximum(p[:, 0], p[:, 1]), np.minimum(p[:, 0], p[:, 1])])
    frame = pd.DataFrame({"target": y, "prediction_label": 0, "prediction_score": p[:, 0]})
    np.testing.assert_allclose(read_predictions(frame).probabilities, p)
    frame["prediction_score"] = p[:, 1]
    np.testing.assert_allclose(read_predictions(frame).probabilities, p)


def test_classes_that_only_probabilities_know_are_kept():
    frame = pd.DataFrame({"y_true": [0, 1, 1], "y_pred": [0, 1, 0], "p_0": [0.5, 0.2, 0.6],
                          "p_1": [0.3, 0.7, 0.3], "p_2": [0.2, 0.1, 0.1]})  # fmt: skip
    found = read_predictions(frame)
    assert found.probabilities.shape == (3, 3)
    assert len(found.classes) == 3


def test_nested_probabilities_in_json_lines(tmp_path):
    path = tmp_path / "file.jsonl"
    rows = [{"y_true": NAMES3[t], "y_pred": NAMES3[a], "probabilities": dict(zip(SPECIES, q.tolist(), strict=True))}
            for t, a, q in zip(Y3, A3, P3, strict=True)]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, rows)))
    np.testing.assert_allclose(read_predictions(path).probabilities, P3, atol=1e-9)
    rows = [{"y_true": int(t), "probabilities": q.tolist()} for t, q in zip(Y3, P3, strict=True)]
    path.write_text("\n".join(map(json.dumps, rows)))
    np.testing.assert_allclose(read_predictions(path).probabilities, P3, atol=1e-9)


def test_every_json_of_pandas_and_pairs_of_class_and_probability(tmp_path):
    frame, path = (
        pd.DataFrame({"target": Y, "prediction": A, "probability": P[:, 1]}),
        tmp_path / "f.json",
    )
    for orient in ("columns", "records", "split", "table"):
        for indent in (None, 1):
            frame.to_json(path, orient=orient, indent=indent, double_precision=15)
            found = read_predictions(path)
            np.testing.assert_array_equal(found.truth, Y)
            np.testing.assert_allclose(found.probabilities, P, atol=1e-9)
    pairs = [[{"label": "yes", "prob": q[1]}, {"label": "no", "prob": q[0]}] for q in P]
    big = pd.DataFrame(
        {"label": YESNO[Y], "predicted_label": YESNO[A], "predicted_label_probs": pairs}
    )
    np.testing.assert_allclose(read_predictions(big).probabilities, P)
    holes = [None if i < 5 else {"values": q.tolist()} for i, q in enumerate(P)]
    found = read_predictions(pd.DataFrame({"y_true": Y, "probability": holes}))
    assert found.indeterminate.sum() == 5


def test_a_value_without_a_class_is_named_once_and_read():
    frame = pd.DataFrame(
        {"y_true": np.where(np.arange(N) < 40, -1, Y), "y_pred": A, "p_1": P[:, 1]}
    )
    found = read_predictions(frame, unlabelled=-1)
    assert (found.truth < 0).sum() == 40
    assert found.positive == 1
    assert predictions_of(frame["y_true"], frame["p_1"], unlabelled="-1").classes == (0, 1)


def test_files_of_services_databases_and_spreadsheets(tmp_path):
    path = tmp_path / "file.jsonl"
    vertex = [{"instance": {"age": 4, "species": NAMES3[t]},
               "prediction": {"classes": SPECIES, "scores": q.tolist()}}
              for t, q in zip(Y3, P3, strict=True)]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, vertex)))
    found = read_predictions(path, truth="instance_species")
    np.testing.assert_allclose(found.probabilities, P3)
    nested = [{"label": [float(t)], "predictions": {"probabilities": q.tolist(), "logits": q.tolist(),
               "class_ids": [int(q.argmax())]}} for t, q in zip(Y3, P3, strict=True)]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, nested)))
    found = read_predictions(path)
    np.testing.assert_array_equal(found.truth, Y3)
    np.testing.assert_allclose(found.probabilities, P3)
    null = pd.DataFrame(
        {"y_true": np.where(np.arange(N) < 30, "\\N", YESNO[Y]), "y_pred": YESNO[A]}
    )
    null.to_csv(tmp_path / "file.csv", index=False)
    assert (read_predictions(tmp_path / "file.csv").truth < 0).sum() == 30
    names = np.array(["benigno", "tumoración"])
    old = pd.DataFrame({"truth": names[Y], "predicted": names[A], "p_tumoración": P[:, 1]})
    old.to_csv(tmp_path / "file.csv", index=False, sep=";", decimal=",", encoding="cp1252")
    with pytest.warns(AssumptionWarning, match="cp1252"):
        found = read_predictions(tmp_path / "file.csv")
    np.testing.assert_allclose(found.probabilities, P)
    spreadsheet = "sep=;\n" + scikit_learn().to_csv(index=False, sep=";")
    (tmp_path / "file.csv").write_text(spreadsheet)
    np.testing.assert_array_equal(read_predictions(tmp_path / "file.csv").truth, Y)


def test_what_only_repeats_truth_or_answer_is_no_slice():
    frame = nannyml().assign(prediction_correct=A == Y, code=np.array(["x7", "x9"])[Y], ward="a")
    frame.loc[:99, "ward"] = "b"
    assert read_predictions(frame).offered == ("period", "ward")


def test_arrays_are_read_as_files_are():
    found = predictions_of(Y, P[:, 1], groups=np.arange(N) // 3, slices={"sex": ["f", "m"] * 120})
    np.testing.assert_array_equal(found.answers, A)
    assert found.offered == ("sex",)
    np.testing.assert_allclose(predictions_of(NAMES3[Y3], P3, NAMES3[A3]).probabilities, P3)
    with pytest.raises(DataError, match="--classes"):
        predictions_of(NAMES3[Y3], P3)
    found = predictions_of(NAMES3[Y3], P3, classes=SPECIES)
    np.testing.assert_array_equal(found.answers, A3)


def test_repeated_ids_are_asked_about():
    frame = scikit_learn().assign(customer_id=np.arange(N) // 4)
    assert read_predictions(frame).asks == (
        "rows share customer_id: type --group customer_id, or --independent",
    )
    assert not read_predictions(frame, group="customer_id").asks


def test_groups_within_groups_count_by_the_outermost():
    frame = scikit_learn().assign(patient=np.arange(N) // 8, admission=np.arange(N) // 2)
    assert len(np.unique(read_predictions(frame).groups)) == 30


LABEL_SCORE = pd.DataFrame({"label": YESNO[A], "score": P.max(axis=1)})
AMBIGUOUS = [
    ("label and score of a pipeline", LABEL_SCORE, "--truth label or --answer label"),
    ("two truths", scikit_learn().assign(actual=1 - Y), "--truth y_true or --truth actual"),
    ("two answers", nannyml().assign(predicted=1 - A), "--answer y_pred or --answer predicted"),
    ("labels 1 and 2", pd.DataFrame({"y_true": Y + 1, "y_prob": P[:, 1]}), "--positive 1 or --positive 2"),
    ("names that say nothing", pd.DataFrame({"y_true": np.array(["benign", "malignant"])[Y], "proba": P[:, 1]}),
     "--positive benign or --positive malignant"),
    ("a score beyond one", pd.DataFrame({"y_true": Y, "y_pred": A, "score": 9 * P[:, 1]}), "--probability none"),
    ("no sum of one", evidently().assign(setosa=0.9), "--probability none"),
    ("answers without a cut", nannyml().assign(y_pred=Y), "--probability none"),
    ("no truth", pd.DataFrame({"Purchase": Y, "prediction_label": A, "prediction_score": P.max(axis=1)}),
     "--truth Purchase"),
    ("two probabilities", scikit_learn().assign(proba=P[:, 1] ** 2), "--probability y_score or --probability proba"),
    ("other names for classes", mlflow().assign(targets=Y), "Write them alike"),
    ("unlike spelling", mlflow().assign(targets=np.array(["No", "Yes"])[Y]), "Write them alike"),
    ("crossing groups", scikit_learn().assign(patient=np.arange(N) % 30, user=np.arange(N) // 8), "--group patient or --group user"),
    ("probabilities without classes", pd.DataFrame({"y_true": Y3, "y_pred": A3, "low": P3[:, 0], "mid": P3[:, 1], "high": P3[:, 2]}),
     "--probability low,mid,high"),
    ("holes in groups", scikit_learn().assign(patient=[None, *range(N - 1)]), "--group none"),
    ("score that fits both", pd.DataFrame({"y_true": [0, 1, 0, 1], "y_pred": [0, 0, 1, 1], "score": [0.6, 0.65, 0.8, 0.9]}),
     "--answer-confidence score"),
    ("confidences without answers", pd.DataFrame({"y_true": Y, "y_prob": P.max(axis=1)}), "--probability y_prob"),
    ("per cent", pd.DataFrame({"y_true": Y, "y_prob": 100 * P[:, 1]}), "Divide per cent by 100"),
    ("probabilities of the other class", pd.DataFrame({"y_true": Y, "y_pred": A, "proba": P[:, 0]}), "--probability none"),
    ("truths of minus one", pd.DataFrame({"y_true": np.where(Y3 == 2, -1, Y), "y_pred": A, "y_prob": P[:, 1]}),
     "--unlabelled -1"),
    ("truths not known", pd.DataFrame({"truth": np.where(Y3 == 2, "unknown", YESNO[Y]), "pred": YESNO[A]}), "--unlabelled unknown"),
    ("answers that say nothing", mlflow().assign(predictions=np.where(Y3 == 2, "unsure", YESNO[A])), "--indeterminate unsure"),
    ("a third answer", mlflow().assign(predictions=np.where(Y3 == 2, "later", YESNO[A])), "--indeterminate later"),
    ("one counts from zero", pd.DataFrame({"y_true": Y3 + 1, "y_pred": A3}), "--classes 0,1,2,3"),
    ("logits of each class", pd.DataFrame({"y_true": Y3, "y_pred": A3, **{f"score_{i}": 9 * P3[:, i] for i in range(3)}}), "--probability none"),
    ("logarithms", pd.DataFrame({"y_true": Y, "y_pred": A, "p_0": np.log(P[:, 0]), "p_1": np.log(P[:, 1])}), "--probability none"),
    ("a header twice", pd.DataFrame({"y_true": ["0", "y_true", "1"], "y_pred": ["0", "y_pred", "1"]}), "header must stand once"),
    ("one column", pd.DataFrame({"y_true y_pred": ["0 1", "1 1"]}), "separated by"),
    ("columns from zero, classes from one", pd.DataFrame({"y_true": Y + 1, "p_0": P[:, 0], "p_1": P[:, 1]}), "--probability p_0,p_1"),
    ("a number that is no class", pd.DataFrame({"y_true": np.where(Y3 == 2, 9, Y), "y_pred": A}), "--unlabelled 9"),
    ("a word that is no class", pd.DataFrame({"y_true": np.where(Y3 == 2, "TBD", YESNO[Y]), "y_pred": YESNO[A]}), "--unlabelled TBD"),
    ("two models", pd.DataFrame({"y_true": Y, "y_pred_a": A, "y_pred_b": 1 - A}), "--answer y_pred_a or --answer y_pred_b"),
    ("answers that only their values show", pd.DataFrame({"targets": YESNO[Y], "outputs": YESNO[A]}), "--answer outputs"),
    ("a truth under the name of its thing", pd.DataFrame({"ward": ["a", "b"] * 120, "sick": YESNO[Y], "pred": YESNO[A]}), "--truth sick or --truth ward"),
    ("continuous truth", pd.DataFrame({"y_true": P[:, 0], "y_pred": A}), "--truth COLUMN"),
]  # fmt: skip


@pytest.mark.parametrize(("title", "frame", "flag"), AMBIGUOUS, ids=[a[0] for a in AMBIGUOUS])
def test_ambiguous_files_are_refused_with_the_flag_to_type(title, frame, flag, tmp_path):
    frame.to_csv(tmp_path / "file.csv", index=False)
    with pytest.raises(DataError, match=flag.replace("(", r"\(")):
        read_predictions(tmp_path / "file.csv")


def test_the_flags_settle_it():
    truth = read_predictions(LABEL_SCORE.assign(y=YESNO[Y]), answer="label")
    np.testing.assert_array_equal(truth.answers, A)
    np.testing.assert_allclose(truth.probabilities, P, atol=1e-12)
    frame = pd.DataFrame({"y_true": Y + 1, "y_prob": P[:, 1]})
    np.testing.assert_allclose(read_predictions(frame, positive="2").probabilities, P)
    np.testing.assert_allclose(read_predictions(frame, positive=1).probabilities, P[:, ::-1])
    frame = pd.DataFrame(
        {"y_true": Y3, "y_pred": A3, "low": P3[:, 0], "mid": P3[:, 1], "high": P3[:, 2]}
    )
    found = read_predictions(frame, probability=["low", "mid", "high"])
    np.testing.assert_allclose(found.probabilities, P3)
    found = read_predictions(nannyml().assign(y_pred=Y), probability="none")
    assert found.probabilities is None
    found = read_predictions(scikit_learn(), threshold=0.2)
    np.testing.assert_array_equal(found.answers, P[:, 1] >= 0.2)


def test_a_million_rows(tmp_path):
    pytest.importorskip("pyarrow", reason="Parquet needs the extra tables")
    import time

    truth, p, answers = world(5, n=1_000_000)
    frame = pd.DataFrame({"id": np.arange(len(truth)), "patient": np.arange(len(truth)) // 5, "y_true": truth,
                          "y_pred": answers, **{f"p_{i}": p[:, i].round(4) for i in range(5)}})  # fmt: skip
    frame.to_parquet(tmp_path / "file.parquet")
    start = time.process_time()
    found = read_predictions(tmp_path / "file.parquet")
    assert time.process_time() - start < 8
    np.testing.assert_array_equal(found.answers, answers)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("y_true,y_pred,p\na,a,.9\na,a,.8\n", "needs two classes"),
        ('y_true,p\n1,"[1, 2]"\n0,99%\n', "must hold numbers"),
        ("y_pred\n1\n0\n", "separated by comma"),
        ('p_a,b\n"[1,2]","[3,4]"\n', "must hold the truth"),
        ('y_true;p\n"٣";"٣"\n"٤";"٤"\n', "probabilities, or a column of answers"),
    ],
)
def test_files_made_by_grammar_are_refused_in_words(tmp_path, text, message):
    (tmp_path / "a.csv").write_text(text, "utf-8")
    with pytest.raises(DataError, match=message):
        read_predictions(tmp_path / "a.csv")
