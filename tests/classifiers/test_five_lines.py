"""Models of other libraries: refused with the function that does it; the function works."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.datasets import load_iris

import fireassay as fa
from fireassay.classifiers.five_lines import CATBOOST, KERAS, PIPELINE, TORCHSCRIPT
from fireassay.core import ModelError

X, Y = load_iris(return_X_y=True)
PAGE = Path(__file__).parents[2] / "docs" / "models.md"


def run(code, folder, monkeypatch):
    """The function that the code defines, with the files of a folder."""
    monkeypatch.chdir(folder)
    names = {}
    exec(code, names)
    return names["predict"]


@pytest.mark.parametrize("code", [KERAS, CATBOOST, PIPELINE, TORCHSCRIPT])
def test_the_page_shows_the_same_lines(code):
    assert code in PAGE.read_text()
    assert len(code.splitlines()) <= 5


@pytest.mark.parametrize(
    ("name", "words"),
    [("m.keras", "load_model"), ("m.h5", "load_model"), ("m.cbm", "CatBoostClassifier")],
)
def test_files_of_other_libraries_are_refused_with_the_function(tmp_path, name, words):
    (tmp_path / name).write_bytes(b"something")
    with pytest.raises(ModelError, match=words) as refusal:
        fa.as_classifier(tmp_path / name)
    assert "def predict(X):" in str(refusal.value)


def test_objects_of_other_libraries_are_refused_with_the_function(monkeypatch):
    Pipeline = type("Pipeline", (), {"__module__": "transformers.pipelines.base"})
    Special = type("TextClassificationPipeline", (Pipeline,), {"__call__": lambda self, x: x})
    with pytest.raises(ModelError, match="top_k=None"):
        fa.as_classifier(Special())


@pytest.mark.extras
def test_torchscript(tmp_path, monkeypatch):
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    layer = torch.nn.Linear(4, 3)
    with pytest.warns(DeprecationWarning, match="torch.jit"):
        torch.jit.save(torch.jit.script(layer), tmp_path / "model.pt")
    with pytest.raises(ModelError, match=re.escape("torch.jit.load")):
        fa.as_classifier(tmp_path / "model.pt", trust=True)
    with pytest.warns(DeprecationWarning, match="torch.jit"):
        predict = run(TORCHSCRIPT, tmp_path, monkeypatch)
    found = fa.as_classifier(predict).predict_proba(X)
    z = X @ layer.weight.detach().numpy().T.astype(float) + layer.bias.detach().numpy()
    np.testing.assert_allclose(found, softmax(z, axis=1), atol=1e-5)


def test_catboost(tmp_path, monkeypatch):
    catboost = pytest.importorskip("catboost", reason="CatBoost is not installed")
    model = catboost.CatBoostClassifier(iterations=5, verbose=0, allow_writing_files=False)
    model.fit(X, Y).save_model(tmp_path / "model.cbm")
    found = fa.as_classifier(run(CATBOOST, tmp_path, monkeypatch)).predict_proba(X)
    np.testing.assert_allclose(found, model.predict_proba(X), atol=1e-9)


@pytest.mark.filterwarnings("default::DeprecationWarning")  # of Keras itself
def test_keras(tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_BACKEND", "torch")
    if "keras" not in sys.modules:
        pytest.importorskip("keras", reason="Keras is not installed")
    import keras

    network = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(3, "softmax")])
    network.save(tmp_path / "model.keras")
    with pytest.raises(ModelError, match="load_model"):
        fa.as_classifier(network)
    found = fa.as_classifier(run(KERAS, tmp_path, monkeypatch)).predict_proba(X)
    weights, bias = (w.numpy() for w in network.weights)
    np.testing.assert_allclose(found, softmax(X @ weights + bias, axis=1), atol=1e-5)
