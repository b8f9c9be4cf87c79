"""Objects of other libraries go in as they are, their files if they are trusted."""

import pickle

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.datasets import load_iris

import fireassay as fa
from fireassay.core import DataError, UntrustedFileError

X, Y = load_iris(return_X_y=True)


@pytest.mark.extras
def test_torchscript_as_an_object_and_as_a_file(tmp_path):
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    layer = torch.nn.Linear(4, 3)
    with pytest.warns(DeprecationWarning, match="torch.jit"):
        script = torch.jit.script(layer)
    with pytest.warns(DeprecationWarning, match="torch.jit"):
        torch.jit.save(script, tmp_path / "model.pt")
    z = X @ layer.weight.detach().numpy().T.astype(float) + layer.bias.detach().numpy()
    with pytest.raises(UntrustedFileError):
        fa.as_classifier(tmp_path / "model.pt")
    for given in (script, tmp_path / "model.pt"):
        trust = given is not script
        model = fa.as_classifier(given, output="logits", trust=trust)
        np.testing.assert_allclose(model.predict_proba(X), softmax(z, axis=1), atol=1e-5)
        again = fa.as_classifier(given, output="logits", trust=trust)
        assert model.sha256 == again.sha256


@pytest.mark.parametrize("plain", [False, True])
def test_catboost(tmp_path, plain):
    catboost = pytest.importorskip("catboost", reason="CatBoost is not installed")
    options = {"iterations": 5, "verbose": 0, "allow_writing_files": False}
    if plain:
        model = catboost.CatBoost({"loss_function": "MultiClass", **options})
    else:
        model = catboost.CatBoostClassifier(**options)
    model.fit(X, Y).save_model(str(tmp_path / "model.cbm"))
    expected = model.predict(X, prediction_type="Probability")
    for given in (model, tmp_path / "model.cbm"):
        ours = fa.as_classifier(given, trust=given is not model)
        np.testing.assert_allclose(ours.predict_proba(X), expected, atol=1e-9)
        assert ours.classes == (0, 1, 2)
        assert len(ours.sha256) == 64


@pytest.mark.filterwarnings("default::DeprecationWarning")  # of Keras itself
@pytest.mark.parametrize("ending", ["keras", "h5"])
def test_keras(tmp_path, monkeypatch, ending):
    monkeypatch.setenv("KERAS_BACKEND", "torch")
    keras = pytest.importorskip("keras", reason="Keras is not installed")
    network = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(3, "softmax")])
    path = tmp_path / f"model.{ending}"
    network.save(path)
    weights, bias = network.get_weights()
    with pytest.raises(UntrustedFileError):
        fa.as_classifier(path)
    file = fa.as_classifier(path, trust=True)
    for ours in (fa.as_classifier(network), file, pickle.loads(pickle.dumps(file))):
        np.testing.assert_allclose(
            ours.predict_proba(X), softmax(X @ weights + bias, axis=1), atol=1e-5
        )
    before = fa.as_classifier(network).sha256
    network.set_weights([2 * weights, bias])
    assert fa.as_classifier(network).sha256 != before


def test_fasttext(tmp_path):
    fasttext = pytest.importorskip("fasttext", reason="fastText is not installed")
    if not hasattr(fasttext, "train_supervised"):
        pytest.skip("this fastText cannot train")
    texts = ["good fine thing", "bad awful thing"] * 40
    lines = [f"__label__{'pos' if 'good' in t else 'neg'} {t}" for t in texts]
    (tmp_path / "rows.txt").write_text("\n".join(lines))
    model = fasttext.train_supervised(str(tmp_path / "rows.txt"), epoch=30, verbose=0, thread=1)
    model.save_model(str(tmp_path / "model.bin"))
    file = fa.as_classifier(tmp_path / "model.bin", trust=True)
    for ours in (fa.as_classifier(model), file, pickle.loads(pickle.dumps(file))):
        assert ours.predict([*texts, "good\nfine"]).tolist() == [*["pos", "neg"] * 40, "pos"]
        assert len(ours.sha256) == 64


class Pipeline:
    """Answers as a text-classification pipeline of transformers does."""

    __module__ = "transformers.pipelines.base"

    def __call__(self, texts, top_k=1):
        rows = []
        for text in texts:
            p = 0.9 if "good" in text else 0.2
            row = [{"label": "POS", "score": p}, {"label": "NEG", "score": 1 - p}]
            rows.append(sorted(row, key=lambda r: -r["score"])[:top_k])
        return rows


def test_a_pipeline_is_asked_for_the_scores_of_all_classes():
    ours = fa.as_classifier(Pipeline())
    assert ours.predict(["good", "bad"]).tolist() == ["POS", "NEG"]
    with pytest.raises(DataError, match="texts"):
        ours.predict_proba(X)
