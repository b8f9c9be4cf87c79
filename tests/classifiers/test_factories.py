"""A path names a model, a function of the rows, or a function that loads a model."""

import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import fireassay as fa
from fireassay.cli.main import app
from fireassay.core import ModelError

MODULE = """
import numpy as np
from sklearn.linear_model import LogisticRegression

calls = []
rng = np.random.default_rng(0)
X = rng.normal(size=(200, 2))
y = np.where(X[:, 0] > 0, "high", "low")
model = LogisticRegression().fit(X, y)

def load():
    calls.append(1)
    return model

def predict(X):
    return model.predict_proba(X)

def with_settings(X=None, sharpness=1.0):
    return model.predict_proba(X)

def lazily(threshold=0.5):
    return predict

def arrays():
    return np.zeros((3, 2))

def broken():
    raise RuntimeError("no weights on this machine")

class Model:
    def __init__(self):
        self.inner = model
    def __call__(self, X):
        return self.inner.predict_proba(X)
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    folder = tmp_path_factory.mktemp("factories")
    (folder / "factory_models.py").write_text(MODULE)
    sys.path.insert(0, str(folder))
    import factory_models

    yield factory_models
    sys.path.remove(str(folder))
    del sys.modules["factory_models"]


@pytest.mark.parametrize(
    "name", ["model", "load", "predict", "with_settings", "lazily", "Model", "model.predict_proba"]
)
def test_models_functions_and_factories_give_the_same_answers(module, name):
    found = fa.as_classifier(f"factory_models:{name}").predict_proba(module.X)
    np.testing.assert_array_equal(found, module.model.predict_proba(module.X))


def test_a_factory_is_called_once(module):
    for _ in range(3):
        assert fa.as_classifier("factory_models:load").classes == ("high", "low")
    assert len(module.calls) == 1


@pytest.mark.parametrize(("name", "words"), [("broken", "no weights"), ("arrays", "ndarray")])
def test_factories_that_give_no_model_are_refused(module, name, words):
    with pytest.raises(ModelError, match=words):
        fa.as_classifier(f"factory_models:{name}")


def test_the_line_of_the_tutorial(module, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("test.npz", X=module.X, y=module.y)
    done = CliRunner().invoke(app, ["init", "--model", "factory_models:load", "--data", "test.npz"])
    assert done.exit_code == 0, done.output
    assert "classes     2: high, low" in done.output
    assert CliRunner().invoke(app, ["run", "--only", "accuracy"]).exit_code == 0


def test_class_names_of_the_data_name_the_columns(module, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    y = (module.y == "low").astype(int)
    np.savez("test.npz", X=module.X, y=y, class_names=["high", "low"])
    done = CliRunner().invoke(
        app, ["init", "--model", "factory_models:predict", "--data", "test.npz"]
    )
    assert done.exit_code == 0, done.output
    assert "classes     2: high, low" in done.output
    assert "Integer labels (test rows) name the model's classes: 0 = 'high'" in done.output
    assert CliRunner().invoke(app, ["run", "--only", "accuracy"]).exit_code == 0
