"""Native boosters and their files, against the predictions of the libraries themselves."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, softmax
from sklearn.datasets import load_breast_cancer, load_iris

import fireassay as fa
from fireassay.classifiers.trust import remember_trust
from fireassay.core import DataError, ModelError
from fireassay.core.errors import UntrustedFileError

pytestmark = pytest.mark.extras
xgboost = pytest.importorskip("xgboost")
lightgbm = pytest.importorskip("lightgbm")

CANCER, IRIS = load_breast_cancer(return_X_y=True), load_iris(return_X_y=True)


def xgb(objective, data, rounds=8, **more):
    X, y = data
    if objective.startswith("multi"):
        more["num_class"] = 3
    settings = {"objective": objective, "max_depth": 3, "seed": 0, "nthread": 1, **more}
    return xgboost.train(settings, xgboost.DMatrix(X, label=y), rounds)


def lgb(objective, data, rounds=8, **more):
    X, y = data
    if objective.startswith("multi"):
        more["num_class"] = 3
    settings = {"objective": objective, "verbose": -1, "seed": 0, "num_threads": 1, **more}
    return lightgbm.train(settings, lightgbm.Dataset(X, label=y), rounds)


@pytest.mark.parametrize("objective", ["multi:softprob", "multi:softmax"])
def test_xgboost_with_several_classes(objective):
    booster = xgb(objective, IRIS)
    rows = xgboost.DMatrix(IRIS[0])
    expected = softmax(booster.predict(rows, output_margin=True).astype(float), axis=1)
    model = fa.as_classifier(booster, classes=["setosa", "versicolor", "virginica"])
    np.testing.assert_allclose(model.predict_proba(IRIS[0]), expected, atol=1e-6)
    assert model.predict(IRIS[0][:1]).tolist() == ["setosa"]


@pytest.mark.parametrize("objective", ["binary:logistic", "binary:logitraw"])
def test_xgboost_with_two_classes(objective, tmp_path):
    booster = xgb(objective, CANCER)
    expected = expit(booster.predict(xgboost.DMatrix(CANCER[0]), output_margin=True).astype(float))
    for place in (booster, tmp_path / "m.ubj", tmp_path / "m.json"):
        if place is not booster:
            booster.save_model(place)
        model = fa.as_classifier(place, trust=place is not booster)
        assert model.classes == (0, 1)
        np.testing.assert_allclose(model.predict_proba(CANCER[0])[:, 1], expected, atol=1e-6)
    kept = fa.as_classifier(tmp_path / "m.ubj", trust=True)
    assert kept.sha256 == fa.as_classifier(booster).sha256


@pytest.mark.parametrize(("objective", "data"), [("binary", CANCER), ("multiclass", IRIS)])
def test_lightgbm(objective, data, tmp_path):
    booster = lgb(objective, data)
    booster.save_model(tmp_path / "m.txt")
    expected = booster.predict(data[0])
    if objective == "binary":
        expected = np.column_stack([1 - expected, expected])
    for place in (booster, str(tmp_path / "m.txt")):
        found = fa.as_classifier(place, trust=place is not booster).predict_proba(data[0])
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_frames_are_taken_by_the_names_of_their_columns():
    names = [f"f{i}" for i in range(4)]
    frame = pd.DataFrame(IRIS[0], columns=names)
    data = xgboost.DMatrix(frame, label=IRIS[1])
    booster = xgboost.train({"objective": "multi:softprob", "num_class": 3}, data, 3)
    model = fa.as_classifier(booster)
    np.testing.assert_allclose(
        model.predict_proba(frame[names[::-1]].assign(other=1.0)), booster.predict(data), atol=1e-6
    )
    with pytest.raises(DataError, match="without"):
        model.predict_proba(frame[names[:2]])
    other = lightgbm.train(
        {"objective": "binary", "verbose": -1}, lightgbm.Dataset(frame, IRIS[1] == 1), 3
    )
    found = fa.as_classifier(other).predict_proba(frame[names[::-1]])
    np.testing.assert_allclose(found[:, 1], other.predict(frame), atol=1e-12)
    with pytest.raises(DataError, match="4 features"):
        fa.as_classifier(other).predict_proba(IRIS[0][:, :3])


def test_regressions_are_refused():
    with pytest.raises(ModelError, match="reg:squarederror"):
        fa.as_classifier(xgb("reg:squarederror", CANCER))
    with pytest.raises(ModelError, match="'regression'"):
        fa.as_classifier(lgb("regression", CANCER))
    with pytest.raises(ModelError, match="gives probabilities"):
        fa.as_classifier(lgb("binary", CANCER), output="logits")


def hostile_files():
    """What made the libraries' own readers crash, or what other parsers read differently."""
    found = {}
    text = lgb("multiclass", IRIS).model_to_string()
    found["num_class twice.txt"] = text.replace(
        "num_class=3\n", "num_class=3\nnum_class=99999\n", 1
    )
    found["digits of another script.txt"] = text.replace("num_class=3", "num_class=\u0663", 1)
    found["a child outside.txt"] = text.replace("left_child=", "left_child=9999999 ", 1)

    def changed(name, change):
        model = json.loads(bytes(xgb("binary:logistic", CANCER).save_raw("json")))
        booster = model["learner"]["gradient_booster"]
        change(booster, booster["model"]["trees"][0])
        found[f"{name}.json"] = json.dumps(model)

    changed("a decoy", lambda b, t: b.__setitem__("gbtree", {"model": b["model"]}))
    changed("iterations", lambda b, t: b["model"].__setitem__("iteration_indptr", [0, -(2**30)]))
    changed("leaf vector", lambda b, t: t["tree_param"].__setitem__("size_leaf_vector", "-5"))
    changed("a node twice", lambda b, t: t.__setitem__("categories_nodes", [0, 0]))
    changed("a circle", lambda b, t: t["left_children"].__setitem__(0, 0))
    changed("a weight", lambda b, t: (b.clear(), b.update(name="gblinear", model={"weights": [1]})))
    return found


HOSTILE = hostile_files()


@pytest.mark.parametrize("name", HOSTILE)
def test_files_of_boosters_are_not_opened_without_trust(name, tmp_path):
    (tmp_path / name).write_text(HOSTILE[name], encoding="utf-8")
    with pytest.raises(UntrustedFileError, match=r"(?s)can run any code.*onnxmltools.*--trust"):
        fa.as_classifier(tmp_path / name)


@pytest.mark.parametrize("ending", [".ubj", ".json", ".txt", ".unknown"])
def test_trust_in_a_booster_is_kept_by_its_bytes(ending, tmp_path, monkeypatch):
    monkeypatch.setenv("FIREASSAY_SETTINGS", str(tmp_path / "settings"))
    booster = (lgb if ending in (".txt", ".unknown") else xgb)(
        "binary" if ending in (".txt", ".unknown") else "binary:logistic", CANCER
    )
    path = tmp_path / f"m{ending}"
    booster.save_model(path)
    with pytest.raises(UntrustedFileError):
        fa.as_classifier(path)
    remember_trust(path)
    assert fa.as_classifier(path).predict_proba(CANCER[0][:5]).shape == (5, 2)
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(UntrustedFileError):
        fa.as_classifier(path)


def test_trusted_files_of_something_else_are_no_models(tmp_path):
    for name, text in {"a.txt": "hello", "b.json": "[1, 2]", "c.json": '{"a": 1}'}.items():
        (tmp_path / name).write_text(text)
        with pytest.raises(ModelError, match=r"LightGBM's|XGBoost file"):
            fa.as_classifier(tmp_path / name, trust=True)


def test_categories_of_a_trusted_lightgbm_file(tmp_path):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 40, 400), rng.normal(size=400)])
    y = (X[:, 0] % 3 == 0).astype(int)
    data = lightgbm.Dataset(X, y, categorical_feature=[0])
    booster = lightgbm.train({"objective": "binary", "verbose": -1}, data, 5)
    booster.save_model(tmp_path / "m.txt")
    model = fa.as_classifier(tmp_path / "m.txt", trust=True)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], booster.predict(X), atol=1e-12)


def test_frames_with_names_and_holes_go_to_the_booster_as_it_was_fitted():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"ward": rng.choice(["north", "south", "west"], 300), "x": rng.normal(size=300)}
    )
    y = ((frame["ward"] == "west") | (frame["x"] > 1)).to_numpy()
    frame.loc[::7, "x"] = np.nan
    frame.loc[::11, "ward"] = None
    fitted = frame.assign(ward=frame["ward"].astype("category"))
    booster = lightgbm.train({"objective": "binary", "verbose": -1}, lightgbm.Dataset(fitted, y), 5)
    model = fa.as_classifier(booster, classes=("other", "hit"))
    np.testing.assert_allclose(
        model.predict_proba(frame)[:, 1], booster.predict(fitted), atol=1e-12
    )
    part = frame.iloc[5:20]  # fewer categories than the booster knows
    np.testing.assert_allclose(
        model.predict_proba(part)[:, 1], booster.predict(fitted)[5:20], atol=1e-12
    )
    with pytest.raises(DataError, match="categories must get a table"):
        model.predict_proba(np.zeros((3, 2)))
    holes = xgboost.train(
        {"objective": "binary:logistic", "nthread": 1}, xgboost.DMatrix(frame[["x"]], label=y), 5
    )
    found = fa.as_classifier(holes).predict_proba(frame[["x"]])
    np.testing.assert_allclose(found[:, 1], holes.predict(xgboost.DMatrix(frame[["x"]])), atol=1e-6)
    with pytest.raises(DataError, match="takes numbers"):
        fa.as_classifier(holes).predict_proba(frame[["ward"]].rename(columns={"ward": "x"}))
