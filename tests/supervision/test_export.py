"""Fitted supervisors as files: safe ones, and ONNX graphs that give the same scores."""

import pickle
import zipfile

import numpy as np
import pytest

from fireassay import supervision
from fireassay.core import DataError, ParameterError, codec
from fireassay.supervision import NotAvailableError
from fireassay.supervision.reading import ModelReader

pytestmark = pytest.mark.extras


PARAMETERS = {"knn": {"k": 10}, "dissector": {"max_rows": 500}}


@pytest.fixture(scope="module")
def shown(torch_model, members, digit_rows):
    """What the model shows of 60 rows, by the names of the graphs' inputs."""
    X = digit_rows[2][200:260]
    reader = ModelReader(torch_model, n_samples=15)
    reading = reader.read(X, ("probabilities", "logits", "features", "layers"))
    return {
        "probabilities": reading.probabilities, "logits": reading.logits,
        "features": reading.features, **reading.layers,
        "mc-dropout": np.array(list(reader.hidden.dropout_samples(X, 15, 0))),
        "ensemble": np.array([member.predict_proba(X) for member in members]),
    }  # fmt: skip


def fitted(name, torch_model, members, digit_rows):
    parameters = dict(PARAMETERS.get(name, {}))
    if "dropout" in supervision.SUPERVISORS[name].needs:
        parameters["n_samples"] = 15
    if "ensemble" in supervision.SUPERVISORS[name].needs:
        parameters["members"] = members
    X, y, test, _ = digit_rows
    made = supervision.make(name, **parameters).fit(torch_model, X, y)
    made.threshold(test[:200])
    return made


@pytest.mark.parametrize("name", supervision.onnx_names())
def test_onnx_graphs_give_the_same_scores(name, torch_model, members, digit_rows, shown, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    made = fitted(name, torch_model, members, digit_rows)
    path = supervision.to_onnx(made, tmp_path / "monitor.onnx")
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    family = "ensemble" if name.startswith("ensemble") else "mc-dropout"
    names = {i.name: family if i.name == "samples" else i.name for i in session.get_inputs()}
    sent = {own: shown[name].astype(np.float32) for own, name in names.items()}
    score, alarm = session.run(["score", "alarm"], sent)
    expected = made.score(digit_rows[2][200:260])
    # Inputs and scores travel as float32.
    np.testing.assert_allclose(score, expected, rtol=2e-5, atol=2e-5)
    clear = np.abs(expected - made.rule_.threshold) > 1e-4 * np.abs(made.rule_.threshold)
    np.testing.assert_array_equal(alarm[clear], (expected > made.rule_.threshold)[clear])
    one = {own: values[:, :1] if own == "samples" else values[:1] for own, values in sent.items()}
    np.testing.assert_allclose(session.run(["score"], one)[0], score[:1], rtol=1e-5, atol=1e-6)


def test_onnx_graphs_know_classes_without_training_rows(tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    rng = np.random.default_rng(0)
    features, classes = rng.standard_normal((60, 3)), np.repeat([0, 1], 30)
    reading = supervision.Reading(features=features, probabilities=np.eye(3)[classes])
    new = supervision.Reading(features=features[:5] + 1, probabilities=np.eye(3)[[2, 2, 2, 0, 1]])
    for name in ("dsa", "mdsa", "lsa"):
        made = supervision.make(name).fit_reading(reading)
        path = supervision.to_onnx(made, tmp_path / f"{name}.onnx")
        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        sent = {n: getattr(new, n).astype(np.float32) for n in ("features", "probabilities")}
        np.testing.assert_allclose(
            session.run(["score"], sent)[0], made.score_reading(new), rtol=1e-5
        )


def test_every_supervisor_has_a_graph_or_a_reason(
    torch_model, digit_rows, tmp_path, second_probability
):
    without = set(supervision.names()) - set(supervision.onnx_names())
    assert without == {"autoencoder", "second-probability"}
    X, y, _, _ = digit_rows
    with pytest.raises(NotAvailableError, match=r"no ONNX graph of second-prob.*_graph.*save"):
        supervision.to_onnx(second_probability().fit(torch_model, X[:50]), tmp_path / "x.onnx")
    made = supervision.make("autoencoder", epochs=1).fit(torch_model, X[:50], y[:50])
    with pytest.raises(NotAvailableError, match=r"torch\.onnx.*save"):
        supervision.to_onnx(made, tmp_path / "x.onnx")
    with pytest.raises(NotAvailableError, match="attach"):
        supervision.to_onnx(
            supervision.make("ash").fit_reading(supervision.Reading()), tmp_path / "x.onnx"
        )
    with pytest.raises(ParameterError, match="fitted"):
        supervision.make("mdsa").save(tmp_path / "x.npz")


def test_pickles_and_foreign_files_are_refused_unread(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (pytest.fail, ("a pickle was executed",))

    path = tmp_path / "bomb.npz"
    path.write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(DataError, match="saved by fireassay"):
        supervision.load(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tree.json", "{}")
        archive.writestr("a.npy", pickle.dumps(Bomb()))
    with pytest.raises(DataError):
        supervision.load(path)
    codec.save([1], path)
    with pytest.raises(DataError, match="saved supervisor"):
        supervision.load(path)
    with pytest.raises(DataError, match="Expected a saved result"):
        supervision.load(tmp_path / "nothing.npz")


def test_a_loaded_supervisor_needs_a_model(torch_model, digit_rows, tmp_path):
    X, y, test, _ = digit_rows
    path = supervision.make("mdsa").fit(torch_model, X, y).save(tmp_path / "m.npz")
    with pytest.raises(ParameterError, match="attach"):
        supervision.load(path).score(test[:2])
    assert supervision.load(path, torch_model).score(test[:2]).shape == (2,)
    with pytest.raises(NotAvailableError, match="probabilities only"):
        supervision.load(path, lambda rows: np.tile([0.5, 0.5], (len(rows), 1)))
